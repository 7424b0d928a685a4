//! What is known of a trial besides its counts: the first and the last lines of its record come from here.

use std::time::{SystemTime, UNIX_EPOCH};

use dyno_reactor::now_ns;
use dyno_record::{
    HIGHEST_NS, Header, HistogramShape, Issued, LatencyIs, Level, Line, Loop, MeasureEnd, Note,
    Outcome, PhaseName, PhaseStart, RECORD_FORMAT, SIGNIFICANT_DIGITS, Sink, SinkError, Spec,
    Summary, WorkerPlace,
};

use crate::collector::{Collector, Names, us};
use crate::control::Control;
use crate::cpu::process_cpu_us;
use crate::worker::{Peer, Ready, WorkerEnd};
use crate::{Error, Timeline};

/// What is known of the trial besides its buckets.
pub(crate) struct Ledger {
    pub sink: Sink,
    pub spec: Spec,
    timeline: Timeline,
    begun_ns: u64,
    pub ready: Vec<Option<Ready>>,
    pub ended: Vec<Option<WorkerEnd>>,
    pub t0_ns: Option<u64>,
}

/// Sessions dealt round-robin over the workers: one a CPU, or one unpinned.
pub(crate) fn places(spec: &Spec) -> Vec<(Option<usize>, Vec<usize>)> {
    let sessions = spec.load.sessions();
    let cpus: Vec<Option<usize>> = if spec.cpus.is_empty() {
        vec![None]
    } else {
        spec.cpus.iter().copied().map(Some).collect()
    };
    let workers = cpus.len().min(sessions);
    let deal = |(worker, cpu)| (cpu, (worker..sessions).step_by(workers).collect());
    cpus.into_iter()
        .take(workers)
        .enumerate()
        .map(deal)
        .collect()
}

impl Ledger {
    /// The ledger of a trial that begins now.
    pub fn new(spec: &Spec, timeline: Timeline, sink: Sink, workers: usize) -> Self {
        Self {
            sink,
            spec: spec.clone(),
            timeline,
            begun_ns: now_ns(),
            ready: (0..workers).map(|_| None).collect(),
            ended: (0..workers).map(|_| None).collect(),
            t0_ns: None,
        }
    }

    fn peer(&self) -> Option<&Peer> {
        self.ready.iter().flatten().find_map(|r| r.peer.as_ref())
    }

    /// Tells the collector of an early end. A worker that was cut hands over at once, so this comes before its bucket.
    pub fn cut(&mut self, control: &Control, collector: &mut Collector) {
        if let (Some(end_ns), Some(t0_ns)) = (control.measure_end_ns(), self.t0_ns) {
            self.timeline = self.timeline.ending_at(end_ns - t0_ns);
            collector.end_measure(end_ns - t0_ns);
        }
        if let (Some(stop_ns), Some(t0_ns)) = (control.stop_ns(), self.t0_ns) {
            collector.stop_at(stop_ns.saturating_sub(t0_ns));
        }
    }

    pub fn write_header(&self, t0_ns: u64, names: &Names) -> Result<(), SinkError> {
        let now_ns = now_ns();
        let epoch_us = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_micros();
        let places = places(&self.spec).into_iter().enumerate();
        let header = Header {
            format: RECORD_FORMAT.into(),
            rig_version: env!("CARGO_PKG_VERSION").into(),
            t_epoch_us: u64::try_from(epoch_us).unwrap_or(u64::MAX)
                + t0_ns.saturating_sub(now_ns) / 1000,
            spec: self.spec.clone(),
            server_version: self.peer().map(|p| p.server_version.clone()),
            connection: self.peer().map(|p| p.connection.clone()),
            workers: places
                .map(|(worker, (cpu, _))| WorkerPlace { worker, cpu })
                .collect(),
            r#loop: names.kind,
            latency_is: match names.kind {
                Loop::Closed => LatencyIs::Service,
                Loop::Open => LatencyIs::Response,
            },
            transaction_types: names.transactions.clone(),
            statement_types: names.statements.clone(),
            histogram: HistogramShape {
                unit: "ns".into(),
                significant_digits: SIGNIFICANT_DIGITS,
                highest: HIGHEST_NS,
            },
        };
        self.sink.write(&Line::Header(Box::new(header)))?;
        let connect_us = us(t0_ns.saturating_sub(self.begun_ns));
        self.sink.write(&Line::Phase(PhaseStart {
            t_us: -connect_us,
            phase: PhaseName::Connect,
        }))
    }

