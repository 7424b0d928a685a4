//! The loop: poll tasks that are ready, wait for the kernel, find out whose turn it is.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::clock::now_ns;
use crate::sources::{SourceKey, Sources};
use crate::sys;
use crate::timers::{TimerKey, Timers};

pub(crate) type TaskId = u32;

/// No task: nobody waits.
pub(crate) const NO_TASK: TaskId = u32::MAX;
/// The future that `block_on` was given; it lives on the caller's stack and not in a slot.
const ROOT: TaskId = u32::MAX - 1;
/// Not a task: the timer entry at which streams that waited too long are looked for.
const SWEEP: TaskId = u32::MAX - 2;

const TIMER_KEY: u64 = u64::MAX;
/// Events fetched by one `epoll_wait`. More makes a longer queue between arrival and reading, fewer more system calls.
const EVENTS: usize = 512;
/// How often streams that waited too long are looked for, hence how late their time-out may be (twice this).
const SWEEP_PERIOD_NS: u64 = 50_000_000;

type BoxedTask = Pin<Box<dyn Future<Output = ()>>>;

/// A slot of the task table. The future is absent while it is being polled and after it has ended.
#[derive(Default)]
struct Slot {
    task: Option<BoxedTask>,
    queued: bool,
}

#[derive(Default)]
struct Tasks {
    slots: Vec<Slot>,
    free: Vec<TaskId>,
    ready: VecDeque<TaskId>,
    root_queued: bool,
}

impl Tasks {
    fn insert(&mut self, task: BoxedTask) -> TaskId {
        let slot = Slot {
            task: Some(task),
            queued: false,
        };
        if let Some(id) = self.free.pop() {
            self.slots[id as usize] = slot;
            return id;
        }
        self.slots.push(slot);
        // a task queues once at most: with the root, the queue never grows while tasks run
        self.ready.reserve(self.slots.len() + 1 - self.ready.len());
        TaskId::try_from(self.slots.len() - 1)
            .ok()
            .filter(|&id| id < SWEEP)
            .expect("fewer than 2^32 - 3 tasks")
    }

    fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    #[inline]
    fn wake(&mut self, id: TaskId) {
        let queued = match id {
            ROOT => &mut self.root_queued,
            _ => match self.slots.get_mut(id as usize) {
                Some(slot) => &mut slot.queued,
                None => return,
            },
        };
        if !std::mem::replace(queued, true) {
            self.ready.push_back(id);
        }
    }
}

/// What all futures of one thread share.
pub(crate) struct Core {
    epoll: OwnedFd,
    timer: OwnedFd,
    tasks: RefCell<Tasks>,
    pub(crate) sources: RefCell<Sources>,
    pub(crate) timers: RefCell<Timers>,
    current: Cell<TaskId>,
    /// When the timerfd will expire; `u64::MAX` when it will not.
    armed_ns: Cell<u64>,
    /// The entry of the next sweep, once a stream has a time-out.
    sweep: Cell<Option<TimerKey>>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<Core>>> = const { RefCell::new(None) };
}

impl Core {
    fn new() -> io::Result<Self> {
        let epoll = sys::epoll_create()?;
        let timer = sys::timerfd_create()?;
        sys::epoll_add(epoll.as_fd(), timer.as_raw_fd(), sys::WATCH_READ, TIMER_KEY)?;
        Ok(Self {
            epoll,
            timer,
            tasks: RefCell::default(),
            sources: RefCell::default(),
            timers: RefCell::default(),
            current: Cell::new(NO_TASK),
            armed_ns: Cell::new(u64::MAX),
            sweep: Cell::new(None),
        })
    }

    /// The reactor of this thread.
    ///
    /// # Panics
    /// When the thread runs none: the caller is outside `block_on` and `Reactor::run`.
    pub(crate) fn current() -> Rc<Self> {
        CURRENT
            .with_borrow(std::clone::Clone::clone)
            .expect("called on a thread that runs a reactor")
    }

