//! Where the transactions of an open loop meet the sessions of their worker: a free session takes a due one at once,
//! else it waits its turn.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use dyno_reactor::{Notify, now_ns};

use crate::recorder::Recorder;

/// A transaction that may begin now, in nanoseconds of the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    pub due_ns: u64,
    pub start_ns: u64,
}

/// Where a session waits while it is free.
#[derive(Default)]
struct Seat {
    /// What it is given to do; nothing when the desk closes.
    due_ns: Cell<Option<u64>>,
    called: Notify,
}

/// The desk of one worker. All of its memory is there from the beginning.
pub(crate) struct Desk {
    seats: Vec<Seat>,
    /// Seats of free sessions; the one that has waited longest is next, so that all connections are used alike.
    free: RefCell<VecDeque<usize>>,
    /// When those that wait were due, in the order in which they became it.
    backlog: RefCell<VecDeque<u64>>,
    backlog_max: usize,
    closed: Cell<bool>,
    /// When the next transaction is due that is not offered yet.
    expected_ns: Cell<u64>,
    recorder: Rc<RefCell<Recorder>>,
}

impl Desk {
    pub fn new(sessions: usize, backlog_max: usize, recorder: Rc<RefCell<Recorder>>) -> Self {
        Self {
            seats: (0..sessions).map(|_| Seat::default()).collect(),
            free: RefCell::new(VecDeque::with_capacity(sessions)),
            backlog: RefCell::new(VecDeque::with_capacity(backlog_max)),
            backlog_max,
            closed: Cell::new(false),
            expected_ns: Cell::new(0),
            recorder,
        }
    }

    /// The next transaction will be due at this time.
    pub fn expect(&self, due_ns: u64) {
        self.expected_ns.set(due_ns);
    }

    /// When the next transaction is due that is not offered yet.
    pub fn expected_ns(&self) -> u64 {
        self.expected_ns.get()
    }

    /// A transaction is due: it goes to a free session, joins the backlog, or is dropped.
    pub fn offer(&self, due_ns: u64, now_ns: u64) {
        let mut recorder = self.recorder.borrow_mut();
        recorder.due(now_ns, due_ns);
        if let Some(seat) = self.free.borrow_mut().pop_front() {
            self.seats[seat].due_ns.set(Some(due_ns));
            self.seats[seat].called.notify_one();
            return;
        }
        recorder.put_aside(now_ns, due_ns);
        let mut backlog = self.backlog.borrow_mut();
        if backlog.len() < self.backlog_max {
            backlog.push_back(due_ns);
            recorder.set_backlog(backlog.len());
        } else {
            recorder.dropped(due_ns);
        }
    }

    /// The next transaction of the session at `seat`; none once the desk is closed and nothing waits any more.
    pub async fn turn(&self, seat: usize) -> Option<Turn> {
        if let Some(due_ns) = self.take_waiting() {
            let start_ns = now_ns();
            return Some(Turn { due_ns, start_ns });
        }
        if self.closed.get() {
            return None;
        }
        self.free.borrow_mut().push_back(seat);
        self.seats[seat].called.notified().await;
        let due_ns = self.seats[seat].due_ns.take()?;
        let start_ns = now_ns();
        self.recorder.borrow_mut().taken(start_ns, due_ns);
        Some(Turn { due_ns, start_ns })
    }

    /// The recorder learns of it with the session's next event: a change of the backlog belongs to the time at which
    /// it is seen.
    fn take_waiting(&self) -> Option<u64> {
        let mut backlog = self.backlog.borrow_mut();
        let due_ns = backlog.pop_front()?;
        self.recorder.borrow_mut().set_backlog(backlog.len());
        Some(due_ns)
    }

    /// Nothing becomes due any more: sessions leave when nothing waits.
    pub fn close(&self) {
        self.closed.set(true);
        for seat in self.free.borrow_mut().drain(..) {
            self.seats[seat].called.notify_one();
        }
    }

    /// Whether the desk is closed.
    pub fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// How many of those that wait were due at `from_ns` or later.
    pub fn waiting_since(&self, from_ns: u64) -> u64 {
        let backlog = self.backlog.borrow();
        backlog.iter().filter(|&&due_ns| due_ns >= from_ns).count() as u64
    }
}
