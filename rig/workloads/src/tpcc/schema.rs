//! The nine tables: those of the standard profile, and how the tables of any profile are named and made.

use super::settings::Schema;

/// Districts of a warehouse.
pub const DISTRICTS: u64 = 10;
/// Customers, and orders of the population, of a district.
pub const CUSTOMERS: u64 = 3000;
/// Items, and rows of stock of a warehouse.
pub const ITEMS: u64 = 100_000;
/// Orders of the population from this one on are not delivered.
pub const FIRST_UNDELIVERED: u64 = 2101;

/// A table: what it is made of, and how its rows are grouped for the load.
#[derive(Debug)]
pub struct Definition {
    pub kind: Kind,
    pub name: &'static str,
    /// The columns that the population fills, in this order.
    pub filled: &'static str,
    /// Columns and types, in the order of the table.
    pub columns: &'static str,
    pub primary_key: &'static str,
    /// Name and columns of each other index.
    pub secondary: &'static [(&'static str, &'static str)],
    pub foreign_keys: &'static [ForeignKey],
}

/// A foreign key.
#[derive(Debug)]
pub struct ForeignKey {
    pub columns: &'static str,
    pub refers_to: Kind,
    pub key: &'static str,
}

const fn refers(columns: &'static str, refers_to: Kind, key: &'static str) -> ForeignKey {
    ForeignKey {
        columns,
        refers_to,
        key,
    }
}

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Item,
    Warehouse,
    District,
    Customer,
    Stock,
    History,
    Orders,
    NewOrder,
    OrderLine,
}

impl Kind {
    /// Rows (orders for order lines) in a unit of the load, so that a unit is less than 4 KB.
    #[must_use]
    pub const fn unit_rows(self) -> u64 {
        match self {
            Self::Warehouse => 1,
            Self::Customer => 5,
            Self::OrderLine => 3,
            _ => 10,
        }
    }

    /// Units of the load that a warehouse has; of all warehouses together for items.
    #[must_use]
    pub const fn units(self) -> u64 {
        let rows = match self {
            Self::Item | Self::Stock => ITEMS,
            Self::Warehouse => 1,
            Self::District => DISTRICTS,
            Self::Customer | Self::History | Self::Orders | Self::OrderLine => {
                DISTRICTS * CUSTOMERS
            }
            Self::NewOrder => DISTRICTS * (CUSTOMERS + 1 - FIRST_UNDELIVERED),
        };
        rows / self.unit_rows()
    }
}

impl Definition {
    /// Names of the columns, in the order of the table.
    #[must_use]
    pub fn column_names(&self, history_pk: bool) -> String {
        // a comma inside a type, as in DECIMAL(5,2), is followed by no space
        let names = self.columns.split(", ").filter_map(|c| c.split(' ').next());
        let names = names.collect::<Vec<_>>().join(",");
        if self.kind == Kind::History && history_pk {
            names + ",h_id"
        } else {
            names
        }
    }
}

/// Nine tables of a profile: all there are, or one of several sets that are told apart by a number after each name.
#[derive(Clone, Copy, Debug)]
pub struct TableSet {
    pub definitions: &'static [Definition; 9],
    pub number: Option<u64>,
}

impl TableSet {
    /// The name of one of the tables, or of an index of it.
    #[must_use]
    pub fn name(self, name: &str) -> String {
        match self.number {
            Some(number) => format!("{name}{number}"),
            None => name.to_owned(),
        }
    }

    /// The name of a table.
    #[must_use]
    pub fn table(self, kind: Kind) -> String {
        let found = self.definitions.iter().find(|table| table.kind == kind);
        self.name(found.map_or("", |table| table.name))
    }

    /// SQL with the names of the tables in place of `{item}`, `{warehouse}` and so on.
    #[must_use]
    pub fn sql(self, template: &str) -> String {
        let mut sql = template.to_owned();
        for standard in &TABLES {
            let place = format!("{{{}}}", standard.name);
            if sql.contains(&place) {
                sql = sql.replace(&place, &self.table(standard.kind));
            }
        }
        sql
    }

