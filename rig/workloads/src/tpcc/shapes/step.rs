//! The statements of the shape `statements`, one for each step.

use super::catalog::{BEGIN, COMMIT, Catalog, Definition, ROLLBACK};
use dyno_drive::StatementClass;

/// One kind of statement. Its number is that of the record's statement type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Statement {
    Begin,
    Commit,
    Rollback,
    OrderDistrict,
    OrderDistrictNext,
    OrderWarehouse,
    OrderCustomer,
    OrderInsert,
    OrderNew,
    OrderItem,
    OrderStock,
    OrderStockUpdate,
    OrderLine,
    PaymentWarehouseUpdate,
    PaymentDistrictUpdate,
    PaymentWarehouse,
    PaymentDistrict,
    PaymentByName,
    PaymentCustomer,
    PaymentCustomerUpdate,
    PaymentBadCredit,
    PaymentHistory,
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
    LevelStock,
}

use StatementClass::{Delete, Insert, Select, Update};

/// Each statement, in the order of [`Statement`].
pub const STATEMENTS: [Definition; 35] = [
    BEGIN,
    COMMIT,
    ROLLBACK,
    (
        "new_order_district",
        Select,
        "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE",
    ),
    (
        "new_order_district_next",
        Update,
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        "new_order_warehouse",
        Select,
        "SELECT w_tax FROM warehouse WHERE w_id = ?",
    ),
    (
        "new_order_customer",
        Select,
        "SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
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
        "new_order_item",
        Select,
        "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?",
    ),
    (
        "new_order_stock",
        Select,
        "SELECT s_quantity, s_data, ELT(?, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, \
         s_dist_07, s_dist_08, s_dist_09, s_dist_10) FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE",
    ),
    (
        "new_order_stock_update",
        Update,
        "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, \
         s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?",
    ),
    (
        "new_order_line",
        Insert,
        "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, \
         ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, ?, ? * 0.01, ?)",
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
        "payment_warehouse",
        Select,
        "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = ?",
    ),
    (
        "payment_district",
        Select,
        "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        "payment_by_name",
        Select,
        "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first, c_id",
    ),
    (
        "payment_customer",
        Select,
        "SELECT c_credit, c_data, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, \
         c_since, c_credit_lim, c_discount, c_balance FROM customer \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR UPDATE",
    ),
    (
        "payment_customer_update",
        Update,
        "UPDATE customer SET c_balance = c_balance - ? * 0.01, c_ytd_payment = c_ytd_payment + ? * 0.01, \
         c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        "payment_bad_credit_update",
        Update,
        "UPDATE customer SET c_balance = c_balance - ? * 0.01, c_ytd_payment = c_ytd_payment + ? * 0.01, \
         c_payment_cnt = c_payment_cnt + 1, c_data = ? WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
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
        "order_status_customer",
        Select,
        "SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        "order_status_order",
        Select,
        "SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? \
         ORDER BY o_id DESC LIMIT 1",
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
        "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1 FOR UPDATE",
    ),
    (
        "delivery_take",
        Delete,
        "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?",
    ),
    (
        "delivery_order",
        Select,
        "SELECT o_c_id, o_ol_cnt FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ? FOR UPDATE",
    ),
    (
        "delivery_order_update",
        Update,
        "UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
    ),
    (
        "delivery_lines_update",
        Update,
        "UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
    ),
    (
        "delivery_amount",
        Select,
        "SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ? FOR UPDATE",
    ),
    (
        "delivery_customer",
        Update,
        "UPDATE customer SET c_balance = c_balance + ? * 0.01, c_delivery_cnt = c_delivery_cnt + 1 \
         WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
    ),
    (
        "stock_level_district",
        Select,
        "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?",
    ),
    (
        "stock_level_stock",
        Select,
        "SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id \
         WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? AND s_quantity < ?",
    ),
];

impl Catalog for Statement {
    const LIST: &'static [Definition] = &STATEMENTS;

    fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
