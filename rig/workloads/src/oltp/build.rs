//! The tables of the OLTP workloads: made, filled, indexed, checked, removed.

use super::rows::{Row, TableRows};
use super::settings;
use super::settings::Schema;
use super::workload::Oltp;
use crate::data::Data;
use crate::error::BuildError;
use crate::load::writer::RowWriter;
use crate::load::{Source, Table};
use crate::random::{Random, RowRandom};
use crate::sql::{Found, analyze, execute, first_cell, literal, query, quoted};
use dyno_wire::Connection;

/// Everything that is needed to make the tables of one workload, and to know them again.
#[derive(Debug)]
pub struct Tables {
    schema: Schema,
    database: String,
    seed: u64,
    rows: Vec<TableRows>,
    loads: Vec<Table>,
}

impl Tables {
    /// The tables of `workload` in `database`, their rows under `seed`.
    #[must_use]
    pub fn new(workload: &Oltp, database: &str, seed: u64) -> Self {
        let schema = workload.schema().clone();
        let k = settings::distribution(workload.options());
        let rows = (1..=schema.tables)
            .map(|table| TableRows::new(seed, table, k))
            .collect();
        let loads = (1..=schema.tables).map(|table| Table {
            name: qualified(database, table),
            columns: "id, k, c, pad",
            units: schema.table_size,
            auto_increment: schema.auto_inc,
        });
        Self {
            loads: loads.collect(),
            schema,
            database: database.to_owned(),
            seed,
            rows,
        }
    }

    fn has_name(&self, name: &str) -> bool {
        let number = name
            .strip_prefix("sbtest")
            .filter(|digits| !digits.starts_with(['0', '+']));
        number
            .and_then(|digits| digits.parse().ok())
            .is_some_and(|n: u64| (1..=self.schema.tables).contains(&n))
    }

    async fn verify_count(
        &self,
        connection: &mut Connection,
        number: u64,
    ) -> Result<(), BuildError> {
        let sql = format!("SELECT COUNT(*) FROM {}", qualified(&self.database, number));
        let rows = query(
            connection,
            &sql,
            &format!("count the rows of sbtest{number}"),
        )
        .await?;
        let count = first_cell(&rows);
        if count.parse() == Ok(self.schema.table_size) {
            return Ok(());
        }
        Err(wrong(
            number,
            format!(
                "{} rows were loaded, the table has {count}",
                self.schema.table_size
            ),
        ))
    }

    async fn verify_definition(
        &self,
        connection: &mut Connection,
        number: u64,
    ) -> Result<(), BuildError> {
        let place = format!(
            "TABLE_SCHEMA = {} AND TABLE_NAME = 'sbtest{number}'",
            literal(&self.database)
        );
        let sql = format!("SELECT ENGINE FROM information_schema.TABLES WHERE {place}");
        let engine = first_cell(&query(connection, &sql, "read the storage engine").await?);
        if !engine.eq_ignore_ascii_case(&self.schema.storage_engine) {
            return Err(wrong(
                number,
                format!(
                    "its storage engine is {engine}, not {}",
                    self.schema.storage_engine
                ),
            ));
        }
        let sql = format!(
            "SELECT INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS WHERE {place} ORDER BY 1"
        );
        let rows = query(connection, &sql, "read the indexes").await?;
        let mut found: Vec<(String, String)> = rows
            .into_iter()
            .map(|row| {
                let mut cells = row.into_iter().map(Option::unwrap_or_default);
                (
                    cells.next().unwrap_or_default(),
                    cells.next().unwrap_or_default(),
                )
            })
            .collect();
        let mut expected = vec![(
            if self.schema.secondary {
                "xid"
            } else {
                "PRIMARY"
            }
            .to_owned(),
            "id".to_owned(),
        )];
        if self.schema.create_secondary {
            expected.push((format!("k_{number}"), "k".to_owned()));
        }
        found.sort_unstable();
        expected.sort_unstable();
        if found == expected {
            return Ok(());
        }
        Err(wrong(
            number,
            format!("its indexes are {found:?}, not {expected:?}"),
        ))
    }

