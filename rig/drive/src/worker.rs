//! One worker: a pinned thread, its reactor, its sessions, and the ticker that keeps their time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use dyno_reactor::{Signal, block_on, now_ns, pin_current_thread, sleep, sleep_until_ns, spawn};
use dyno_record::{Issued, Load, Spec, StatementClass};
use dyno_wire::Connection;

use crate::acks::AckLog;
use crate::arrivals::Arrivals;
use crate::client::Common;
use crate::connect::open_all;
use crate::control::Control;
use crate::desk::Desk;
use crate::dial::Dial;
use crate::pace::Pacing;
use crate::recorder::Recorder;
use crate::schedule::Schedule;
use crate::{Error, Timeline, Workload, pace, session};

/// What all workers of a trial share.
pub(crate) struct Trial<W> {
    pub workload: Arc<W>,
    pub spec: Spec,
    pub timeline: Timeline,
    /// Active sessions, or transactions a second, over time.
    pub schedule: Arc<Schedule>,
    pub workers: usize,
    pub dial: Arc<Dial>,
    /// When the first session may connect.
    pub begun_ns: u64,
    pub classes: Vec<StatementClass>,
    /// Index of the statement type of the driver's own ROLLBACK.
    pub rollback: usize,
    pub control: Control,
    /// Where acknowledged transactions are written down, when the spec asks for that.
    pub acks: Option<AckLog>,
}

/// The server as the first session of a worker met it.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub server_version: String,
    pub connection: dyno_record::Connection,
}

impl Peer {
    pub fn of(connection: &Connection, isolation: Option<String>) -> Self {
        let info = connection.info().clone();
        Self {
            server_version: connection.server_version().to_owned(),
            connection: dyno_record::Connection {
                transport: info.transport,
                auth_plugin: info.auth_plugin,
                capabilities: info.capabilities,
                tls: info.tls,
                compression: info.compression,
                isolation,
            },
        }
    }
}

/// All sessions of a worker are connected and prepared.
#[derive(Debug)]
pub(crate) struct Ready {
    pub tid: libc::pid_t,
    pub peer: Option<Peer>,
}

/// How a worker ended.
#[derive(Debug, Default)]
pub(crate) struct WorkerEnd {
    pub issued: Issued,
    /// Transactions under way when the rest was dropped; in an open loop, those due in measure that had not ended.
    pub unfinished: u64,
    /// Of them, those that never began.
    pub unstarted: u64,
    pub successes: u64,
    /// The last error that made a transaction repeat.
    pub repeated: Option<Error>,
}

/// What the sessions of one worker share.
pub(crate) struct Local<W> {
    pub trial: Arc<Trial<W>>,
    pub recorder: Rc<RefCell<Recorder>>,
    pub common: Rc<Common>,
    /// No transaction begins from here on.
    pub stop_ns: Cell<u64>,
    /// Set when that time has come.
    pub stopped: Signal,
    /// Session tasks that have not ended.
    pub live: Cell<usize>,
    pub repeated: RefCell<Option<Error>>,
}

/// How often a worker looks for a wish to stop. Costs about 20 µs of CPU time a second.
const LOOK_EVERY_NS: u64 = 50_000_000;
/// How often a worker looks while nothing is measured.
const LOOK_OFTEN_NS: u64 = 1_000_000;

/// Runs a worker on this thread until its sessions have ended or the trial has.
pub(crate) fn run<W: Workload>(
    trial: &Arc<Trial<W>>,
    cpu: Option<usize>,
    worker: usize,
    sessions: &[usize],
    recorder: Recorder,
    ready: impl FnOnce(Ready),
) -> WorkerEnd {
    let recorder = Rc::new(RefCell::new(recorder));
    let common = Common::new(
        Rc::clone(&recorder),
        &trial.classes,
        trial.spec.statement_mode,
        Arc::clone(&trial.dial),
    );
    let local = Rc::new(Local {
        trial: Arc::clone(trial),
        recorder,
        common: Rc::new(common),
        stop_ns: Cell::new(0),
        stopped: Signal::new(),
        live: Cell::new(0),
        repeated: RefCell::new(None),
    });
    let done = cpu
        .map_or(Ok(()), pin_current_thread)
        .and_then(|()| block_on(work(&local, worker, sessions, ready)));
    let mut end = done.unwrap_or_else(|error| {
        trial.control.fail(now_ns(), Error::rig(error.to_string()));
        WorkerEnd::default()
    });
    // statements may still have been counted while the reactor dropped its tasks
    end.issued = local.recorder.borrow().issued();
    end
}

