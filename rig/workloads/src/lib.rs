//! What is asked of an engine: the OLTP and the TPC-C-derived workloads (schema, rows, transactions, checks) and the data build.
//!
//! [`Oltp`] is a workload for the driver, [`prepare()`] builds and verifies its tables, [`cleanup`] removes them,
//! [`catalog()`] lists what there is. `docs/WORKLOADS.md` defines each workload.

mod catalog;
mod check;
mod data;
pub mod distribution;
mod error;
pub mod load;
pub mod oltp;
pub mod options;
mod prepare;
pub mod random;
mod sql;
pub mod tpcc;

pub use catalog::{OptionInfo, WorkloadInfo, catalog};
pub use check::{Checked, ConditionChecked, check};
pub use error::BuildError;
pub use oltp::Oltp;
pub use options::OptionError;
pub use prepare::{
    BuildOptions, Cleaned, Prepared, Progress, Stage, cleanup, connections_default, prepare,
};
pub use tpcc::Tpcc;
