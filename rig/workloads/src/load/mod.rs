//! The loader: fills tables over several connections at once, whatever the tables are.
//!
//! A table is a number of units, and each unit's rows are a pure function of its index, so that chunks of units can go
//! over any connection in any order. How rows travel is the loader's business: LOAD DATA LOCAL where the server takes
//! it, INSERT of many rows otherwise.

mod method;
pub mod pool;
pub mod queue;
mod session;
pub mod writer;

use crate::error::BuildError;
use dyno_wire::Connection;
use method::Method;
use pool::{Pool, Shared};
use queue::{Chunk, Queue};
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use writer::RowWriter;

pub use session::{Binlog, session_init};

/// What is loaded.
pub trait Source: Sync {
    /// The tables, in the order in which they are filled.
    fn tables(&self) -> &[Table];

    /// Appends the rows of one unit of a table: the same ones at every call.
    fn append(&self, table: usize, unit: u64, writer: &mut RowWriter<'_>);

    /// How many units make one transaction of the load: some 5 MB keep a server's undo and redo small and the cost of
    /// the commits out of sight.
    fn chunk_units(&self) -> u64;
}

/// A table to fill.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name as SQL takes it, quoted and with its database.
    pub name: String,
    /// The columns that a row fills, as SQL takes them.
    pub columns: &'static str,
    /// Its units are numbered from 0 up to this, excluded.
    pub units: u64,
    /// Whether a column that the rows fill is `AUTO_INCREMENT`.
    pub auto_increment: bool,
}

/// What was loaded, and how.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loaded {
    /// Rows.
    pub rows: u64,
    /// Bytes of data sent.
    pub bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// `load_data_local` or `multi_row_insert`.
    pub method: Method,
    /// Why not `load_data_local`, when it was not.
    pub method_reason: Option<String>,
    /// Connections used.
    pub connections: usize,
}

impl Loaded {
    /// Adds another load, made after this one in the same way.
    pub(crate) fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.bytes += other.bytes;
        self.seconds += other.seconds;
    }
}

/// Fills the tables of `source` over `pool`'s connections. `progress` is told units done and units in all.
///
/// Each chunk is one transaction; one that meets a deadlock or a lock wait is repeated.
pub fn load<S: Source>(
    source: &S,
    pool: &Pool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Loaded, BuildError> {
    let start = Instant::now();
    let tables = source.tables();
    let total = tables.iter().map(|table| table.units).sum();
    let chunks: u64 = tables
        .iter()
        .map(|table| table.units.div_ceil(source.chunk_units()))
        .sum();
    let pool = pool.at_most(usize::try_from(chunks).unwrap_or(usize::MAX));
    let choice =
        pool.once(async |connection| method::choose(connection, tables, pool.connections()).await)?;

    let job = Job {
        source,
        queue: Queue::new(tables.iter().map(|table| table.units), source.chunk_units()),
        method: choice.method,
        packet_bytes: choice.packet_bytes,
        rows: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
    };
    pool.run(
        &mut |done| progress(done, total),
        async |connection, shared| job.work(connection, shared).await,
    )?;
    Ok(Loaded {
        rows: job.rows.into_inner(),
        bytes: job.bytes.into_inner(),
        seconds: start.elapsed().as_secs_f64(),
        method: choice.method,
        method_reason: choice.reason,
        connections: pool.connections(),
    })
}

/// How often a chunk is repeated that lost a lock.
const ATTEMPTS_MAX: u32 = 10;

/// Deadlock, lock wait timeout.
const LOST_A_LOCK: [u16; 2] = [1213, 1205];

struct Job<'a, S> {
    source: &'a S,
    queue: Queue,
    method: Method,
    packet_bytes: usize,
    rows: AtomicU64,
    bytes: AtomicU64,
}

impl<S: Source> Job<'_, S> {
    async fn work(&self, connection: &mut Connection, shared: &Shared) -> Result<(), BuildError> {
        let mut table = None;
        let mut buffer = Vec::with_capacity(2 * self.packet_bytes);
        while let Some(chunk) = self.queue.take(table) {
            if shared.is_stopped() {
                break;
            }
            let sent = self
                .send_with_patience(connection, &chunk, &mut buffer)
                .await?;
            self.rows.fetch_add(sent.rows, Ordering::Relaxed);
            self.bytes.fetch_add(sent.bytes, Ordering::Relaxed);
            shared.add(chunk.units.end - chunk.units.start);
            table = Some(chunk.table);
        }
        Ok(())
    }

    async fn send_with_patience(
        &self,
        connection: &mut Connection,
        chunk: &Chunk,
        buffer: &mut Vec<u8>,
    ) -> Result<method::Sent, BuildError> {
        let table = &self.source.tables()[chunk.table];
        let mut attempt = 1;
        loop {
            let mut units = chunk.units.clone();
            // appends units until the buffer is full enough; says how many rows that were
            let fill = |buffer: &mut Vec<u8>, limit_bytes: usize| {
                let mut writer = RowWriter::new(buffer, self.method.form());
                while writer.bytes() < limit_bytes {
                    let Some(unit) = units.next() else { break };
                    self.source.append(chunk.table, unit, &mut writer);
                }
                writer.rows()
            };
            let result = match self.method {
                Method::LoadDataLocal => {
                    method::load_data(connection, table, self.packet_bytes, fill).await
                }
                Method::MultiRowInsert => {
                    method::insert(connection, table, self.packet_bytes, buffer, fill).await
                }
            };
            match result {
                Err(error)
                    if attempt < ATTEMPTS_MAX
                        && error.code().is_some_and(|code| LOST_A_LOCK.contains(&code)) =>
                {
                    connection
                        .query(b"ROLLBACK")
                        .await
                        .map_err(BuildError::wire("roll back a chunk"))?;
                    attempt += 1;
                }
                result => return result,
            }
        }
    }
}
