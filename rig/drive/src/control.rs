//! What the threads of a trial tell each other without a lock on the measured path.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::Error;

/// A wish to end the trial early, from a signal handler or another thread.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Wishes>);

#[derive(Debug, Default)]
struct Wishes {
    stop: AtomicU8,
    enough: AtomicBool,
}

impl Stop {
    /// Nobody wishes to stop.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The first wish lets transactions under way finish; the second one does not.
    pub fn request(&self) {
        let _ = self
            .0
            .stop
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| {
                Some(n.saturating_add(1))
            });
    }

    /// Whether anyone has wished to stop.
    #[must_use]
    pub fn requested(&self) -> bool {
        self.requests() > 0
    }

    pub(crate) fn requests(&self) -> u8 {
        self.0.stop.load(Ordering::Relaxed)
    }

    /// Enough is measured: measure ends with its current interval, and the trial is as good as one of that length.
    pub fn enough(&self) {
        self.0.enough.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_enough(&self) -> bool {
        self.0.enough.load(Ordering::Relaxed)
    }
}

/// Not known yet.
const UNSET: u64 = u64::MAX;

/// The state of a trial that all its threads see.
#[derive(Debug)]
pub(crate) struct Control {
    t0_ns: AtomicU64,
    stop_ns: AtomicU64,
    measure_end_ns: AtomicU64,
    abort: AtomicBool,
    failure: Mutex<Option<Error>>,
    opened: AtomicUsize,
    scouted: AtomicUsize,
}

impl Control {
    pub fn new() -> Self {
        Self {
            t0_ns: AtomicU64::new(UNSET),
            stop_ns: AtomicU64::new(UNSET),
            measure_end_ns: AtomicU64::new(UNSET),
            abort: AtomicBool::new(false),
            failure: Mutex::new(None),
            opened: AtomicUsize::new(0),
            scouted: AtomicUsize::new(0),
        }
    }

    /// The trial starts at this reading of the monotonic clock.
    pub fn start_at(&self, t0_ns: u64) {
        self.t0_ns.store(t0_ns, Ordering::Release);
    }

    /// When the trial starts, once that is known.
    pub fn t0_ns(&self) -> Option<u64> {
        Some(self.t0_ns.load(Ordering::Acquire)).filter(|&t| t != UNSET)
    }

    /// No new transactions from now on. The first call counts.
    pub fn stop(&self, now_ns: u64) {
        let _ = self
            .stop_ns
            .compare_exchange(UNSET, now_ns, Ordering::AcqRel, Ordering::Acquire);
    }

    /// When the trial was cut short, if it was.
    pub fn stop_ns(&self) -> Option<u64> {
        Some(self.stop_ns.load(Ordering::Acquire)).filter(|&t| t != UNSET)
    }

    /// Measure ends at this time instead of its planned one: far enough from now that every worker sees it before.
    pub fn end_measure_at(&self, end_ns: u64) {
        self.measure_end_ns.store(end_ns, Ordering::Release);
    }

    /// When measure ends, if that is earlier than planned.
    pub fn measure_end_ns(&self) -> Option<u64> {
        Some(self.measure_end_ns.load(Ordering::Acquire)).filter(|&t| t != UNSET)
    }

    /// Drop everything now.
    pub fn abort(&self, now_ns: u64) {
        self.stop(now_ns);
        self.abort.store(true, Ordering::Release);
    }

    pub fn aborted(&self) -> bool {
        self.abort.load(Ordering::Acquire)
    }

    /// An error ends the trial; the first one is its reason.
    pub fn fail(&self, now_ns: u64, error: Error) {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
        self.abort(now_ns);
    }

    /// One more session is connected and prepared.
    pub fn opened_one(&self) {
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    /// Sessions that are connected and prepared.
    pub fn opened(&self) -> usize {
        self.opened.load(Ordering::Relaxed)
    }

    /// One more server bears what it will be asked for.
    pub fn scouted_one(&self) {
        self.scouted.fetch_add(1, Ordering::Relaxed);
    }

    /// Servers that bear what they will be asked for.
    pub fn scouted(&self) -> usize {
        self.scouted.load(Ordering::Relaxed)
    }

    pub fn take_failure(&self) -> Option<Error> {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_the_reason() {
        let control = Control::new();
        assert!(!control.aborted() && control.stop_ns().is_none());
        control.fail(5, Error::workload("first"));
        control.fail(6, Error::workload("second"));
        assert!(control.aborted());
        assert_eq!(control.stop_ns(), Some(5));
        assert_eq!(control.take_failure().unwrap().to_string(), "first");
    }

    #[test]
    fn requests_to_stop_are_counted() {
        let stop = Stop::new();
        stop.clone().request();
        stop.request();
        assert_eq!(stop.requests(), 2);
        assert!(!stop.is_enough(), "to stop is another wish");
    }
}
