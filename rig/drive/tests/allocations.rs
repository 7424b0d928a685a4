//! A worker under load allocates nothing: not a statement, not a row, not an interval.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dyno_drive::{
    Client, Error, Observer, Prepared, Started, StatementClass, StatementType, Stop, Value,
    Workload, connect_options, run,
};
use dyno_nullserver::{Background, Options};
use dyno_record::{Outcome, Sink, Spec};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

fn count() {
    // a thread that is ending has no counter any more, and no statement either
    let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Transactions before the count: the first of each session may still set something up.
const FIRST: u64 = 500;

/// Transactions of one worker, and its allocations at two of them.
#[derive(Default)]
struct Mixed {
    transactions: AtomicU64,
    early: AtomicU64,
    late: AtomicU64,
}

struct Session {
    point: Prepared,
    range: Prepared,
    update: Prepared,
}

impl Workload for Mixed {
    type Session = Session;

    fn transaction_types(&self) -> Vec<String> {
        vec!["mixed".into()]
    }

    fn statement_types(&self) -> Vec<StatementType> {
        let class = |name: &str, class| StatementType {
            name: name.into(),
            class,
        };
        vec![
            class("begin", StatementClass::Begin),
            class("point", StatementClass::Select),
            class("range", StatementClass::Select),
            class("update", StatementClass::Update),
            class("commit", StatementClass::Commit),
        ]
    }

    async fn open(&self, client: &mut Client, _: usize, _: usize) -> Result<Session, Error> {
        Ok(Session {
            point: client
                .prepare(1, "SELECT c FROM sbtest1 WHERE id=?")
                .await?,
            range: client
                .prepare(2, "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?")
                .await?,
            update: client
                .prepare(3, "UPDATE sbtest1 SET c=? WHERE id=?")
                .await?,
        })
    }

    async fn transaction(
        &self,
        session: &mut Session,
        client: &mut Client,
    ) -> Result<usize, Error> {
        let allocations = ALLOCATIONS.get();
        if self.transactions.fetch_add(1, Ordering::Relaxed) == FIRST {
            self.early.store(allocations, Ordering::Relaxed);
        }
        self.late.store(allocations, Ordering::Relaxed);
        let id = client.rng.between(1, 1000);
        client.simple(0, "BEGIN").await?;
        let mut bytes = 0;
        let key = [Value::UInt(id)];
        let point = client.execute_rows(&session.point, &key, |row| {
            bytes += row.get_bytes(0)?.map_or(0, <[u8]>::len);
            Ok(())
        });
        point.await?;
        assert!(bytes > 0, "the null server sends a row");
        client
            .execute(&session.range, &[Value::UInt(id), Value::UInt(id + 99)])
            .await?;
        client
            .execute(
                &session.update,
                &[Value::Bytes(b"01234567890-01234567890"), Value::UInt(id)],
            )
            .await?;
        client.simple(4, "COMMIT").await?;
        Ok(0)
    }
}

struct Nobody;

impl Observer for Nobody {
    fn connecting(&mut self, _: usize, _: usize) {}
    fn started(&mut self, _: &Started) {}
}

#[test]
fn a_worker_under_load_allocates_nothing() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let port = server.port().unwrap();
    let closed = r#"{"closed": {"sessions": 60}}"#;
    let open = r#"{"open": {"rate_per_s": 3000, "sessions": 60, "backlog_max": 1000}}"#;
    for (mode, load) in [("prepared", closed), ("text", closed), ("prepared", open)] {
        // fewer intervals than a worker has spare buckets: a collector held up by a busy machine changes nothing
        let text = format!(
            r#"{{"target": {{"host": "127.0.0.1", "port": {port}}}, "workload": {{"name": "mixed"}},
                "statement_mode": "{mode}", "load": {load}, "interval_s": 1,
                "phases": {{"warmup_s": 0.5, "measure_s": 1, "drain_s": 1}}}}"#
        );
        let spec = Spec::from_json(&text).unwrap();
        let workload = Arc::new(Mixed::default());
        let connect = connect_options(&spec).unwrap();
        let sink = Sink::new(Vec::new());
        let summary = run(
            Arc::clone(&workload),
            &spec,
            &connect,
            &sink,
            &Stop::new(),
            &mut Nobody,
        )
        .unwrap();
        assert_eq!((summary.outcome, summary.error), (Outcome::Ok, None));
        assert!(
            workload.transactions.load(Ordering::Relaxed) > 2 * FIRST,
            "the trial was too short to tell"
        );
        let grown = workload.late.load(Ordering::Relaxed) - workload.early.load(Ordering::Relaxed);
        let done = workload.transactions.load(Ordering::Relaxed) - FIRST;
        assert_eq!(
            grown, 0,
            "{grown} allocations in {done} transactions of five statements, {mode} mode, {load}"
        );
    }
}
