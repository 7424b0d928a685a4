//! The record format of the rig: what a trial writes, what it is asked to do, and the histograms inside.
//!
//! `docs/FORMAT.md` is the contract; this crate is its one implementation in Rust. A record stream is one JSON object
//! a line ([`Line`]), written by a [`Sink`]; a [`Spec`] is the request that started it.
#![warn(missing_docs)]

mod connection;
mod histogram;
mod line;
mod load;
mod schema;
mod sink;
mod spec;

pub use connection::{Compression, ConnectionSpec, Isolation, Reconnect, TargetAddress, Tls};
pub use histogram::{
    HIGHEST_NS, HistogramCodec, HistogramError, SIGNIFICANT_DIGITS, decode_histogram, new_histogram,
};
pub use line::{
    Connection, CpuSample, DiskSample, ErrorCount, Failure, FailureKind, Header, HistogramShape,
    Host, Interval, Issued, Level, Line, MeasureEnd, MemorySample, NetworkSample, Note, OpenCount,
    Outcome, PhaseName, PhaseStart, Process, Role, StatementClass, StatementCount, StatementType,
    Status, Summary, TransactionCount, WorkerPlace, WorkerUse,
};
pub use load::{Arrivals, Closed, LatencyIs, Load, Loop, Open, Profile, Stage};
pub use schema::schema_json;
pub use sink::{LinesTo, Output, Sink, SinkError};
pub use spec::{
    ErrorPolicy, Phases, ProbeSpec, Spec, SpecError, StatementMode, Target, WorkloadSpec,
};

/// The version of the record stream, in its header.
pub const RECORD_FORMAT: &str = "dyno-record/1";
/// The version of the spec.
pub const SPEC_FORMAT: &str = "dyno-spec/1";
