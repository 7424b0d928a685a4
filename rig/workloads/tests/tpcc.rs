//! The TPC-C-derived workload against the null server: it allocates nothing while it runs, and keeps a user's pace.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dyno_drive::{
    Client, Error, Observer, Started, StatementType, Stop, Workload, connect_options, run,
};
use dyno_nullserver::{Background, Options};
use dyno_record::{Outcome, Sink, Spec, Summary};
use dyno_workloads::Tpcc;

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

/// The workload, its one worker's allocations noted at two of its transactions.
struct Watched {
    tpcc: Tpcc,
    transactions: AtomicU64,
    early: AtomicU64,
    late: AtomicU64,
}

/// Transactions in which buffers may still grow to their size: every session has seen each type by then.
const FIRST: u64 = 2000;
const SESSIONS: u64 = 8;
/// Connections share their buffers, so some of them may come into use later: each doubles twice at the most.
const GROWTH: u64 = 2 * SESSIONS;

impl Watched {
    fn new(spec: &Spec) -> Self {
        Self {
            tpcc: Tpcc::new(spec).unwrap(),
            transactions: AtomicU64::new(0),
            early: AtomicU64::new(0),
            late: AtomicU64::new(0),
        }
    }
}

impl Workload for Watched {
    type Session = <Tpcc as Workload>::Session;

    fn transaction_types(&self) -> Vec<String> {
        self.tpcc.transaction_types()
    }

    fn statement_types(&self) -> Vec<StatementType> {
        self.tpcc.statement_types()
    }

    fn counters(&self, transaction_type: usize) -> Vec<String> {
        self.tpcc.counters(transaction_type)
    }

    async fn open(
        &self,
        client: &mut Client,
        session_index: usize,
        sessions: usize,
    ) -> Result<Self::Session, Error> {
        self.tpcc.open(client, session_index, sessions).await
    }

    async fn transaction(
        &self,
        session: &mut Self::Session,
        client: &mut Client,
    ) -> Result<usize, Error> {
        let allocations = ALLOCATIONS.get();
        if self.transactions.fetch_add(1, Ordering::Relaxed) == FIRST {
            self.early.store(allocations, Ordering::Relaxed);
        }
        self.late.store(allocations, Ordering::Relaxed);
        self.tpcc.transaction(session, client).await
    }
}

struct Nobody;

impl Observer for Nobody {
    fn connecting(&mut self, _: usize, _: usize) {}
    fn started(&mut self, _: &Started) {}
}

/// A spec for the null server, which knows 100 warehouses.
fn spec(port: u16, rest: &str) -> Spec {
    let text = format!(r#"{{"target": {{"host": "127.0.0.1", "port": {port}}}, {rest}}}"#);
    Spec::from_json(&text).unwrap()
}

fn drive<W: Workload>(workload: &Arc<W>, spec: &Spec) -> Summary {
    let connect = connect_options(spec).unwrap();
    let sink = Sink::new(Vec::new());
    let summary = run(
        Arc::clone(workload),
        spec,
        &connect,
        &sink,
        &Stop::new(),
        &mut Nobody,
    )
    .unwrap();
    assert_eq!((summary.outcome, &summary.error), (Outcome::Ok, &None));
    summary
}

#[test]
fn no_shape_allocates_under_load() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let port = server.port().unwrap();
    for (shape, mode) in [
        ("statements", "prepared"),
        ("batched", "prepared"),
        ("batched", "text"),
        ("procedures", "prepared"),
    ] {
        let spec = spec(
            port,
            &format!(
                r#""workload": {{"name": "tpcc", "options": {{"warehouses": 100, "shape": "{shape}"}}}},
                   "statement_mode": "{mode}", "load": {{"closed": {{"sessions": {SESSIONS}}}}},
                   "phases": {{"warmup_s": 1, "measure_s": 1, "drain_s": 1}}"#
            ),
        );
        let workload = Arc::new(Watched::new(&spec));
        drive(&workload, &spec);
        let done = workload.transactions.load(Ordering::Relaxed);
        assert!(done > 2 * FIRST, "{done} are too few to tell, {shape}");
        let grown = workload.late.load(Ordering::Relaxed) - workload.early.load(Ordering::Relaxed);
        assert!(
            grown <= GROWTH,
            "{grown} allocations in {} transactions, {shape}, {mode}",
            done - FIRST
        );
    }
}

/// Sessions of the paced trial, mostly idle.
const TERMINALS: f64 = 2000.0;
const MEASURE_S: f64 = 4.0;
/// Mean seconds between two transactions of a terminal: keying and think times weighted by the deck.
const CYCLE_S: f64 =
    (10.0 * (18.0 + 12.0) + 10.0 * (3.0 + 12.0) + (2.0 + 10.0) + (2.0 + 5.0) + (2.0 + 5.0)) / 23.0;

#[test]
fn thousands_of_terminals_keep_their_pace() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let spec = spec(
        server.port().unwrap(),
        &format!(
            r#""workload": {{"name": "tpcc", "options": {{"warehouses": 100, "shape": "procedures",
                             "keying": true, "think": true, "pace": 0.1}}}},
               "load": {{"closed": {{"sessions": {TERMINALS}}}}},
               "phases": {{"warmup_s": 3, "measure_s": {MEASURE_S}, "drain_s": 5}}"#
        ),
    );
    let summary = drive(&Arc::new(Tpcc::new(&spec).unwrap()), &spec);
    let done: u64 = summary.transactions.iter().map(|t| t.ok).sum();
    let due = TERMINALS * MEASURE_S / (0.1 * CYCLE_S);
    // six standard deviations above; below, the rest is what a busy machine may be late
    let share = done as f64 / due;
    assert!((0.7..1.08).contains(&share), "{done} transactions of {due}");
    assert_eq!(summary.unfinished, 0);
}
