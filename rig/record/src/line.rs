//! One type a record line. The meaning of each field is in `docs/FORMAT.md` §2; names carry their units.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::{LatencyIs, Loop, Spec};

/// One line of a record stream; the field `record` names the variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Line {
    /// First: what was measured and how to read the rest.
    Header(Box<Header>),
    /// A phase begins.
    Phase(PhaseStart),
    /// What the sessions did in one interval of warm-up or measure.
    Interval(Interval),
    /// The host over one interval.
    Host(Host),
    /// A process over one interval.
    Process(Process),
    /// The server's own counters over one interval.
    Status(Status),
    /// A remark for the reader of the record.
    Note(Note),
    /// Last: the totals and how it ended. A stream without it is no result.
    Summary(Box<Summary>),
}

/// A phase of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseName {
    /// Sessions connect and prepare their statements (before t = 0).
    Connect,
    /// Load runs, nothing counts.
    Warmup,
    /// Load runs and counts.
    Measure,
    /// No new transactions; those under way may finish.
    Drain,
}

impl PhaseName {
    /// The name in a record.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Warmup => "warmup",
            Self::Measure => "measure",
            Self::Drain => "drain",
        }
    }
}

/// The class of a statement, as the server counts it (`Com_*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatementClass {
    /// SELECT
    Select,
    /// INSERT
    Insert,
    /// UPDATE
    Update,
    /// DELETE
    Delete,
    /// BEGIN, START TRANSACTION
    Begin,
    /// COMMIT
    Commit,
    /// ROLLBACK
    Rollback,
    /// CALL
    Call,
    /// SET
    Set,
    /// Anything else
    Other,
}

impl StatementClass {
    /// Every class, in the order of [`Issued`].
    pub const ALL: [Self; 10] = [
        Self::Select,
        Self::Insert,
        Self::Update,
        Self::Delete,
        Self::Begin,
        Self::Commit,
        Self::Rollback,
        Self::Call,
        Self::Set,
        Self::Other,
    ];
}

/// A kind of statement of a workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatementType {
    /// Its name, unique in the workload.
    pub name: String,
    /// How the server counts it.
    pub class: StatementClass,
}

/// `header`: the first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// `dyno-record/1`.
    pub format: String,
    /// Version of the rig.
    pub rig_version: String,
    /// Wall clock at t = 0, microseconds since 1970.
    pub t_epoch_us: u64,
    /// What was asked (it never holds a password).
    pub spec: Spec,
    /// The server's version text; null when no session came through.
    pub server_version: Option<String>,
    /// How the sessions are connected; null when none came through.
    pub connection: Option<Connection>,
    /// Where the workers run.
    pub workers: Vec<WorkerPlace>,
    /// Names of the transaction types.
    pub transaction_types: Vec<String>,
    /// Names and classes of the statement types.
    pub statement_types: Vec<StatementType>,
    /// The shape of every latency histogram.
    pub histogram: HistogramShape,
    /// Whether transactions followed each other or a schedule.
    pub r#loop: Loop,
    /// What the `latency` of a transaction is.
    pub latency_is: LatencyIs,
}

/// How a session is connected, as negotiated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// `tcp` or `unix`.
    pub transport: String,
    /// The authentication plugin that was used.
    pub auth_plugin: String,
    /// Names of the capabilities both sides agreed on.
    pub capabilities: Vec<String>,
    /// The TLS version and cipher suite; null without TLS.
    pub tls: Option<String>,
    /// The compression algorithm; null without compression.
    pub compression: Option<String>,
    /// The isolation level that the server reports; null when it does not say.
    #[serde(default)]
    pub isolation: Option<String>,
}

/// A worker thread and its CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerPlace {
    /// Index of the worker.
    pub worker: usize,
    /// The CPU it is pinned to; null when it is not.
    pub cpu: Option<usize>,
}

/// The shape of the histograms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistogramShape {
    /// `ns`.
    pub unit: String,
    /// Significant decimal digits.
    pub significant_digits: u8,
    /// The highest value told apart, in `unit`.
    pub highest: u64,
}

