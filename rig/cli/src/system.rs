//! What the process asks of the operating system: file descriptors and signals.

use std::io;

use dyno_drive::Stop;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

use crate::failure::Failure;

/// Descriptors that are not sessions: standard streams, record, epoll and timer of each worker, `/proc` files.
const DESCRIPTORS_SPARE: u64 = 64;

/// Raises the soft limit of open files to the hard one and checks that `sessions` sockets fit.
pub fn allow_sessions(sessions: usize) -> Result<(), Failure> {
    let limit = raise_nofile()?;
    let needed = sessions as u64 + DESCRIPTORS_SPARE;
    if needed > limit {
        return Err(Failure::usage(format!(
            "{sessions} sessions need {needed} open files, the limit is {limit}\n\
             hint: raise the hard limit (ulimit -Hn, or LimitNOFILE= of the service), or ask for at most {} sessions",
            limit.saturating_sub(DESCRIPTORS_SPARE)
        )));
    }
    Ok(())
}

/// Raises the soft limit of open files to the hard one and returns it.
pub fn raise_nofile() -> Result<u64, Failure> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid rlimit for both calls.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) != 0 {
            let error = io::Error::last_os_error();
            return Err(Failure::failed(format!(
                "cannot read the limit of open files: {error}"
            )));
        }
        let raised = libc::rlimit {
            rlim_cur: limit.rlim_max,
            ..limit
        };
        if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) == 0 {
            limit = raised;
        }
    }
    Ok(limit.rlim_cur)
}

/// Turns SIGINT and SIGTERM into wishes to stop, and SIGUSR1 into the word that enough is measured.
pub fn stop_on_signals() -> Result<Stop, Failure> {
    let stop = Stop::new();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGUSR1])
        .map_err(|e| Failure::failed(format!("cannot handle signals: {e}")))?;
    let wish = stop.clone();
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for signal in signals.forever() {
                match signal {
                    SIGUSR1 => wish.enough(),
                    _ => wish.request(),
                }
            }
        })
        .map_err(|e| Failure::failed(format!("cannot start a thread: {e}")))?;
    Ok(stop)
}