async fn work<W: Workload>(
    local: &Rc<Local<W>>,
    worker: usize,
    sessions: &[usize],
    ready: impl FnOnce(Ready),
) -> WorkerEnd {
    let control = &local.trial.control;
    let Some(mut opened) = open_all(local, sessions).await else {
        return WorkerEnd::default();
    };
    // SAFETY: no arguments, cannot fail.
    let tid = unsafe { libc::gettid() };
    ready(Ready {
        tid,
        peer: opened.first_mut().and_then(|o| o.peer.take()),
    });
    let desk = desk(local, sessions.len());
    let t0_ns = loop {
        match control.t0_ns() {
            Some(t0_ns) => break t0_ns,
            None if control.stop_ns().is_some() => return WorkerEnd::default(),
            None => sleep(Duration::from_nanos(LOOK_OFTEN_NS)).await,
        }
    };
    local
        .recorder
        .borrow_mut()
        .start(t0_ns, opened.len() as u64);
    local
        .stop_ns
        .set(t0_ns + local.trial.timeline.measure_end_ns());
    local.live.set(opened.len());
    let pacing = pacing(local, desk.as_ref());
    for (seat, session) in opened.into_iter().enumerate() {
        let pace = pacing.session(t0_ns, session.index, seat);
        spawn(session::run(Rc::clone(local), session, pace, t0_ns));
    }
    if let Some(desk) = &desk {
        arrive(local, desk, worker, t0_ns);
    }
    tend(local, &pacing, t0_ns).await;
    let measure_ns = t0_ns + local.trial.timeline.measure_start_ns();
    let mut recorder = local.recorder.borrow_mut();
    recorder.finish();
    WorkerEnd {
        issued: recorder.issued(),
        unfinished: match desk {
            Some(_) => recorder.pending(),
            None => recorder.sessions(),
        },
        unstarted: desk.map_or(0, |desk| desk.waiting_since(measure_ns)),
        successes: recorder.successes(),
        repeated: local.repeated.take(),
    }
}

/// Where what is due meets the sessions, in an open loop. Made before the trial starts: it may be large.
fn desk<W: Workload>(local: &Local<W>, sessions: usize) -> Option<Rc<Desk>> {
    let Load::Open(open) = &local.trial.spec.load else {
        return None;
    };
    let backlog_max = open.backlog_max.div_ceil(local.trial.workers);
    let recorder = Rc::clone(&local.recorder);
    Some(Rc::new(Desk::new(sessions, backlog_max, recorder)))
}

fn pacing<W: Workload>(local: &Local<W>, desk: Option<&Rc<Desk>>) -> Pacing {
    match desk {
        Some(desk) => Pacing::Open(Rc::clone(desk)),
        None => Pacing::Closed(Arc::clone(&local.trial.schedule)),
    }
}

/// Starts the task that watches the schedule of an open loop.
fn arrive<W: Workload>(local: &Rc<Local<W>>, desk: &Rc<Desk>, worker: usize, t0_ns: u64) {
    let trial = &local.trial;
    if let Load::Open(open) = &trial.spec.load {
        let (seed, workers) = (trial.spec.seed, trial.workers);
        let arrivals = Arrivals::new(&trial.schedule, open.arrivals, seed, worker, workers);
        let (desk, spin_ns) = (Rc::clone(desk), open.spin_us * 1000);
        let local = Rc::clone(local);
        spawn(pace::arrive(local, desk, arrivals, t0_ns, spin_ns));
    }
}

/// Watches over the sessions until all have ended, the drain is over or the trial is aborted.
async fn tend<W: Workload>(local: &Local<W>, pacing: &Pacing, t0_ns: u64) {
    let control = &local.trial.control;
    let drain_ns = local.trial.timeline.drain_ns();
    while local.live.get() > 0 && !control.aborted() {
        if let Some(end_ns) = control
            .measure_end_ns()
            .filter(|&ns| ns < local.stop_ns.get())
        {
            local.stop_ns.set(end_ns);
            local.recorder.borrow_mut().end_measure(end_ns - t0_ns);
        }
        if let Some(stop_ns) = control.stop_ns().filter(|&ns| ns < local.stop_ns.get()) {
            local.stop_ns.set(stop_ns);
            local.recorder.borrow_mut().cut();
            pacing.stop();
        }
        let now_ns = now_ns();
        local.recorder.borrow_mut().tick(now_ns);
        let stop_ns = local.stop_ns.get();
        let drain_end_ns = stop_ns + drain_ns;
        if now_ns >= drain_end_ns {
            break;
        }
        let look_ns = if now_ns >= stop_ns {
            local.stopped.set();
            pacing.end(stop_ns);
            LOOK_OFTEN_NS
        } else {
            LOOK_EVERY_NS
        };
        let boundary_ns = local.recorder.borrow().boundary_ns();
        sleep_until_ns((now_ns + look_ns).min(boundary_ns).min(drain_end_ns)).await;
    }
}