/// `phase`: a phase begins. The connect phase begins before t = 0, so its `t_us` is negative.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseStart {
    /// When.
    pub t_us: i64,
    /// Which.
    pub phase: PhaseName,
}

/// What happened to one transaction type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransactionCount {
    /// Name of the type.
    pub r#type: String,
    /// Transactions that succeeded.
    pub ok: u64,
    /// Attempts that were rolled back and repeated.
    pub retries: u64,
    /// Latency of the successful ones, retries included; null when there were none. Service time in a closed loop,
    /// response time in an open one.
    pub latency: Option<String>,
    /// In an open loop: from the start of the transaction to its end; null in a closed one.
    #[serde(default)]
    pub service: Option<String>,
    /// In an open loop: from when the transaction was due to its start; null in a closed one.
    #[serde(default)]
    pub lag: Option<String>,
    /// What else the workload counts of the successful ones, by name; absent when that is nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
}

/// What happened to one statement type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatementCount {
    /// Name of the type.
    pub r#type: String,
    /// Statements that succeeded.
    pub count: u64,
    /// From the first byte sent to the last byte received; null when there were none.
    pub latency: Option<String>,
}

/// How often an error was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorCount {
    /// The server's error code, or a code of the client library (2000 to 2999) when it was not the server that spoke.
    pub code: u16,
    /// How often.
    pub count: u64,
}

/// What an open loop counts beside its transactions.
///
/// Of the transactions due in measure, `due` is the sum of those that succeeded, were lost, were dropped or did not
/// finish.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenCount {
    /// Transactions that became due.
    pub due: u64,
    /// Of them, those that were dropped, for the backlog was full.
    pub dropped: u64,
    /// Transactions due in warm-up that ended in this interval of measure or drain; they count nowhere else.
    pub carried: u64,
    /// Transactions that waited for a free session at its end (of a summary: at the end of measure).
    pub backlog: u64,
    /// How late the rig itself was: from when a transaction was due until its start when a session was free, until
    /// it joined the backlog or was dropped when none was; null when nothing was due.
    pub generator_lag: Option<String>,
}

/// What one worker thread used of its CPU in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerUse {
    /// Index of the worker.
    pub worker: usize,
    /// CPU time.
    pub cpu_us: u64,
    /// Time in which it was ready to run but had no CPU; null where the kernel does not tell.
    pub run_delay_us: Option<u64>,
}

/// `interval`: what the sessions did in one interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// End of the interval.
    pub t_us: i64,
    /// Its length.
    pub duration_us: u64,
    /// `warmup`, `measure`, or in an open loop `drain`.
    pub phase: PhaseName,
    /// Sessions at work at its end: the active ones of a closed loop, the connected ones of an open loop.
    pub sessions: u64,
    /// By transaction type, in the header's order.
    pub transactions: Vec<TransactionCount>,
    /// By statement type, in the header's order.
    pub statements: Vec<StatementCount>,
    /// Errors by code, ascending.
    pub errors: Vec<ErrorCount>,
    /// Rows received.
    pub rows: u64,
    /// CPU time of the worker threads.
    pub client_cpu_us: u64,
    /// By worker.
    #[serde(default)]
    pub workers: Vec<WorkerUse>,
    /// Of an open loop; null in a closed one.
    #[serde(default)]
    pub open: Option<OpenCount>,
    /// Time lost in attempts that were repeated, over all sessions.
    pub retry_us: u64,
    /// Transactions lost with their connection; they are not repeated.
    #[serde(default)]
    pub lost: u64,
    /// Connections made again.
    #[serde(default)]
    pub reconnects: u64,
}

/// `host`: the machine over one interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// End of the interval.
    pub t_us: i64,
    /// Its length.
    pub duration_us: u64,
    /// Time by CPU.
    pub cpus: Vec<CpuSample>,
    /// Levels of memory.
    pub memory: MemorySample,
    /// By block device.
    pub disks: Vec<DiskSample>,
    /// By network interface.
    pub networks: Vec<NetworkSample>,
    /// Context switches of the whole machine.
    pub context_switches: u64,
}

