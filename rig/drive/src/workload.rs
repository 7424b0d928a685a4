//! What a workload is to the driver.

use std::time::Duration;

use dyno_record::StatementType;

use crate::{Client, Error};

/// How many counters a transaction type may have. Their room is in every session and costs it a cache line.
pub const COUNTERS_MAX: usize = 8;

/// Transactions that sessions repeat. One instance serves all workers; what belongs to a session is in `Session`.
#[expect(
    async_fn_in_trait,
    reason = "sessions stay on the thread that made them: no future needs to be Send"
)]
pub trait Workload: Send + Sync + 'static {
    /// State of one session: its prepared statements, its next ids.
    type Session: 'static;

    /// Names of the transaction types; [`Workload::transaction`] returns an index into them.
    fn transaction_types(&self) -> Vec<String>;

    /// Names and classes of the statement types; [`Client`] takes indexes into them.
    fn statement_types(&self) -> Vec<StatementType>;

    /// Names of what is counted of a transaction type beside its successes, at most [`COUNTERS_MAX`]; a session adds to
    /// them with [`Client::count`].
    fn counters(&self, _transaction_type: usize) -> Vec<String> {
        Vec::new()
    }

    /// How many statements [`Workload::open`] prepares for a session, so that a server's limit is seen before the load.
    fn statements_per_session(&self) -> usize {
        0
    }

    /// Databases over which the sessions are dealt in turn; empty: all use the target's.
    fn databases(&self) -> Vec<String> {
        Vec::new()
    }

    /// SQL that each session runs after its login, before what the spec has for that.
    fn session_init(&self) -> Vec<String> {
        Vec::new()
    }

    /// Makes a session ready: prepares its statements. Time spent here counts nowhere, statements issued do.
    ///
    /// `session_index` is in `0..sessions` and tells sessions apart over the whole trial.
    async fn open(
        &self,
        client: &mut Client,
        session_index: usize,
        sessions: usize,
    ) -> Result<Self::Session, Error>;

    /// How long a session of a closed loop stands in for a user who reads and types before its next transaction; none to
    /// begin at once. That time is part of no latency.
    fn pause(&self, _session: &mut Self::Session, _client: &mut Client) -> Option<Duration> {
        None
    }

    /// Runs one transaction and returns the index of its type. On an error that the policy repeats, the driver rolls
    /// back, restores the client's random numbers and calls again.
    async fn transaction(
        &self,
        session: &mut Self::Session,
        client: &mut Client,
    ) -> Result<usize, Error>;
}