    /// The task being polled, or [`NO_TASK`] outside of one.
    #[inline]
    pub(crate) fn current_task(&self) -> TaskId {
        self.current.get()
    }

    #[inline]
    pub(crate) fn wake(&self, task: TaskId) {
        self.tasks.borrow_mut().wake(task);
    }

    pub(crate) fn epoll(&self) -> &OwnedFd {
        &self.epoll
    }

    /// From now on, look for streams that waited too long.
    pub(crate) fn start_sweeping(&self) {
        if self.sweep.get().is_none() {
            self.plan_sweep(&mut self.timers.borrow_mut(), now_ns());
        }
    }

    fn plan_sweep(&self, timers: &mut Timers, now_ns: u64) {
        if let Some(fired) = self.sweep.take() {
            timers.remove(fired);
        }
        self.sweep
            .set(Some(timers.insert(now_ns + SWEEP_PERIOD_NS, SWEEP)));
    }

    fn spawn(&self, task: BoxedTask) {
        let mut tasks = self.tasks.borrow_mut();
        let id = tasks.insert(task);
        // each task sleeps once at a time; the root and the sweep do so beside them
        self.timers.borrow_mut().reserve(tasks.slots.len() + 2);
        tasks.wake(id);
    }

    /// Run until `root` is ready, or until no task is left when there is no root. Returns whether the root ended.
    fn run(&self, mut root: Option<Pin<&mut dyn Future<Output = ()>>>) -> io::Result<()> {
        let mut events = [sys::Event { events: 0, u64: 0 }; EVENTS];
        if root.is_some() {
            self.wake(ROOT);
        }
        loop {
            if self.poll_ready(&mut root) || (root.is_none() && self.tasks.borrow().live() == 0) {
                return Ok(());
            }
            let poll_only = !self.tasks.borrow().ready.is_empty();
            if poll_only {
                // nobody sleeps: a look at the clock is cheaper than a system call for each deadline that moved
                self.fire_due();
            } else {
                self.arm_timer()?;
            }
            let events = sys::epoll_wait(self.epoll.as_fd(), &mut events, poll_only)?;
            self.dispatch(events);
        }
    }

    /// Poll every task that was ready when this round began, and say whether the root has ended. Tasks woken meanwhile
    /// wait for the next round, so that a busy task cannot keep sockets and timers from being looked at.
    fn poll_ready(&self, root: &mut Option<Pin<&mut dyn Future<Output = ()>>>) -> bool {
        let round = self.tasks.borrow().ready.len();
        for _ in 0..round {
            let Some(id) = self.tasks.borrow_mut().ready.pop_front() else {
                break;
            };
            self.current.set(id);
            let root_ended = if let (ROOT, Some(root)) = (id, root.as_mut()) {
                self.poll_root(root.as_mut())
            } else {
                self.poll_task(id);
                false
            };
            self.current.set(NO_TASK);
            if root_ended {
                return true;
            }
        }
        false
    }

    fn poll_root(&self, root: Pin<&mut dyn Future<Output = ()>>) -> bool {
        self.tasks.borrow_mut().root_queued = false;
        root.poll(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    }

    #[inline]
    fn poll_task(&self, id: TaskId) {
        let mut task = {
            let slot = &mut self.tasks.borrow_mut().slots[id as usize];
            slot.queued = false;
            // A task that has ended may be woken by an event that was already under way.
            let Some(task) = slot.task.take() else { return };
            task
        };
        match task.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => self.tasks.borrow_mut().slots[id as usize].task = Some(task),
            Poll::Ready(()) => {
                drop(task);
                self.tasks.borrow_mut().free.push(id);
            }
        }
    }

    /// Let the timerfd expire at the earliest deadline. A timer that is too early is left alone: it costs one empty
    /// round, not a system call for each sleep that was cancelled.
    fn arm_timer(&self) -> io::Result<()> {
        match self.timers.borrow().next_ns() {
            Some(next_ns) if next_ns < self.armed_ns.get() => {
                self.armed_ns.set(next_ns);
                sys::timerfd_arm(self.timer.as_fd(), next_ns)
            }
            _ => Ok(()),
        }
    }

