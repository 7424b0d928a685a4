//! Whether the data of a workload is consistent: every condition is asked of the server, under a time limit that the
//! server itself keeps, so that no query goes on when the client is gone.

use crate::error::BuildError;
use crate::load::pool::Pool;
use crate::options::OptionError;
use crate::sql::{execute, query, quoted};
use crate::tpcc::conditions::CONDITIONS;
use crate::tpcc::settings;
use dyno_record::Spec;
use dyno_wire::Connection;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Violating rows that are shown of each condition.
const SHOWN: usize = 10;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// The workload.
    pub workload: String,
    /// Whether every condition holds.
    pub consistent: bool,
    /// Orders entered since the load, by the districts' counters.
    pub new_orders_since_load: i64,
    /// What the data holds: what a client's commits are compared with, as differences of two checks.
    pub counts: Counts,
    /// Each condition.
    pub conditions: Vec<ConditionChecked>,
    /// All of it, in seconds.
    pub total_seconds: f64,
}

/// What the data holds of the work that was done on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Orders entered, by the districts' counters.
    pub orders: i64,
    /// Payments, by the rows of history.
    pub payments: i64,
    /// Orders that wait for their delivery.
    pub undelivered: i64,
}

/// What became of one condition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConditionChecked {
    /// Its name.
    pub name: &'static str,
    /// What must hold.
    pub text: &'static str,
    /// Whether it does; none when the server did not finish in time.
    pub holds: Option<bool>,
    /// Names of the columns of `rows`.
    pub columns: Vec<String>,
    /// The first rows that break it; null is NULL.
    pub rows: Vec<Vec<Option<String>>>,
    /// Whether more rows break it.
    pub more: bool,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// Checks the data of the spec's workload. The server gives up on a condition after `limit`.
///
/// Nobody should write to the tables meanwhile: each condition is one consistent read, but not the same one.
pub fn check(spec: &Spec, limit: Duration) -> Result<Checked, BuildError> {
    if spec.workload.name != settings::NAME {
        return Err(OptionError::NoConditions {
            workload: spec.workload.name.clone(),
        }
        .into());
    }
    settings::resolve(&spec.workload)?;
    let mut connect = dyno_drive::connect_options(spec)?;
    // the server keeps the limit; the client waits a little longer than that, then hangs up
    connect.io_timeout = Some(limit + Duration::from_secs(30));
    let start = Instant::now();
    Pool::new(connect, 1, Vec::new()).once(async |connection| {
        set_limit(connection, limit).await?;
        execute(
            connection,
            &format!("USE {}", quoted(&spec.target.database)),
            "use the database",
        )
        .await?;
        let conditions = ask_all(connection, limit).await?;
        let sql = "SELECT SUM(d_next_o_id - 3001) FROM district";
        let since_load = count(connection, sql).await?;
        let counts = Counts {
            orders: count(connection, "SELECT SUM(d_next_o_id - 1) FROM district").await?,
            payments: count(connection, "SELECT COUNT(*) FROM history").await?,
            undelivered: count(connection, "SELECT COUNT(*) FROM new_order").await?,
        };
        Ok(Checked {
            workload: spec.workload.name.clone(),
            consistent: conditions
                .iter()
                .all(|condition| condition.holds == Some(true)),
            new_orders_since_load: since_load,
            counts,
            conditions,
            total_seconds: start.elapsed().as_secs_f64(),
        })
    })
}

/// A number that the data holds.
async fn count(connection: &mut Connection, sql: &str) -> Result<i64, BuildError> {
    let table = query(connection, sql, "count what the data holds").await?;
    Ok(crate::sql::first_cell(&table).parse().unwrap_or(0))
}

/// Both families end a statement that takes too long, each under a variable of its own.
async fn set_limit(connection: &mut Connection, limit: Duration) -> Result<(), BuildError> {
    let sql = if connection.is_mariadb() {
        format!("SET SESSION max_statement_time = {}", limit.as_secs_f64())
    } else {
        format!(
            "SET SESSION max_execution_time = {}",
            limit.as_millis().max(1)
        )
    };
    execute(connection, &sql, "limit the time of a statement").await
}

/// `MySQL`'s and `MariaDB`'s numbers for a statement that took too long.
const TOO_LONG: [u16; 2] = [3024, 1969];

async fn ask_all(
    connection: &mut Connection,
    limit: Duration,
) -> Result<Vec<ConditionChecked>, BuildError> {
    let mut checked = Vec::with_capacity(CONDITIONS.len());
    for condition in CONDITIONS {
        let start = Instant::now();
        let sql = format!("{} LIMIT {}", condition.sql, SHOWN + 1);
        let (mut table, holds) = match connection.query_table(&sql).await {
            Ok(table) => {
                let holds = table.rows.is_empty();
                (table, Some(holds))
            }
            Err(error) if error.code().is_some_and(|code| TOO_LONG.contains(&code)) => {
                (dyno_wire::Table::default(), None)
            }
            Err(source) => {
                let doing = format!("check {} within {} s", condition.name, limit.as_secs_f64());
                return Err(BuildError::wire(doing)(source));
            }
        };
        let more = table.rows.len() > SHOWN;
        table.rows.truncate(SHOWN);
        checked.push(ConditionChecked {
            name: condition.name,
            text: condition.text,
            holds,
            columns: table.columns,
            rows: table.rows,
            more,
            seconds: start.elapsed().as_secs_f64(),
        });
    }
    Ok(checked)
}
