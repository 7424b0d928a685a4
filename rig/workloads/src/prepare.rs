//! The data build, from spec to verified tables, and its undoing.

use crate::data::Data;
use crate::error::BuildError;
use crate::load::pool::Pool;
use crate::load::{self, Binlog, Loaded};
use crate::oltp::{self, Oltp};
use crate::sql;
use crate::tpcc;
use dyno_record::Spec;
use dyno_wire::ConnectOptions;
use serde::Serialize;
use std::time::{Duration, Instant};

/// What a build is asked besides the spec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// Connections that load at once; none: chosen from the CPUs, see [`connections_default`].
    pub connections: Option<usize>,
    /// Whether tables of this workload that exist are dropped first. Without, they are an error.
    pub force: bool,
}

/// How far a build is. Told more than twice a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// How much of it is done: rows when loading, tables otherwise.
    pub done: u64,
    /// Out of how much.
    pub total: u64,
}

/// The parts of a build, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Rows are loaded.
    Load,
    /// Secondary indexes are built.
    Index,
    /// Statistics are renewed and rows counted and compared.
    Verify,
}

/// What a build did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prepared {
    /// The workload.
    pub workload: String,
    /// Version of its definition.
    pub version: u32,
    /// Tables built.
    pub tables: u64,
    /// Seed of their content.
    pub seed: u64,
    /// Rows, bytes, seconds and method of the load.
    #[serde(flatten)]
    pub load: Loaded,
    /// How long the secondary indexes took, in seconds.
    pub index_seconds: f64,
    /// How long statistics and checks took, in seconds.
    pub verify_seconds: f64,
    /// Everything from the first connection to the last check, in seconds.
    pub total_seconds: f64,
    /// Whether the build went to the binary log.
    pub binlog: Binlog,
}

impl Prepared {
    /// Adds another database, built after this one.
    fn add(&mut self, other: &Self) {
        self.tables += other.tables;
        self.load.add(&other.load);
        self.index_seconds += other.index_seconds;
        self.verify_seconds += other.verify_seconds;
        self.total_seconds += other.total_seconds;
    }
}

/// What a clean-up did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cleaned {
    /// The database.
    pub database: String,
    /// Names of the tables that were dropped.
    pub dropped: Vec<String>,
}

