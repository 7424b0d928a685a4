//! The tables as HammerDB, and as sysbench-tpcc and tpcc-mysql declare them.
//!
//! The last two share their columns and keys; sysbench-tpcc numbers its sets of tables, see
//! [`TableSet`](super::super::schema::TableSet).

use super::super::schema::{Definition, ForeignKey, Kind, TABLES};

/// The tables of a profile, which differ from the standard ones in types, order of columns and keys, not in what is
/// filled in.
const fn variant(
    index: usize,
    name: &'static str,
    columns: &'static str,
    secondary: &'static [(&'static str, &'static str)],
    foreign_keys: &'static [ForeignKey],
) -> Definition {
    let standard = &TABLES[index];
    Definition {
        kind: standard.kind,
        name,
        filled: standard.filled,
        columns,
        primary_key: standard.primary_key,
        secondary,
        foreign_keys,
    }
}

/// HammerDB's: every string in the binary collation of `latin1`, which the build declares for the whole table.
pub const HAMMERDB: [Definition; 9] = [
    variant(
        0,
        "item",
        "i_id INT NOT NULL, i_im_id INT, i_name VARCHAR(24), i_price DECIMAL(5,2), i_data VARCHAR(50)",
        &[],
        &[],
    ),
    variant(
        1,
        "warehouse",
        "w_id INT NOT NULL, w_ytd DECIMAL(12,2), w_tax DECIMAL(4,4), w_name VARCHAR(10), w_street_1 VARCHAR(20), \
         w_street_2 VARCHAR(20), w_city VARCHAR(20), w_state CHAR(2), w_zip CHAR(9)",
        &[],
        &[],
    ),
    variant(
        2,
        "district",
        "d_id INT NOT NULL, d_w_id INT NOT NULL, d_ytd DECIMAL(12,2), d_tax DECIMAL(4,4), d_next_o_id INT, \
         d_name VARCHAR(10), d_street_1 VARCHAR(20), d_street_2 VARCHAR(20), d_city VARCHAR(20), d_state CHAR(2), \
         d_zip CHAR(9)",
        &[],
        &[],
    ),
    variant(
        3,
        "customer",
        "c_id INT NOT NULL, c_d_id INT NOT NULL, c_w_id INT NOT NULL, c_first VARCHAR(16), c_middle CHAR(2), \
         c_last VARCHAR(16), c_street_1 VARCHAR(20), c_street_2 VARCHAR(20), c_city VARCHAR(20), c_state CHAR(2), \
         c_zip CHAR(9), c_phone CHAR(16), c_since DATETIME, c_credit CHAR(2), c_credit_lim DECIMAL(12,2), \
         c_discount DECIMAL(4,4), c_balance DECIMAL(12,2), c_ytd_payment DECIMAL(12,2), c_payment_cnt INT, \
         c_delivery_cnt INT, c_data VARCHAR(500)",
        &[("c_w_id", "c_w_id, c_d_id, c_last, c_first")],
        &[],
    ),
    variant(
        4,
        "stock",
        "s_i_id INT NOT NULL, s_w_id INT NOT NULL, s_quantity INT, s_dist_01 CHAR(24), s_dist_02 CHAR(24), \
         s_dist_03 CHAR(24), s_dist_04 CHAR(24), s_dist_05 CHAR(24), s_dist_06 CHAR(24), s_dist_07 CHAR(24), \
         s_dist_08 CHAR(24), s_dist_09 CHAR(24), s_dist_10 CHAR(24), s_ytd BIGINT, s_order_cnt INT, \
         s_remote_cnt INT, s_data VARCHAR(50)",
        &[],
        &[],
    ),
    variant(
        5,
        "history",
        "h_c_id INT, h_c_d_id INT, h_c_w_id INT, h_d_id INT, h_w_id INT, h_date DATETIME, h_amount DECIMAL(6,2), \
         h_data VARCHAR(24)",
        &[],
        &[],
    ),
    variant(
        6,
        "orders",
        "o_id INT NOT NULL, o_w_id INT NOT NULL, o_d_id INT NOT NULL, o_c_id INT, o_carrier_id INT, o_ol_cnt INT, \
         o_all_local INT, o_entry_d DATETIME",
        &[("o_w_id", "o_w_id, o_d_id, o_c_id, o_id")],
        &[],
    ),
    variant(
        7,
        "new_order",
        "no_w_id INT NOT NULL, no_d_id INT NOT NULL, no_o_id INT NOT NULL",
        &[],
        &[],
    ),
    variant(
        8,
        "order_line",
        "ol_w_id INT NOT NULL, ol_d_id INT NOT NULL, ol_o_id INT NOT NULL, ol_number INT NOT NULL, ol_i_id INT, \
         ol_delivery_d DATETIME, ol_amount INT, ol_supply_w_id INT, ol_quantity INT, ol_dist_info CHAR(24)",
        &[],
        &[],
    ),
];

