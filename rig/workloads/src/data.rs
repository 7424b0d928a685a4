//! What a data build needs of a workload's tables, whichever workload it is.

use crate::error::BuildError;
use crate::load::Source;
use dyno_wire::Connection;

/// Tables of a workload: made, filled (see [`Source`]), indexed, checked, removed. Numbers of tables count from 1, in the
/// order of [`Source::tables`].
pub trait Data: Source {
    /// The database.
    fn database(&self) -> &str;

    /// The tables of this workload that exist. Anything else under one of their names is an error.
    async fn existing(&self, connection: &mut Connection) -> Result<Vec<String>, BuildError>;

    /// Makes table `number`, empty and without the indexes that [`Data::create_index`] makes.
    async fn create(&self, connection: &mut Connection, number: u64) -> Result<(), BuildError>;

    /// Whether tables get an index after the load.
    fn has_secondary_index(&self) -> bool;

    /// Builds the index of table `number`.
    async fn create_index(
        &self,
        connection: &mut Connection,
        number: u64,
    ) -> Result<(), BuildError>;

    /// Makes what else the workload needs in the database, such as stored procedures; renews it when it is there.
    async fn create_routines(&self, _connection: &mut Connection) -> Result<(), BuildError> {
        Ok(())
    }

    /// Drops what [`Data::create_routines`] made, when it is there.
    async fn drop_routines(&self, _connection: &mut Connection) -> Result<(), BuildError> {
        Ok(())
    }

    /// Checks that table `number` holds what it should.
    async fn verify(&self, connection: &mut Connection, number: u64) -> Result<(), BuildError>;
}
