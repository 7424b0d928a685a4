//! What a worker's sessions write down: no lock, no allocation a statement, handed over slot by slot.

use std::sync::mpsc::{Receiver, SyncSender};

use dyno_record::{Issued, StatementClass, WorkerUse};

use crate::Timeline;
use crate::bucket::{Bucket, OpenBucket};
use crate::cpu::{RunDelay, thread_cpu_us};
use crate::desk::Turn;
use crate::workload::COUNTERS_MAX;

/// What a recorder hands to the collector.
#[derive(Debug)]
pub(crate) struct Handover {
    /// The slot that was counted, if anything can have happened.
    pub slot: usize,
    /// Every slot before this one is now complete: those without a bucket were empty.
    pub complete: usize,
    /// Sessions of the worker that were at work then.
    pub sessions: u64,
    /// Transactions that waited for a free session then.
    pub backlog: u64,
    /// What the worker used of its CPU in the slot.
    pub used: WorkerUse,
    pub bucket: Box<Bucket>,
}

/// Where full buckets go and empty ones come from.
pub(crate) struct Exchange {
    pub full: Box<dyn Fn(Handover)>,
    pub empty: Receiver<Box<Bucket>>,
}

/// The other end of [`Exchange::empty`], for the collector.
pub(crate) type Recycler = SyncSender<Box<Bucket>>;

/// Counts of one worker. Its sessions share it; only they and the worker's own ticker use it.
pub(crate) struct Recorder {
    bucket: Box<Bucket>,
    exchange: Exchange,
    timeline: Timeline,
    /// t = 0 on the monotonic clock; `u64::MAX` until the trial starts, and nothing counts before.
    t0_ns: u64,
    slot: usize,
    /// End of the slot on the monotonic clock.
    boundary_ns: u64,
    worker: usize,
    cpu_us: u64,
    run_delay: RunDelay,
    run_delay_us: Option<u64>,
    sessions: u64,
    backlog: usize,
    issued: Issued,
    successes: u64,
    /// What is due counts in the current slot from here on: in an open loop, what was due in warm-up does not count in
    /// measure.
    due_from_ns: u64,
    /// Transactions of an open loop that were due in measure and have not ended.
    pending: u64,
}

impl Recorder {
    /// Counts of one worker, to be used on its thread.
    pub fn new(worker: usize, timeline: Timeline, exchange: Exchange, bucket: Box<Bucket>) -> Self {
        Self {
            bucket,
            exchange,
            timeline,
            t0_ns: u64::MAX,
            slot: 0,
            boundary_ns: u64::MAX,
            worker,
            cpu_us: 0,
            run_delay: RunDelay::of_this_thread(),
            run_delay_us: None,
            sessions: 0,
            backlog: 0,
            issued: Issued::default(),
            successes: 0,
            due_from_ns: 0,
            pending: 0,
        }
    }

    /// The trial starts at `t0_ns` with this many sessions: forget what was counted while they prepared.
    pub fn start(&mut self, t0_ns: u64, sessions: u64) {
        self.bucket.clear();
        self.t0_ns = t0_ns;
        self.slot = 0;
        self.boundary_ns = t0_ns.saturating_add(self.timeline.slot_end_ns(0));
        self.cpu_us = thread_cpu_us();
        self.run_delay_us = self.run_delay.us();
        self.sessions = sessions;
        self.count_due_from();
    }

    /// When the slot, or one before it, is of measure, nothing that was due in warm-up counts.
    fn count_due_from(&mut self) {
        if self.bucket.open.is_some() && self.slot >= self.timeline.measure_slot() {
            self.due_from_ns = self.t0_ns.saturating_add(self.timeline.measure_start_ns());
        }
    }

    /// A transaction of an open loop became due.
    pub fn due(&mut self, now_ns: u64, due_ns: u64) {
        self.tick(now_ns);
        let measured = self.slot >= self.timeline.measure_slot();
        if let Some(open) = self.counted(due_ns) {
            open.due += 1;
            self.pending += u64::from(measured);
        }
    }

    /// A free session took what was due, and begins.
    pub fn taken(&mut self, start_ns: u64, due_ns: u64) {
        self.tick(start_ns);
        if let Some(open) = self.counted(due_ns) {
            open.generator_lag.saturating_record(start_ns - due_ns);
        }
    }

    /// No session was free for what is due.
    pub fn put_aside(&mut self, now_ns: u64, due_ns: u64) {
        if let Some(open) = self.counted(due_ns) {
            open.generator_lag.saturating_record(now_ns - due_ns);
        }
    }

    /// What is due was dropped.
    pub fn dropped(&mut self, due_ns: u64) {
        let measured = self.slot >= self.timeline.measure_slot();
        if let Some(open) = self.counted(due_ns) {
            open.dropped += 1;
            self.pending -= u64::from(measured);
        }
    }

    /// So many transactions wait for a free session.
    pub fn set_backlog(&mut self, transactions: usize) {
        self.backlog = transactions;
    }

    /// Transactions of an open loop that were due in measure and have not ended.
    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// Where a transaction that was due then counts, when it does in the current slot.
    fn counted(&mut self, due_ns: u64) -> Option<&mut OpenBucket> {
        let open = self.bucket.open.as_mut();
        open.filter(|_| due_ns >= self.due_from_ns)
    }

    /// A session of a closed loop is not active from here on.
    pub fn paused(&mut self, now_ns: u64) {
        self.tick(now_ns);
        self.sessions -= 1;
    }

    /// A session of a closed loop is active again.
    pub fn resumed(&mut self, now_ns: u64) {
        self.tick(now_ns);
        self.sessions += 1;
    }

