//! A whole trial: start the workers, write the header, collect what they counted, sum up.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dyno_reactor::now_ns;
use dyno_record::{
    ConnectionSpec, Reconnect, Sink, SinkError, Spec, StatementClass, StatementType, Summary,
};
use dyno_wire::ConnectOptions;

use crate::acks::AckLog;
use crate::bucket::Bucket;
use crate::collector::{Collector, Names};
use crate::control::{Control, Stop};
use crate::dial::Dial;
use crate::ledger::{Ledger, places};
use crate::recorder::{Exchange, Handover, Recorder, Recycler};
use crate::schedule::Schedule;
use crate::worker::{self, Ready, Trial, WorkerEnd};
use crate::{Error, Timeline, Workload};

/// The moment at which a trial's sessions begin to work.
#[derive(Debug, Clone)]
pub struct Started {
    /// t = 0 on the monotonic clock (`dyno_reactor::now_ns`).
    pub t0_ns: u64,
    /// Thread ids of the workers.
    pub worker_tids: Vec<libc::pid_t>,
}

/// Who wants to know how a trial goes, beside its record.
pub trait Observer {
    /// Sessions are being connected: `opened` of `sessions` are ready. Called every two seconds until all are.
    fn connecting(&mut self, opened: usize, sessions: usize);
    /// All sessions are ready and the header is written; load begins at `started.t0_ns`, a moment from now.
    fn started(&mut self, started: &Started);
}

/// From the decision to start until the start: longer than the slowest worker needs to hear of it.
const START_DELAY_NS: u64 = 100_000_000;
/// From the wish to end measure until its earliest end: longer than the slowest worker needs to hear of it.
const END_DELAY_NS: u64 = 200_000_000;
/// How often the collector looks for signals and for a broken sink.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const PROGRESS_EVERY: Duration = Duration::from_secs(2);
/// Messages under way from workers to collector: minutes of buckets.
const MESSAGES: usize = 1024;
/// Spare buckets of a worker.
const SPARES: usize = 3;

enum Message {
    Ready(usize, Ready),
    Full(usize, Handover),
    Ended(usize, WorkerEnd),
}

