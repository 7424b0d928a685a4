//! Open loops against a server that stalls: every wait is counted, from outside the same as from inside.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dyno_drive::{
    Client, Error, Observer, Prepared, Started, StatementClass, StatementType, Stop, Value,
    Workload, connect_options, run,
};
use dyno_nullserver::{Background, Options, Stall};
use dyno_reactor::now_ns;
use dyno_record::{
    Header, Interval, LatencyIs, Line, Loop, MeasureEnd, Outcome, Output, PhaseName, Sink, Spec,
    Summary, decode_histogram, new_histogram,
};
use dyno_wire::{Error as WireError, ServerError};

const MS: u64 = 1_000_000;

/// Point selects that note when they end, in the order in which they began.
#[derive(Default)]
struct Watched {
    begun: AtomicU64,
    ends_ns: Mutex<Vec<(u64, u64)>>,
    /// Deadlocks that every transaction meets first.
    deadlocks: u32,
}

struct Session {
    select: Prepared,
    attempts: u32,
}

impl Workload for Watched {
    type Session = Session;

    fn transaction_types(&self) -> Vec<String> {
        vec!["lookup".into()]
    }

    fn statement_types(&self) -> Vec<StatementType> {
        vec![StatementType {
            name: "point".into(),
            class: StatementClass::Select,
        }]
    }

    async fn open(&self, client: &mut Client, _: usize, _: usize) -> Result<Session, Error> {
        let select = client.prepare(0, "SELECT c FROM sbtest1 WHERE id=?");
        Ok(Session {
            select: select.await?,
            attempts: 0,
        })
    }

    async fn transaction(
        &self,
        session: &mut Session,
        client: &mut Client,
    ) -> Result<usize, Error> {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        client.execute(&session.select, &[Value::UInt(1)]).await?;
        if session.attempts < self.deadlocks {
            session.attempts += 1;
            let deadlock = ServerError {
                code: 1213,
                sqlstate: *b"40001",
                message: "deadlock".into(),
            };
            return Err(Error::from(WireError::Server(deadlock)).in_statement(0));
        }
        session.attempts = 0;
        self.ends_ns.lock().unwrap().push((number, now_ns()));
        Ok(0)
    }
}

#[derive(Clone, Default)]
struct Keep(Arc<Mutex<Vec<Line>>>);

impl Output for Keep {
    fn line(&mut self, line: &Line, _: &str) -> io::Result<()> {
        self.0.lock().unwrap().push(line.clone());
        Ok(())
    }
    fn place(&self) -> String {
        "memory".into()
    }
}

/// Remembers t = 0.
#[derive(Default)]
struct Clock(u64);

impl Observer for Clock {
    fn connecting(&mut self, _: usize, _: usize) {}
    fn started(&mut self, started: &Started) {
        self.0 = started.t0_ns;
    }
}

struct Ran {
    t0_ns: u64,
    summary: Summary,
    header: Header,
    intervals: Vec<Interval>,
    notes: String,
    /// When the transactions ended, in the order in which they began.
    ends_ns: Vec<u64>,
}

impl Ran {
    fn ok(&self) -> u64 {
        self.summary.transactions[0].ok
    }

    /// Latency of the transactions at a quantile, in nanoseconds.
    fn latency_ns(&self, quantile: f64) -> u64 {
        let text = self.summary.transactions[0].latency.as_ref().unwrap();
        decode_histogram(text).unwrap().value_at_quantile(quantile)
    }

    /// What an open loop promises: nothing that was due is forgotten, and intervals add up.
    fn check_accounts(&self) {
        let open = self.summary.open.as_ref().unwrap();
        let known = self.ok() + self.summary.lost + open.dropped + self.summary.unfinished;
        assert_eq!(open.due, known, "{:?}", self.summary);
        let counted = self
            .intervals
            .iter()
            .filter(|i| i.phase != PhaseName::Warmup);
        let (mut due, mut ok) = (0, 0);
        let mut sums = [
            new_histogram(),
            new_histogram(),
            new_histogram(),
            new_histogram(),
        ];
        for interval in counted {
            let (open, tx) = (interval.open.as_ref().unwrap(), &interval.transactions[0]);
            (due, ok) = (due + open.due, ok + tx.ok);
            let texts = [&tx.latency, &tx.service, &tx.lag, &open.generator_lag];
            for (sum, text) in sums.iter_mut().zip(texts) {
                if let Some(text) = text {
                    *sum += decode_histogram(text).unwrap();
                }
            }
        }
        assert_eq!((due, ok), (open.due, self.ok()));
        let tx = &self.summary.transactions[0];
        let texts = [&tx.latency, &tx.service, &tx.lag, &open.generator_lag];
        for (sum, text) in sums.iter().zip(texts) {
            assert_eq!(sum, &decode_histogram(text.as_ref().unwrap()).unwrap());
        }
    }
}