    /// When the current slot ends, on the monotonic clock.
    pub fn boundary_ns(&self) -> u64 {
        self.boundary_ns
    }

    /// Statements issued so far.
    pub fn issued(&self) -> Issued {
        self.issued
    }

    /// Sessions that have not ended.
    pub fn sessions(&self) -> u64 {
        self.sessions
    }

    /// Transactions that succeeded so far, in every phase.
    pub fn successes(&self) -> u64 {
        self.successes
    }

    /// A statement was sent.
    #[inline]
    pub fn sent(&mut self, class: StatementClass) {
        self.issued.statement(class);
    }

    /// A statement was sent to be prepared.
    pub fn prepared(&mut self) {
        self.issued.prepare += 1;
    }

    /// A session says goodbye: every server counts that among its Questions.
    pub fn quit(&mut self) {
        self.issued.questions += 1;
    }

    /// A statement succeeded.
    #[inline]
    pub fn statement(&mut self, now_ns: u64, kind: usize, latency_ns: u64, rows: u64) {
        self.tick(now_ns);
        self.bucket.statements[kind].saturating_record(latency_ns);
        self.bucket.rows += rows;
    }

    /// A transaction succeeded.
    #[inline]
    pub fn transaction(
        &mut self,
        now_ns: u64,
        kind: usize,
        turn: Turn,
        retries: u64,
        counted: &[u64; COUNTERS_MAX],
    ) {
        self.tick(now_ns);
        self.successes += 1;
        if !self.ended(turn.due_ns) {
            return;
        }
        let counts = &mut self.bucket.transactions[kind];
        counts.ok += 1;
        counts.retries += retries;
        for (sum, more) in counts.counters.iter_mut().zip(counted) {
            *sum += more;
        }
        counts.latency.saturating_record(now_ns - turn.due_ns);
        if let Some(open) = &mut counts.open {
            open.service.saturating_record(now_ns - turn.start_ns);
            open.lag.saturating_record(turn.start_ns - turn.due_ns);
        }
    }

    /// Whether a transaction that was due then and has ended counts in the current slot.
    #[inline]
    fn ended(&mut self, due_ns: u64) -> bool {
        let Some(open) = &mut self.bucket.open else {
            return true;
        };
        let counts = due_ns >= self.due_from_ns;
        if !counts {
            open.carried += 1;
        } else if self.slot >= self.timeline.measure_slot() {
            self.pending -= 1;
        }
        counts
    }

    /// An error was met.
    pub fn error(&mut self, now_ns: u64, code: u16) {
        self.tick(now_ns);
        self.bucket.error(code);
    }

    /// Time went into an attempt that was repeated.
    pub fn lost(&mut self, now_ns: u64, lost_ns: u64) {
        self.tick(now_ns);
        self.bucket.retry_ns += lost_ns;
    }

    /// A session lost its connection, and with it the transaction under way. Until it is back it does not work.
    pub fn transaction_lost(&mut self, now_ns: u64, due_ns: u64) {
        self.tick(now_ns);
        self.bucket.lost += u64::from(self.ended(due_ns));
        self.sessions -= 1;
    }

    /// A session made its connection again.
    pub fn reconnected(&mut self, now_ns: u64) {
        self.tick(now_ns);
        self.bucket.reconnects += 1;
    }

    /// A session that had lost its connection goes on.
    pub fn session_back(&mut self) {
        self.sessions += 1;
    }

    /// A session ended.
    pub fn session_ended(&mut self) {
        self.sessions -= 1;
    }

    /// Hands the bucket over when its slot has passed.
    #[inline]
    pub fn tick(&mut self, now_ns: u64) {
        if now_ns >= self.boundary_ns {
            self.roll(self.timeline.slot(now_ns - self.t0_ns));
        }
    }

    /// Measure ends at this time since t = 0, earlier than planned.
    pub fn end_measure(&mut self, end_ns: u64) {
        self.timeline = self.timeline.ending_at(end_ns);
        self.boundary_ns = self
            .t0_ns
            .saturating_add(self.timeline.slot_end_ns(self.slot));
    }

    /// Nothing counts as measured any more: the trial is cut short.
    pub fn cut(&mut self) {
        if self.t0_ns != u64::MAX && self.slot < self.timeline.slots() {
            self.roll(self.timeline.slots());
        }
    }

    /// The worker has ended. In an open loop, what ended in drain still counts.
    pub fn finish(&mut self) {
        self.cut();
        if self.t0_ns != u64::MAX && self.bucket.open.is_some() {
            self.roll(self.timeline.slots() + 1);
        }
    }

    #[cold]
    fn roll(&mut self, next: usize) {
        let cpu_us = thread_cpu_us();
        let run_delay_us = self.run_delay.us();
        let used = WorkerUse {
            worker: self.worker,
            cpu_us: cpu_us - self.cpu_us,
            run_delay_us: run_delay_us
                .zip(self.run_delay_us)
                .map(|(now, then)| now - then),
        };
        (self.cpu_us, self.run_delay_us) = (cpu_us, run_delay_us);
        // the collector returns buckets within milliseconds; one more is made should it be held up by a slow disk
        let spare = self.exchange.empty.try_recv();
        let mut empty = spare.unwrap_or_else(|_| Box::new(self.bucket.like()));
        std::mem::swap(&mut self.bucket, &mut empty);
        (self.exchange.full)(Handover {
            slot: self.slot,
            complete: next,
            sessions: self.sessions,
            backlog: self.backlog as u64,
            used,
            bucket: empty,
        });
        self.slot = next;
        self.count_due_from();
        self.boundary_ns = self.t0_ns.saturating_add(self.timeline.slot_end_ns(next));
    }
}
