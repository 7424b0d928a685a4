//! Where the probe's threads run: away from the workers, and from the server if there is still room.

use std::collections::BTreeSet;

/// Pins the calling thread to a CPU that neither the workers nor the server use, or at least no worker.
/// Leaves it where it is when there is no such CPU.
pub(crate) fn keep_away(worker_cpus: &[usize], server_pid: Option<u32>) {
    let server_cpus = server_pid.and_then(cpus_of).unwrap_or_default();
    let allowed = dyno_reactor::allowed_cpus();
    if let Some(cpu) = quiet_cpu(&allowed, worker_cpus, &server_cpus) {
        // a refusal costs nothing but a little neighbourhood: the probe works anywhere
        let _ = dyno_reactor::pin_current_thread(cpu);
    }
}

fn quiet_cpu(allowed: &[usize], workers: &[usize], server: &BTreeSet<usize>) -> Option<usize> {
    let free = || {
        allowed
            .iter()
            .rev()
            .copied()
            .filter(|cpu| !workers.contains(cpu))
    };
    free()
        .find(|cpu| !server.contains(cpu))
        .or_else(|| free().next())
}

/// The CPUs that process `pid` may run on.
fn cpus_of(pid: u32) -> Option<BTreeSet<usize>> {
    let process = procfs::process::Process::new(i32::try_from(pid).ok()?).ok()?;
    let ranges = process.status().ok()?.cpus_allowed_list?;
    let cpus = ranges.into_iter().flat_map(|(first, last)| first..=last);
    cpus.map(|cpu| usize::try_from(cpu).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn away_from_workers_and_server_where_there_is_room() {
        let server = BTreeSet::from([0, 1]);
        assert_eq!(quiet_cpu(&[0, 1, 2, 3], &[3], &server), Some(2));
        assert_eq!(
            quiet_cpu(&[0, 1, 2, 3], &[2, 3], &server),
            Some(1),
            "beside the server, if it must be"
        );
        assert_eq!(quiet_cpu(&[1], &[1], &server), None, "nowhere to go");
    }

    #[test]
    fn a_real_process_has_cpus() {
        let mine = cpus_of(std::process::id()).unwrap();
        assert_eq!(
            mine.into_iter().collect::<Vec<_>>(),
            dyno_reactor::allowed_cpus()
        );
        assert_eq!(cpus_of(u32::MAX), None);
    }
}