    pub fn summary(
        &mut self,
        control: &Control,
        collector: &mut Collector,
    ) -> Result<Summary, SinkError> {
        let ends: Vec<WorkerEnd> = self.ended.drain(..).flatten().collect();
        let mut issued = Issued::default();
        for end in &ends {
            issued.add(&end.issued);
        }
        let unfinished = ends.iter().map(|end| end.unfinished).sum();
        let unstarted = ends.iter().map(|end| end.unstarted).sum();
        let t_us = self
            .t0_ns
            .map_or(0, |t0_ns| us(now_ns().saturating_sub(t0_ns)));
        let (outcome, error) = self.outcome(control, ends, unfinished);
        if unfinished > 0 {
            self.note_unfinished(t_us, unfinished, unstarted, outcome)?;
        }
        let measure_us = if self.t0_ns.is_some() {
            collector.measure_us()
        } else {
            0
        };
        if let Some(t0_ns) = self.t0_ns {
            collector.finish(now_ns().saturating_sub(t0_ns))?;
        }
        let totals = collector.totals();
        Ok(Summary {
            t_us,
            outcome,
            error: error.map(|e| e.failure(&collector.names().statements)),
            measure_us,
            measure_end: match control.measure_end_ns() {
                Some(_) => MeasureEnd::Asked,
                None => MeasureEnd::Planned,
            },
            transactions: totals.transactions,
            statements: totals.statements,
            errors: totals.errors,
            issued,
            unfinished,
            client_cpu_us: process_cpu_us(),
            rows: totals.rows,
            retry_us: totals.retry_us,
            lost: totals.lost,
            reconnects: totals.reconnects,
            open: totals.open,
            unstarted,
            probe_statements: 0,
        })
    }

    fn note_unfinished(
        &self,
        t_us: i64,
        unfinished: u64,
        unstarted: u64,
        outcome: Outcome,
    ) -> Result<(), SinkError> {
        let when = match outcome {
            Outcome::Ok => format!("within the drain of {} s", self.spec.phases.drain_s),
            Outcome::Failed => "before the trial failed".into(),
            Outcome::Interrupted => "before the trial was interrupted".into(),
        };
        let never = match unstarted {
            0 => String::new(),
            n => format!(", of which {n} never began"),
        };
        let text = format!(
            "{unfinished} transactions did not end {when}{never}; their connections were closed"
        );
        self.sink.write(&Line::Note(Note {
            t_us,
            level: Level::Warn,
            text,
        }))
    }

    /// How the trial ended, and why. A trial without one success has failed: with the error that made its transactions
    /// repeat until the end, or because none of them ended.
    fn outcome(
        &self,
        control: &Control,
        ends: Vec<WorkerEnd>,
        unfinished: u64,
    ) -> (Outcome, Option<Error>) {
        if let Some(failure) = control.take_failure() {
            return (Outcome::Failed, Some(failure));
        }
        let measure_end_ns = self
            .t0_ns
            .map(|t0_ns| t0_ns + self.timeline.measure_end_ns());
        if control
            .stop_ns()
            .is_some_and(|stop_ns| measure_end_ns.is_none_or(|end_ns| stop_ns < end_ns))
        {
            return (Outcome::Interrupted, None);
        }
        let successes: u64 = ends.iter().map(|end| end.successes).sum();
        let repeated = ends.into_iter().find_map(|end| end.repeated);
        if successes > 0 {
            return (Outcome::Ok, None);
        }
        let silent = || {
            Error::from(dyno_wire::Error::Timeout {
                what: "every transaction of this trial".into(),
            })
        };
        match repeated.or_else(|| (unfinished > 0).then(silent)) {
            Some(error) => (Outcome::Failed, Some(error)),
            None => (Outcome::Ok, None),
        }
    }
}
