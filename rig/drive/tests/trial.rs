//! Whole trials against a server that answers at once, and against servers that do not.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dyno_drive::{
    Client, Error, Observer, Prepared, Started, StatementClass, StatementType, Stop, Workload,
    connect_options, run,
};
use dyno_nullserver::{Background, Options, Stall};
use dyno_record::{
    FailureKind, Interval, Line, LinesTo, MeasureEnd, Outcome, Output, PhaseName, Sink, SinkError,
    Spec, Summary, decode_histogram, new_histogram,
};
use dyno_wire::{Error as WireError, ServerError};

/// What the sessions of a test do.
#[derive(Clone, Copy, PartialEq)]
enum Script {
    /// Point selects.
    Select,
    /// Every transaction meets this many deadlocks before it succeeds.
    Deadlocks(u32),
    /// A transaction of the sixth session meets an error that is not to be repeated.
    Broken,
}

struct Scripted {
    script: Script,
    /// Random numbers by transaction, one set for all of its attempts.
    drawn: Mutex<Vec<BTreeSet<u64>>>,
}

struct Session {
    index: usize,
    select: Prepared,
    attempts: Cell<u32>,
    drawn: BTreeSet<u64>,
}

fn server_error(code: u16, message: &str) -> Error {
    let error = ServerError {
        code,
        sqlstate: *b"40001",
        message: message.into(),
    };
    Error::from(WireError::Server(error)).in_statement(0)
}

impl Workload for Scripted {
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

    async fn open(&self, client: &mut Client, index: usize, _: usize) -> Result<Session, Error> {
        let select = client
            .prepare(0, "SELECT c FROM sbtest1 WHERE id=?")
            .await?;
        Ok(Session {
            index,
            select,
            attempts: Cell::new(0),
            drawn: BTreeSet::new(),
        })
    }

    async fn transaction(
        &self,
        session: &mut Session,
        client: &mut Client,
    ) -> Result<usize, Error> {
        let id = client.rng.between(1, 1_000_000);
        client
            .execute(&session.select, &[dyno_drive::Value::UInt(id)])
            .await?;
        session.drawn.insert(id);
        match self.script {
            Script::Deadlocks(n) if session.attempts.get() < n => {
                session.attempts.set(session.attempts.get() + 1);
                return Err(server_error(1213, "deadlock"));
            }
            Script::Broken if session.index == 5 => {
                return Err(server_error(1054, "unknown column"));
            }
            _ => {}
        }
        session.attempts.set(0);
        self.drawn
            .lock()
            .unwrap()
            .push(std::mem::take(&mut session.drawn));
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

struct Nobody;

impl Observer for Nobody {
    fn connecting(&mut self, _: usize, _: usize) {}
    fn started(&mut self, _: &Started) {}
}

/// Wishes to stop as soon as the trial has started.
struct StopAtStart(Stop);

impl Observer for StopAtStart {
    fn connecting(&mut self, _: usize, _: usize) {}
    fn started(&mut self, _: &Started) {
        self.0.request();
    }
}

/// Has seen enough as soon as the trial has started.
struct EnoughAtStart(Stop);

impl Observer for EnoughAtStart {
    fn connecting(&mut self, _: usize, _: usize) {}
    fn started(&mut self, _: &Started) {
        self.0.enough();
    }
}

/// Sixteen sessions, 0.2 s of warm-up, 0.5 s of measure, intervals of 0.1 s.
fn spec(server: &Background) -> Spec {
    let port = server.port().unwrap();
    let text = format!(
        r#"{{"target": {{"host": "127.0.0.1", "port": {port}}}, "workload": {{"name": "scripted"}},
            "load": {{"closed": {{"sessions": 16}}}}, "interval_s": 0.1, "seed": 3,
            "phases": {{"warmup_s": 0.2, "measure_s": 0.5, "drain_s": 0.3}}}}"#
    );
    Spec::from_json(&text).unwrap()
}

struct Ran {
    summary: Summary,
    lines: Vec<Line>,
    drawn: Vec<BTreeSet<u64>>,
}

impl Ran {
    fn intervals(&self, phase: PhaseName) -> Vec<&Interval> {
        self.lines
            .iter()
            .filter_map(|line| match line {
                Line::Interval(interval) if interval.phase == phase => Some(interval),
                _ => None,
            })
            .collect()
    }

    fn notes(&self) -> String {
        let text = |line: &Line| match line {
            Line::Note(note) => Some(note.text.clone()),
            _ => None,
        };
        self.lines.iter().filter_map(text).collect()
    }
}

fn run_with(spec: &Spec, script: Script, stop: &Stop, observer: &mut dyn Observer) -> Ran {
    let keep = Keep::default();
    let sink = Sink::new(vec![Box::new(keep.clone())]);
    let workload = Arc::new(Scripted {
        script,
        drawn: Mutex::default(),
    });
    let connect = connect_options(spec).unwrap();
    let summary = run(Arc::clone(&workload), spec, &connect, &sink, stop, observer).unwrap();
    let drawn = std::mem::take(&mut *workload.drawn.lock().unwrap());
    let lines = std::mem::take(&mut *keep.0.lock().unwrap());
    Ran {
        summary,
        lines,
        drawn,
    }
}

