//! How the connections of a build are set up.

use crate::error::BuildError;
use dyno_wire::Connection;
use serde::Serialize;

/// Whether the build is written to the server's binary log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Binlog {
    /// Logging is off in the build's sessions: there is no replica that would miss the data.
    Off,
    /// The build is logged if the server logs at all.
    AsServer,
}

/// Chooses the statements that every connection of a build begins with.
///
/// `unique_checks` stays on. Off, it makes MariaDB 10.6 and later load an empty table under an exclusive lock through a
/// path that costs the server more CPU, and there is no unique index besides the primary key to gain from.
pub async fn session_init(
    connection: &mut Connection,
) -> Result<(Vec<String>, Binlog), BuildError> {
    // one known mode everywhere: silent truncation, another storage engine than asked for and unusual escapes are out
    let mut init = vec![
        "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', SESSION foreign_key_checks = 0".to_owned(),
    ];
    let unlogged = "SET SESSION sql_log_bin = 0";
    if has_replicas(connection).await? {
        return Ok((init, Binlog::AsServer));
    }
    match connection.query(unlogged.as_bytes()).await {
        Ok(_) => {
            init.push(unlogged.to_owned());
            Ok((init, Binlog::Off))
        }
        // not privileged, or a server without binary logs
        Err(dyno_wire::Error::Server(_)) => Ok((init, Binlog::AsServer)),
        Err(error) => Err(BuildError::wire("turn binary logging off")(error)),
    }
}

/// Whether another server gets this one's changes: then it must get the data too.
async fn has_replicas(connection: &mut Connection) -> Result<bool, BuildError> {
    for (sql, yes) in [
        ("SHOW GLOBAL VARIABLES LIKE 'wsrep_on'", "ON"),
        (
            "SHOW GLOBAL VARIABLES LIKE 'group_replication_start_on_boot'",
            "ON",
        ),
        (
            "SELECT 'dump', 'yes' FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%'",
            "yes",
        ),
    ] {
        match connection.query_strings(sql).await {
            Ok(rows)
                if rows
                    .iter()
                    .any(|row| row.get(1).and_then(Option::as_deref) == Some(yes)) =>
            {
                return Ok(true);
            }
            Ok(_) | Err(dyno_wire::Error::Server(_)) => {}
            Err(error) => return Err(BuildError::wire(sql)(error)),
        }
    }
    Ok(false)
}