fn spec(server: &Background, load: &str, rest: &str) -> Spec {
    let port = server.port().unwrap();
    let text = format!(
        r#"{{"target": {{"host": "127.0.0.1", "port": {port}}}, "workload": {{"name": "watched"}},
            "load": {load}, "interval_s": 0.25, {rest}}}"#
    );
    Spec::from_json(&text).unwrap()
}

fn drive(spec: &Spec, deadlocks: u32) -> Ran {
    drive_until(spec, deadlocks, &Stop::new())
}

fn drive_until(spec: &Spec, deadlocks: u32, stop: &Stop) -> Ran {
    let keep = Keep::default();
    let sink = Sink::new(vec![Box::new(keep.clone())]);
    let workload = Arc::new(Watched {
        deadlocks,
        ..Watched::default()
    });
    let connect = connect_options(spec).unwrap();
    let mut clock = Clock::default();
    let watched = Arc::clone(&workload);
    let summary = run(watched, spec, &connect, &sink, stop, &mut clock).unwrap();
    let mut ends = std::mem::take(&mut *workload.ends_ns.lock().unwrap());
    ends.sort_unstable();
    let (mut header, mut intervals, mut notes) = (None, Vec::new(), String::new());
    for line in std::mem::take(&mut *keep.0.lock().unwrap()) {
        match line {
            Line::Header(found) => header = Some(*found),
            Line::Interval(interval) => intervals.push(interval),
            Line::Note(note) => notes += &note.text,
            _ => {}
        }
    }
    Ran {
        t0_ns: clock.0,
        summary,
        header: header.unwrap(),
        intervals,
        notes,
        ends_ns: ends.into_iter().map(|(_, end_ns)| end_ns).collect(),
    }
}

fn stalling(length_ms: u64, after_ms: u64, arrivals: Option<&Path>) -> Background {
    let stall = Stall {
        length: Duration::from_millis(length_ms),
        after: Duration::from_millis(after_ms),
    };
    Background::on_loopback(Options {
        stall: Some(stall),
        arrivals: arrivals.map(Path::to_path_buf),
        ..Options::default()
    })
    .unwrap()
}

/// Arrival times of statements, as the server wrote them.
fn arrivals(path: &Path) -> Vec<u64> {
    let bytes = std::fs::read(path).unwrap();
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    bytes.chunks_exact(8).map(number).collect()
}

/// The sample at a quantile, by nearest rank.
fn nearest_rank(samples: &mut [u64], quantile: f64) -> u64 {
    samples.sort_unstable();
    let count = samples.len() as f64;
    let rank = (1..=samples.len()).find(|&rank| rank as f64 >= quantile * count);
    samples[rank.unwrap() - 1]
}

const RATE: &str = r#""rate_per_s": 1000, "arrivals": "constant""#;