    /// The statement that makes a table in `database`, which is quoted.
    #[must_use]
    pub fn create(self, table: &Definition, database: &str, schema: &Schema) -> String {
        let mut parts = vec![table.columns.to_owned()];
        if table.kind == Kind::History && schema.history_pk {
            parts.push("h_id BIGINT NOT NULL AUTO_INCREMENT".to_owned());
            // a partitioned table's unique keys must hold the column that it is partitioned by
            let partitioned = schema.partitioned_by(table.kind).is_some();
            let key = if partitioned { "h_id, h_w_id" } else { "h_id" };
            parts.push(format!("PRIMARY KEY ({key})"));
        }
        if !table.primary_key.is_empty() {
            parts.push(format!("PRIMARY KEY ({})", table.primary_key));
        }
        for (name, columns) in table.secondary {
            parts.push(format!("KEY {} ({columns})", self.name(name)));
        }
        if schema.foreign_keys {
            let keys = table.foreign_keys.iter();
            parts.extend(keys.map(|key| {
                let other = self.table(key.refers_to);
                format!(
                    "FOREIGN KEY ({}) REFERENCES {other} ({})",
                    key.columns, key.key
                )
            }));
        }
        let mut sql = format!(
            "CREATE TABLE {database}.{} ({}) ENGINE = {}",
            self.name(table.name),
            parts.join(", "),
            schema.storage_engine
        );
        sql.push_str(schema.table_options());
        if let Some(column) = schema.partitioned_by(table.kind) {
            let by = format!(
                " PARTITION BY HASH ({column}) PARTITIONS {}",
                schema.partitions
            );
            sql.push_str(&by);
        }
        sql
    }
}

