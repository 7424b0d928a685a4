//! Which CPUs a thread may use.

use std::io;
use std::mem;

/// Bind the calling thread to one CPU. Fails when the CPU does not exist or the process may not use it.
pub fn pin_current_thread(cpu: usize) -> io::Result<()> {
    if cpu >= libc::CPU_SETSIZE.cast_unsigned() as usize {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("there is no CPU {cpu}"),
        ));
    }
    // SAFETY: an all-zero cpu_set_t is the empty set; `cpu` is below CPU_SETSIZE.
    let failed = unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, mem::size_of::<libc::cpu_set_t>(), &raw const set)
    };
    if failed != 0 {
        let error = io::Error::last_os_error();
        return Err(io::Error::new(
            error.kind(),
            format!("cannot bind a thread to CPU {cpu}: {error}"),
        ));
    }
    Ok(())
}

/// The CPUs that the calling thread may run on, ascending. Empty only when the kernel refuses to tell.
#[must_use]
pub fn allowed_cpus() -> Vec<usize> {
    // SAFETY: the set is zeroed and its size is passed; CPU_ISSET is asked below CPU_SETSIZE only.
    unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        if libc::sched_getaffinity(0, mem::size_of::<libc::cpu_set_t>(), &raw mut set) != 0 {
            return Vec::new();
        }
        (0..libc::CPU_SETSIZE.cast_unsigned() as usize)
            .filter(|&cpu| libc::CPU_ISSET(cpu, &set))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_may_use_one_cpu() {
        std::thread::spawn(|| {
            let last = *allowed_cpus().last().expect("at least one CPU");
            pin_current_thread(last).unwrap();
            assert_eq!(allowed_cpus(), [last]);
            assert!(
                pin_current_thread(1_000_000)
                    .unwrap_err()
                    .to_string()
                    .contains("1000000")
            );
        })
        .join()
        .unwrap();
    }
}
