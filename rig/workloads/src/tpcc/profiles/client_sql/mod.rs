//! The workload as sysbench-tpcc and tpcc-mysql run it: statement by statement, at a warehouse drawn for each transaction.
//!
//! The first was made after the second; what they differ in is where the code asks which [`Tool`] it is.

mod inputs;
mod statements;
mod transactions;
mod workload;

pub use workload::ClientSql;

/// Whose workload it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// sysbench-tpcc.
    SysbenchTpcc,
    /// tpcc-mysql.
    TpccMysql,
}