#[test]
fn a_stall_is_in_the_response_times_exactly_as_theory_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arrivals");
    let server = stalling(600, 900, Some(&path));
    let load = format!(r#"{{"open": {{{RATE}, "sessions": 16}}}}"#);
    let phases = r#""phases": {"warmup_s": 0.25, "measure_s": 2, "drain_s": 5}"#;
    let ran = drive(&spec(&server, &load, phases), 0);
    drop(server);
    assert_eq!((ran.summary.outcome, ran.ok()), (Outcome::Ok, 2000));
    assert_eq!(
        (ran.header.r#loop, ran.header.latency_is),
        (Loop::Open, LatencyIs::Response)
    );
    ran.check_accounts();

    // the server's own clock says when it answered nobody, and that every transaction came
    let arrived_ns = arrivals(&path);
    let stall_begin_ns = arrived_ns[0] + 900 * MS;
    let stall_end_ns = stall_begin_ns + 600 * MS;
    assert!(arrived_ns.len() >= 2250);

    // one each millisecond, the first half a millisecond after t = 0
    let measured = ran.ends_ns.iter().enumerate().skip(250);
    let (mut theory, mut seen) = (Vec::new(), Vec::new());
    for (k, &end_ns) in measured {
        let due_ns = ran.t0_ns + k as u64 * MS + MS / 2;
        let held = due_ns < stall_end_ns && end_ns >= stall_end_ns;
        let in_stall = (stall_begin_ns..stall_end_ns).contains(&due_ns);
        assert!(
            held || !in_stall,
            "{k} was due within the stall and ended before its end"
        );
        theory.push(if held { stall_end_ns - due_ns } else { 0 });
        seen.push(end_ns.saturating_sub(due_ns));
    }
    assert_eq!(theory.len(), 2000);
    for quantile in [0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0] {
        let recorded = ran.latency_ns(quantile) as f64;
        // a server without service time could not have been better, and the sessions saw no worse; beyond one bucket,
        // two that began together may have changed places
        let least = nearest_rank(&mut theory, quantile) as f64;
        let most = nearest_rank(&mut seen, quantile) as f64;
        assert!(
            recorded >= least * 0.999 - 1e3,
            "{quantile}: {recorded} < {least}"
        );
        assert!(
            recorded <= most * 1.001 + 1e6,
            "{quantile}: {recorded} > {most}"
        );
    }
    // three tenths of all were due within the stall, evenly spread over its length
    assert!(ran.latency_ns(0.75) >= 90 * MS && ran.latency_ns(0.99) >= 570 * MS);
}

#[test]
fn a_closed_loop_sees_only_its_sessions_stall_and_says_that_it_measures_service_time() {
    let server = stalling(600, 900, None);
    let phases = r#""phases": {"warmup_s": 0.25, "measure_s": 2, "drain_s": 5}"#;
    let ran = drive(&spec(&server, r#"{"closed": {"sessions": 16}}"#, phases), 0);
    assert_eq!(
        (ran.header.r#loop, ran.header.latency_is),
        (Loop::Closed, LatencyIs::Service)
    );
    let latency = ran.summary.transactions[0].latency.as_ref().unwrap();
    let latency = decode_histogram(latency).unwrap();
    assert_eq!(latency.count_between(550 * MS, u64::MAX), 16);
    assert_eq!(ran.summary.open, None);
    assert_eq!(ran.summary.transactions[0].lag, None);
}

#[test]
fn a_stall_at_the_end_of_measure_cannot_hide() {
    let server = stalling(1000, 800, None);
    let load = format!(r#"{{"open": {{{RATE}, "sessions": 8}}}}"#);
    let phases = r#""phases": {"warmup_s": 0, "measure_s": 1, "drain_s": 10}"#;
    let ran = drive(&spec(&server, &load, phases), 0);
    ran.check_accounts();
    assert_eq!((ran.ok(), ran.summary.unfinished), (1000, 0));
    let drain = ran.intervals.last().unwrap();
    assert_eq!(drain.phase, PhaseName::Drain);
    let late = drain.transactions[0].ok;
    // what waited when measure ended is what ended in drain, apart from what the sessions had in hand
    let backlog = ran.summary.open.as_ref().unwrap().backlog;
    assert_eq!(late, backlog + 8);
    // a closed loop would have seen it eight times
    assert!(ran.latency_ns(0.9) >= 300 * MS);
}

#[test]
fn what_the_drain_has_no_time_for_is_unfinished() {
    let server = stalling(3_600_000, 500, None);
    let load = format!(r#"{{"open": {{{RATE}, "sessions": 8}}}}"#);
    let phases = r#""phases": {"warmup_s": 0.25, "measure_s": 1, "drain_s": 0.25}"#;
    let ran = drive(&spec(&server, &load, phases), 0);
    ran.check_accounts();
    let open = ran.summary.open.as_ref().unwrap();
    assert_eq!(
        (ran.summary.outcome, open.due, open.dropped),
        (Outcome::Ok, 1000, 0)
    );
    assert_eq!(ran.summary.unfinished, ran.summary.unstarted + 8);
    assert_eq!(ran.summary.unstarted, open.backlog);
    assert!(ran.notes.contains("never began"), "{}", ran.notes);
}

#[test]
fn what_was_due_before_an_early_end_is_accounted_for() {
    for server in [
        Background::on_loopback(Options::default()).unwrap(),
        stalling(3_600_000, 300, None),
    ] {
        let load = format!(r#"{{"open": {{{RATE}, "sessions": 8}}}}"#);
        let phases = r#""phases": {"warmup_s": 0, "measure_s": 600, "drain_s": 0.25}"#;
        let stop = Stop::new();
        stop.enough();
        let ran = drive_until(&spec(&server, &load, phases), 0, &stop);
        ran.check_accounts();
        assert_eq!(ran.summary.outcome, Outcome::Ok);
        assert_eq!(ran.summary.measure_end, MeasureEnd::Asked);
        assert_eq!(ran.summary.measure_us % 250_000, 0);
        let due = ran.summary.open.as_ref().unwrap().due;
        assert!(
            due >= ran.summary.measure_us / 1000,
            "{due} of 1,000 a second"
        );
    }
}

#[test]
fn a_full_backlog_drops_and_counts() {
    let server = stalling(3_600_000, 500, None);
    let load = format!(r#"{{"open": {{{RATE}, "sessions": 8, "backlog_max": 10}}}}"#);
    let phases = r#""phases": {"warmup_s": 0, "measure_s": 1.5, "drain_s": 0.1}"#;
    let ran = drive(&spec(&server, &load, phases), 0);
    ran.check_accounts();
    let open = ran.summary.open.as_ref().unwrap();
    assert_eq!((open.due, open.backlog), (1500, 10));
    assert_eq!((ran.summary.unfinished, ran.summary.unstarted), (18, 10));
    assert_eq!(open.dropped, 1500 - 18 - ran.ok());
}

#[test]
fn what_is_offered_is_what_was_asked_for_and_arrives_at_the_server() {
    for (arrivals_kind, workers) in [("constant", 1), ("poisson", 1), ("poisson", 2)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arrivals");
        let server = Background::on_loopback(Options {
            arrivals: Some(path.clone()),
            ..Options::default()
        })
        .unwrap();
        let load = format!(
            r#"{{"open": {{"rate_per_s": 2000, "arrivals": "{arrivals_kind}", "sessions": 6}}}}"#
        );
        let phases = r#""phases": {"warmup_s": 0.5, "measure_s": 1, "drain_s": 5}"#;
        let mut spec = spec(&server, &load, phases);
        spec.cpus = dyno_reactor::allowed_cpus()
            .into_iter()
            .take(workers)
            .collect();
        let ran = drive(&spec, 0);
        drop(server);
        ran.check_accounts();
        assert_eq!(
            (ran.ok(), ran.summary.open.as_ref().unwrap().due),
            (2000, 2000)
        );
        let from_ns = ran.t0_ns + 500 * MS;
        let measured = arrivals(&path)
            .into_iter()
            .filter(|&ns| ns >= from_ns)
            .count();
        let carried: u64 = ran
            .intervals
            .iter()
            .map(|i| i.open.as_ref().unwrap().carried)
            .sum();
        // one that was due in warm-up may have been sent in measure
        let extra = u64::try_from(measured).unwrap() - 2000;
        assert!(extra <= carried, "{extra} {carried}");
        for interval in &ran.intervals {
            assert_eq!(interval.workers.len(), ran.header.workers.len());
        }
    }
}

#[test]
fn retries_are_within_the_response_and_told_apart() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let load = r#"{"open": {"rate_per_s": 200, "sessions": 6}}"#;
    let phases = r#""phases": {"warmup_s": 0, "measure_s": 0.5, "drain_s": 5},
                    "errors": {"backoff_min_us": 2000, "backoff_max_us": 2000}"#;
    let ran = drive(&spec(&server, load, phases), 2);
    ran.check_accounts();
    assert_eq!((ran.ok(), ran.summary.transactions[0].retries), (100, 200));
    let retry_us = ran.summary.retry_us;
    assert!(retry_us >= 200 * 2000, "{retry_us}");
    assert!(ran.latency_ns(0.0) >= 4 * MS * 999 / 1000);
}

#[test]
fn sessions_of_a_closed_loop_come_and_go_with_the_level() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let load = r#"{"closed": {"start": 2, "stages": [{"duration_s": 0.5, "target": 2}, {"duration_s": 0, "target": 9},
                  {"duration_s": 0.5, "target": 9}, {"duration_s": 0, "target": 0}, {"duration_s": 0.5, "target": 0},
                  {"duration_s": 0, "target": 3}]}}"#;
    let phases = r#""phases": {"warmup_s": 0.25, "measure_s": 2, "drain_s": 5}"#;
    let ran = drive(&spec(&server, load, phases), 0);
    assert_eq!(
        (ran.summary.outcome, ran.summary.unfinished),
        (Outcome::Ok, 0)
    );
    let sessions: Vec<u64> = ran.intervals.iter().map(|i| i.sessions).collect();
    assert_eq!(sessions, [2, 2, 2, 9, 9, 0, 0, 3, 3]);
    assert_eq!(
        ran.intervals[6].transactions[0].ok, 0,
        "nobody works at level 0"
    );
    assert!(ran.intervals[8].transactions[0].ok > 0);
}
