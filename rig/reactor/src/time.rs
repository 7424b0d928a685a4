//! Sleeping to the microsecond, and giving up.

use std::error::Error;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use crate::clock::{duration_ns, instant_ns, now_ns};
use crate::executor::Core;
use crate::timers::TimerKey;

/// Sleep until `deadline`; returns at once when it has passed.
pub async fn sleep_until(deadline: Instant) {
    sleep_until_ns(instant_ns(deadline)).await;
}

/// Sleep for `duration`.
pub async fn sleep(duration: Duration) {
    sleep_until_ns(now_ns().saturating_add(duration_ns(duration))).await;
}

/// Sleep until [`now_ns`] reads `deadline_ns` or more; returns at once when it does already.
///
/// # Panics
/// When the thread runs no reactor.
pub async fn sleep_until_ns(deadline_ns: u64) {
    if now_ns() >= deadline_ns {
        return;
    }
    let mut timer = Timer::new(deadline_ns);
    poll_fn(|_| timer.poll()).await;
}

/// An entry of the timer heap that is removed when nobody waits for it any more.
struct Timer {
    core: Rc<Core>,
    key: TimerKey,
    deadline_ns: u64,
}

impl Timer {
    fn new(deadline_ns: u64) -> Self {
        let core = Core::current();
        let key = core
            .timers
            .borrow_mut()
            .insert(deadline_ns, core.current_task());
        Self {
            core,
            key,
            deadline_ns,
        }
    }

    fn poll(&mut self) -> Poll<()> {
        if now_ns() >= self.deadline_ns {
            return Poll::Ready(());
        }
        self.core
            .timers
            .borrow_mut()
            .set_task(self.key, self.core.current_task());
        Poll::Pending
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.core.timers.borrow_mut().remove(self.key);
    }
}

/// The time given to [`timeout`] ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elapsed;

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time ran out")
    }
}

impl Error for Elapsed {}

/// Wait for `future` for at most `duration`, then drop it and return [`Elapsed`].
///
/// For a limit on every read and write of a socket use `Stream::set_timeout`, which costs nothing on the hot path.
pub async fn timeout<F: Future>(duration: Duration, future: F) -> Result<F::Output, Elapsed> {
    let mut timer = Timer::new(now_ns().saturating_add(duration_ns(duration)));
    let mut future = pin!(future);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Ok(output)),
        Poll::Pending => timer.poll().map(|()| Err(Elapsed)),
    })
    .await
}
