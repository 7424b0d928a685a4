//! From statements to record lines, on a clock of the test's own.

use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::sync::{Arc, Mutex};

use dyno_record::{
    Interval, Line, LinesTo, Loop, Output, PhaseName, Sink, Spec, StatementClass, StatementType,
    decode_histogram, new_histogram,
};

use crate::Timeline;
use crate::bucket::Bucket;
use crate::collector::{Collector, Names};
use crate::desk::Turn;
use crate::recorder::{Exchange, Handover, Recorder};

const SECOND: u64 = 1_000_000_000;
const T0: u64 = 5 * SECOND;

/// A transaction that was due when it began, at this time since t = 0.
fn begun(t_ns: u64) -> Turn {
    Turn {
        due_ns: T0 + t_ns,
        start_ns: T0 + t_ns,
    }
}

/// Workers and a collector without threads.
struct Bench {
    recorders: Vec<Recorder>,
    handovers: Vec<Receiver<Handover>>,
    collector: Collector,
    lines: Arc<Mutex<Vec<Line>>>,
}

struct Keep(Arc<Mutex<Vec<Line>>>);

impl Output for Keep {
    fn line(&mut self, line: &Line, json: &str) -> std::io::Result<()> {
        assert_eq!(&serde_json::from_str::<Line>(json)?, line);
        self.0.lock().unwrap().push(line.clone());
        Ok(())
    }
    fn place(&self) -> String {
        "test".into()
    }
}

impl Bench {
    /// Warm-up of 2 s, measure of 2.5 s, one session a worker.
    fn new(workers: usize) -> Self {
        Self::of_loop(workers, Loop::Closed)
    }

    fn of_loop(workers: usize, kind: Loop) -> Self {
        let spec = r#"{"target": {"socket": "/s"}, "workload": {"name": "w"},
                       "phases": {"warmup_s": 2, "measure_s": 2.5, "drain_s": 1}}"#;
        let timeline = Timeline::new(&Spec::from_json(spec).unwrap());
        let (mut recorders, mut handovers, mut recyclers) = (Vec::new(), Vec::new(), Vec::new());
        for worker in 0..workers {
            let (recycler, empty) = sync_channel(4);
            let (full, handover) = channel();
            let full = Box::new(move |h| full.send(h).unwrap());
            let mut recorder = Recorder::new(
                worker,
                timeline,
                Exchange { full, empty },
                Box::new(Bucket::new(1, 2, kind)),
            );
            recorder.start(T0, 1);
            recorders.push(recorder);
            handovers.push(handover);
            recyclers.push(recycler);
        }
        let statement = |name: &str| StatementType {
            name: name.into(),
            class: StatementClass::Select,
        };
        let names = Names {
            transactions: vec!["t".into()],
            statements: vec![statement("a"), statement("b")],
            counters: vec![vec!["lines".into(), "lag".into()]],
            kind,
        };
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Sink::new(vec![Box::new(Keep(Arc::clone(&lines)))]);
        let mut collector = Collector::new(sink, timeline, names, recyclers);
        collector.start().unwrap();
        Self {
            recorders,
            handovers,
            collector,
            lines,
        }
    }

    /// A transaction of one statement that ends at `t_ns` since t = 0.
    fn transaction(&mut self, worker: usize, t_ns: u64, latency_ns: u64) {
        let recorder = &mut self.recorders[worker];
        recorder.statement(T0 + t_ns, 1, latency_ns, 2);
        let turn = begun(t_ns - latency_ns.min(t_ns));
        recorder.transaction(T0 + t_ns, 0, turn, 1, &[1, latency_ns, 0, 0, 0, 0, 0, 0]);
        self.collect();
    }

    /// A transaction of an open loop on worker 0, all moments since t = 0.
    fn due(&mut self, due_ns: u64, start_ns: u64, end_ns: u64) {
        let recorder = &mut self.recorders[0];
        recorder.due(T0 + due_ns, T0 + due_ns);
        recorder.taken(T0 + start_ns, T0 + due_ns);
        let turn = Turn {
            due_ns: T0 + due_ns,
            start_ns: T0 + start_ns,
        };
        recorder.transaction(T0 + end_ns, 0, turn, 0, &[0; 8]);
        self.collect();
    }

    fn tick(&mut self, t_ns: u64) {
        self.recorders.iter_mut().for_each(|r| r.tick(T0 + t_ns));
        self.collect();
    }

    fn collect(&mut self) {
        for (worker, handovers) in self.handovers.iter().enumerate() {
            for handover in handovers.try_iter() {
                self.collector.take(worker, handover).unwrap();
            }
        }
    }

    fn intervals(&self) -> Vec<Interval> {
        let lines = self.lines.lock().unwrap();
        let interval = |line: &Line| match line {
            Line::Interval(interval) => Some(interval.clone()),
            _ => None,
        };
        lines.iter().filter_map(interval).collect()
    }

    fn phases(&self) -> Vec<(i64, PhaseName)> {
        let lines = self.lines.lock().unwrap();
        let phase = |line: &Line| match line {
            Line::Phase(phase) => Some((phase.t_us, phase.phase)),
            _ => None,
        };
        lines.iter().filter_map(phase).collect()
    }
}

