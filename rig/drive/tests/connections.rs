//! Sessions that lose their connections, and sessions that have a new one for every transaction.

use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dyno_drive::{
    Client, Error, Observer, Prepared, Started, StatementClass, StatementType, Stop, Value,
    Workload, connect_options, run,
};
use dyno_nullserver::{Background, Endpoint, Options};
use dyno_record::{FailureKind, Outcome, Sink, Spec, StatementCount, Summary};

/// Looks up one row.
struct Lookup;

impl Workload for Lookup {
    type Session = Prepared;

    fn transaction_types(&self) -> Vec<String> {
        vec!["lookup".into()]
    }

    fn statement_types(&self) -> Vec<StatementType> {
        vec![StatementType {
            name: "point".into(),
            class: StatementClass::Select,
        }]
    }

    async fn open(&self, client: &mut Client, _: usize, _: usize) -> Result<Prepared, Error> {
        client.prepare(0, "SELECT c FROM sbtest1 WHERE id=?").await
    }

    async fn transaction(&self, point: &mut Prepared, client: &mut Client) -> Result<usize, Error> {
        let id = Value::UInt(client.rng.between(1, 1000));
        client
            .execute_rows(point, &[id], |row| row.get_bytes(0).map(drop))
            .await?;
        Ok(0)
    }
}

const SESSIONS: u64 = 16;

fn spec(socket: &Path, measure_s: f64, connection: &str) -> Spec {
    let text = format!(
        r#"{{"target": {{"socket": "{}"}}, "workload": {{"name": "lookup"}}, "interval_s": 0.1,
            "load": {{"closed": {{"sessions": {SESSIONS}}}}}, "connection": {connection},
            "phases": {{"warmup_s": 0, "measure_s": {measure_s}, "drain_s": 1}}}}"#,
        socket.display()
    );
    Spec::from_json(&text).unwrap()
}

fn serve(socket: &Path) -> Background {
    Background::start(Endpoint::Unix(socket.to_owned()), Options::default()).unwrap()
}

/// Takes the server away a moment after the load began, for so long or for ever.
struct Outage<'a> {
    socket: &'a Path,
    server: Option<Background>,
    length: Option<Duration>,
    thread: Option<JoinHandle<Option<Background>>>,
}

impl Observer for Outage<'_> {
    fn connecting(&mut self, _: usize, _: usize) {}

    fn started(&mut self, _: &Started) {
        let (server, length) = (self.server.take(), self.length);
        let socket = self.socket.to_owned();
        self.thread = Some(thread::spawn(move || {
            thread::sleep(Duration::from_millis(400));
            drop(server);
            let length = length?;
            thread::sleep(length);
            let _ = std::fs::remove_file(&socket);
            Some(serve(&socket))
        }));
    }
}

/// Drives through an outage.
fn drive(name: &str, measure_s: f64, connection: &str, length: Option<Duration>) -> Summary {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join(name);
    let mut outage = Outage {
        socket: &socket,
        server: Some(serve(&socket)),
        length,
        thread: None,
    };
    let spec = spec(&socket, measure_s, connection);
    let connect = connect_options(&spec).unwrap();
    let sink = Sink::new(Vec::new());
    let summary = run(
        Arc::new(Lookup),
        &spec,
        &connect,
        &sink,
        &Stop::new(),
        &mut outage,
    );
    drop(outage.thread.map(JoinHandle::join));
    summary.unwrap()
}

fn errors(summary: &Summary) -> Vec<u16> {
    summary.errors.iter().map(|e| e.code).collect()
}

fn statement<'a>(summary: &'a Summary, name: &str) -> &'a StatementCount {
    let mut all = summary.statements.iter();
    all.find(|s| s.r#type == name).unwrap()
}

#[test]
fn sessions_survive_an_outage_and_what_it_cost_is_counted() {
    let away = Duration::from_millis(200);
    let summary = drive("a", 3.0, r#"{"reconnect": "reconnect"}"#, Some(away));
    assert_eq!((summary.outcome, &summary.error), (Outcome::Ok, &None));
    // a session of a closed loop always has a transaction under way
    assert_eq!((summary.lost, summary.reconnects), (SESSIONS, SESSIONS));
    assert_eq!(statement(&summary, "connect").count, SESSIONS);
    assert_eq!(errors(&summary), [2002, 2013]);
    assert_eq!(summary.errors[1].count, SESSIONS);
    assert_eq!(
        summary.issued.prepare,
        2 * SESSIONS,
        "statements are prepared again"
    );
    assert_eq!(
        summary.transactions[0].retries, 0,
        "what was lost is not repeated"
    );
}

#[test]
fn without_leave_to_reconnect_the_trial_has_failed() {
    let summary = drive("b", 600.0, "{}", Some(Duration::ZERO));
    assert_eq!(summary.outcome, Outcome::Failed);
    assert_eq!(summary.error.unwrap().kind, FailureKind::Io);
    assert_eq!((summary.lost, summary.reconnects), (0, 0));
}

#[test]
fn a_server_that_never_comes_back_ends_the_trial() {
    for per_transaction in [false, true] {
        let connection = format!(
            r#"{{"reconnect": "reconnect", "connect_timeout_s": 0.5, "per_transaction": {per_transaction}}}"#
        );
        let summary = drive("c", 600.0, &connection, None);
        assert_eq!(summary.outcome, Outcome::Failed);
        let error = summary.error.unwrap();
        assert_eq!(error.kind, FailureKind::Io);
        assert_eq!(error.statement.as_deref(), Some("connect"));
        assert!(summary.lost >= SESSIONS);
        assert_eq!(summary.reconnects, 0);
    }
}

#[test]
fn every_transaction_can_have_a_connection_of_its_own() {
    let connection = r#"{"per_transaction": true, "isolation": "read-committed"}"#;
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("d");
    let server = serve(&socket);
    let spec = spec(&socket, 0.5, connection);
    let connect = connect_options(&spec).unwrap();
    let mut nothing = Outage {
        socket: &socket,
        server: None,
        length: None,
        thread: None,
    };
    let sink = Sink::new(Vec::new());
    let summary = run(
        Arc::new(Lookup),
        &spec,
        &connect,
        &sink,
        &Stop::new(),
        &mut nothing,
    );
    drop(server);
    let summary = summary.unwrap();
    assert_eq!((summary.outcome, &summary.error), (Outcome::Ok, &None));
    assert!(summary.transactions[0].ok > 0);
    let issued = summary.issued;
    assert_eq!(issued.prepare, issued.select, "prepared when it is needed");
    // the connections of the opening come on top of those of the transactions
    assert_eq!(issued.set, issued.select + SESSIONS);
    assert_eq!(
        issued.questions,
        issued.select + 2 * issued.set + issued.other
    );
    assert_eq!(issued.other, 1);
    let connects = statement(&summary, "connect").count;
    assert!(connects >= summary.transactions[0].ok, "{connects}");
}
