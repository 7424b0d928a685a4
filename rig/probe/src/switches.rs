//! Context switches of a process, over all its tasks.

use std::collections::HashMap;
use std::io::Read;

use procfs::process::Process;

/// Longer than any status of a task; the kernel gives it in one read.
const STATUS_BYTES: usize = 16 * 1024;

/// Context switches since a task began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Switches {
    /// The task waited for something.
    pub voluntary: u64,
    /// The task was made to wait.
    pub involuntary: u64,
}

/// Adds up the switches of all tasks. A process's own file counts only its first task, and the sum
/// over the living ones falls when one ends: so the differences of each are summed instead. What a
/// task did between the last sample and its end is lost.
#[derive(Default)]
pub(crate) struct SwitchCounter {
    last: HashMap<i32, Switches>,
    total: Switches,
}

impl SwitchCounter {
    /// All switches that were seen, those of ended tasks too.
    pub fn total(&self) -> Switches {
        self.total
    }

    /// Looks at every task of `process`. A server has hundreds: this is most of what a sample costs
    /// (some µs a task, half of it the kernel's), hence no general parser here.
    pub fn read(&mut self, process: &Process) {
        let Ok(folder) = std::fs::read_dir(format!("/proc/{}/task", process.pid())) else {
            return;
        };
        let tids = folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let mut buffer = vec![0; STATUS_BYTES];
        self.update(tids.filter_map(|tid: i32| {
            let mut file = process.open_relative(format!("task/{tid}/status")).ok()?;
            let length = file.read(&mut buffer).ok()?;
            Some((tid, parse(&buffer[..length])?))
        }));
    }

    fn update(&mut self, tasks: impl Iterator<Item = (i32, Switches)>) {
        let mut seen = HashMap::with_capacity(self.last.len());
        for (tid, now) in tasks {
            let then = match self.last.get(&tid) {
                // lower than before: the number was given to a new task
                Some(then) if then.voluntary <= now.voluntary => *then,
                _ => Switches::default(),
            };
            self.total.voluntary += now.voluntary - then.voluntary;
            self.total.involuntary += now.involuntary.saturating_sub(then.involuntary);
            seen.insert(tid, now);
        }
        self.last = seen;
    }
}

/// Finds the two lines, which stand near the end of a status.
fn parse(status: &[u8]) -> Option<Switches> {
    let value = |name: &[u8]| {
        let mut lines = status.rsplit(|&byte| byte == b'\n');
        let text = lines.find_map(|line| line.strip_prefix(name))?;
        std::str::from_utf8(text).ok()?.trim().parse().ok()
    };
    Some(Switches {
        involuntary: value(b"nonvoluntary_ctxt_switches:")?,
        voluntary: value(b"voluntary_ctxt_switches:")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switches(voluntary: u64, involuntary: u64) -> Switches {
        Switches {
            voluntary,
            involuntary,
        }
    }

    #[test]
    fn they_add_up_over_tasks_that_come_and_go() {
        let mut counter = SwitchCounter::default();
        counter.update([(1, switches(10, 1)), (2, switches(5, 0))].into_iter());
        assert_eq!(counter.total(), switches(15, 1));
        counter.update([(1, switches(12, 2)), (3, switches(4, 4))].into_iter());
        assert_eq!(
            counter.total(),
            switches(21, 6),
            "2 more of task 1, all of task 3, none lost of task 2"
        );
        counter.update([(3, switches(1, 0))].into_iter());
        assert_eq!(
            counter.total(),
            switches(22, 6),
            "a number that was given to a new task"
        );
    }

    #[test]
    fn reads_the_two_lines_wherever_they_stand() {
        let text = "Name:\tmariadbd\nThreads:\t9\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n";
        assert_eq!(parse(text.as_bytes()), Some(switches(150, 545)));
        // kernels since 6.2 on x86 append lines
        let longer = format!("{text}x86_Thread_features:\t\nx86_Thread_features_locked:\t\n");
        assert_eq!(parse(longer.as_bytes()), Some(switches(150, 545)));
        assert_eq!(parse(b"Name:\tx\n"), None);
    }
}
