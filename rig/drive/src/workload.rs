//! What a workload is to the driver.

use dyno_record::StatementType;

use crate::{Client, Error};

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

    /// How many statements [`Workload::open`] prepares for a session, so that a server's limit is seen before the load.
    fn statements_per_session(&self) -> usize {
        0
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

    /// Runs one transaction and returns the index of its type. On an error that the policy repeats, the driver rolls
    /// back, restores the client's random numbers and calls again.
    async fn transaction(
        &self,
        session: &mut Self::Session,
        client: &mut Client,
    ) -> Result<usize, Error>;
}