#[test]
fn intervals_tile_their_phases_and_merge_to_the_totals() {
    let mut bench = Bench::new(2);
    let mut rng = crate::Rng::new(1, 0);
    let mut t_ns = 0;
    while t_ns < 6 * SECOND {
        t_ns += rng.below(SECOND / 50);
        let latency_ns = 1 + rng.below(50_000_000);
        bench.transaction(usize::from(rng.below(2) == 1), t_ns, latency_ns);
    }
    bench.tick(6 * SECOND);

    let intervals = bench.intervals();
    let ends: Vec<i64> = intervals.iter().map(|i| i.t_us).collect();
    assert_eq!(
        ends,
        [1_000_000, 2_000_000, 3_000_000, 4_000_000, 4_500_000]
    );
    assert_eq!(intervals[4].duration_us, 500_000);
    assert!(intervals.iter().all(|i| i.sessions == 2));

    let (mut ok, mut rows, mut latency) = (0, 0, new_histogram());
    let mut counters = std::collections::BTreeMap::new();
    for interval in intervals.iter().filter(|i| i.phase == PhaseName::Measure) {
        ok += interval.transactions[0].ok;
        rows += interval.rows;
        for (name, count) in &interval.transactions[0].counters {
            *counters.entry(name.clone()).or_insert(0) += count;
        }
        latency += decode_histogram(interval.transactions[0].latency.as_ref().unwrap()).unwrap();
    }
    let totals = bench.collector.totals();
    assert_eq!(
        (
            totals.transactions[0].ok,
            totals.transactions[0].retries,
            totals.rows
        ),
        (ok, ok, rows)
    );
    assert_eq!(totals.statements[1].count, ok);
    assert_eq!(totals.transactions[0].counters, counters);
    assert_eq!(counters["lines"], ok);
    assert!(counters["lag"] > ok);
    assert_eq!(totals.statements[0].latency, None);
    assert_eq!(
        decode_histogram(totals.transactions[0].latency.as_ref().unwrap()).unwrap(),
        latency
    );
    assert_eq!(bench.collector.measure_us(), 2_500_000);
}

#[test]
fn a_transaction_counts_where_it_ends() {
    let mut bench = Bench::new(1);
    for (t_ns, count) in [
        (2 * SECOND - 1, 1),
        (2 * SECOND, 2),
        (4_500_000_000 - 1, 4),
        (4_500_000_000, 8),
    ] {
        for _ in 0..count {
            bench.transaction(0, t_ns, 1000);
        }
    }
    let counts: Vec<u64> = bench
        .intervals()
        .iter()
        .map(|i| i.transactions[0].ok)
        .collect();
    assert_eq!(counts, [0, 1, 2, 0, 4]);
    assert_eq!(bench.collector.totals().transactions[0].ok, 6);
}

