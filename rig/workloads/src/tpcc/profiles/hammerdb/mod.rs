//! TPROC-C as HammerDB defines it: five stored procedures, one CALL a transaction.

pub mod procedures;
mod workload;

pub use workload::HammerDb;