    /// Reads some rows back: the first, the last, and others by chance.
    async fn verify_rows(
        &self,
        connection: &mut Connection,
        number: u64,
    ) -> Result<(), BuildError> {
        let size = self.schema.table_size;
        let mut random = RowRandom::new(RowRandom::table_key(self.seed, 0), number);
        let mut ids: Vec<u64> = (0..SAMPLED)
            .map(|_| 1 + random.below(size))
            .chain([1, size])
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let list = ids.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let table = qualified(&self.database, number);
        let sql = format!("SELECT id, k, c, pad FROM {table} WHERE id IN ({list}) ORDER BY id");
        let found = query(connection, &sql, &format!("read rows of sbtest{number}")).await?;
        let index = usize::try_from(number - 1).unwrap_or(usize::MAX);
        let mut row = Row::blank();
        let expected: Found = ids
            .iter()
            .map(|&id| {
                self.rows[index].fill(id, &mut row);
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                [
                    id.to_string(),
                    row.k.to_string(),
                    text(&row.c),
                    text(&row.pad),
                ]
                .map(Some)
                .to_vec()
            })
            .collect();
        if found == expected {
            return Ok(());
        }
        let differing = found
            .iter()
            .zip(&expected)
            .find(|(found, expected)| found != expected);
        Err(match differing {
            Some((found, expected)) => wrong(
                number,
                format!("a row reads {found:?}, loaded was {expected:?}"),
            ),
            None => wrong(
                number,
                format!(
                    "{} of {} sampled rows are there",
                    found.len(),
                    expected.len()
                ),
            ),
        })
    }
}

impl Data for Tables {
    fn database(&self) -> &str {
        &self.database
    }

    async fn existing(&self, connection: &mut Connection) -> Result<Vec<String>, BuildError> {
        // columns in the order of the table; a view or a table that cannot be read has other columns or none
        let sql = format!(
            "SELECT t.TABLE_NAME, t.TABLE_TYPE, GROUP_CONCAT(c.COLUMN_NAME ORDER BY c.ORDINAL_POSITION) \
             FROM information_schema.TABLES t LEFT JOIN information_schema.COLUMNS c \
             ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME \
             WHERE t.TABLE_SCHEMA = {} AND t.TABLE_NAME LIKE 'sbtest%' GROUP BY t.TABLE_NAME, t.TABLE_TYPE",
            literal(&self.database)
        );
        let mut existing = Vec::new();
        for row in query(connection, &sql, "look for tables in the way").await? {
            let cell = |column: usize| row.get(column).cloned().flatten().unwrap_or_default();
            let (name, kind, columns) = (cell(0), cell(1), cell(2));
            if !self.has_name(&name) {
                continue;
            }
            if kind != "BASE TABLE" || columns != "id,k,c,pad" {
                let found = format!("a {} with the columns {columns}", kind.to_lowercase());
                return Err(BuildError::ForeignTable {
                    database: self.database.clone(),
                    table: name,
                    found,
                });
            }
            existing.push(name);
        }
        existing.sort_unstable_by_key(|name| (name.len(), name.clone()));
        Ok(existing)
    }

    async fn create(&self, connection: &mut Connection, number: u64) -> Result<(), BuildError> {
        let Schema {
            table_size,
            auto_inc,
            secondary,
            ref storage_engine,
            ..
        } = self.schema;
        let integer = if table_size > i32::MAX.cast_unsigned().into() {
            "BIGINT"
        } else {
            "INTEGER"
        };
        let auto = if auto_inc { " AUTO_INCREMENT" } else { "" };
        let key = if secondary {
            "KEY xid (id)"
        } else {
            "PRIMARY KEY (id)"
        };
        let sql = format!(
            "CREATE TABLE {} (id {integer} NOT NULL{auto}, k {integer} DEFAULT 0 NOT NULL, \
             c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, {key}) ENGINE = {storage_engine}",
            qualified(&self.database, number)
        );
        execute(connection, &sql, &format!("create table sbtest{number}")).await
    }

    fn has_secondary_index(&self) -> bool {
        self.schema.create_secondary
    }

    async fn create_index(
        &self,
        connection: &mut Connection,
        number: u64,
    ) -> Result<(), BuildError> {
        let sql = format!(
            "CREATE INDEX k_{number} ON {} (k)",
            qualified(&self.database, number)
        );
        execute(connection, &sql, &format!("create index k_{number}")).await
    }