/// Those of sysbench-tpcc and tpcc-mysql.
pub const CLIENT_SQL: [Definition; 9] = [
    variant(
        0,
        "item",
        "i_id INT NOT NULL, i_im_id INT, i_name VARCHAR(24), i_price DECIMAL(5,2), i_data VARCHAR(50)",
        &[],
        &[],
    ),
    variant(
        1,
        "warehouse",
        "w_id SMALLINT NOT NULL, w_name VARCHAR(10), w_street_1 VARCHAR(20), w_street_2 VARCHAR(20), \
         w_city VARCHAR(20), w_state CHAR(2), w_zip CHAR(9), w_tax DECIMAL(4,2), w_ytd DECIMAL(12,2)",
        &[],
        &[],
    ),
    variant(
        2,
        "district",
        "d_id TINYINT NOT NULL, d_w_id SMALLINT NOT NULL, d_name VARCHAR(10), d_street_1 VARCHAR(20), \
         d_street_2 VARCHAR(20), d_city VARCHAR(20), d_state CHAR(2), d_zip CHAR(9), d_tax DECIMAL(4,2), \
         d_ytd DECIMAL(12,2), d_next_o_id INT",
        &[],
        TABLES[2].foreign_keys,
    ),
    variant(
        3,
        "customer",
        "c_id INT NOT NULL, c_d_id TINYINT NOT NULL, c_w_id SMALLINT NOT NULL, c_first VARCHAR(16), \
         c_middle CHAR(2), c_last VARCHAR(16), c_street_1 VARCHAR(20), c_street_2 VARCHAR(20), c_city VARCHAR(20), \
         c_state CHAR(2), c_zip CHAR(9), c_phone CHAR(16), c_since DATETIME, c_credit CHAR(2), c_credit_lim BIGINT, \
         c_discount DECIMAL(4,2), c_balance DECIMAL(12,2), c_ytd_payment DECIMAL(12,2), c_payment_cnt SMALLINT, \
         c_delivery_cnt SMALLINT, c_data TEXT",
        &[("idx_customer", "c_w_id, c_d_id, c_last, c_first")],
        TABLES[3].foreign_keys,
    ),
    variant(
        4,
        "stock",
        "s_i_id INT NOT NULL, s_w_id SMALLINT NOT NULL, s_quantity SMALLINT, s_dist_01 CHAR(24), \
         s_dist_02 CHAR(24), s_dist_03 CHAR(24), s_dist_04 CHAR(24), s_dist_05 CHAR(24), s_dist_06 CHAR(24), \
         s_dist_07 CHAR(24), s_dist_08 CHAR(24), s_dist_09 CHAR(24), s_dist_10 CHAR(24), s_ytd DECIMAL(8,0), \
         s_order_cnt SMALLINT, s_remote_cnt SMALLINT, s_data VARCHAR(50)",
        &[("fkey_stock_2", "s_i_id")],
        TABLES[4].foreign_keys,
    ),
    variant(
        5,
        "history",
        "h_c_id INT, h_c_d_id TINYINT, h_c_w_id SMALLINT, h_d_id TINYINT, h_w_id SMALLINT, h_date DATETIME, \
         h_amount DECIMAL(6,2), h_data VARCHAR(24)",
        &[
            ("fkey_history_1", "h_c_w_id, h_c_d_id, h_c_id"),
            ("fkey_history_2", "h_w_id, h_d_id"),
        ],
        TABLES[5].foreign_keys,
    ),
    variant(
        6,
        "orders",
        "o_id INT NOT NULL, o_d_id TINYINT NOT NULL, o_w_id SMALLINT NOT NULL, o_c_id INT, o_entry_d DATETIME, \
         o_carrier_id TINYINT, o_ol_cnt TINYINT, o_all_local TINYINT",
        &[("idx_orders", "o_w_id, o_d_id, o_c_id, o_id")],
        TABLES[6].foreign_keys,
    ),
    variant(
        7,
        "new_orders",
        "no_o_id INT NOT NULL, no_d_id TINYINT NOT NULL, no_w_id SMALLINT NOT NULL",
        &[],
        TABLES[7].foreign_keys,
    ),
    variant(
        8,
        "order_line",
        "ol_o_id INT NOT NULL, ol_d_id TINYINT NOT NULL, ol_w_id SMALLINT NOT NULL, ol_number TINYINT NOT NULL, \
         ol_i_id INT, ol_supply_w_id SMALLINT, ol_delivery_d DATETIME, ol_quantity TINYINT, \
         ol_amount DECIMAL(6,2), ol_dist_info CHAR(24)",
        &[("fkey_order_line_2", "ol_supply_w_id, ol_i_id")],
        TABLES[8].foreign_keys,
    ),
];

const _: () = assert!(matches!(TABLES[8].kind, Kind::OrderLine));