fn run_script(spec: &Spec, script: Script) -> Ran {
    run_with(spec, script, &Stop::new(), &mut Nobody)
}

#[test]
fn a_trial_is_a_header_intervals_and_totals_that_agree() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let ran = run_script(&spec(&server), Script::Select);
    assert_eq!(
        (ran.summary.outcome, &ran.summary.error),
        (Outcome::Ok, &None)
    );
    let Line::Header(header) = &ran.lines[0] else {
        panic!("{:?}", ran.lines[0])
    };
    assert!(header.server_version.is_some() && header.connection.is_some());
    assert_eq!(header.transaction_types, ["lookup"]);

    assert_eq!(ran.intervals(PhaseName::Warmup).len(), 2);
    let measured = ran.intervals(PhaseName::Measure);
    assert_eq!(measured.len(), 5);
    let (mut ok, mut latency) = (0, new_histogram());
    for interval in &measured {
        ok += interval.transactions[0].ok;
        if let Some(text) = &interval.transactions[0].latency {
            latency += decode_histogram(text).unwrap();
        }
    }
    let total = &ran.summary.transactions[0];
    assert!(ok > 0);
    assert_eq!((total.ok, ran.summary.statements[0].count), (ok, ok));
    assert_eq!(
        decode_histogram(total.latency.as_ref().unwrap()).unwrap(),
        latency
    );
    assert_eq!(ran.summary.measure_us, 500_000);
    assert_eq!(ran.summary.unfinished, 0);
}

#[test]
fn what_was_issued_is_counted_over_the_whole_life() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let ran = run_script(&spec(&server), Script::Select);
    let issued = ran.summary.issued;
    assert_eq!(issued.select, ran.drawn.len() as u64);
    assert_eq!(issued.prepare, 16);
    assert_eq!(issued.other, 1, "the question for the server's limits");
    assert_eq!(
        issued.questions,
        issued.select + 1 + 16,
        "one goodbye a session"
    );
    assert!(
        issued.select > ran.summary.statements[0].count,
        "warm-up counts too"
    );
}

#[test]
fn the_same_seed_gives_each_session_the_same_input() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let mut spec = spec(&server);
    spec.load = dyno_record::Load::closed(1);
    let (one, other) = (
        run_script(&spec, Script::Select).drawn,
        run_script(&spec, Script::Select).drawn,
    );
    let both = one.len().min(other.len());
    assert!(both > 10);
    assert_eq!(one[..both], other[..both]);
    spec.seed += 1;
    assert_ne!(run_script(&spec, Script::Select).drawn[..10], one[..10]);
}

#[test]
fn a_repeated_transaction_repeats_its_input_and_is_one_transaction() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let ran = run_script(&spec(&server), Script::Deadlocks(2));
    assert_eq!(ran.summary.outcome, Outcome::Ok);
    assert!(
        ran.drawn.iter().all(|inputs| inputs.len() == 1),
        "an attempt drew other numbers"
    );
    let total = &ran.summary.transactions[0];
    assert!(total.ok > 0);
    assert_eq!(total.retries, 2 * total.ok);
    assert!(ran.summary.retry_us > 0);
    assert_eq!(ran.summary.issued.rollback, 2 * ran.drawn.len() as u64);
}

#[test]
fn a_transaction_that_never_succeeds_fails_the_trial_with_its_error() {
    let server = Background::on_loopback(Options::default()).unwrap();
    // once because it was repeated often enough, once because time was up
    for retries_max in [3, 1_000_000] {
        let mut spec = spec(&server);
        spec.errors.retries_max = retries_max;
        let ran = run_script(&spec, Script::Deadlocks(u32::MAX));
        assert_eq!(ran.summary.outcome, Outcome::Failed);
        let error = ran.summary.error.unwrap();
        assert_eq!((error.kind, error.code), (FailureKind::Server, Some(1213)));
        assert_eq!(error.statement.as_deref(), Some("point"));
    }
}

#[test]
fn any_other_error_ends_the_trial_with_the_servers_words() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let mut spec = spec(&server);
    spec.phases.measure_s = 600.0;
    let ran = run_script(&spec, Script::Broken);
    assert_eq!(ran.summary.outcome, Outcome::Failed);
    let error = ran.summary.error.unwrap();
    assert_eq!(
        (error.code, error.message.as_str()),
        (Some(1054), "unknown column")
    );
    assert_eq!(error.sqlstate.as_deref(), Some("40001"));
}

