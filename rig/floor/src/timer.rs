//! The floor of an open loop: a thread that sleeps on a timerfd until each moment of a fixed rate, and does nothing
//! then but look at the clock. How late it wakes up is what the host makes of any such loop.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use crate::{check, cpu_us, pin, seconds};

const USAGE: &str = "usage: dyno-floor timer --rate PER_SECOND [--seconds SECONDS] [--cpu CPU]";
/// From the start of the program to the first moment.
const AHEAD_NS: u64 = 1_000_000;

struct Options {
    rate_per_s: f64,
    time: Duration,
    cpu: Option<usize>,
}

/// Runs the loop and returns its result as a line of JSON.
pub fn run(arguments: impl Iterator<Item = String>) -> Result<String, String> {
    let options = parse(arguments)?;
    if let Some(cpu) = options.cpu {
        pin(cpu).map_err(|error| format!("cannot run on CPU {cpu}: {error}"))?;
    }
    let cpu_before_us = cpu_us();
    let mut lags_ns = wait(&options).map_err(|error| format!("cannot wait: {error}"))?;
    let cpu_us = cpu_us() - cpu_before_us;
    lags_ns.sort_unstable();
    let at = |share: f64| {
        let rank = ((lags_ns.len() - 1) as f64 * share).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an index"
        )]
        let at = rank as usize;
        lags_ns[at] as f64 / 1e3
    };
    Ok(format!(
        r#"{{"rate_per_s": {}, "moments": {}, "lag_p50_us": {:.1}, "lag_p99_us": {:.1}, "lag_max_us": {:.1}, "cpu_us": {cpu_us}}}"#,
        options.rate_per_s,
        lags_ns.len(),
        at(0.50),
        at(0.99),
        at(1.0),
    ))
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        rate_per_s: 0.0,
        time: Duration::from_secs(3),
        cpu: None,
    };
    while let Some(name) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{name} needs a value\nhint: {USAGE}"))?;
        let wrong = || format!("{name}: cannot read `{value}`\nhint: {USAGE}");
        match name.as_str() {
            "--rate" => options.rate_per_s = value.parse().map_err(|_| wrong())?,
            "--seconds" => options.time = seconds(&value).ok_or_else(wrong)?,
            "--cpu" => options.cpu = Some(value.parse().map_err(|_| wrong())?),
            _ => return Err(format!("there is no option {name}\nhint: {USAGE}")),
        }
    }
    let moments = options.rate_per_s * options.time.as_secs_f64();
    if !(1.0..=1e9).contains(&moments) {
        return Err(format!(
            "--rate and --seconds make {moments} moments\nhint: at least one, at most a billion"
        ));
    }
    Ok(options)
}

/// How late each moment was seen, in nanoseconds.
fn wait(options: &Options) -> io::Result<Vec<u64>> {
    // SAFETY: takes no pointer; the result is a descriptor that nobody else owns
    let timer = unsafe {
        OwnedFd::from_raw_fd(check(libc::timerfd_create(
            libc::CLOCK_MONOTONIC,
            libc::TFD_CLOEXEC,
        ))?)
    };
    let gap_ns = 1e9 / options.rate_per_s;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most a billion moments"
    )]
    let moments = (options.time.as_secs_f64() * options.rate_per_s) as u64;
    let mut lags_ns = Vec::with_capacity(usize::try_from(moments).unwrap_or(0));
    let begin_ns = now_ns() + AHEAD_NS;
    for moment in 0..moments {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "nanoseconds since the start"
        )]
        let due_ns = begin_ns + (moment as f64 * gap_ns) as u64;
        let mut now = now_ns();
        if now < due_ns {
            sleep_until(&timer, due_ns)?;
            now = now_ns();
        }
        lags_ns.push(now.saturating_sub(due_ns));
    }
    Ok(lags_ns)
}

fn sleep_until(timer: &OwnedFd, due_ns: u64) -> io::Result<()> {
    let zero = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let due_ns = i64::try_from(due_ns).unwrap_or(i64::MAX);
    let spec = libc::itimerspec {
        it_interval: zero,
        it_value: libc::timespec {
            tv_sec: due_ns / 1_000_000_000,
            tv_nsec: due_ns % 1_000_000_000,
        },
    };
    let mut expired = [0_u8; 8];
    // SAFETY: both pointers live through their calls, and a timerfd writes eight bytes
    unsafe {
        check(libc::timerfd_settime(
            timer.as_raw_fd(),
            libc::TFD_TIMER_ABSTIME,
            &raw const spec,
            std::ptr::null_mut(),
        ))?;
        if libc::read(timer.as_raw_fd(), expired.as_mut_ptr().cast(), 8) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

fn now_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid timespec, and this clock always exists
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}