#[test]
fn phases_begin_between_the_intervals_that_they_part() {
    let mut bench = Bench::new(1);
    bench.tick(5 * SECOND);
    let (warmup, measure, drain) = (PhaseName::Warmup, PhaseName::Measure, PhaseName::Drain);
    assert_eq!(
        bench.phases(),
        [(0, warmup), (2_000_000, measure), (4_500_000, drain)]
    );
    let lines = bench.lines.lock().unwrap();
    let measure_at = lines
        .iter()
        .position(|l| matches!(l, Line::Phase(p) if p.phase == measure))
        .unwrap();
    let before = lines[..measure_at]
        .iter()
        .filter(|l| matches!(l, Line::Interval(_)))
        .count();
    assert_eq!(before, 2);
}

#[test]
fn an_interval_waits_for_the_slowest_worker() {
    let mut bench = Bench::new(2);
    bench.recorders[0].tick(T0 + 3 * SECOND);
    bench.collect();
    assert_eq!(bench.intervals().len(), 0);
    // the other one was held up for over a second: its slots were empty, not lost
    bench.transaction(1, 2_500_000_000, 7);
    assert_eq!(bench.intervals().len(), 2);
    bench.tick(3 * SECOND);
    assert_eq!(bench.intervals()[2].transactions[0].ok, 1);
    assert!(
        bench.intervals().iter().all(|i| i.sessions == 2),
        "its session was there all the time"
    );
}

#[test]
fn a_trial_cut_short_ends_its_last_interval_there() {
    let mut bench = Bench::new(1);
    bench.transaction(0, 2_200_000_000, 7);
    bench.collector.stop_at(2_400_000_000);
    bench.recorders[0].cut();
    bench.transaction(0, 2_600_000_000, 7);
    let last = bench.intervals().pop().unwrap();
    assert_eq!(
        (last.t_us, last.duration_us, last.transactions[0].ok),
        (2_400_000, 400_000, 1)
    );
    assert_eq!(bench.phases().last(), Some(&(2_400_000, PhaseName::Drain)));
    assert_eq!(bench.collector.measure_us(), 400_000);
    assert_eq!(bench.collector.totals().transactions[0].ok, 1);
}

