//! Puts the workers' buckets together: one `interval` line a slot, and the totals of measure.

use std::collections::BTreeMap;

use dyno_record::{
    HistogramCodec, Interval, Line, Loop, PhaseName, PhaseStart, Sink, SinkError, StatementType,
    WorkerUse,
};

use crate::Timeline;
use crate::bucket::Bucket;
use crate::recorder::{Handover, Recycler};

/// Names of what is counted, in the header's order.
pub(crate) struct Names {
    pub transactions: Vec<String>,
    pub statements: Vec<StatementType>,
    /// What else is counted, for each transaction type.
    pub counters: Vec<Vec<String>>,
    /// Decides what is counted of a transaction.
    pub kind: Loop,
}

impl Names {
    /// An empty bucket for these types.
    pub fn bucket(&self) -> Bucket {
        Bucket::new(self.transactions.len(), self.statements.len(), self.kind)
    }
}

pub(crate) struct Collector {
    sink: Sink,
    timeline: Timeline,
    names: Names,
    recyclers: Vec<Recycler>,
    codec: HistogramCodec,
    /// For each worker, the first slot that it may still add to.
    complete: Vec<usize>,
    /// Slots that some workers have handed over and others have not.
    pending: BTreeMap<usize, Slot>,
    /// Sums of slots that are written.
    spares: Vec<Bucket>,
    /// The next slot to write.
    next: usize,
    /// When the trial was cut short, since t = 0.
    stop_ns: u64,
    totals: Bucket,
    /// Transactions that waited for a free session at the end of the last interval of measure.
    backlog: u64,
    /// What ended in the drain of an open loop.
    drain: Option<Bucket>,
}

/// The sum of what workers handed over for one slot.
#[derive(Debug)]
struct Slot {
    bucket: Bucket,
    /// Sessions at work at its end.
    sessions: u64,
    /// Transactions that waited for a free session at its end.
    backlog: u64,
}

/// Nanoseconds as the microseconds of a record.
pub(crate) fn us(ns: u64) -> i64 {
    i64::try_from(ns / 1000).unwrap_or(i64::MAX)
}

impl Collector {
    pub fn new(sink: Sink, timeline: Timeline, names: Names, recyclers: Vec<Recycler>) -> Self {
        let totals = names.bucket();
        let drain = (names.kind == Loop::Open).then(|| names.bucket());
        Self {
            sink,
            timeline,
            names,
            complete: vec![0; recyclers.len()],
            recyclers,
            codec: HistogramCodec::default(),
            pending: BTreeMap::new(),
            spares: Vec::new(),
            next: 0,
            stop_ns: u64::MAX,
            totals,
            backlog: 0,
            drain,
        }
    }

    /// The trial starts: the first phase does.
    pub fn start(&mut self) -> Result<(), SinkError> {
        self.sink.write(&Line::Phase(PhaseStart {
            t_us: 0,
            phase: self.timeline.slot_phase(0),
        }))
    }

    /// The trial is cut short at this time since t = 0: nothing later is an interval.
    pub fn stop_at(&mut self, t_ns: u64) {
        self.stop_ns = self.stop_ns.min(t_ns);
    }

    /// Measure ends at this time since t = 0, earlier than planned.
    pub fn end_measure(&mut self, end_ns: u64) {
        self.timeline = self.timeline.ending_at(end_ns);
    }

    /// Takes one worker's bucket, and writes every slot that no worker can add to any more.
    pub fn take(&mut self, worker: usize, mut handover: Handover) -> Result<(), SinkError> {
        let slots = self.timeline.slots();
        if handover.slot < slots {
            let slot = self.slot(handover.slot);
            slot.bucket.add(&handover.bucket);
            slot.bucket.worker_used(handover.used);
        } else if let Some(drain) = &mut self.drain {
            drain.add(&handover.bucket);
            drain.worker_used(handover.used);
        }
        // slots that the worker went past had the same sessions and the same backlog; there are none after a cut
        let cut = self.timeline.slot(self.stop_ns).saturating_add(1);
        for slot in handover.slot..handover.complete.min(slots).min(cut) {
            let slot = self.slot(slot);
            slot.sessions += handover.sessions;
            slot.backlog += handover.backlog;
        }
        handover.bucket.clear();
        // a worker that has enough spare buckets, or has ended, does not need this one
        let _ = self.recyclers[worker].try_send(handover.bucket);
        self.complete[worker] = handover.complete;
        let complete = self.complete.iter().copied().min().unwrap_or(0);
        while self.next < complete.min(slots) {
            self.finish_slot()?;
        }
        Ok(())
    }

    /// The sum of a slot that is not written yet.
    fn slot(&mut self, slot: usize) -> &mut Slot {
        self.pending.entry(slot).or_insert_with(|| Slot {
            // a used bucket, for it is megabytes to allocate
            bucket: self.spares.pop().unwrap_or_else(|| self.names.bucket()),
            sessions: 0,
            backlog: 0,
        })
    }

