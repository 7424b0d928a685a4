//! The OLTP workloads on tables `sbtest1`, `sbtest2`, …

mod build;
pub mod mix;
pub mod rows;
pub mod sequence;
pub mod settings;
pub mod statement;
mod workload;

pub use build::Tables;
pub use workload::{Oltp, Session};
