//! The statements, with the tables' names in braces.

use super::Tool;
use crate::tpcc::schema::{DISTRICTS, TableSet};
use dyno_drive::{Client, Error, Outcome, Prepared, Row, StatementClass, Value};

/// One kind of statement. Its number is that of the record's statement type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Statement {
    Begin,
    Commit,
    Rollback,
    SchemaCheck,
    OrderCustomer,
    OrderDistrict,
    OrderDistrictNext,
    OrderInsert,
    OrderNew,
    OrderItem,
    OrderStock,
    OrderStockUpdate,
    OrderLine,
    PaymentWarehouseUpdate,
    PaymentWarehouse,
    PaymentDistrictUpdate,
    PaymentDistrict,
    PaymentNamesakes,
    PaymentByName,
    PaymentCustomer,
    PaymentData,
    PaymentBadCredit,
    PaymentCustomerUpdate,
    PaymentHistory,
    StatusNamesakes,
    StatusByName,
    StatusCustomer,
    StatusOrder,
    StatusLines,
    DeliveryOldest,
    DeliveryTake,
    DeliveryOrder,
    DeliveryOrderUpdate,
    DeliveryLinesUpdate,
    DeliveryAmount,
    DeliveryCustomer,
    LevelDistrict,
    LevelItems,
    LevelStock,
}

use StatementClass::{Begin, Commit, Delete, Insert, Rollback, Select, Update};

