//! What one process did: processor time, memory, threads, context switches, input and output.

use dyno_record::{Process as ProcessRecord, Role};
use procfs::ProcResult;
use procfs::process::{Process, Task};

use crate::switches::SwitchCounter;

/// One process under observation. Its `/proc` folder stays open, so that a process number that the
/// kernel gives to somebody else later is never mistaken for it.
pub(crate) struct Watched {
    role: Role,
    process: Process,
    switches: SwitchCounter,
    /// Threads whose waiting for a CPU is recorded; empty when nobody asked.
    delay_threads: Vec<i32>,
    last: Totals,
}

/// Counters since the process began.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    cpu_user_us: u64,
    cpu_system_us: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
    read_bytes: Option<u64>,
    written_bytes: Option<u64>,
    run_delay_us: Option<u64>,
}

/// Levels of the moment.
struct Levels {
    rss_bytes: u64,
    threads: u64,
}

impl Watched {
    /// Opens process `pid` and takes the first reading. Fails when there is no such process.
    pub fn open(pid: u32, role: Role, delay_threads: Vec<i32>) -> ProcResult<Self> {
        let number = i32::try_from(pid).map_err(|_| procfs::ProcError::NotFound(None))?;
        let mut watched = Self {
            role,
            process: Process::new(number)?,
            switches: SwitchCounter::default(),
            delay_threads,
            last: Totals::default(),
        };
        (watched.last, _) = watched.read()?;
        Ok(watched)
    }

    /// Whose process it is.
    pub fn role(&self) -> Role {
        self.role
    }

    /// How to call it in a note.
    pub fn name(&self) -> String {
        let whose = match self.role {
            Role::Server => "the server's process",
            Role::Rig => "the rig's process",
        };
        format!("{whose} {}", self.process.pid())
    }

    /// The folder the process works in (a MySQL-family server's data folder), when it may be known.
    pub fn folder(&self) -> Option<std::path::PathBuf> {
        self.process.cwd().ok()
    }

    /// The record of what the process did since the last call. An error means that it has ended.
    pub fn sample(&mut self, t_us: i64, duration_us: u64) -> ProcResult<ProcessRecord> {
        let (now, levels) = self.read()?;
        let then = std::mem::replace(&mut self.last, now);
        let both = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Ok(ProcessRecord {
            t_us,
            duration_us,
            role: self.role,
            pid: self.process.pid().unsigned_abs(),
            cpu_user_us: now.cpu_user_us.saturating_sub(then.cpu_user_us),
            cpu_system_us: now.cpu_system_us.saturating_sub(then.cpu_system_us),
            rss_bytes: levels.rss_bytes,
            threads: levels.threads,
            voluntary_switches: now.voluntary_switches - then.voluntary_switches,
            involuntary_switches: now.involuntary_switches - then.involuntary_switches,
            read_bytes: both(now.read_bytes, then.read_bytes),
            written_bytes: both(now.written_bytes, then.written_bytes),
            run_delay_us: both(now.run_delay_us, then.run_delay_us),
        })
    }

    fn read(&mut self) -> ProcResult<(Totals, Levels)> {
        let stat = self.process.stat()?;
        if matches!(stat.state, 'Z' | 'X' | 'x') {
            // a zombie has a folder still, but it serves nobody
            return Err(procfs::ProcError::NotFound(None));
        }
        self.switches.read(&self.process);
        // another user's I/O counters need a privilege that a probe need not have
        let io = self.process.io().ok();
        let totals = Totals {
            cpu_user_us: ticks_to_us(stat.utime),
            cpu_system_us: ticks_to_us(stat.stime),
            voluntary_switches: self.switches.total().voluntary,
            involuntary_switches: self.switches.total().involuntary,
            read_bytes: io.as_ref().map(|io| io.read_bytes),
            written_bytes: io.as_ref().map(|io| io.write_bytes),
            run_delay_us: self.run_delay_us(),
        };
        let levels = Levels {
            rss_bytes: stat.rss * procfs::page_size(),
            threads: u64::try_from(stat.num_threads).unwrap_or(0),
        };
        Ok((totals, levels))
    }

    /// How long the named threads were ready to run but waited for a CPU, summed; none when no thread
    /// is named or the kernel does not account it.
    fn run_delay_us(&self) -> Option<u64> {
        if self.delay_threads.is_empty() {
            return None;
        }
        let delay_ns = |&tid: &i32| -> Option<u64> {
            let task: Task = self.process.task_from_tid(tid).ok()?;
            Some(task.schedstat().ok()?.run_delay)
        };
        let all: Option<u64> = self.delay_threads.iter().map(delay_ns).sum();
        all.map(|ns| ns / 1000)
    }
}

fn ticks_to_us(ticks: u64) -> u64 {
    ticks * 1_000_000 / procfs::ticks_per_second()
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
