//! The tables in a database: made, filled, checked.

use super::population::Population;
use super::schema::{Definition, Kind, TABLES};
use super::settings::{self, Schema};
use super::shapes::{Shape, routine};
use crate::data::Data;
use crate::error::BuildError;
use crate::load::writer::RowWriter;
use crate::load::{Source, Table};
use crate::options::OptionError;
use crate::sql::{self, execute, first_cell, literal, query, quoted};
use dyno_record::WorkloadSpec;
use dyno_wire::Connection;

/// Everything that is needed to make the nine tables, and to know them again.
#[derive(Debug)]
pub struct Tables {
    schema: Schema,
    shape: Shape,
    database: String,
    population: Population,
    loads: Vec<Table>,
}

impl Tables {
    /// The tables of a spec in `database`, their rows under `seed`.
    pub fn new(spec: &WorkloadSpec, database: &str, seed: u64) -> Result<Self, OptionError> {
        let options = settings::resolve(spec)?;
        let schema = Schema::from(&options);
        let loads = TABLES.iter().map(|table| Table {
            name: format!("{}.{}", quoted(database), table.name),
            columns: table.filled,
            units: units(table.kind, &schema),
            auto_increment: table.kind == Kind::History && schema.history_pk,
        });
        Ok(Self {
            loads: loads.collect(),
            shape: Shape::named(options.word("shape")),
            schema,
            database: database.to_owned(),
            population: Population::new(seed),
        })
    }

    /// A query that is true of a loaded table, beside the number of its rows: enough to see a column shifted or lost.
    /// The consistency conditions, which are dear, are a command of their own.
    fn rows_expected(&self, kind: Kind) -> Option<u64> {
        let units = units(kind, &self.schema);
        (kind != Kind::OrderLine).then(|| units * kind.unit_rows())
    }
}

/// Units of the load that a table has: items are there once, whatever the number of warehouses.
fn units(kind: Kind, schema: &Schema) -> u64 {
    match kind {
        Kind::Item => kind.units(),
        _ => kind.units() * schema.warehouses,
    }
}

fn definition(number: u64) -> &'static Definition {
    &TABLES[usize::try_from(number - 1).unwrap_or(usize::MAX)]
}

impl Source for Tables {
    fn tables(&self) -> &[Table] {
        &self.loads
    }

    fn append(&self, table: usize, unit: u64, writer: &mut RowWriter<'_>) {
        self.population.append(TABLES[table].kind, unit, writer);
    }

    /// Of units below 4 KB each: some 2 to 4 MB.
    fn chunk_units(&self) -> u64 {
        1000
    }
}

impl Data for Tables {
    fn database(&self) -> &str {
        &self.database
    }

    async fn existing(&self, connection: &mut Connection) -> Result<Vec<String>, BuildError> {
        let mut existing = Vec::new();
        // those that refer to others come first, so that dropping them in this order breaks no foreign key
        for table in TABLES.iter().rev() {
            let sql = format!(
                "SELECT t.TABLE_TYPE, GROUP_CONCAT(c.COLUMN_NAME ORDER BY c.ORDINAL_POSITION) \
                 FROM information_schema.TABLES t LEFT JOIN information_schema.COLUMNS c \
                 ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME \
                 WHERE t.TABLE_SCHEMA = {} AND t.TABLE_NAME = '{}' GROUP BY t.TABLE_TYPE",
                literal(&self.database),
                table.name
            );
            let rows = query(connection, &sql, "look for tables in the way").await?;
            let Some(row) = rows.into_iter().next() else {
                continue;
            };
            let mut cells = row.into_iter().map(Option::unwrap_or_default);
            let (kind, columns) = (
                cells.next().unwrap_or_default(),
                cells.next().unwrap_or_default(),
            );
            let plain = Schema {
                history_pk: false,
                ..self.schema.clone()
            };
            let keyed = Schema {
                history_pk: true,
                ..self.schema.clone()
            };
            // history may have been built with its key or without
            let known = [plain, keyed]
                .iter()
                .any(|schema| columns == table.column_names(schema));
            if kind != "BASE TABLE" || !known {
                return Err(BuildError::ForeignTable {
                    database: self.database.clone(),
                    table: table.name.to_owned(),
                    found: format!("a {} with the columns {columns}", kind.to_lowercase()),
                });
            }
            existing.push(table.name.to_owned());
        }
        Ok(existing)
    }