    fn dispatch(&self, events: &[sys::Event]) {
        let mut tasks = self.tasks.borrow_mut();
        let mut sources = self.sources.borrow_mut();
        let mut timer_expired = false;
        for event in events {
            let (key, events) = (event.u64, event.events);
            if key == TIMER_KEY {
                timer_expired = true;
            } else {
                tasks.wake(sources.report(SourceKey::from_u64(key), events));
            }
        }
        drop((tasks, sources));
        if timer_expired {
            self.fire_timers();
        }
    }

    /// Fires timers that are due by the clock, whether or not the timerfd knows of them.
    fn fire_due(&self) {
        let next_ns = self.timers.borrow().next_ns();
        if next_ns.is_some_and(|next_ns| next_ns <= now_ns()) {
            self.fire_timers();
        }
    }

    fn fire_timers(&self) {
        self.armed_ns.set(u64::MAX);
        let now_ns = now_ns();
        let mut tasks = self.tasks.borrow_mut();
        let mut timers = self.timers.borrow_mut();
        let mut sweep = false;
        while let Some(task) = timers.pop_due(now_ns) {
            if task == SWEEP {
                sweep = true;
            } else {
                tasks.wake(task);
            }
        }
        if sweep {
            self.plan_sweep(&mut timers, now_ns);
            self.sources
                .borrow_mut()
                .sweep(now_ns, |task| tasks.wake(task));
        }
    }

    /// Drop all tasks. Their destructors may use the reactor, even spawn.
    fn clear(&self) {
        loop {
            let tasks = std::mem::take(&mut *self.tasks.borrow_mut());
            if tasks.slots.is_empty() {
                break;
            }
            drop(tasks.slots);
        }
    }
}

/// Makes a reactor the current one of this thread for as long as it lives.
struct Entered;

impl Entered {
    fn new(core: &Rc<Core>) -> io::Result<Self> {
        CURRENT.with_borrow_mut(|current| {
            if current.is_some() {
                return Err(io::Error::other(
                    "this thread already runs a reactor; spawn a task instead",
                ));
            }
            *current = Some(Rc::clone(core));
            Ok(Self)
        })
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(Option::take);
    }
}

/// One thread's executor. Tasks that are left when it is dropped are dropped with it, and with them their sockets.
pub struct Reactor {
    core: Rc<Core>,
}

impl Reactor {
    /// An executor without tasks. Fails when the process has no descriptors left.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            core: Rc::new(Core::new()?),
        })
    }

    /// Add a task; it starts when the reactor runs.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.core.spawn(Box::pin(task));
    }

    /// Run until every task has ended. Fails when this thread already runs a reactor.
    pub fn run(&self) -> io::Result<()> {
        let _entered = Entered::new(&self.core)?;
        self.core.run(None)
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        // A task's destructor may need the reactor; when another one runs on this thread, it must do without.
        let _entered = Entered::new(&self.core);
        self.core.clear();
    }
}

/// Run `future`, which may borrow from the caller, and all tasks that it spawns, until it is ready; tasks that still
/// run are dropped. Fails when this thread already runs a reactor or the process has no descriptors left.
pub fn block_on<F: Future>(future: F) -> io::Result<F::Output> {
    let reactor = Reactor::new()?;
    let mut output = None;
    {
        let _entered = Entered::new(&reactor.core)?;
        let root = pin!(async { output = Some(future.await) });
        reactor.core.run(Some(root))?;
    }
    output.ok_or_else(|| io::Error::other("the loop ended before its root"))
}

/// Start a task on this thread's reactor.
///
/// # Panics
/// When the thread runs no reactor.
pub fn spawn(task: impl Future<Output = ()> + 'static) {
    Core::current().spawn(Box::pin(task));
}

/// Let every other ready task and socket have its turn.
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|_| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        let core = Core::current();
        core.wake(core.current_task());
        Poll::Pending
    })
    .await;
}