    fn finish_slot(&mut self) -> Result<(), SinkError> {
        let slot = self.next;
        let start_ns = self.timeline.slot_start_ns(slot);
        let end_ns = self.timeline.slot_end_ns(slot).min(self.stop_ns);
        self.slot(slot);
        let Some(mut sum) = self.pending.remove(&slot) else {
            return Ok(());
        };
        self.next += 1;
        if start_ns < end_ns {
            let phase = self.timeline.slot_phase(slot);
            if phase == PhaseName::Measure {
                self.totals.add(&sum.bucket);
                self.backlog = sum.backlog;
            }
            let interval = self.interval(phase, start_ns, end_ns, &sum);
            self.sink.write(&Line::Interval(interval))?;
        }
        sum.bucket.clear();
        self.spares.push(sum.bucket);
        self.phase_after(slot)
    }

    fn interval(&mut self, phase: PhaseName, start_ns: u64, end_ns: u64, slot: &Slot) -> Interval {
        let bucket = &slot.bucket;
        let workers = self.workers(bucket);
        Interval {
            t_us: us(end_ns),
            duration_us: (end_ns - start_ns) / 1000,
            phase,
            sessions: slot.sessions,
            transactions: bucket.transactions(
                &self.names.transactions,
                &self.names.counters,
                &mut self.codec,
            ),
            statements: bucket.statements(&self.names.statements, &mut self.codec),
            errors: bucket.errors.clone(),
            rows: bucket.rows,
            client_cpu_us: workers.iter().map(|w| w.cpu_us).sum(),
            workers,
            retry_us: bucket.retry_ns / 1000,
            lost: bucket.lost,
            reconnects: bucket.reconnects,
            open: bucket.open(slot.backlog, &mut self.codec),
        }
    }

    /// What each worker used; one that handed nothing over was held up, and is told of later.
    fn workers(&self, bucket: &Bucket) -> Vec<WorkerUse> {
        let used = |worker| bucket.workers.iter().find(|used| used.worker == worker);
        let none = |worker| WorkerUse {
            worker,
            cpu_us: 0,
            run_delay_us: None,
        };
        (0..self.recyclers.len())
            .map(|worker| used(worker).copied().unwrap_or_else(|| none(worker)))
            .collect()
    }

    /// A phase that begins where this slot ended, or where the trial was cut short within it.
    fn phase_after(&mut self, slot: usize) -> Result<(), SinkError> {
        let (start_ns, end_ns) = (
            self.timeline.slot_start_ns(slot),
            self.timeline.slot_end_ns(slot),
        );
        let cut = (start_ns..end_ns).contains(&self.stop_ns);
        let next = self.timeline.slot_phase(slot + 1);
        if cut {
            self.write_phase(self.stop_ns, PhaseName::Drain)
        } else if end_ns <= self.stop_ns && next != self.timeline.slot_phase(slot) {
            self.write_phase(end_ns, next)
        } else {
            Ok(())
        }
    }

    fn write_phase(&self, t_ns: u64, phase: PhaseName) -> Result<(), SinkError> {
        self.sink.write(&Line::Phase(PhaseStart {
            t_us: us(t_ns),
            phase,
        }))
    }

    /// Length of the measured time.
    pub fn measure_us(&self) -> u64 {
        let end_ns = self.timeline.measure_end_ns().min(self.stop_ns);
        end_ns.saturating_sub(self.timeline.measure_start_ns()) / 1000
    }

    /// The trial has ended at this time since t = 0: writes what an open loop counted in drain.
    pub fn finish(&mut self, end_ns: u64) -> Result<(), SinkError> {
        let Some(bucket) = self.drain.take() else {
            return Ok(());
        };
        self.totals.add(&bucket);
        let start_ns = self.timeline.measure_end_ns().min(self.stop_ns);
        let slot = Slot {
            bucket,
            sessions: 0,
            backlog: 0,
        };
        let interval = self.interval(PhaseName::Drain, start_ns, end_ns.max(start_ns), &slot);
        self.sink.write(&Line::Interval(interval))
    }

    /// Everything that counts as measured, for the summary.
    pub fn totals(&mut self) -> Interval {
        let slot = Slot {
            bucket: std::mem::replace(&mut self.totals, Bucket::new(0, 0, Loop::Closed)),
            sessions: 0,
            backlog: self.backlog,
        };
        let (end_ns, duration_ns) = (self.timeline.measure_end_ns(), self.measure_us() * 1000);
        self.interval(
            PhaseName::Measure,
            end_ns.saturating_sub(duration_ns),
            end_ns,
            &slot,
        )
    }

    pub fn names(&self) -> &Names {
        &self.names
    }
}