/// Name in records, class and SQL of each statement, in the order of [`Statement`]. Amounts are sent in hundredths, as
/// whole numbers, so that the server adds them exactly.
pub const STATEMENTS: [(&str, StatementClass, &str); 39] = [
    ("begin", Begin, "BEGIN"),
    ("commit", Commit, "COMMIT"),
    ("rollback", Rollback, "ROLLBACK"),
    (
        "schema_check",
        Select,
        "SELECT COUNT(*) FROM {warehouse} JOIN {district} ON d_w_id = w_id AND d_id = 10 \
         JOIN {customer} ON c_w_id = w_id AND c_d_id = 10 AND c_id = 3000 \
         JOIN {stock} ON s_w_id = w_id AND s_i_id = 100000 JOIN {item} ON i_id = 100000 WHERE w_id <= ?",
    ),
    (
        "new_order_customer",
        Select,
        "SELECT c_discount, c_last, c_credit, w_tax FROM {customer}, {warehouse} \
         WHERE w_id = ? AND c_w_id = w_id AND c_d_id = ? AND c_id = ?",
    ),
    (
        "new_order_district",
        Select,
        "SELECT d_next_o_id, d_tax FROM {district} WHERE d_w_id = ? AND d_id = ? FOR UPDATE",
    ),
    (
        "new_order_district_next",
        Update,
        "UPDATE {district} SET d_next_o_id = ? + 1 WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        "new_order_order",
        Insert,
        "INSERT INTO {orders} (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) \
         VALUES (?, ?, ?, ?, NOW(), ?, ?)",
    ),
    (
        "new_order_new",
        Insert,
        "INSERT INTO {new_order} (no_w_id, no_d_id, no_o_id) VALUES (?, ?, ?)",
    ),
    (
        "new_order_item",
        Select,
        "SELECT i_price, i_name, i_data FROM {item} WHERE i_id = ?",
    ),
    (
        "new_order_stock",
        Select,
        "SELECT s_quantity, s_data, [info] FROM {stock} WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    ),
    (
        "new_order_stock_update",
        Update,
        "UPDATE {stock} SET s_quantity = ? WHERE s_w_id = ? AND s_i_id = ?",
    ),
    (
        "new_order_line",
        Insert,
        "INSERT INTO {order_line} (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, \
         ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, ?, ? * 0.01, ?)",
    ),
    (
        "payment_warehouse_update",
        Update,
        "UPDATE {warehouse} SET w_ytd = w_ytd + ? WHERE w_id = ?",
    ),
    (
        "payment_warehouse",
        Select,
        "SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name FROM {warehouse} WHERE w_id = ?",
    ),
    (
        "payment_district_update",
        Update,
        "UPDATE {district} SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        "payment_district",
        Select,
        "SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name FROM {district} WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        "payment_namesakes",
        Select,
        "SELECT COUNT(c_id) FROM {customer} WHERE c_w_id = ? AND c_d_id = ? AND c_last = ?",
    ),
    (
        "payment_by_name",
        Select,
        "SELECT c_id FROM {customer} WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first",
    ),
    (
        "payment_customer",
        Select,
        "SELECT c_credit, c_balance, c_ytd_payment, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, \
         c_zip, c_phone, c_credit_lim, c_discount, c_since FROM {customer} \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR UPDATE",
    ),
    (
        "payment_customer_data",
        Select,
        "SELECT c_data FROM {customer} WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        "payment_bad_credit_update",
        Update,
        "UPDATE {customer} SET c_balance = ? * 0.01, [paid]c_data = ? WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        "payment_customer_update",
        Update,
        "UPDATE {customer} SET [paid]c_balance = ? * 0.01 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        "payment_history",
        Insert,
        "INSERT INTO {history} (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data) \
         VALUES (?, ?, ?, ?, ?, NOW(), ?, ?)",
    ),
    (
        "order_status_namesakes",
        Select,
        "SELECT COUNT(c_id) FROM {customer} WHERE c_w_id = ? AND c_d_id = ? AND c_last = ?",
    ),
    (
        "order_status_by_name",
        Select,
        "SELECT c_id, c_balance, c_first, c_middle FROM {customer} WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? \
         ORDER BY c_first",
    ),
    (
        "order_status_customer",
        Select,
        "SELECT c_balance, c_first, c_middle, c_last FROM {customer} WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    ("order_status_order", Select, "[last_order]"),
    (
        "order_status_lines",
        Select,
        "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM {order_line} \
         WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
    ),
    ("delivery_oldest", Select, "[oldest]"),
    (
        "delivery_take",
        Delete,
        "DELETE FROM {new_order} WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?",
    ),
    (
        "delivery_order",
        Select,
        "SELECT o_c_id FROM {orders} WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
    ),
    (
        "delivery_order_update",
        Update,
        "UPDATE {orders} SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
    ),
    (
        "delivery_lines_update",
        Update,
        "UPDATE {order_line} SET ol_delivery_d = NOW() WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
    ),
    (
        "delivery_amount",
        Select,
        "SELECT SUM(ol_amount) FROM {order_line} WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
    ),
    (
        "delivery_customer",
        Update,
        "UPDATE {customer} SET c_balance = c_balance + ? * 0.01, c_delivery_cnt = c_delivery_cnt + 1 \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        "stock_level_district",
        Select,
        "SELECT d_next_o_id FROM {district} WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        "stock_level_items",
        Select,
        "SELECT DISTINCT ol_i_id FROM {order_line} WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ?",
    ),
    (
        "stock_level_stock",
        Select,
        "SELECT COUNT(*) FROM {stock} WHERE s_w_id = ? AND s_i_id = ? AND s_quantity < ?",
    ),
];

/// The first of them travel as text: they have no parameters.
const PLAIN: usize = 3;

/// What the tools write differently, for the marks in brackets.
fn dialect(tool: Tool, sql: &str) -> String {
    let (paid, last_order, oldest) = match tool {
        Tool::SysbenchTpcc => (
            "c_ytd_payment = ? * 0.01, ",
            "SELECT o_id, o_carrier_id, o_entry_d FROM {orders} WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? \
             ORDER BY o_id DESC",
            "SELECT no_o_id FROM {new_order} WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1 FOR UPDATE",
        ),
        Tool::TpccMysql => (
            "",
            "SELECT o_id, COALESCE(o_carrier_id, 0), o_entry_d FROM {orders} \
             WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? AND o_id = \
             (SELECT MAX(o_id) FROM {orders} WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ?)",
            "SELECT COALESCE(MIN(no_o_id), 0) FROM {new_order} WHERE no_w_id = ? AND no_d_id = ?",
        ),
    };
    sql.replace("[paid]", paid)
        .replace("[last_order]", last_order)
        .replace("[oldest]", oldest)
}

/// How the information for a district is read from a row of stock: sysbench-tpcc names the district's column, so that
/// there are ten statements of one kind; tpcc-mysql reads all ten columns.
fn info(tool: Tool, district: u64) -> String {
    match tool {
        Tool::SysbenchTpcc => format!("s_dist_{district:02}"),
        Tool::TpccMysql => {
            let columns = (1..=DISTRICTS).map(|d| format!("s_dist_{d:02}"));
            columns.collect::<Vec<_>>().join(", ")
        }
    }
}

/// The statements of one set of tables in one session, ready to be executed.
#[derive(Debug)]
pub struct Statements {
    prepared: Vec<Prepared>,
    /// By district, where they differ.
    stock: Vec<Prepared>,
}

impl Statements {
    /// How many a session prepares for a set of tables.
    pub const fn count(tool: Tool) -> usize {
        STATEMENTS.len() - PLAIN - 1 + Self::stock_count(tool)
    }

    const fn stock_count(tool: Tool) -> usize {
        match tool {
            Tool::SysbenchTpcc => 10,
            Tool::TpccMysql => 1,
        }
    }

    /// Prepares all of them.
    pub async fn prepare(client: &mut Client, tool: Tool, set: TableSet) -> Result<Self, Error> {
        let mut prepared = Vec::with_capacity(STATEMENTS.len() - PLAIN);
        let mut stock = Vec::with_capacity(Self::stock_count(tool));
        for (kind, (_, _, sql)) in STATEMENTS.iter().enumerate().skip(PLAIN) {
            let sql = set.sql(&dialect(tool, sql));
            if kind == Statement::OrderStock as usize {
                for district in 1..=Self::stock_count(tool) as u64 {
                    let sql = sql.replace("[info]", &info(tool, district));
                    stock.push(client.prepare(kind, &sql).await?);
                }
                // its place in the list is taken by the first of them
                prepared.push(stock[0].clone());
            } else {
                prepared.push(client.prepare(kind, &sql).await?);
            }
        }
        Ok(Self { prepared, stock })
    }

    /// Executes a statement without parameters as text.
    pub async fn simple(client: &mut Client, statement: Statement) -> Result<(), Error> {
        let kind = statement as usize;
        client.simple(kind, STATEMENTS[kind].2).await.map(drop)
    }

    /// Reads any number of rows and returns how many.
    pub async fn read(
        &self,
        client: &mut Client,
        statement: Statement,
        values: &[Value<'_>],
        visit: impl FnMut(Row<'_>) -> Result<(), dyno_wire::Error>,
    ) -> Result<u64, Error> {
        let prepared = &self.prepared[statement as usize - PLAIN];
        let outcome = client.execute_rows(prepared, values, visit).await?;
        Ok(outcome.rows)
    }

    /// Reads a row of stock for a district: its quantity, and the information for the district.
    pub async fn read_stock(
        &self,
        client: &mut Client,
        district: u64,
        values: &[Value<'_>],
        text: &mut Vec<u8>,
    ) -> Result<i64, Error> {
        let (mut stock, index) = (0, usize::try_from(district - 1).unwrap_or(0));
        // either the one statement of the district, or one column of ten
        let (prepared, column) = match self.stock.get(index) {
            Some(prepared) if self.stock.len() > 1 => (prepared, 2),
            _ => (&self.stock[0], 2 + index),
        };
        client
            .execute_rows(prepared, values, |row| {
                stock = row.get_i64(0)?.unwrap_or(0);
                text.clear();
                text.extend_from_slice(row.get_bytes(column)?.unwrap_or_default());
                Ok(())
            })
            .await?;
        Ok(stock)
    }

    /// Reads at least one row; the last one counts.
    pub async fn read_some(
        &self,
        client: &mut Client,
        statement: Statement,
        values: &[Value<'_>],
        visit: impl FnMut(Row<'_>) -> Result<(), dyno_wire::Error>,
    ) -> Result<(), Error> {
        match self.read(client, statement, values, visit).await? {
            0 => Err(missing(statement, values)),
            _ => Ok(()),
        }
    }

    /// Changes rows, however many: the tools do not look.
    pub async fn change(
        &self,
        client: &mut Client,
        statement: Statement,
        values: &[Value<'_>],
    ) -> Result<Outcome, Error> {
        let prepared = &self.prepared[statement as usize - PLAIN];
        client.execute(prepared, values).await
    }
}

#[cold]
fn missing(statement: Statement, values: &[Value<'_>]) -> Error {
    let kind = statement as usize;
    let message = format!(
        "{} {values:?} gave no row\n\
         hint: were the tables built by prepare with the same profile, warehouses and tables?",
        STATEMENTS[kind].0
    );
    Error::workload(message).in_statement(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::profiles::Profile;

    #[test]
    fn numbers_and_names_are_in_step() {
        for (statement, name) in [
            (Statement::Begin, "begin"),
            (Statement::OrderLine, "new_order_line"),
            (Statement::PaymentHistory, "payment_history"),
            (Statement::StatusLines, "order_status_lines"),
            (Statement::DeliveryCustomer, "delivery_customer"),
            (Statement::LevelStock, "stock_level_stock"),
        ] {
            assert_eq!(STATEMENTS[statement as usize].0, name);
        }
        assert_eq!(Statement::LevelStock as usize + 1, STATEMENTS.len());
    }

    #[test]
    fn no_mark_is_left_in_any_dialect() {
        for (tool, profile) in [
            (Tool::SysbenchTpcc, Profile::SysbenchTpcc),
            (Tool::TpccMysql, Profile::TpccMysql),
        ] {
            let set = TableSet {
                definitions: profile.tables(),
                number: Some(2),
            };
            for (name, _, sql) in STATEMENTS {
                let sql = dialect(tool, sql).replace("[info]", &info(tool, 3));
                let sql = set.sql(&sql);
                assert!(!sql.contains(['[', '{']), "{name}: {sql}");
            }
        }
    }
}
