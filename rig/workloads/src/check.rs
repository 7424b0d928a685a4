//! Whether the data of a workload is consistent: every condition is asked of the server, under a time limit that the
//! server itself keeps, so that no query goes on when the client is gone.

use crate::error::BuildError;
use crate::load::pool::Pool;
use crate::options::OptionError;
use crate::sql::{execute, query, quoted};
use crate::tpcc::conditions::{CONDITIONS, Condition, Standing};
use crate::tpcc::profiles::Profile;
use crate::tpcc::schema::TableSet;
use crate::tpcc::settings::{self, Schema};
use dyno_record::Spec;
use dyno_wire::Connection;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Counting is no condition that may be left unknown: it has at least this long.
const COUNT_LIMIT: Duration = Duration::from_secs(60);

/// Violating rows that are shown of each condition.
const SHOWN: usize = 10;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// The workload.
    pub workload: String,
    /// Its profile.
    pub profile: &'static str,
    /// Whether every condition holds, apart from those that the profile itself breaks.
    pub consistent: bool,
    /// Orders entered since the load, by the districts' counters.
    pub new_orders_since_load: i64,
    /// What the data holds: what a client's commits are compared with, as differences of two checks.
    pub counts: Counts,
    /// Each condition that was asked, in each set of tables.
    pub conditions: Vec<ConditionChecked>,
    /// The conditions about what the profile leaves out, which were not asked.
    pub not_defined: Vec<NotDefined>,
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

/// A condition that says nothing about a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotDefined {
    /// Its name.
    pub name: &'static str,
    /// What the profile leaves out.
    pub reason: &'static str,
}

/// What became of one condition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConditionChecked {
    /// Its name.
    pub name: &'static str,
    /// The database in which it was asked, where there are several.
    pub database: Option<String>,
    /// The number of its set of tables, where they are numbered.
    pub tables: Option<u64>,
    /// What must hold.
    pub text: &'static str,
    /// Whether it does; none when the server did not finish in time.
    pub holds: Option<bool>,
    /// Why the profile itself breaks it, when it does: then it says nothing against the data.
    pub deviation: Option<&'static str>,
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
    let schema = Schema::from(&settings::resolve(&spec.workload)?);
    let mut connect = dyno_drive::connect_options(spec)?;
    // the server keeps the limit; the client waits a little longer than that, then hangs up
    connect.io_timeout = Some(limit + Duration::from_secs(30));
    let start = Instant::now();
    Pool::new(connect, 1, Vec::new()).once(async |connection| {
        let (mut conditions, mut counts) = (Vec::new(), Counts::default());
        for database in schema.databases(&spec.target.database) {
            let sql = format!("USE {}", quoted(&database));
            execute(connection, &sql, "use the database").await?;
            for set in schema.table_sets() {
                let place = Place {
                    database: (schema.schemas > 1).then_some(&database),
                    set,
                };
                set_limit(connection, limit).await?;
                conditions.extend(ask_all(connection, schema.profile, place, limit).await?);
                set_limit(connection, limit.max(COUNT_LIMIT)).await?;
                counts.add(connection, set).await?;
            }
        }
        Ok(Checked {
            workload: spec.workload.name.clone(),
            profile: schema.profile.name(),
            consistent: conditions.iter().all(ConditionChecked::is_met),
            new_orders_since_load: counts.orders - schema.orders_loaded(),
            counts,
            conditions,
            not_defined: not_defined(&schema),
            total_seconds: start.elapsed().as_secs_f64(),
        })
    })
}

impl Counts {
    /// Adds what one set of tables holds.
    async fn add(&mut self, connection: &mut Connection, set: TableSet) -> Result<(), BuildError> {
        self.orders += count(
            connection,
            set,
            "SELECT SUM(d_next_o_id - 1) FROM {district}",
        )
        .await?;
        self.payments += count(connection, set, "SELECT COUNT(*) FROM {history}").await?;
        self.undelivered += count(connection, set, "SELECT COUNT(*) FROM {new_order}").await?;
        Ok(())
    }
}

/// A number that a set of tables holds.
async fn count(connection: &mut Connection, set: TableSet, sql: &str) -> Result<i64, BuildError> {
    let table = query(connection, &set.sql(sql), "count what the data holds").await?;
    Ok(crate::sql::first_cell(&table).parse().unwrap_or(0))
}

impl ConditionChecked {
    /// Whether it holds, or the profile is to blame that it does not.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.holds == Some(true) || (self.holds == Some(false) && self.deviation.is_some())
    }
}

/// The conditions that say nothing about the profile.
fn not_defined(schema: &Schema) -> Vec<NotDefined> {
    let reasons = CONDITIONS
        .iter()
        .map(|c| (c.name, c.standing(schema.profile)));
    reasons
        .filter_map(|(name, standing)| match standing {
            Standing::NotDefined(reason) => Some(NotDefined { name, reason }),
            _ => None,
        })
        .collect()
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

/// Where a condition is asked.
#[derive(Clone, Copy)]
struct Place<'a> {
    database: Option<&'a str>,
    set: TableSet,
}

/// Asks every condition that says something about the profile.
async fn ask_all(
    connection: &mut Connection,
    profile: Profile,
    place: Place<'_>,
    limit: Duration,
) -> Result<Vec<ConditionChecked>, BuildError> {
    let mut checked = Vec::with_capacity(CONDITIONS.len());
    for condition in CONDITIONS {
        let deviation = match condition.standing(profile) {
            Standing::Required => None,
            Standing::Broken(reason) => Some(reason),
            Standing::NotDefined(_) => continue,
        };
        let asked = ask(connection, condition, place, limit).await?;
        checked.push(ConditionChecked { deviation, ..asked });
    }
    Ok(checked)
}

/// Asks for the rows that break a condition.
async fn ask(
    connection: &mut Connection,
    condition: &Condition,
    place: Place<'_>,
    limit: Duration,
) -> Result<ConditionChecked, BuildError> {
    let start = Instant::now();
    let sql = format!("{} LIMIT {}", place.set.sql(condition.sql), SHOWN + 1);
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
    Ok(ConditionChecked {
        name: condition.name,
        database: place.database.map(str::to_owned),
        tables: place.set.number,
        text: condition.text,
        holds,
        deviation: None,
        columns: table.columns,
        rows: table.rows,
        more,
        seconds: start.elapsed().as_secs_f64(),
    })
}