    async fn verify(&self, connection: &mut Connection, number: u64) -> Result<(), BuildError> {
        self.verify_count(connection, number).await?;
        self.verify_definition(connection, number).await?;
        self.verify_rows(connection, number).await?;
        analyze(connection, &self.database, &format!("sbtest{number}")).await
    }
}

/// Rows of each table that are read back, besides the first and the last.
const SAMPLED: u64 = 30;

/// Rows of one transaction of the load, some 5 MB.
const CHUNK_ROWS: u64 = 25_000;

impl Source for Tables {
    fn tables(&self) -> &[Table] {
        &self.loads
    }

    #[inline]
    fn append(&self, table: usize, unit: u64, writer: &mut RowWriter<'_>) {
        let id = unit + 1;
        let mut row = Row::blank();
        self.rows[table].fill(id, &mut row);
        writer.integer(id);
        writer.integer(row.k);
        writer.text(&row.c);
        writer.text(&row.pad);
        writer.end_row();
    }

    fn chunk_units(&self) -> u64 {
        CHUNK_ROWS
    }
}

fn qualified(database: &str, table: u64) -> String {
    format!("{}.sbtest{table}", quoted(database))
}

fn wrong(number: u64, found: String) -> BuildError {
    BuildError::Wrong {
        table: format!("sbtest{number}"),
        found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::writer::Form;
    use dyno_record::WorkloadSpec;
    use proptest::prelude::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn tables(options: &[(&str, serde_json::Value)]) -> Tables {
        let options: BTreeMap<_, _> = options
            .iter()
            .map(|(k, v)| ((*k).to_owned(), v.clone()))
            .collect();
        let spec = WorkloadSpec {
            name: "oltp_read_write".to_owned(),
            options,
        };
        Tables::new(&Oltp::new(&spec).unwrap(), "a`b", 1)
    }

    fn rows(tables: &Tables, table: usize, units: std::ops::Range<u64>) -> String {
        let mut out = Vec::new();
        let mut writer = RowWriter::new(&mut out, Form::Tabbed);
        units.for_each(|unit| tables.append(table, unit, &mut writer));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_table_has_the_ids_from_one_to_its_size() {
        let tables = tables(&[("tables", json!(2)), ("table_size", json!(50))]);
        assert_eq!(tables.tables().len(), 2);
        let text = rows(&tables, 1, 0..tables.tables()[1].units);
        let ids: Vec<u64> = text
            .lines()
            .map(|line| line.split('\t').next().unwrap().parse().unwrap())
            .collect();
        assert_eq!(ids, (1..=50).collect::<Vec<u64>>());
        assert!(
            text.lines()
                .all(|line| line.split('\t').count() == 4 && line.len() > 119 + 59)
        );
        assert_ne!(text, rows(&tables, 0, 0..50));
    }

    #[test]
    fn only_the_numbers_of_the_workload_are_its_tables() {
        let tables = tables(&[("tables", json!(12))]);
        for name in ["sbtest1", "sbtest9", "sbtest12"] {
            assert!(tables.has_name(name), "{name}");
        }
        for name in [
            "sbtest", "sbtest0", "sbtest13", "sbtest01", "sbtest+1", "sbtest1x", "xsbtest1",
            "sbtest-1",
        ] {
            assert!(!tables.has_name(name), "{name}");
        }
    }

    #[test]
    fn names_and_strings_are_quoted() {
        assert_eq!(tables(&[]).tables()[0].name, "`a``b`.sbtest1");
        assert_eq!(literal("it's \\"), "'it''s \\\\'");
    }

    proptest! {
        #[test]
        fn chunks_of_any_size_make_the_same_table(cuts in prop::collection::vec(0..40_u64, 0..5)) {
            let tables = tables(&[("table_size", json!(40)), ("distribution", json!("zipfian"))]);
            let mut cuts = cuts;
            cuts.extend([0, 40]);
            cuts.sort_unstable();
            let chunked: String = cuts.windows(2).map(|ends| rows(&tables, 0, ends[0]..ends[1])).collect();
            prop_assert_eq!(chunked, rows(&tables, 0, 0..40));
        }
    }
}