/// Drives a workload as a checked spec asks and writes what happens to `sink`, except the summary: that is returned,
/// so that whatever else writes to the sink can finish before its last line.
///
/// A trial that fails has a summary too. An error means that the record could not be written: there is no result.
pub fn run<W: Workload>(
    workload: Arc<W>,
    spec: &Spec,
    connect: &ConnectOptions,
    sink: &Sink,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<Summary, SinkError> {
    let mut coordinator = Coordinator::start(workload, spec, connect, sink.clone());
    let done = coordinator.watch(stop, observer);
    if done.is_err() {
        coordinator.trial.control.abort(now_ns());
    }
    let Coordinator {
        trial,
        threads,
        messages,
        mut collector,
        mut ledger,
    } = coordinator;
    // the workers may still want to hand over; their messages go nowhere from here on
    drop(messages);
    for thread in threads {
        if thread.join().is_err() {
            let error = Error::rig("a worker thread panicked; its message is on standard error");
            trial.control.fail(now_ns(), error);
        }
    }
    done?;
    ledger.cut(&trial.control, &mut collector);
    ledger.summary(&trial.control, &mut collector)
}

struct Coordinator<W> {
    trial: Arc<Trial<W>>,
    threads: Vec<JoinHandle<()>>,
    messages: Receiver<Message>,
    collector: Collector,
    ledger: Ledger,
}

/// The statement types of a trial: the workload's, then those of the driver itself.
struct Types {
    all: Vec<StatementType>,
    /// Index of ROLLBACK; the workload's own when it has one.
    rollback: usize,
    /// Index of the time that connecting takes, when sessions connect while they work.
    connect: Option<usize>,
}

impl Types {
    fn new(workload: &impl Workload, connection: &ConnectionSpec) -> Self {
        let mut all = workload.statement_types();
        let mut add = |name: &str, class| {
            all.push(StatementType {
                name: name.into(),
                class,
            });
            all.len() - 1
        };
        let connects = connection.per_transaction || connection.reconnect == Reconnect::Reconnect;
        let connect = connects.then(|| add("connect", StatementClass::Other));
        let known = all.iter().position(|t| t.class == StatementClass::Rollback);
        let rollback = known.unwrap_or_else(|| {
            all.push(StatementType {
                name: "rollback".into(),
                class: StatementClass::Rollback,
            });
            all.len() - 1
        });
        Self {
            all,
            rollback,
            connect,
        }
    }
}

/// A worker's supply of empty buckets, and where the collector returns them.
fn spare_buckets(names: &Names) -> (Recycler, Receiver<Box<Bucket>>) {
    let (recycler, empty) = sync_channel(SPARES + 1);
    for _ in 0..SPARES {
        recycler
            .try_send(Box::new(names.bucket()))
            .expect("the channel has room");
    }
    (recycler, empty)
}

impl<W: Workload> Coordinator<W> {
    fn start(workload: Arc<W>, spec: &Spec, connect: &ConnectOptions, sink: Sink) -> Self {
        let timeline = Timeline::new(spec);
        let types = Types::new(&*workload, &spec.connection);
        let dial = Dial::new(spec, connect, types.connect);
        let dial = dial.beginning_with(workload.session_init());
        let dial = Arc::new(dial.dealt_over(&workload.databases()));
        let transactions = workload.transaction_types();
        let counters = |kind| workload.counters(kind);
        let names = Names {
            counters: (0..transactions.len()).map(counters).collect(),
            transactions,
            statements: types.all,
            kind: spec.load.kind(),
        };
        let places = places(spec);
        let workers = places.len();
        let control = Control::new();
        let log = |path| AckLog::open(path, names.transactions.clone());
        let acks = spec.ack_log.as_deref().map(log).transpose();
        let acks = acks.unwrap_or_else(|error| {
            control.fail(now_ns(), error);
            None
        });
        let trial = Arc::new(Trial {
            workload,
            spec: spec.clone(),
            timeline,
            schedule: Arc::new(Schedule::new(spec.load.profile(), &timeline)),
            workers,
            dial,
            begun_ns: now_ns(),
            classes: names.statements.iter().map(|t| t.class).collect(),
            rollback: types.rollback,
            control,
            acks,
        });
        let (sender, messages) = sync_channel(MESSAGES);
        let (mut threads, mut recyclers) = (Vec::new(), Vec::new());
        for (worker, (cpu, sessions)) in places.into_iter().enumerate() {
            let (recycler, empty) = spare_buckets(&names);
            recyclers.push(recycler);
            let (first, sender) = (Box::new(names.bucket()), sender.clone());
            let start = Start {
                worker,
                cpu,
                sessions,
                first,
                empty,
                sender,
            };
            threads.extend(start.spawn(&trial));
        }
        let ledger = Ledger::new(spec, timeline, sink.clone(), workers);
        Self {
            trial,
            threads,
            messages,
            collector: Collector::new(sink, timeline, names, recyclers),
            ledger,
        }
    }

    /// Handles messages until every worker has ended.
    fn watch(&mut self, stop: &Stop, observer: &mut dyn Observer) -> Result<(), SinkError> {
        let mut progress_ns = now_ns();
        while self.ledger.ended.iter().any(Option::is_none) {
            match self.messages.recv_timeout(LOOK_EVERY) {
                Ok(message) => self.take(message, observer)?,
                Err(RecvTimeoutError::Timeout) => {}
                // only a panic ends a worker without its last message
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.ledger.sink.check()?;
            self.look(stop);
            let waited_ns = now_ns() - progress_ns;
            if self.ledger.t0_ns.is_none() && u128::from(waited_ns) >= PROGRESS_EVERY.as_nanos() {
                progress_ns += waited_ns;
                observer.connecting(
                    self.trial.control.opened(),
                    self.ledger.spec.load.sessions(),
                );
            }
        }
        if self.ledger.t0_ns.is_none() {
            self.ledger.write_header(now_ns(), self.collector.names())?;
        }
        Ok(())
    }

    fn look(&mut self, stop: &Stop) {
        let control = &self.trial.control;
        match stop.requests() {
            0 => {}
            1 => control.stop(now_ns()),
            _ => control.abort(now_ns()),
        }
        if stop.is_enough() && control.measure_end_ns().is_none() {
            self.end_measure();
        }
    }

    /// Ends measure with the interval under way, once the trial has started.
    fn end_measure(&self) {
        let Some(t0_ns) = self.ledger.t0_ns else {
            return;
        };
        let heard_ns = (now_ns() + END_DELAY_NS).saturating_sub(t0_ns);
        if let Some(end_ns) = self.trial.timeline.early_end_ns(heard_ns) {
            self.trial.control.end_measure_at(t0_ns + end_ns);
        }
    }

    fn take(&mut self, message: Message, observer: &mut dyn Observer) -> Result<(), SinkError> {
        match message {
            Message::Ready(worker, ready) => {
                self.ledger.ready[worker] = Some(ready);
                if self.ledger.ready.iter().all(Option::is_some) {
                    self.begin(observer)?;
                }
            }
            Message::Full(worker, handover) => {
                self.ledger.cut(&self.trial.control, &mut self.collector);
                self.collector.take(worker, handover)?;
            }
            Message::Ended(worker, end) => self.ledger.ended[worker] = Some(end),
        }
        Ok(())
    }

    /// All sessions are ready: name the moment at which they start, and write the header.
    fn begin(&mut self, observer: &mut dyn Observer) -> Result<(), SinkError> {
        let ledger = &mut self.ledger;
        let t0_ns = now_ns() + START_DELAY_NS;
        self.trial.control.start_at(t0_ns);
        ledger.t0_ns = Some(t0_ns);
        ledger.write_header(t0_ns, self.collector.names())?;
        self.collector.start()?;
        let worker_tids = ledger.ready.iter().flatten().map(|r| r.tid).collect();
        observer.started(&Started { t0_ns, worker_tids });
        Ok(())
    }
}

/// What a worker thread is given.
struct Start {
    worker: usize,
    cpu: Option<usize>,
    sessions: Vec<usize>,
    first: Box<Bucket>,
    empty: Receiver<Box<Bucket>>,
    sender: SyncSender<Message>,
}

impl Start {
    fn spawn<W: Workload>(self, trial: &Arc<Trial<W>>) -> Option<JoinHandle<()>> {
        let name = format!("worker-{}", self.worker);
        let thread = {
            let trial = Arc::clone(trial);
            thread::Builder::new()
                .name(name)
                .spawn(move || self.run(&trial))
        };
        // without its thread the worker's sender is gone, and the failure is found when all have ended
        thread
            .inspect_err(|e| {
                let error = Error::rig(format!("cannot start a worker thread: {e}"));
                trial.control.fail(now_ns(), error);
            })
            .ok()
    }

    // A message that nobody takes any more belongs to a trial that is over.
    fn run<W: Workload>(self, trial: &Arc<Trial<W>>) {
        let Self {
            worker,
            cpu,
            sessions,
            first,
            empty,
            sender,
        } = self;
        let full = {
            let sender = sender.clone();
            Box::new(move |handover| drop(sender.send(Message::Full(worker, handover))))
        };
        let recorder = Recorder::new(worker, trial.timeline, Exchange { full, empty }, first);
        let ready = |ready| drop(sender.send(Message::Ready(worker, ready)));
        let end = worker::run(trial, cpu, worker, &sessions, recorder, ready);
        drop(sender.send(Message::Ended(worker, end)));
    }
}