/// Every table, those that others refer to first.
pub const TABLES: [Definition; 9] = [
    Definition {
        kind: Kind::Item,
        name: "item",
        filled: "i_id, i_im_id, i_name, i_price, i_data",
        columns: "i_id INT NOT NULL, i_im_id INT NOT NULL, i_name VARCHAR(24) NOT NULL, \
                  i_price DECIMAL(5,2) NOT NULL, i_data VARCHAR(50) NOT NULL",
        primary_key: "i_id",
        secondary: &[],
        foreign_keys: &[],
    },
    Definition {
        kind: Kind::Warehouse,
        name: "warehouse",
        filled: "w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd",
        columns: "w_id INT NOT NULL, w_name VARCHAR(10) NOT NULL, w_street_1 VARCHAR(20) NOT NULL, \
                  w_street_2 VARCHAR(20) NOT NULL, w_city VARCHAR(20) NOT NULL, w_state CHAR(2) NOT NULL, \
                  w_zip CHAR(9) NOT NULL, w_tax DECIMAL(4,4) NOT NULL, w_ytd DECIMAL(12,2) NOT NULL",
        primary_key: "w_id",
        secondary: &[],
        foreign_keys: &[],
    },
    Definition {
        kind: Kind::District,
        name: "district",
        filled: "d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, d_next_o_id",
        columns: "d_id INT NOT NULL, d_w_id INT NOT NULL, d_name VARCHAR(10) NOT NULL, \
                  d_street_1 VARCHAR(20) NOT NULL, d_street_2 VARCHAR(20) NOT NULL, d_city VARCHAR(20) NOT NULL, \
                  d_state CHAR(2) NOT NULL, d_zip CHAR(9) NOT NULL, d_tax DECIMAL(4,4) NOT NULL, \
                  d_ytd DECIMAL(12,2) NOT NULL, d_next_o_id INT NOT NULL",
        primary_key: "d_w_id, d_id",
        secondary: &[],
        foreign_keys: &[refers("d_w_id", Kind::Warehouse, "w_id")],
    },
    Definition {
        kind: Kind::Customer,
        name: "customer",
        filled: "c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, \
                 c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, \
                 c_delivery_cnt, c_data",
        columns: "c_id INT NOT NULL, c_d_id INT NOT NULL, c_w_id INT NOT NULL, c_first VARCHAR(16) NOT NULL, \
                  c_middle CHAR(2) NOT NULL, c_last VARCHAR(16) NOT NULL, c_street_1 VARCHAR(20) NOT NULL, \
                  c_street_2 VARCHAR(20) NOT NULL, c_city VARCHAR(20) NOT NULL, c_state CHAR(2) NOT NULL, \
                  c_zip CHAR(9) NOT NULL, c_phone CHAR(16) NOT NULL, c_since DATETIME NOT NULL, \
                  c_credit CHAR(2) NOT NULL, c_credit_lim DECIMAL(12,2) NOT NULL, \
                  c_discount DECIMAL(4,4) NOT NULL, c_balance DECIMAL(12,2) NOT NULL, \
                  c_ytd_payment DECIMAL(12,2) NOT NULL, c_payment_cnt INT NOT NULL, c_delivery_cnt INT NOT NULL, \
                  c_data VARCHAR(500) NOT NULL",
        primary_key: "c_w_id, c_d_id, c_id",
        secondary: &[("c_by_name", "c_w_id, c_d_id, c_last, c_first")],
        foreign_keys: &[refers("c_w_id, c_d_id", Kind::District, "d_w_id, d_id")],
    },
    Definition {
        kind: Kind::Stock,
        name: "stock",
        filled: "s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, \
                 s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_ytd, s_order_cnt, s_remote_cnt, s_data",
        columns: "s_i_id INT NOT NULL, s_w_id INT NOT NULL, s_quantity INT NOT NULL, s_dist_01 CHAR(24) NOT NULL, \
                  s_dist_02 CHAR(24) NOT NULL, s_dist_03 CHAR(24) NOT NULL, s_dist_04 CHAR(24) NOT NULL, \
                  s_dist_05 CHAR(24) NOT NULL, s_dist_06 CHAR(24) NOT NULL, s_dist_07 CHAR(24) NOT NULL, \
                  s_dist_08 CHAR(24) NOT NULL, s_dist_09 CHAR(24) NOT NULL, s_dist_10 CHAR(24) NOT NULL, \
                  s_ytd INT NOT NULL, s_order_cnt INT NOT NULL, s_remote_cnt INT NOT NULL, \
                  s_data VARCHAR(50) NOT NULL",
        primary_key: "s_w_id, s_i_id",
        secondary: &[],
        foreign_keys: &[
            refers("s_w_id", Kind::Warehouse, "w_id"),
            refers("s_i_id", Kind::Item, "i_id"),
        ],
    },
    Definition {
        kind: Kind::History,
        name: "history",
        filled: "h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data",
        columns: "h_c_id INT NOT NULL, h_c_d_id INT NOT NULL, h_c_w_id INT NOT NULL, h_d_id INT NOT NULL, \
                  h_w_id INT NOT NULL, h_date DATETIME NOT NULL, h_amount DECIMAL(6,2) NOT NULL, \
                  h_data VARCHAR(24) NOT NULL",
        primary_key: "",
        secondary: &[],
        foreign_keys: &[
            refers(
                "h_c_w_id, h_c_d_id, h_c_id",
                Kind::Customer,
                "c_w_id, c_d_id, c_id",
            ),
            refers("h_w_id, h_d_id", Kind::District, "d_w_id, d_id"),
        ],
    },
    Definition {
        kind: Kind::Orders,
        name: "orders",
        filled: "o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local",
        columns: "o_id INT NOT NULL, o_d_id INT NOT NULL, o_w_id INT NOT NULL, o_c_id INT NOT NULL, \
                  o_entry_d DATETIME NOT NULL, o_carrier_id INT, o_ol_cnt INT NOT NULL, o_all_local INT NOT NULL",
        primary_key: "o_w_id, o_d_id, o_id",
        secondary: &[("o_by_customer", "o_w_id, o_d_id, o_c_id, o_id")],
        foreign_keys: &[refers(
            "o_w_id, o_d_id, o_c_id",
            Kind::Customer,
            "c_w_id, c_d_id, c_id",
        )],
    },
    Definition {
        kind: Kind::NewOrder,
        name: "new_order",
        filled: "no_o_id, no_d_id, no_w_id",
        columns: "no_o_id INT NOT NULL, no_d_id INT NOT NULL, no_w_id INT NOT NULL",
        primary_key: "no_w_id, no_d_id, no_o_id",
        secondary: &[],
        foreign_keys: &[refers(
            "no_w_id, no_d_id, no_o_id",
            Kind::Orders,
            "o_w_id, o_d_id, o_id",
        )],
    },
    Definition {
        kind: Kind::OrderLine,
        name: "order_line",
        filled: "ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, \
                 ol_amount, ol_dist_info",
        columns: "ol_o_id INT NOT NULL, ol_d_id INT NOT NULL, ol_w_id INT NOT NULL, ol_number INT NOT NULL, \
                  ol_i_id INT NOT NULL, ol_supply_w_id INT NOT NULL, ol_delivery_d DATETIME, \
                  ol_quantity INT NOT NULL, ol_amount DECIMAL(6,2) NOT NULL, ol_dist_info CHAR(24) NOT NULL",
        primary_key: "ol_w_id, ol_d_id, ol_o_id, ol_number",
        secondary: &[],
        foreign_keys: &[
            refers(
                "ol_w_id, ol_d_id, ol_o_id",
                Kind::Orders,
                "o_w_id, o_d_id, o_id",
            ),
            refers("ol_supply_w_id, ol_i_id", Kind::Stock, "s_w_id, s_i_id"),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::profiles::Profile;

    #[test]
    fn the_columns_that_are_filled_are_all_there_are() {
        for profile in Profile::ALL {
            for table in profile.tables() {
                let sorted = |names: &str| {
                    let plain = names.replace(' ', "");
                    let mut names: Vec<_> = plain.split(',').map(str::to_owned).collect();
                    names.sort();
                    names
                };
                let declared = sorted(&table.column_names(false));
                assert_eq!(sorted(table.filled), declared, "{profile:?} {}", table.name);
            }
        }
        for table in &TABLES {
            assert_eq!(table.filled.replace(' ', ""), table.column_names(false));
        }
    }

    #[test]
    fn sets_are_told_apart_by_a_number_after_every_name() {
        let schema = Schema {
            foreign_keys: true,
            ..Schema::of(Profile::SysbenchTpcc)
        };
        let set = TableSet {
            definitions: Profile::SysbenchTpcc.tables(),
            number: Some(3),
        };
        let sql = set.create(&set.definitions[6], "`d`", &schema);
        assert!(sql.starts_with("CREATE TABLE `d`.orders3 (o_id "), "{sql}");
        assert!(sql.contains("KEY idx_orders3 (o_w_id, "), "{sql}");
        assert!(sql.contains("REFERENCES customer3 (c_w_id, "), "{sql}");
        assert_eq!(set.sql("a {new_order} b"), "a new_orders3 b");
    }

    #[test]
    fn tables_are_partitioned_by_their_warehouse() {
        let schema = Schema {
            partitions: 8,
            history_pk: true,
            ..Schema::of(Profile::Standard)
        };
        let set = TableSet {
            definitions: &TABLES,
            number: None,
        };
        let made = |kind: Kind| set.create(&TABLES[kind as usize], "d", &schema);
        assert!(made(Kind::Stock).ends_with(" PARTITION BY HASH (s_w_id) PARTITIONS 8"));
        assert!(made(Kind::History).contains("PRIMARY KEY (h_id, h_w_id)"));
        assert!(!made(Kind::Item).contains("PARTITION"));
    }

    #[test]
    fn units_hold_every_row() {
        let rows = |kind: Kind| kind.units() * kind.unit_rows();
        assert_eq!(rows(Kind::Stock), 100_000);
        assert_eq!(rows(Kind::Customer), 30_000);
        assert_eq!(rows(Kind::OrderLine), 30_000);
        assert_eq!(rows(Kind::NewOrder), 9000);
        assert_eq!(rows(Kind::District), 10);
    }
}