    async fn create(&self, connection: &mut Connection, number: u64) -> Result<(), BuildError> {
        let table = definition(number);
        let qualified = format!("{}.{}", quoted(&self.database), table.name);
        let sql = table.create(&qualified, &self.schema);
        execute(connection, &sql, &format!("create table {}", table.name)).await
    }

    /// The two secondary indexes are there before the load: rows come in the order of the primary key, district by
    /// district, and an index of one district stays in the cache.
    fn has_secondary_index(&self) -> bool {
        false
    }

    async fn create_index(&self, _: &mut Connection, _: u64) -> Result<(), BuildError> {
        Ok(())
    }

    async fn create_routines(&self, connection: &mut Connection) -> Result<(), BuildError> {
        match self.shape {
            Shape::Procedures => routine::make_all(connection, &self.database).await,
            Shape::Statements | Shape::Batched => Ok(()),
        }
    }

    async fn drop_routines(&self, connection: &mut Connection) -> Result<(), BuildError> {
        routine::drop_all(connection, &self.database).await
    }

    async fn verify(&self, connection: &mut Connection, number: u64) -> Result<(), BuildError> {
        let table = definition(number);
        let wrong = |found: String| BuildError::Wrong {
            table: table.name.to_owned(),
            found,
        };
        let qualified = format!("{}.{}", quoted(&self.database), table.name);
        let (sql, expected) = match self.rows_expected(table.kind) {
            Some(rows) => (
                format!("SELECT COUNT(*) FROM {qualified}"),
                rows.to_string(),
            ),
            // how many lines there are is drawn; the orders know
            None => (
                format!(
                    "SELECT (SELECT COUNT(*) FROM {qualified}) - (SELECT SUM(o_ol_cnt) FROM {}.orders)",
                    quoted(&self.database)
                ),
                "0".to_owned(),
            ),
        };
        let doing = format!("count the rows of {}", table.name);
        let count = first_cell(&query(connection, &sql, &doing).await?);
        if count != expected {
            return Err(wrong(format!(
                "counted were {count} rows, expected {expected}"
            )));
        }
        let sql = format!(
            "SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = {} AND TABLE_NAME = '{}'",
            literal(&self.database),
            table.name
        );
        let engine = first_cell(&query(connection, &sql, "read the storage engine").await?);
        if !engine.eq_ignore_ascii_case(&self.schema.storage_engine) {
            let asked = &self.schema.storage_engine;
            return Err(wrong(format!(
                "its storage engine is {engine}, not {asked}"
            )));
        }
        sql::analyze(connection, &self.database, table.name).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::schema::ITEMS;
    use std::collections::BTreeMap;

    fn tables(options: &[(&str, serde_json::Value)]) -> Result<Tables, OptionError> {
        let options: BTreeMap<_, _> = options
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
        let name = settings::NAME.to_owned();
        Tables::new(&WorkloadSpec { name, options }, "a`b", 1)
    }

    #[test]
    fn items_are_there_once_and_the_rest_for_each_warehouse() {
        let rows = |warehouses: u64| -> Vec<Option<u64>> {
            let tables = tables(&[("warehouses", warehouses.into())]).unwrap();
            TABLES
                .iter()
                .map(|t| tables.rows_expected(t.kind))
                .collect()
        };
        let (one, four) = (rows(1), rows(4));
        assert_eq!(one[0], four[0]);
        assert!(
            one[1..]
                .iter()
                .zip(&four[1..])
                .all(|(one, four)| one.map(|n| 4 * n) == *four)
        );
        assert_eq!(one[0], Some(ITEMS));
    }

    #[test]
    fn names_are_quoted_and_zero_warehouses_are_refused() {
        assert_eq!(tables(&[]).unwrap().tables()[0].name, "`a``b`.item");
        let refused = tables(&[("warehouses", 0.into())]).unwrap_err().to_string();
        assert!(
            refused.contains("warehouses takes a whole number from 1"),
            "{refused}"
        );
    }
}
