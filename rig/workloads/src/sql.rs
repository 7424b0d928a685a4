//! Statements of the data builds: quoting, and errors that say what was being done.

use crate::error::BuildError;
use dyno_wire::Connection;

/// A result as text; `None` is NULL.
pub type Found = Vec<Vec<Option<String>>>;

/// A name as SQL takes it, whatever is in it.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A string as SQL takes it, in the SQL mode that a build's connections have.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// The first value of a result; empty when there is none.
pub fn first_cell(rows: &Found) -> String {
    rows.first()
        .and_then(|row| row.first()?.clone())
        .unwrap_or_default()
}

/// Runs a query that is done for `doing`.
pub async fn query(
    connection: &mut Connection,
    sql: &str,
    doing: &str,
) -> Result<Found, BuildError> {
    connection
        .query_strings(sql)
        .await
        .map_err(BuildError::wire(doing))
}

/// Runs a statement that is done for `doing`.
pub async fn execute(
    connection: &mut Connection,
    sql: &str,
    doing: &str,
) -> Result<(), BuildError> {
    connection
        .query(sql.as_bytes())
        .await
        .map(drop)
        .map_err(BuildError::wire(doing))
}

/// Makes a database unless it is there; a user without the right to make one needs none for that.
pub async fn create_database(
    connection: &mut Connection,
    database: &str,
) -> Result<(), BuildError> {
    let name = literal(database);
    let sql =
        format!("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {name}");
    if query(connection, &sql, "look for the database")
        .await?
        .is_empty()
    {
        let sql = format!("CREATE DATABASE IF NOT EXISTS {}", quoted(database));
        execute(connection, &sql, &format!("create database {database}")).await?;
    }
    Ok(())
}

/// Drops tables by name.
pub async fn drop_tables(
    connection: &mut Connection,
    database: &str,
    names: &[String],
) -> Result<(), BuildError> {
    for name in names {
        let sql = format!("DROP TABLE {}.{}", quoted(database), quoted(name));
        execute(connection, &sql, &format!("drop table {name}")).await?;
    }
    Ok(())
}

/// Renews the optimizer's statistics of a table, so that plans do not differ by chance.
pub async fn analyze(
    connection: &mut Connection,
    database: &str,
    table: &str,
) -> Result<(), BuildError> {
    let sql = format!("ANALYZE TABLE {}.{}", quoted(database), quoted(table));
    let rows = query(connection, &sql, &format!("analyze {table}")).await?;
    let error = rows
        .iter()
        .find(|row| matches!(row.get(2), Some(Some(kind)) if kind.eq_ignore_ascii_case("error")));
    match error {
        None => Ok(()),
        Some(row) => Err(BuildError::Wrong {
            table: table.to_owned(),
            found: format!("ANALYZE TABLE says {:?}", row.last()),
        }),
    }
}
