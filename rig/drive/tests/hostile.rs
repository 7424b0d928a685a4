//! Servers that break the protocol in every way that the null server knows: a typed error, soon, and little memory.
//!
//! One test in a process of its own, because it looks at the memory of the whole process.

use std::sync::Arc;

use dyno_drive::{
    Client, Error, Observer, Prepared, Started, StatementClass, StatementType, Stop, Value,
    Workload, connect_options, run,
};
use dyno_nullserver::{Background, Fault, Options};
use dyno_record::{FailureKind, Outcome, Sink, Spec, Summary};

/// Reads the rows of a lookup.
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
        let id = Value::UInt(1);
        client
            .execute_rows(point, &[id], |row| row.get_bytes(0).map(drop))
            .await?;
        Ok(0)
    }
}

struct Nobody;

impl Observer for Nobody {
    fn connecting(&mut self, _: usize, _: usize) {}
    fn started(&mut self, _: &Started) {}
}

/// A trial of an hour that nothing but an error ends.
fn drive(fault: Fault, reconnect: &str) -> Summary {
    let server = Background::on_loopback(Options {
        fault: Some(fault),
        ..Options::default()
    })
    .unwrap();
    let text = format!(
        r#"{{"target": {{"host": "127.0.0.1", "port": {}}}, "workload": {{"name": "lookup"}},
            "load": {{"closed": {{"sessions": 16}}}},
            "connection": {{"connect_timeout_s": 0.5, "io_timeout_s": 0.3, "reconnect": "{reconnect}"}},
            "phases": {{"warmup_s": 0, "measure_s": 3600, "drain_s": 1}}}}"#,
        server.port().unwrap()
    );
    let spec = Spec::from_json(&text).unwrap();
    let connect = connect_options(&spec).unwrap();
    let sink = Sink::new(Vec::new());
    run(
        Arc::new(Lookup),
        &spec,
        &connect,
        &sink,
        &Stop::new(),
        &mut Nobody,
    )
    .unwrap()
}

/// The most memory that this process ever had, in KiB.
fn memory_max_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let number = line.unwrap().trim().trim_end_matches(" kB");
    number.parse().unwrap()
}

#[test]
fn every_fault_is_a_typed_error_in_little_memory() {
    for name in Fault::names() {
        let fault: Fault = name.parse().unwrap();
        let kind = match fault {
            Fault::Handshake | Fault::Truncated | Fault::MidRow | Fault::Silent => FailureKind::Io,
            Fault::Sequence
            | Fault::EndlessPacket
            | Fault::ColumnCount
            | Fault::LongString
            | Fault::Garbage => FailureKind::Protocol,
        };
        for reconnect in ["fail", "reconnect"] {
            let summary = drive(fault, reconnect);
            let error = summary.error.unwrap_or_else(|| panic!("{name}: no error"));
            assert_eq!(
                (summary.outcome, error.kind),
                (Outcome::Failed, kind),
                "{name}: {error:?}"
            );
            assert!(error.hint.is_some(), "{name}: {error:?}");
        }
    }
    let most_kib = memory_max_kib();
    assert!(most_kib < 256 * 1024, "{most_kib} KiB");
}