/// Time of one CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuSample {
    /// Number of the CPU.
    pub cpu: usize,
    /// In user code.
    pub user_us: u64,
    /// In the kernel.
    pub system_us: u64,
    /// Idle while I/O was outstanding.
    pub iowait_us: u64,
    /// Taken by the hypervisor.
    pub steal_us: u64,
    /// Idle.
    pub idle_us: u64,
}

/// Levels of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemorySample {
    /// All of it.
    pub total_bytes: u64,
    /// What programs can still get.
    pub available_bytes: u64,
    /// Waiting to be written.
    pub dirty_bytes: u64,
    /// Page cache.
    pub cached_bytes: u64,
}

/// One block device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskSample {
    /// Name, such as `vda`.
    pub device: String,
    /// Reads finished.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes finished.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Time with at least one request under way.
    pub busy_us: u64,
}

/// One network interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkSample {
    /// Name, such as `lo`.
    pub interface: String,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets received.
    pub rx_packets: u64,
    /// Packets sent.
    pub tx_packets: u64,
}

/// Whose process it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The engine.
    Server,
    /// The load generator.
    Rig,
}

/// `process`: one process over one interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Process {
    /// End of the interval.
    pub t_us: i64,
    /// Its length.
    pub duration_us: u64,
    /// Whose process.
    pub role: Role,
    /// Its id.
    pub pid: u32,
    /// CPU time in user code.
    pub cpu_user_us: u64,
    /// CPU time in the kernel.
    pub cpu_system_us: u64,
    /// Resident memory.
    pub rss_bytes: u64,
    /// Threads.
    pub threads: u64,
    /// Context switches it asked for.
    pub voluntary_switches: u64,
    /// Context switches forced on it.
    pub involuntary_switches: u64,
    /// Bytes it read from storage; null where the system does not tell.
    pub read_bytes: Option<u64>,
    /// Bytes it wrote to storage; null where the system does not tell.
    pub written_bytes: Option<u64>,
    /// For the rig: time its worker threads were runnable but had no CPU; null for the server.
    pub run_delay_us: Option<u64>,
}

/// `status`: the server's own counters over one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// End of the interval.
    pub t_us: i64,
    /// Its length.
    pub duration_us: u64,
    /// Differences of the counters that moved.
    pub counters: BTreeMap<String, f64>,
    /// Levels.
    pub gauges: BTreeMap<String, f64>,
}

/// How serious a note is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Good to know.
    Info,
    /// May spoil the result.
    Warn,
}

/// `note`: a remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// When.
    pub t_us: i64,
    /// How serious.
    pub level: Level,
    /// One sentence.
    pub text: String,
}

/// How a trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ran to its end.
    Ok,
    /// An error ended it.
    Failed,
    /// A signal ended it.
    Interrupted,
}

/// What ended the measured time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeasureEnd {
    /// Its planned length, or the end of a trial that failed or was interrupted.
    #[default]
    Planned,
    /// Somebody who followed the record asked for it (SIGUSR1): enough was measured.
    Asked,
}

/// What kind of error ended a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The server answered with an error.
    Server,
    /// The connection broke or could not be made.
    Io,
    /// The server broke the protocol.
    Protocol,
    /// The login failed.
    Auth,
    /// The workload found a wrong result or cannot run here.
    Workload,
    /// The rig itself could not go on.
    Rig,
}

/// The error that ended a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// The server's error code, when it sent one.
    pub code: Option<u16>,
    /// The SQL state, when it sent one.
    pub sqlstate: Option<String>,
    /// The message.
    pub message: String,
    /// The statement type that met it, when one did.
    pub statement: Option<String>,
    /// What the user can do about it, where that is known.
    pub hint: Option<String>,
}

/// Statements issued over the whole life of the sessions, by class; equal to the server's `Com_*` when drained.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Issued {
    /// SELECT
    pub select: u64,
    /// INSERT
    pub insert: u64,
    /// UPDATE
    pub update: u64,
    /// DELETE
    pub delete: u64,
    /// BEGIN, START TRANSACTION
    pub begin: u64,
    /// COMMIT
    pub commit: u64,
    /// ROLLBACK
    pub rollback: u64,
    /// CALL
    pub call: u64,
    /// SET
    pub set: u64,
    /// Anything else
    pub other: u64,
    /// Statements prepared (not Questions)
    pub prepare: u64,
    /// Those that the server counts in `Questions`
    pub questions: u64,
}

