//! How tasks of one thread wake each other. Nothing here crosses threads.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::Poll;

use crate::executor::{Core, TaskId};

/// A fact that many tasks wait for, such as "stop": once set, every waiter goes on, now and later.
#[derive(Debug, Default)]
pub struct Signal {
    set: Cell<bool>,
    waiters: RefCell<Vec<TaskId>>,
}

impl Signal {
    /// A signal that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the signal was set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.set.get()
    }

    /// Set it and wake every waiter.
    ///
    /// # Panics
    /// When tasks wait and the thread runs no reactor.
    pub fn set(&self) {
        self.set.set(true);
        let waiters = self.waiters.take();
        if !waiters.is_empty() {
            let core = Core::current();
            for task in waiters {
                core.wake(task);
            }
        }
    }

    /// Wait until it is set.
    pub async fn wait(&self) {
        poll_fn(|_| {
            if self.set.get() {
                return Poll::Ready(());
            }
            enlist(&mut self.waiters.borrow_mut());
            Poll::Pending
        })
        .await;
    }
}

/// The polling task, once.
fn enlist(waiters: &mut Vec<TaskId>) {
    let task = Core::current().current_task();
    if !waiters.contains(&task) {
        waiters.push(task);
    }
}

/// Permits handed from one task to another, such as "a transaction is due": each permit lets one waiter go on, in the
/// order in which they began to wait.
#[derive(Debug)]
pub struct Notify {
    permits: Cell<usize>,
    waiters: RefCell<VecDeque<TaskId>>,
}

impl Default for Notify {
    fn default() -> Self {
        Self {
            permits: Cell::new(0),
            // the first one to wait may come when nothing may be allocated any more
            waiters: RefCell::new(VecDeque::with_capacity(1)),
        }
    }
}

impl Notify {
    /// No permits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Add a permit and wake the task that has waited longest.
    ///
    /// # Panics
    /// When tasks wait and the thread runs no reactor.
    pub fn notify_one(&self) {
        self.permits.set(self.permits.get() + 1);
        self.wake_next();
    }

    fn wake_next(&self) {
        if let Some(task) = self.waiters.borrow_mut().pop_front() {
            Core::current().wake(task);
        }
    }

    /// Wait for a permit and use it up. A permit meant for a waiter that gave up goes to the next one.
    pub async fn notified(&self) {
        let mut waiting = Waiting {
            notify: self,
            task: None,
        };
        poll_fn(|_| waiting.poll()).await;
    }
}

/// A place in the queue, given up when it is dropped.
struct Waiting<'a> {
    notify: &'a Notify,
    /// Who waits, once it had to.
    task: Option<TaskId>,
}

impl Waiting<'_> {
    fn poll(&mut self) -> Poll<()> {
        if let Some(left) = self.notify.permits.get().checked_sub(1) {
            self.notify.permits.set(left);
            self.leave();
            return Poll::Ready(());
        }
        let task = Core::current().current_task();
        self.task = Some(task);
        let mut waiters = self.notify.waiters.borrow_mut();
        if !waiters.contains(&task) {
            waiters.push_back(task);
        }
        Poll::Pending
    }

    /// Leave the queue; returns whether this place was called already.
    fn leave(&mut self) -> bool {
        let Some(task) = self.task.take() else {
            return false;
        };
        let mut waiters = self.notify.waiters.borrow_mut();
        let place = waiters.iter().position(|&waiter| waiter == task);
        place.is_none_or(|place| waiters.remove(place).is_none())
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.leave() && self.notify.permits.get() > 0 {
            self.notify.wake_next();
        }
    }
}
