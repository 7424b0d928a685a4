//! When a session may begin its next transaction: at once, when its load level allows it, or when one is due.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use dyno_reactor::{Signal, now_ns, sleep_until_ns, timeout, yield_now};

use crate::arrivals::Arrivals;
use crate::desk::{Desk, Turn};
use crate::schedule::{Schedule, Side};
use crate::worker::Local;

/// What paces the sessions of one worker.
pub(crate) enum Pacing {
    /// A session is active while the level is above its index.
    Closed(Arc<Schedule>),
    /// A session takes what is due.
    Open(Rc<Desk>),
}

/// What paces one session.
pub(crate) enum Pace {
    Closed(Shift),
    Open { desk: Rc<Desk>, seat: usize },
}

/// When a session of a closed loop is active.
pub(crate) struct Shift {
    schedule: Arc<Schedule>,
    t0_ns: u64,
    /// Active from this level on: half a session more than there are before this one.
    threshold: f64,
    /// It stays active until then, on the monotonic clock.
    until_ns: u64,
}

impl Pacing {
    /// The pace of one session: `index` is its place in the trial, `seat` its place in the worker.
    pub fn session(&self, t0_ns: u64, index: usize, seat: usize) -> Pace {
        match self {
            Self::Closed(schedule) => Pace::Closed(Shift {
                schedule: Arc::clone(schedule),
                t0_ns,
                threshold: index as f64 + 0.5,
                until_ns: 0,
            }),
            Self::Open(desk) => Pace::Open {
                desk: Rc::clone(desk),
                seat,
            },
        }
    }

    /// Measure has ended, at `end_ns`: nothing becomes due any more. What was due before and is not offered yet, because
    /// the worker was busy, still is.
    pub fn end(&self, end_ns: u64) {
        if let Self::Open(desk) = self
            && desk.expected_ns() >= end_ns
        {
            desk.close();
        }
    }

    /// No transaction begins any more, except those that wait already.
    pub fn stop(&self) {
        if let Self::Open(desk) = self {
            desk.close();
        }
    }
}

impl Pace {
    /// The session's next turn, when its last one ended at `now_ns`; none when its work is over.
    #[inline]
    pub async fn turn<W>(&mut self, local: &Local<W>, now_ns: u64) -> Option<Turn> {
        match self {
            Self::Closed(shift) => shift.turn(local, now_ns).await,
            Self::Open { desk, seat } => desk.turn(*seat).await,
        }
    }
}

impl Shift {
    #[inline]
    async fn turn<W>(&mut self, local: &Local<W>, now_ns: u64) -> Option<Turn> {
        if now_ns >= local.stop_ns.get() {
            return None;
        }
        let start_ns = if now_ns < self.until_ns {
            now_ns
        } else {
            self.begin(local, now_ns).await?
        };
        // the next transaction is due when the last one ended
        Some(Turn {
            due_ns: start_ns,
            start_ns,
        })
    }

    /// Waits until the level reaches this session, and returns when that was; none when it never does.
    #[cold]
    async fn begin<W>(&mut self, local: &Local<W>, mut now_ns: u64) -> Option<u64> {
        let t_ns = now_ns.saturating_sub(self.t0_ns);
        let begin_ns = self.schedule.first(t_ns, self.threshold, Side::Above);
        if begin_ns != Some(t_ns) {
            local.recorder.borrow_mut().paused(now_ns);
            let wake_ns = begin_ns.map_or(u64::MAX, |t_ns| self.t0_ns + t_ns);
            wait(&local.stopped, wake_ns).await;
            now_ns = dyno_reactor::now_ns();
            local.recorder.borrow_mut().resumed(now_ns);
        }
        let until_ns = self.schedule.first(begin_ns?, self.threshold, Side::Below);
        self.until_ns = until_ns.map_or(u64::MAX, |t_ns| self.t0_ns + t_ns);
        (now_ns < local.stop_ns.get()).then_some(now_ns)
    }
}

/// Waits until `until_ns`, or until the worker stops.
pub(crate) async fn wait(stopped: &Signal, until_ns: u64) {
    let length = Duration::from_nanos(until_ns.saturating_sub(now_ns()));
    // either way the wait is over
    let _ = timeout(length, stopped.wait()).await;
}

/// Offers what becomes due to the desk, and closes it when measure is over. What became due while the worker was busy
/// is offered as it was due, none of it skipped or moved.
pub(crate) async fn arrive<W>(
    local: Rc<Local<W>>,
    desk: Rc<Desk>,
    arrivals: Arrivals,
    t0_ns: u64,
    spin_ns: u64,
) {
    for due_ns in arrivals {
        let due_ns = t0_ns + due_ns;
        desk.expect(due_ns);
        let mut now_ns = now_ns();
        if now_ns < due_ns {
            now_ns = wait_until(due_ns, spin_ns).await;
        }
        if desk.is_closed() {
            return;
        }
        if due_ns >= local.stop_ns.get() {
            break;
        }
        desk.offer(due_ns, now_ns);
    }
    desk.expect(u64::MAX);
    sleep_until_ns(local.stop_ns.get()).await;
    desk.close();
}

/// Sleeps, and polls for the last `spin_ns`; returns the time.
async fn wait_until(due_ns: u64, spin_ns: u64) -> u64 {
    sleep_until_ns(due_ns.saturating_sub(spin_ns)).await;
    loop {
        let now_ns = now_ns();
        if now_ns >= due_ns {
            return now_ns;
        }
        yield_now().await;
    }
}
