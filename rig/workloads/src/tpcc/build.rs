//! The tables in a database: made, filled, checked.

use super::population::Population;
use super::profiles::{Profile, hammerdb};
use super::schema::{Definition, Kind, TableSet};
use super::settings::{self, Schema};
use super::shapes::{Shape, routine};
use crate::data::Data;
use crate::error::BuildError;
use crate::load::writer::RowWriter;
use crate::load::{Source, Table};
use crate::options::{OptionError, Options};
use crate::sql::{self, execute, first_cell, literal, query, quoted};
use dyno_record::WorkloadSpec;
use dyno_wire::Connection;

/// Everything that is needed to make the tables, and to know them again.
#[derive(Debug)]
pub struct Tables {
    schema: Schema,
    shape: Shape,
    database: String,
    sets: Vec<TableSet>,
    populations: Vec<Population>,
    loads: Vec<Table>,
}

impl Tables {
    /// The tables of a spec in each of its databases, which begin with `database`, their rows under `seed`.
    pub fn of_all(
        spec: &WorkloadSpec,
        database: &str,
        seed: u64,
    ) -> Result<Vec<Self>, OptionError> {
        let options = settings::resolve(spec)?;
        let schema = Schema::from(&options);
        let databases = schema.databases(database).into_iter().zip(0..);
        let each = databases.map(|(name, index)| Self::new(&options, &schema, &name, seed, index));
        Ok(each.collect())
    }

    /// Those in one of the databases, which count from 0.
    fn new(options: &Options, schema: &Schema, database: &str, seed: u64, index: u64) -> Self {
        let sets: Vec<TableSet> = schema.table_sets().collect();
        let each = sets.iter().flat_map(|set| {
            let tables = set.definitions.iter();
            tables.map(move |table| (set, table))
        });
        let loads = each.map(|(set, table)| Table {
            name: format!("{}.{}", quoted(database), set.name(table.name)),
            columns: table.filled,
            units: units(table.kind, schema),
            auto_increment: table.kind == Kind::History && schema.history_pk,
        });
        // no two databases hold the same rows
        let population = |set| Population::new(schema.profile, seed, index * schema.sets + set);
        Self {
            loads: loads.collect(),
            shape: Shape::named(options.word("shape")),
            populations: (0..schema.sets).map(population).collect(),
            sets,
            schema: schema.clone(),
            database: database.to_owned(),
        }
    }

    /// How many rows a table has; none when that is drawn.
    fn rows_expected(&self, kind: Kind) -> Option<u64> {
        let units = units(kind, &self.schema);
        (kind != Kind::OrderLine).then(|| units * kind.unit_rows())
    }

    /// The set and the definition of a table, by its index.
    fn table(&self, index: usize) -> (TableSet, &'static Definition) {
        let set = self.sets[index / 9];
        (set, &set.definitions[index % 9])
    }

    /// The same by its number, from 1.
    fn numbered(&self, number: u64) -> (TableSet, &'static Definition) {
        self.table(usize::try_from(number - 1).unwrap_or(usize::MAX))
    }
}

/// Units of the load that a table has: items are there once, whatever the number of warehouses.
fn units(kind: Kind, schema: &Schema) -> u64 {
    match kind {
        Kind::Item => kind.units(),
        _ => kind.units() * schema.warehouses,
    }
}

impl Source for Tables {
    fn tables(&self) -> &[Table] {
        &self.loads
    }

