//! The statements of the shape `batched`. Groups in brackets are repeated: for the lines of an order, or the districts of
//! a delivery.

use crate::tpcc::inputs::LINES_MAX;
use crate::tpcc::schema::DISTRICTS;
use crate::tpcc::shapes::catalog::{BEGIN, COMMIT, Catalog, Definition, ROLLBACK};
use dyno_drive::StatementClass;
use std::ops::RangeInclusive;

/// One kind of statement. Its number is that of the record's statement type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Batch {
    Begin,
    Commit,
    Rollback,
    OrderDistrict,
    OrderStock,
    OrderStockUpdate,
    OrderItems,
    OrderParties,
    OrderInsert,
    OrderNew,
    OrderLines,
    PaymentWarehouse,
    PaymentDistrict,
    PaymentByName,
    PaymentCustomer,
    PaymentParties,
    PaymentHistory,
    StatusByName,
    StatusOrder,
    StatusLines,
    DeliveryOldest,
    DeliveryTake,
    DeliveryOrders,
    DeliveryOrdersUpdate,
    DeliveryLinesUpdate,
    DeliveryAmounts,
    DeliveryCustomers,
    LevelStock,
}

use StatementClass::{Delete, Insert, Select, Update};

/// Lines of an order that may have to be written: one less than the fewest when the last is of an unused item.
const LINES: RangeInclusive<usize> = 4..=LINES_MAX;

/// Districts of a warehouse.
pub const DISTRICTS_ALL: usize = 10;
const _: () = assert!(DISTRICTS_ALL as u64 == DISTRICTS);

impl Catalog for Batch {
    const LIST: &'static [Definition] = &LIST;

    fn index(self) -> usize {
        self as usize
    }

    fn repeats(index: usize) -> RangeInclusive<usize> {
        match index {
            _ if (Self::OrderStock as usize..=Self::OrderItems as usize).contains(&index) => LINES,
            _ if index == Self::OrderLines as usize => LINES,
            _ if (Self::DeliveryTake as usize..=Self::DeliveryCustomers as usize)
                .contains(&index) =>
            {
                DISTRICTS_ALL..=DISTRICTS_ALL
            }
            _ => 1..=1,
        }
    }
}

/// The oldest new order of one district, locked.
macro_rules! oldest {
    ($district:literal) => {
        concat!(
            "(SELECT no_d_id, no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ",
            $district,
            " ORDER BY no_o_id LIMIT 1 FOR UPDATE)"
        )
    };
    ($first:literal, $($others:literal),+) => {
        concat!(oldest!($first) $(, " UNION ALL ", oldest!($others))+)
    };
}

