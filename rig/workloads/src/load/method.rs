//! The two ways in which rows travel.

use super::Table;
use super::writer::Form;
use crate::error::BuildError;
use dyno_wire::{Connection, Outcome};
use serde::Serialize;

/// How rows travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// LOAD DATA LOCAL INFILE, streamed.
    LoadDataLocal,
    /// INSERT of many rows a statement.
    MultiRowInsert,
}

impl Method {
    /// The form of a row.
    pub const fn form(self) -> Form {
        match self {
            Self::LoadDataLocal => Form::Tabbed,
            Self::MultiRowInsert => Form::Literals,
        }
    }
}

/// The way chosen, and why.
pub struct Choice {
    pub method: Method,
    pub reason: Option<String>,
    /// How much one packet may hold.
    pub packet_bytes: usize,
}

/// What one chunk came to.
pub struct Sent {
    pub rows: u64,
    pub bytes: u64,
}

/// More than this in one packet gains nothing and makes both sides hold more memory.
const PACKET_BYTES_MAX: usize = 1 << 20;

/// Chooses LOAD DATA LOCAL, unless the server refuses it or it would make connections wait for each other.
pub async fn choose(
    connection: &mut Connection,
    tables: &[Table],
    connections: usize,
) -> Result<Choice, BuildError> {
    let allowed = number(connection, "SELECT @@max_allowed_packet")
        .await?
        .unwrap_or(PACKET_BYTES_MAX);
    // a row over the limit may follow the last one under it: leave room
    let packet_bytes = allowed.min(PACKET_BYTES_MAX) - 4096.min(allowed / 2);
    let reason = match refusal(connection, tables).await? {
        Some(reason) => Some(reason),
        None => waiting(connection, tables, connections).await?,
    };
    let method = if reason.is_none() {
        Method::LoadDataLocal
    } else {
        Method::MultiRowInsert
    };
    Ok(Choice {
        method,
        reason,
        packet_bytes,
    })
}

/// Asks the server to load nothing, and returns what it has against that.
async fn refusal(
    connection: &mut Connection,
    tables: &[Table],
) -> Result<Option<String>, BuildError> {
    let Some(table) = tables.first() else {
        return Ok(None);
    };
    match connection
        .load_local(load_data_sql(table).as_bytes(), |_| false)
        .await
    {
        Ok(_) => Ok(None),
        Err(error) if error.leaves_connection_usable() => Ok(Some(error.to_string())),
        Err(dyno_wire::Error::Unsupported(reason)) => Ok(Some(reason)),
        Err(error) => Err(BuildError::wire("try LOAD DATA LOCAL")(error)),
    }
}

/// LOAD DATA holds a table's `AUTO_INCREMENT` lock to its end unless `innodb_autoinc_lock_mode` is 2 (MariaDB's default is
/// 1, MySQL's 2), so that several connections would fill one table one after the other. INSERT does not.
async fn waiting(
    connection: &mut Connection,
    tables: &[Table],
    connections: usize,
) -> Result<Option<String>, BuildError> {
    if connections <= tables.len() || tables.iter().all(|table| !table.auto_increment) {
        return Ok(None);
    }
    let mode = number(connection, "SELECT @@innodb_autoinc_lock_mode").await?;
    Ok(mode.filter(|mode| *mode < 2).map(|mode| {
        format!(
            "innodb_autoinc_lock_mode = {mode} lets one connection at a time load an AUTO_INCREMENT table, \
             and there are more connections than tables"
        )
    }))
}

/// The number that a query returns; none when the server does not know what was asked for.
async fn number(connection: &mut Connection, sql: &str) -> Result<Option<usize>, BuildError> {
    match connection.query_strings(sql).await {
        Ok(rows) => Ok(rows
            .first()
            .and_then(|row| row.first()?.as_ref()?.parse().ok())),
        Err(dyno_wire::Error::Server(_)) => Ok(None),
        Err(error) => Err(BuildError::wire(sql)(error)),
    }
}

/// Rows are ASCII, and saying so spares the server some 7 % of its work against utf8mb4 (MariaDB 10.11).
fn load_data_sql(table: &Table) -> String {
    let Table { name, columns, .. } = table;
    format!("LOAD DATA LOCAL INFILE 'dyno' INTO TABLE {name} CHARACTER SET ascii ({columns})")
}

/// How much is generated before it is sent: enough for few system calls, little enough to stay in the cache.
const STREAM_BYTES: usize = 256 << 10;

/// Streams what `fill` appends, until it appends nothing.
pub async fn load_data(
    connection: &mut Connection,
    table: &Table,
    packet_bytes: usize,
    mut fill: impl FnMut(&mut Vec<u8>, usize) -> u64,
) -> Result<Sent, BuildError> {
    let mut sent = Sent { rows: 0, bytes: 0 };
    let sql = load_data_sql(table);
    let next_chunk = |buffer: &mut Vec<u8>| {
        sent.rows += fill(buffer, STREAM_BYTES.min(packet_bytes));
        sent.bytes += buffer.len() as u64;
        !buffer.is_empty()
    };
    let outcome = connection.load_local(sql.as_bytes(), next_chunk).await;
    let outcome = outcome.map_err(BuildError::wire(format!("load rows into {}", table.name)))?;
    check(connection, table, &outcome, sent.rows).await?;
    Ok(sent)
}

/// Inserts what `fill` appends, until it appends nothing, in one transaction.
pub async fn insert(
    connection: &mut Connection,
    table: &Table,
    packet_bytes: usize,
    buffer: &mut Vec<u8>,
    mut fill: impl FnMut(&mut Vec<u8>, usize) -> u64,
) -> Result<Sent, BuildError> {
    let mut sent = Sent { rows: 0, bytes: 0 };
    let head = format!("INSERT INTO {} ({}) VALUES ", table.name, table.columns);
    let doing = || BuildError::wire(format!("insert rows into {}", table.name));
    connection.query(b"BEGIN").await.map_err(doing())?;
    loop {
        buffer.clear();
        buffer.extend_from_slice(head.as_bytes());
        let rows = fill(buffer, packet_bytes);
        if rows == 0 {
            break;
        }
        let outcome = connection.query(buffer).await.map_err(doing())?;
        check(connection, table, &outcome, rows).await?;
        sent.rows += rows;
        sent.bytes += buffer.len() as u64;
    }
    connection.query(b"COMMIT").await.map_err(doing())?;
    Ok(sent)
}

/// LOAD DATA LOCAL turns what is an error in INSERT into a warning, and skips the row: neither may pass.
async fn check(
    connection: &mut Connection,
    table: &Table,
    outcome: &Outcome,
    rows: u64,
) -> Result<(), BuildError> {
    if outcome.affected_rows == rows && outcome.warnings == 0 {
        return Ok(());
    }
    let warnings = connection
        .query_strings("SHOW WARNINGS LIMIT 1")
        .await
        .unwrap_or_default();
    let warning = warnings
        .first()
        .and_then(|row| row.last()?.clone())
        .unwrap_or_else(|| "no warning".to_owned());
    Err(BuildError::Wrong {
        table: table.name.clone(),
        found: format!(
            "{rows} rows were sent, the server took {}: {warning}",
            outcome.affected_rows
        ),
    })
}
