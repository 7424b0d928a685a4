//! Sessions, workers, phases and the recorder: how a workload becomes load, and how load becomes a record.
//!
//! One OS thread is one worker; it owns one reactor and many sessions; a session is one task on one connection, so that
//! a transaction reads top to bottom. Nothing on the measured path takes a lock or allocates: a worker counts in memory
//! of its own and hands it over once an interval.

mod acks;
mod arrivals;
mod backoff;
mod bucket;
mod client;
mod collector;
mod connect;
mod control;
#[cfg(test)]
mod counting_tests;
mod cpu;
mod desk;
mod dial;
mod error;
mod ledger;
mod pace;
mod preflight;
mod recorder;
mod rng;
mod run;
mod schedule;
mod session;
mod target;
mod timeline;
mod worker;
mod workload;

pub use acks::KEY_MAX;
pub use client::{Client, Prepared, Row};
pub use control::Stop;
pub use error::{Cause, Error};
pub use rng::Rng;
pub use run::{Observer, Started, run};
pub use target::connect_options;
pub use timeline::Timeline;
pub use workload::{COUNTERS_MAX, Workload};

pub use dyno_record::{StatementClass, StatementType};
pub use dyno_wire::{Outcome, Value};