#[test]
fn a_sink_that_fails_is_an_error_not_a_panic() {
    let timeline = Timeline::new(
        &Spec::from_json(r#"{"target": {"socket": "/s"}, "workload": {"name": "w"}}"#).unwrap(),
    );
    let full = LinesTo::create(std::path::Path::new("/dev/full")).unwrap();
    let names = Names {
        transactions: vec![],
        statements: vec![],
        counters: vec![],
        kind: Loop::Closed,
    };
    let mut collector = Collector::new(Sink::new(vec![Box::new(full)]), timeline, names, vec![]);
    assert!(collector.start().is_err());
}

/// The sum of one histogram of all intervals of measure and drain.
fn merged(bench: &Bench, of: impl Fn(&Interval) -> Option<String>) -> hdrhistogram::Histogram<u64> {
    let mut sum = new_histogram();
    let intervals = bench.intervals();
    for interval in intervals.iter().filter(|i| i.phase != PhaseName::Warmup) {
        if let Some(text) = of(interval) {
            sum += decode_histogram(&text).unwrap();
        }
    }
    sum
}

#[test]
fn an_open_loop_counts_in_the_phase_in_which_it_was_due() {
    const MS: u64 = 1_000_000;
    let mut bench = Bench::of_loop(1, Loop::Open);
    // (due, start, end) in milliseconds: all in warm-up, warm-up into measure, in measure, measure into drain
    for (due, start, end) in [
        (100, 100, 101),
        (1990, 2005, 2010),
        (2000, 2011, 2020),
        (4499, 4600, 4700),
        (4400, 4701, 4750),
    ] {
        bench.due(due * MS, start * MS, end * MS);
    }
    bench.recorders[0].finish();
    bench.collect();
    bench.collector.finish(5 * SECOND).unwrap();

    let intervals = bench.intervals();
    let drain = intervals.last().unwrap();
    assert_eq!(
        (drain.phase, drain.t_us, drain.duration_us),
        (PhaseName::Drain, 5_000_000, 500_000)
    );
    let ok: Vec<u64> = intervals.iter().map(|i| i.transactions[0].ok).collect();
    assert_eq!(ok, [1, 0, 1, 0, 0, 2]);
    let carried = |i: &Interval| i.open.as_ref().unwrap().carried;
    assert_eq!(intervals.iter().map(carried).sum::<u64>(), 1);

    let totals = bench.collector.totals();
    let open = totals.open.as_ref().unwrap();
    assert_eq!(
        (totals.transactions[0].ok, open.due, open.dropped),
        (3, 3, 0)
    );
    assert_eq!(bench.recorders[0].pending(), 0);
    let latency = decode_histogram(totals.transactions[0].latency.as_ref().unwrap()).unwrap();
    assert!(
        latency.equivalent(latency.max(), 350 * MS),
        "response: from when it was due"
    );
    let service = decode_histogram(totals.transactions[0].service.as_ref().unwrap()).unwrap();
    assert!(
        service.equivalent(service.max(), 100 * MS),
        "service: from its start"
    );
}

#[test]
fn every_histogram_of_an_open_loop_merges_to_its_total() {
    let mut bench = Bench::of_loop(1, Loop::Open);
    let mut rng = crate::Rng::new(1, 0);
    let mut t_ns = 0;
    while t_ns < 4 * SECOND {
        t_ns += rng.below(SECOND / 100);
        let start_ns = t_ns + rng.below(SECOND / 100);
        let end_ns = start_ns + rng.below(SECOND / 2);
        bench.due(t_ns, start_ns, end_ns);
        t_ns = end_ns;
    }
    bench.recorders[0].finish();
    bench.collect();
    bench.collector.finish(6 * SECOND).unwrap();
    let totals = bench.collector.totals();
    let histograms: [fn(&Interval) -> Option<String>; 4] = [
        |i| i.transactions[0].latency.clone(),
        |i| i.transactions[0].service.clone(),
        |i| i.transactions[0].lag.clone(),
        |i| i.open.as_ref().and_then(|open| open.generator_lag.clone()),
    ];
    for of in histograms {
        let total = decode_histogram(&of(&totals).unwrap()).unwrap();
        assert!(total.len() > 5);
        assert_eq!(merged(&bench, of), total);
    }
}

#[test]
fn what_never_ended_is_pending_and_what_was_dropped_is_not() {
    let mut bench = Bench::of_loop(1, Loop::Open);
    let recorder = &mut bench.recorders[0];
    for (due_ns, dropped) in [
        (SECOND, false),
        (SECOND, true),
        (3 * SECOND, false),
        (3 * SECOND, true),
    ] {
        recorder.due(T0 + due_ns, T0 + due_ns);
        recorder.put_aside(T0 + due_ns, T0 + due_ns);
        if dropped {
            recorder.dropped(T0 + due_ns);
        } else {
            recorder.set_backlog(1);
        }
    }
    assert_eq!(recorder.pending(), 1, "only what was due in measure");
    recorder.finish();
    bench.collect();
    bench.collector.finish(5 * SECOND).unwrap();
    let backlog = |i: &Interval| i.open.as_ref().unwrap().backlog;
    let backlogs: Vec<u64> = bench.intervals().iter().map(backlog).collect();
    assert_eq!(backlogs, [0, 1, 1, 1, 1, 0]);
    let open = bench.collector.totals().open.unwrap();
    assert_eq!((open.due, open.dropped, open.backlog), (2, 1, 1));
}
