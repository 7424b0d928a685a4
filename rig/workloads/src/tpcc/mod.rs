//! The TPC-C-derived workload: nine tables of a wholesale supplier, and five transactions that keep their sums in step.
//!
//! `docs/WORKLOADS.md` defines it. Its results are counts of new orders a minute (NOPM) and transactions a minute (TPM),
//! and no results of the benchmark that it is derived from.

mod build;
pub mod conditions;
mod counters;
pub mod draw;
mod inputs;
mod mix;
mod pacing;
mod population;
pub mod profiles;
pub(crate) mod schema;
pub mod settings;
mod shapes;
mod workload;

pub use build::Tables;
pub use workload::Tpcc;