/// Builds and verifies the tables of the spec's workload.
///
/// Nothing that exists is touched, unless `options.force` allows to drop tables of this workload; a table of another
/// shape under one of the names is an error always. A build that was interrupted leaves tables that [`cleanup`] removes.
pub fn prepare(
    spec: &Spec,
    options: BuildOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Prepared, BuildError> {
    if spec.workload.name == tpcc::settings::NAME {
        let all = tpcc::Tables::of_all(&spec.workload, &spec.target.database, spec.seed)?;
        let version = tpcc::settings::VERSION;
        let mut prepared = build(spec, version, &all[0], options, progress)?;
        for tables in &all[1..] {
            prepared.add(&build(spec, version, tables, options, progress)?);
        }
        return Ok(prepared);
    }
    let workload = Oltp::new(&spec.workload)?;
    let tables = oltp::Tables::new(&workload, &spec.target.database, spec.seed);
    build(spec, workload.mix().version, &tables, options, progress)
}

fn build<D: Data>(
    spec: &Spec,
    version: u32,
    tables: &D,
    options: BuildOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Prepared, BuildError> {
    let start = Instant::now();
    let (pool, binlog) = pool(spec, options)?;
    pool.once(async |connection| {
        sql::create_database(connection, tables.database()).await?;
        let existing = tables.existing(connection).await?;
        if !existing.is_empty() && !options.force {
            let (database, tables) = (tables.database().to_owned(), shortened(&existing));
            return Err(BuildError::TablesExist { database, tables });
        }
        sql::drop_tables(connection, tables.database(), &existing).await?;
        for number in numbers(tables) {
            tables.create(connection, number).await?;
        }
        tables.create_routines(connection).await
    })?;

    let load = load::load(tables, &pool, &mut |done, total| {
        progress(Progress {
            stage: Stage::Load,
            done,
            total,
        });
    })?;
    let index_start = Instant::now();
    if tables.has_secondary_index() {
        each(
            tables,
            &pool,
            Stage::Index,
            progress,
            async |connection, number| tables.create_index(connection, number).await,
        )?;
    }
    let verify_start = Instant::now();
    each(
        tables,
        &pool,
        Stage::Verify,
        progress,
        async |connection, number| tables.verify(connection, number).await,
    )?;
    Ok(Prepared {
        workload: spec.workload.name.clone(),
        version,
        tables: tables.tables().len() as u64,
        seed: spec.seed,
        load,
        index_seconds: (verify_start - index_start).as_secs_f64(),
        verify_seconds: verify_start.elapsed().as_secs_f64(),
        total_seconds: start.elapsed().as_secs_f64(),
        binlog,
    })
}

/// Drops the tables of the spec's workload that exist, whole or half built, and nothing else. The database stays.
pub fn cleanup(spec: &Spec) -> Result<Cleaned, BuildError> {
    if spec.workload.name == tpcc::settings::NAME {
        let all = tpcc::Tables::of_all(&spec.workload, &spec.target.database, spec.seed)?;
        let mut dropped = Vec::new();
        for tables in &all {
            dropped.extend(remove(spec, tables)?.dropped);
        }
        let database = spec.target.database.clone();
        return Ok(Cleaned { database, dropped });
    }
    let workload = Oltp::new(&spec.workload)?;
    remove(
        spec,
        &oltp::Tables::new(&workload, &spec.target.database, spec.seed),
    )
}

fn remove(spec: &Spec, tables: &impl Data) -> Result<Cleaned, BuildError> {
    let (pool, _) = pool(spec, BuildOptions::default())?;
    let dropped = pool.once(async |connection| {
        let existing = tables.existing(connection).await?;
        sql::drop_tables(connection, tables.database(), &existing).await?;
        tables.drop_routines(connection).await?;
        Ok(existing)
    })?;
    Ok(Cleaned {
        database: spec.target.database.clone(),
        dropped,
    })
}

/// The numbers of the tables, from 1.
fn numbers(tables: &impl Data) -> Vec<u64> {
    (1..=tables.tables().len() as u64).collect()
}

/// How many connections load when nobody says: as many as this machine has CPUs, within 4 and 32.
///
/// The engine does nearly all of the work of a load. Below four it would idle while rows travel; above 32 connections
/// get into each other's way on most engines.
#[must_use]
pub fn connections_default() -> usize {
    std::thread::available_parallelism()
        .map_or(4, usize::from)
        .clamp(4, 32)
}

/// The connections of a build, set up alike.
fn pool(spec: &Spec, options: BuildOptions) -> Result<(Pool, Binlog), BuildError> {
    let mut connect = dyno_drive::connect_options(spec)?;
    // it may not exist yet
    connect.database = None;
    connect.local_infile = true;
    let connections = options.connections.unwrap_or_else(connections_default);
    let patience = spec.connection.io_timeout_s.map(Duration::from_secs_f64);
    let quick = ConnectOptions {
        io_timeout: patience,
        ..connect.clone()
    };
    let plain = Pool::new(quick, 1, Vec::new());
    let (init, binlog) = plain.once(async |connection| load::session_init(connection).await)?;
    connect.init = init;
    Ok((Pool::new(connect, connections, spec.cpus.clone()), binlog))
}

/// One piece of work for each table, in parallel.
fn each(
    tables: &impl Data,
    pool: &Pool,
    stage: Stage,
    progress: &mut dyn FnMut(Progress),
    work: impl AsyncFn(&mut dyno_wire::Connection, u64) -> Result<(), BuildError> + Sync,
) -> Result<(), BuildError> {
    let numbers = numbers(tables);
    let total = numbers.len() as u64;
    pool.for_each(
        &numbers,
        &mut |done| progress(Progress { stage, done, total }),
        async |connection, number| work(connection, *number).await,
    )
}

/// The first few of a list of names, and how many there are besides.
fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (1..=6).map(|n| format!("sbtest{n}")).collect();
        assert_eq!(shortened(&names[..2]), "sbtest1, sbtest2");
        assert_eq!(
            shortened(&names),
            "sbtest1, sbtest2, sbtest3, sbtest4 and 2 more"
        );
    }

    #[test]
    fn the_default_number_of_connections_is_within_its_bounds() {
        assert!((4..=32).contains(&connections_default()));
    }
}