#[test]
fn transactions_under_way_at_the_end_of_drain_are_cut_off_and_counted() {
    let stall = Stall {
        length: Duration::from_secs(3600),
        after: Duration::from_millis(300),
    };
    let server = Background::on_loopback(Options {
        stall: Some(stall),
        ..Options::default()
    })
    .unwrap();
    let ran = run_script(&spec(&server), Script::Select);
    assert_eq!(
        (ran.summary.outcome, ran.summary.unfinished),
        (Outcome::Ok, 16)
    );
    assert!(
        ran.notes()
            .contains("16 transactions did not end within the drain of 0.3 s"),
        "{}",
        ran.notes()
    );
    // workers whose sessions all wait deliver their intervals nevertheless
    assert_eq!(ran.intervals(PhaseName::Measure).len(), 5);
}

#[test]
fn a_wish_to_stop_ends_the_trial_early_and_says_so() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let mut spec = spec(&server);
    spec.phases.measure_s = 600.0;
    let stop = Stop::new();
    let ran = run_with(&spec, Script::Select, &stop, &mut StopAtStart(stop.clone()));
    assert_eq!(ran.summary.outcome, Outcome::Interrupted);
    assert_eq!(ran.summary.unfinished, 0);
    assert!(ran.summary.measure_us < 600_000_000);
}

#[test]
fn measure_that_is_asked_to_end_ends_with_an_interval_and_is_a_result() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let mut spec = spec(&server);
    spec.phases.measure_s = 600.0;
    spec.cpus = vec![0, 0];
    let stop = Stop::new();
    let ran = run_with(
        &spec,
        Script::Select,
        &stop,
        &mut EnoughAtStart(stop.clone()),
    );
    let summary = &ran.summary;
    assert_eq!(
        (summary.outcome, summary.measure_end, summary.unfinished),
        (Outcome::Ok, MeasureEnd::Asked, 0)
    );
    let measured = ran.intervals(PhaseName::Measure);
    assert!(!measured.is_empty() && summary.measure_us < 600_000_000);
    assert!(measured.iter().all(|i| i.duration_us == 100_000));
    assert_eq!(summary.measure_us, measured.len() as u64 * 100_000);
    let counted: u64 = measured.iter().map(|i| i.transactions[0].ok).sum();
    assert_eq!(counted, summary.transactions[0].ok);
    let end_us = measured.last().unwrap().t_us;
    let drain = ran.lines.iter().find_map(|line| match line {
        Line::Phase(start) if start.phase == PhaseName::Drain => Some(start.t_us),
        _ => None,
    });
    assert_eq!(drain, Some(end_us));
}

#[test]
fn a_wish_for_an_early_end_in_the_last_interval_changes_nothing() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let mut spec = spec(&server);
    spec.phases.measure_s = 0.1;
    let stop = Stop::new();
    stop.enough();
    let ran = run_with(&spec, Script::Select, &stop, &mut Nobody);
    assert_eq!(ran.summary.measure_end, MeasureEnd::Planned);
    assert_eq!(ran.summary.measure_us, 100_000);
}

#[test]
fn without_a_server_there_is_a_record_that_says_so() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let spec = spec(&server);
    drop(server);
    let ran = run_script(&spec, Script::Select);
    let Line::Header(header) = &ran.lines[0] else {
        panic!("{:?}", ran.lines[0])
    };
    assert_eq!((&header.server_version, &header.connection), (&None, &None));
    assert_eq!(ran.summary.outcome, Outcome::Failed);
    assert_eq!(ran.summary.measure_us, 0);
    let error = ran.summary.error.unwrap();
    assert_eq!(error.kind, FailureKind::Io);
    assert!(error.hint.is_some(), "{error:?}");
}

#[test]
fn a_record_that_cannot_be_written_ends_the_trial_with_an_error() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let mut spec = spec(&server);
    spec.phases.measure_s = 600.0;
    let sink = Sink::new(vec![Box::new(
        LinesTo::create(Path::new("/dev/full")).unwrap(),
    )]);
    let workload = Arc::new(Scripted {
        script: Script::Select,
        drawn: Mutex::default(),
    });
    let connect = connect_options(&spec).unwrap();
    let error: SinkError =
        run(workload, &spec, &connect, &sink, &Stop::new(), &mut Nobody).unwrap_err();
    assert!(error.to_string().contains("/dev/full"), "{error}");
}

#[test]
fn sessions_are_dealt_over_workers() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let cpus = dyno_reactor::allowed_cpus();
    let mut spec = spec(&server);
    spec.cpus = cpus.iter().copied().take(2).collect();
    let ran = run_script(&spec, Script::Select);
    assert_eq!(ran.summary.outcome, Outcome::Ok);
    let Line::Header(header) = &ran.lines[0] else {
        panic!("{:?}", ran.lines[0])
    };
    let places: Vec<Option<usize>> = header.workers.iter().map(|w| w.cpu).collect();
    assert_eq!(
        places,
        spec.cpus.iter().copied().map(Some).collect::<Vec<_>>()
    );
    assert!(
        ran.intervals(PhaseName::Measure)
            .iter()
            .all(|i| i.sessions == 16)
    );
}