    fn append(&self, table: usize, unit: u64, writer: &mut RowWriter<'_>) {
        let kind = self.table(table).1.kind;
        self.populations[table / 9].append(kind, unit, writer);
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
        for index in (0..self.loads.len()).rev() {
            let (set, table) = self.table(index);
            let name = set.name(table.name);
            let sql = format!(
                "SELECT t.TABLE_TYPE, GROUP_CONCAT(c.COLUMN_NAME ORDER BY c.ORDINAL_POSITION) \
                 FROM information_schema.TABLES t LEFT JOIN information_schema.COLUMNS c \
                 ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME \
                 WHERE t.TABLE_SCHEMA = {} AND t.TABLE_NAME = '{name}' GROUP BY t.TABLE_TYPE",
                literal(&self.database),
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
            // of any profile that has such a table; history may have been built with its key or without
            let mut known = Profile::ALL.into_iter().flat_map(|profile| {
                let same = profile
                    .tables()
                    .iter()
                    .filter(|other| other.name == table.name);
                same.flat_map(|other| [false, true].map(|pk| other.column_names(pk)))
            });
            if kind != "BASE TABLE" || !known.any(|names| names == columns) {
                return Err(BuildError::ForeignTable {
                    database: self.database.clone(),
                    table: name,
                    found: format!("a {} with the columns {columns}", kind.to_lowercase()),
                });
            }
            existing.push(name);
        }
        Ok(existing)
    }

    async fn create(&self, connection: &mut Connection, number: u64) -> Result<(), BuildError> {
        let (set, table) = self.numbered(number);
        let sql = set.create(table, &quoted(&self.database), &self.schema);
        let doing = format!("create table {}", set.name(table.name));
        execute(connection, &sql, &doing).await
    }

    /// The secondary indexes are there before the load: rows come in the order of the primary key, district by
    /// district, and an index of one district stays in the cache.
    fn has_secondary_index(&self) -> bool {
        false
    }

    async fn create_index(&self, _: &mut Connection, _: u64) -> Result<(), BuildError> {
        Ok(())
    }

    async fn verify(&self, connection: &mut Connection, number: u64) -> Result<(), BuildError> {
        let (set, table) = self.numbered(number);
        let name = set.name(table.name);
        let wrong = |found: String| BuildError::Wrong {
            table: name.clone(),
            found,
        };
        let database = quoted(&self.database);
        let (sql, expected) = match self.rows_expected(table.kind) {
            Some(rows) => (
                format!("SELECT COUNT(*) FROM {database}.{name}"),
                rows.to_string(),
            ),
            // how many lines there are is drawn; the orders know
            None => (
                format!(
                    "SELECT (SELECT COUNT(*) FROM {database}.{name}) - (SELECT SUM(o_ol_cnt) FROM {database}.{})",
                    set.table(Kind::Orders)
                ),
                "0".to_owned(),
            ),
        };
        let doing = format!("count the rows of {name}");
        let count = first_cell(&query(connection, &sql, &doing).await?);
        if count != expected {
            return Err(wrong(format!(
                "counted were {count} rows, expected {expected}"
            )));
        }
        let sql = format!(
            "SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = {} AND TABLE_NAME = '{name}'",
            literal(&self.database),
        );
        let engine = first_cell(&query(connection, &sql, "read the storage engine").await?);
        if !engine.eq_ignore_ascii_case(&self.schema.storage_engine) {
            let asked = &self.schema.storage_engine;
            return Err(wrong(format!(
                "its storage engine is {engine}, not {asked}"
            )));
        }
        sql::analyze(connection, &self.database, &name).await
    }

    async fn create_routines(&self, connection: &mut Connection) -> Result<(), BuildError> {
        match (self.schema.profile, self.shape) {
            (Profile::HammerDb, _) => {
                hammerdb::procedures::make_all(connection, &self.database).await
            }
            (Profile::Standard, Shape::Procedures) => {
                routine::make_all(connection, &self.database).await
            }
            _ => Ok(()),
        }
    }

    async fn drop_routines(&self, connection: &mut Connection) -> Result<(), BuildError> {
        match self.schema.profile {
            Profile::HammerDb => hammerdb::procedures::drop_all(connection, &self.database).await,
            Profile::Standard => routine::drop_all(connection, &self.database).await,
            Profile::SysbenchTpcc | Profile::TpccMysql => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::schema::{ITEMS, TABLES};
    use std::collections::BTreeMap;

    fn tables(options: &[(&str, serde_json::Value)]) -> Result<Tables, OptionError> {
        let options: BTreeMap<_, _> = options
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
        let name = settings::NAME.to_owned();
        let mut all = Tables::of_all(&WorkloadSpec { name, options }, "a`b", 1)?;
        Ok(all.remove(0))
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