/// Each statement, in the order of [`Batch`].
///
/// Rows are named by `OR`, which every server turns into ranges of the primary key; row constructors in `IN` lists are
/// read as whole tables by some. A stock has one number in a `CASE`, so that each column needs one comparison a line.
const LIST: [Definition; 28] = [
    BEGIN,
    COMMIT,
    ROLLBACK,
    (
        "new_order_district",
        Update,
        "UPDATE district SET d_next_o_id = LAST_INSERT_ID(d_next_o_id) + 1 WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        "new_order_stock",
        Select,
        "SELECT s_w_id, s_i_id, s_quantity, ELT(?, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, \
         s_dist_07, s_dist_08, s_dist_09, s_dist_10), s_data FROM stock WHERE [s_w_id = ? AND s_i_id = ?| OR ] \
         ORDER BY s_w_id, s_i_id FOR UPDATE",
    ),
    (
        "new_order_stock_update",
        Update,
        "UPDATE stock SET s_quantity = CASE s_w_id * 1000000 + s_i_id[ WHEN ? THEN ?] END, \
         s_ytd = s_ytd + CASE s_w_id * 1000000 + s_i_id[ WHEN ? THEN ?] END, s_order_cnt = s_order_cnt + 1, \
         s_remote_cnt = s_remote_cnt + (s_w_id <> ?) WHERE [s_w_id = ? AND s_i_id = ?| OR ]",
    ),
    (
        "new_order_items",
        Select,
        "SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id IN ([?|, ])",
    ),
    (
        "new_order_parties",
        Select,
        "SELECT w_tax, d_tax, c_discount, c_last, c_credit FROM warehouse JOIN district ON d_w_id = w_id AND d_id = ? \
         JOIN customer ON c_w_id = w_id AND c_d_id = d_id AND c_id = ? WHERE w_id = ?",
    ),
    (
        "new_order_order",
        Insert,
        "INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) \
         VALUES (?, ?, ?, ?, NOW(), ?, ?)",
    ),
    (
        "new_order_new",
        Insert,
        "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (?, ?, ?)",
    ),
    (
        "new_order_lines",
        Insert,
        "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, \
         ol_amount, ol_dist_info) VALUES [(?, ?, ?, ?, ?, ?, ?, ? * 0.01, ?)|, ]",
    ),
    (
        "payment_warehouse_update",
        Update,
        "UPDATE warehouse SET w_ytd = w_ytd + ? * 0.01 WHERE w_id = ?",
    ),
    (
        "payment_district_update",
        Update,
        "UPDATE district SET d_ytd = d_ytd + ? * 0.01 WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        "payment_by_name",
        Select,
        "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first, c_id",
    ),
    (
        "payment_customer_update",
        Update,
        "UPDATE customer SET c_balance = c_balance - ? * 0.01, c_ytd_payment = c_ytd_payment + ? * 0.01, \
         c_payment_cnt = c_payment_cnt + 1, \
         c_data = IF(c_credit = 'BC', LEFT(CONCAT(?, c_data), 500), c_data) \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        "payment_parties",
        Select,
        "SELECT w_name, d_name, w_street_1, w_street_2, w_city, w_state, w_zip, d_street_1, d_street_2, d_city, d_state, \
         d_zip, c_credit, LEFT(c_data, 200), c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, \
         c_phone, c_since, c_credit_lim, c_discount, c_balance FROM warehouse \
         JOIN district ON d_w_id = w_id AND d_id = ? JOIN customer ON c_w_id = ? AND c_d_id = ? AND c_id = ? \
         WHERE w_id = ?",
    ),
    (
        "payment_history",
        Insert,
        "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) \
         VALUES (?, ?, ?, ?, ?, NOW(), ? * 0.01, ?)",
    ),
    (
        "order_status_by_name",
        Select,
        "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first, c_id",
    ),
    (
        "order_status_order",
        Select,
        "SELECT o_id, o_entry_d, o_carrier_id, c_balance, c_first, c_middle, c_last FROM customer \
         JOIN orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? ORDER BY o_id DESC LIMIT 1",
    ),
    (
        "order_status_lines",
        Select,
        "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line \
         WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
    ),
    (
        "delivery_oldest",
        Select,
        oldest!("1", "2", "3", "4", "5", "6", "7", "8", "9", "10"),
    ),
    (
        "delivery_take",
        Delete,
        "DELETE FROM new_order WHERE [no_w_id = ? AND no_d_id = ? AND no_o_id = ?| OR ]",
    ),
    (
        "delivery_orders",
        Select,
        "SELECT o_d_id, o_c_id, o_ol_cnt FROM orders WHERE [o_w_id = ? AND o_d_id = ? AND o_id = ?| OR ] FOR UPDATE",
    ),
    (
        "delivery_orders_update",
        Update,
        "UPDATE orders SET o_carrier_id = ? WHERE [o_w_id = ? AND o_d_id = ? AND o_id = ?| OR ]",
    ),
    (
        "delivery_lines_update",
        Update,
        "UPDATE order_line SET ol_delivery_d = NOW() WHERE [ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?| OR ]",
    ),
    (
        "delivery_amounts",
        Select,
        "SELECT ol_d_id, SUM(ol_amount) FROM order_line WHERE [ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?| OR ] \
         GROUP BY ol_d_id FOR UPDATE",
    ),
    (
        "delivery_customers",
        Update,
        "UPDATE customer SET c_balance = c_balance + CASE c_d_id[ WHEN ? THEN ?] END * 0.01, \
         c_delivery_cnt = c_delivery_cnt + 1 WHERE [c_w_id = ? AND c_d_id = ? AND c_id = ?| OR ]",
    ),
    (
        "stock_level_stock",
        Select,
        "SELECT COUNT(DISTINCT s_i_id) FROM district JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id \
         AND ol_o_id >= d_next_o_id - 20 AND ol_o_id < d_next_o_id \
         JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id WHERE d_w_id = ? AND d_id = ? AND s_quantity < ?",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_in_step() {
        for (statement, name) in [
            (Batch::Rollback, "rollback"),
            (Batch::OrderLines, "new_order_lines"),
            (Batch::PaymentHistory, "payment_history"),
            (Batch::StatusLines, "order_status_lines"),
            (Batch::DeliveryCustomers, "delivery_customers"),
            (Batch::LevelStock, "stock_level_stock"),
        ] {
            assert_eq!(LIST[statement as usize].0, name);
        }
        assert_eq!(Batch::LevelStock as usize + 1, LIST.len());
    }

    #[test]
    fn what_is_repeated_has_a_group_and_nothing_else_has() {
        for (index, (name, _, sql)) in LIST.iter().enumerate() {
            assert_eq!(
                sql.contains('['),
                *Batch::repeats(index).end() > 1,
                "{name}"
            );
        }
    }
}
