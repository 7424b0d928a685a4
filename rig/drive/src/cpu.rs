//! CPU time, from the kernel's accounts.

use std::fs::File;
use std::os::unix::fs::FileExt;

fn cpu_us(who: libc::c_int) -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel fills the struct; with a valid `who` the call cannot fail.
    let usage = unsafe {
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    };
    let us = |t: libc::timeval| t.tv_sec.cast_unsigned() * 1_000_000 + t.tv_usec.cast_unsigned();
    us(usage.ru_utime) + us(usage.ru_stime)
}

/// CPU time of the calling thread, in microseconds.
pub(crate) fn thread_cpu_us() -> u64 {
    cpu_us(libc::RUSAGE_THREAD)
}

/// CPU time of the whole process, in microseconds.
pub(crate) fn process_cpu_us() -> u64 {
    cpu_us(libc::RUSAGE_SELF)
}

/// How long the thread that made this was ready to run but had no CPU, from the kernel's scheduler statistics.
#[derive(Debug)]
pub(crate) struct RunDelay(Option<File>);

impl RunDelay {
    pub fn of_this_thread() -> Self {
        Self(File::open("/proc/thread-self/schedstat").ok())
    }

    /// In microseconds since the thread began; none where the kernel does not tell. Allocates nothing.
    pub fn us(&self) -> Option<u64> {
        let mut text = [0; 96];
        let length = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(&text[..length]).ok()?;
        let ns: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
        Some(ns / 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_thread_uses_cpu_time() {
        let (thread, process) = (thread_cpu_us(), process_cpu_us());
        while thread_cpu_us() < thread + 2_000 {
            std::hint::spin_loop();
        }
        assert!(process_cpu_us() >= process + 2_000);
    }

    #[test]
    fn a_run_delay_never_shrinks() {
        let delay = RunDelay::of_this_thread();
        if let Some(first) = delay.us() {
            std::thread::yield_now();
            assert!(delay.us().is_some_and(|second| second >= first));
        }
    }
}