impl Issued {
    /// Counts one statement sent for execution.
    #[inline]
    pub fn statement(&mut self, class: StatementClass) {
        self.questions += 1;
        *match class {
            StatementClass::Select => &mut self.select,
            StatementClass::Insert => &mut self.insert,
            StatementClass::Update => &mut self.update,
            StatementClass::Delete => &mut self.delete,
            StatementClass::Begin => &mut self.begin,
            StatementClass::Commit => &mut self.commit,
            StatementClass::Rollback => &mut self.rollback,
            StatementClass::Call => &mut self.call,
            StatementClass::Set => &mut self.set,
            StatementClass::Other => &mut self.other,
        } += 1;
    }

    /// Adds the counts of other sessions.
    pub fn add(&mut self, other: &Self) {
        self.select += other.select;
        self.insert += other.insert;
        self.update += other.update;
        self.delete += other.delete;
        self.begin += other.begin;
        self.commit += other.commit;
        self.rollback += other.rollback;
        self.call += other.call;
        self.set += other.set;
        self.other += other.other;
        self.prepare += other.prepare;
        self.questions += other.questions;
    }
}

/// `summary`: the last line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// When the last session ended.
    pub t_us: i64,
    /// How it ended.
    pub outcome: Outcome,
    /// The error, when it failed.
    pub error: Option<Failure>,
    /// Length of the measured time.
    pub measure_us: u64,
    /// What ended measure.
    #[serde(default)]
    pub measure_end: MeasureEnd,
    /// Over the measured time, by transaction type.
    pub transactions: Vec<TransactionCount>,
    /// Over the measured time, by statement type.
    pub statements: Vec<StatementCount>,
    /// Over the measured time, by code.
    pub errors: Vec<ErrorCount>,
    /// Over the whole life of the sessions.
    pub issued: Issued,
    /// Transactions cut at the end of drain. In an open loop: those due in measure that had not ended then, whether
    /// they had begun or not.
    pub unfinished: u64,
    /// Of the unfinished ones, those that no session ever began.
    #[serde(default)]
    pub unstarted: u64,
    /// Of an open loop, over the transactions due in measure; null in a closed one.
    #[serde(default)]
    pub open: Option<OpenCount>,
    /// CPU time of the whole rig process over its life.
    pub client_cpu_us: u64,
    /// Rows received over the measured time.
    pub rows: u64,
    /// Time lost in attempts that were repeated, over the measured time and all sessions.
    pub retry_us: u64,
    /// Transactions lost with their connection over the measured time.
    #[serde(default)]
    pub lost: u64,
    /// Connections made again over the measured time.
    #[serde(default)]
    pub reconnects: u64,
    /// What the probe added to the server's Questions: its statements and its goodbye.
    pub probe_statements: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_names_the_record() {
        let line = Line::Phase(PhaseStart {
            t_us: -5,
            phase: PhaseName::Connect,
        });
        let json = serde_json::to_string(&line).unwrap();
        assert_eq!(json, r#"{"record":"phase","t_us":-5,"phase":"connect"}"#);
        assert_eq!(serde_json::from_str::<Line>(&json).unwrap(), line);
    }

    #[test]
    fn unknown_fields_are_refused() {
        let error =
            serde_json::from_str::<Line>(r#"{"record":"phase","t_us":0,"phase":"drain","x":1}"#)
                .unwrap_err();
        assert!(error.to_string().contains("unknown field `x`"), "{error}");
    }

    #[test]
    fn issued_counts_every_class_once() {
        let mut issued = Issued::default();
        for class in StatementClass::ALL {
            issued.statement(class);
        }
        let mut twice = issued;
        twice.add(&issued);
        let json = serde_json::to_value(twice).unwrap();
        for (class, count) in json.as_object().unwrap() {
            let expected = match class.as_str() {
                "questions" => 20,
                "prepare" => 0,
                _ => 2,
            };
            assert_eq!(count.as_u64(), Some(expected), "{class}");
        }
    }
}
