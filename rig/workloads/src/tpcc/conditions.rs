//! The consistency conditions, each one SQL statement that returns the rows that break it.

use super::profiles::Profile;

/// A condition.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// Its name; those of the specification begin with their number.
    pub name: &'static str,
    /// What must hold.
    pub text: &'static str,
    /// Returns what does not; the tables' names are in braces.
    pub sql: &'static str,
}

/// What a customer's delivered orders come to. Looked up customer by customer through the indexes: joining and grouping
/// all lines instead spills to disk on larger databases.
macro_rules! delivered {
    () => {
        "(SELECT COALESCE(SUM(ol_amount), 0) FROM {orders} JOIN {order_line} \
          ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
          WHERE o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id AND ol_delivery_d IS NOT NULL)"
    };
}

/// The twelve of the specification, then the counters that they leave out.
pub const CONDITIONS: &[Condition] = &[
    Condition {
        name: "01_warehouse_ytd_districts",
        text: "w_ytd is the sum of its districts' d_ytd",
        sql: "SELECT w_id, w_ytd, COALESCE(d.ytd, 0) AS d_ytd_sum FROM {warehouse} LEFT JOIN \
              (SELECT d_w_id, SUM(d_ytd) AS ytd FROM {district} GROUP BY d_w_id) d ON d.d_w_id = w_id \
              WHERE w_ytd <> COALESCE(d.ytd, 0)",
    },
    Condition {
        name: "02_next_order_id",
        text: "d_next_o_id - 1 is the highest o_id, and the highest no_o_id where there are new orders",
        sql: "SELECT d_w_id, d_id, d_next_o_id, o.last AS o_id_max, n.last AS no_o_id_max FROM {district} \
              LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS last FROM {orders} GROUP BY o_w_id, o_d_id) o \
              ON o.o_w_id = d_w_id AND o.o_d_id = d_id \
              LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS last FROM {new_order} GROUP BY no_w_id, no_d_id) n \
              ON n.no_w_id = d_w_id AND n.no_d_id = d_id \
              WHERE d_next_o_id - 1 <> COALESCE(o.last, 0) OR d_next_o_id - 1 <> COALESCE(n.last, d_next_o_id - 1)",
    },
    Condition {
        name: "03_new_orders_without_gap",
        text: "the no_o_id of a district have no gap",
        sql: "SELECT no_w_id, no_d_id, MIN(no_o_id), MAX(no_o_id), COUNT(*) FROM {new_order} \
              GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)",
    },
    Condition {
        name: "04_lines_of_districts",
        text: "a district has as many order lines as its orders say",
        sql: "SELECT d_w_id, d_id, COALESCE(o.n, 0) AS o_ol_cnt_sum, COALESCE(l.n, 0) AS order_lines FROM {district} \
              LEFT JOIN (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS n FROM {orders} GROUP BY o_w_id, o_d_id) o \
              ON o.o_w_id = d_w_id AND o.o_d_id = d_id \
              LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS n FROM {order_line} GROUP BY ol_w_id, ol_d_id) l \
              ON l.ol_w_id = d_w_id AND l.ol_d_id = d_id WHERE COALESCE(o.n, 0) <> COALESCE(l.n, 0)",
    },
    Condition {
        name: "05_carrier_or_new_order",
        text: "an order has no carrier exactly while it is among the new orders",
        sql: "SELECT o_w_id, o_d_id, o_id, o_carrier_id, no_o_id FROM {orders} LEFT JOIN {new_order} \
              ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
              WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)",
    },
    Condition {
        name: "06_lines_of_orders",
        text: "an order has as many lines as it says",
        sql: "SELECT o_w_id, o_d_id, o_id, o_ol_cnt FROM {orders} WHERE o_ol_cnt <> (SELECT COUNT(*) FROM {order_line} \
              WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id)",
    },
    Condition {
        name: "07_delivery_date_or_no_carrier",
        text: "an order line has no delivery date exactly while its order has no carrier",
        sql: "SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d, o_carrier_id FROM {order_line} \
              LEFT JOIN {orders} ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id \
              WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)",
    },
    Condition {
        name: "08_warehouse_ytd_history",
        text: "w_ytd is the sum of the payments at the warehouse",
        sql: "SELECT w_id, w_ytd, COALESCE(h.total, 0) AS h_amount_sum FROM {warehouse} LEFT JOIN \
              (SELECT h_w_id, SUM(h_amount) AS total FROM {history} GROUP BY h_w_id) h ON h.h_w_id = w_id \
              WHERE w_ytd <> COALESCE(h.total, 0)",
    },
    Condition {
        name: "09_district_ytd_history",
        text: "d_ytd is the sum of the payments at the district",
        sql: "SELECT d_w_id, d_id, d_ytd, COALESCE(h.total, 0) AS h_amount_sum FROM {district} LEFT JOIN \
              (SELECT h_w_id, h_d_id, SUM(h_amount) AS total FROM {history} GROUP BY h_w_id, h_d_id) h \
              ON h.h_w_id = d_w_id AND h.h_d_id = d_id WHERE d_ytd <> COALESCE(h.total, 0)",
    },
    Condition {
        name: "10_balance",
        text: "c_balance is what was delivered to the customer less what the customer paid",
        sql: concat!(
            "SELECT c_w_id, c_d_id, c_id, c_balance, COALESCE(h.total, 0) AS h_amount_sum, ",
            delivered!(),
            " AS delivered FROM {customer} LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS total \
             FROM {history} GROUP BY h_c_w_id, h_c_d_id, h_c_id) h \
             ON h.h_c_w_id = c_w_id AND h.h_c_d_id = c_d_id AND h.h_c_id = c_id \
             WHERE c_balance + COALESCE(h.total, 0) <> ",
            delivered!()
        ),
    },
    Condition {
        name: "11_orders_delivered",
        text: "a district has 2100 orders beyond its new orders, and one for each delivery since the load",
        sql: "SELECT d_w_id, d_id, COALESCE(o.n, 0) AS orders, COALESCE(n.n, 0) AS new_orders, \
              COALESCE(c.n, 0) AS deliveries FROM {district} \
              LEFT JOIN (SELECT o_w_id, o_d_id, COUNT(*) AS n FROM {orders} GROUP BY o_w_id, o_d_id) o \
              ON o.o_w_id = d_w_id AND o.o_d_id = d_id \
              LEFT JOIN (SELECT no_w_id, no_d_id, COUNT(*) AS n FROM {new_order} GROUP BY no_w_id, no_d_id) n \
              ON n.no_w_id = d_w_id AND n.no_d_id = d_id \
              LEFT JOIN (SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS n FROM {customer} GROUP BY c_w_id, c_d_id) c \
              ON c.c_w_id = d_w_id AND c.c_d_id = d_id \
              WHERE COALESCE(o.n, 0) - COALESCE(n.n, 0) <> 2100 + COALESCE(c.n, 0)",
    },
    Condition {
        name: "12_balance_and_payments",
        text: "c_balance + c_ytd_payment is what was delivered to the customer",
        sql: concat!(
            "SELECT c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, ",
            delivered!(),
            " AS delivered FROM {customer} WHERE c_balance + c_ytd_payment <> ",
            delivered!()
        ),
    },
    Condition {
        name: "stock_counters",
        text: "s_order_cnt, s_ytd and s_remote_cnt of a warehouse's stock are the number of order lines since the load \
               that it supplied, their quantity, and how many of them were for other warehouses",
        sql: "SELECT s.s_w_id, s.orders AS s_order_cnt_sum, l.orders AS order_lines, s.ytd AS s_ytd_sum, \
              l.ytd AS ol_quantity_sum, s.remote AS s_remote_cnt_sum, l.remote AS remote_lines FROM \
              (SELECT s_w_id, SUM(s_order_cnt) AS orders, SUM(s_ytd) AS ytd, SUM(s_remote_cnt) AS remote \
              FROM {stock} GROUP BY s_w_id) s LEFT JOIN \
              (SELECT ol_supply_w_id, COUNT(*) AS orders, SUM(ol_quantity) AS ytd, \
              SUM(ol_supply_w_id <> ol_w_id) AS remote FROM {order_line} WHERE ol_o_id > 3000 \
              GROUP BY ol_supply_w_id) l ON l.ol_supply_w_id = s.s_w_id \
              WHERE s.orders <> COALESCE(l.orders, 0) OR s.ytd <> COALESCE(l.ytd, 0) \
              OR s.remote <> COALESCE(l.remote, 0)",
    },
    Condition {
        name: "payment_count",
        text: "c_payment_cnt is the number of the customer's payments",
        sql: "SELECT c_w_id, c_d_id, c_id, c_payment_cnt, COALESCE(h.n, 0) AS payments FROM {customer} LEFT JOIN \
              (SELECT h_c_w_id, h_c_d_id, h_c_id, COUNT(*) AS n FROM {history} \
              GROUP BY h_c_w_id, h_c_d_id, h_c_id) h \
              ON h.h_c_w_id = c_w_id AND h.h_c_d_id = c_d_id AND h.h_c_id = c_id \
              WHERE c_payment_cnt <> COALESCE(h.n, 0)",
    },
];

/// How a profile stands to a condition of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It must hold.
    Required,
    /// The profile itself breaks it, which is no fault of the server. The reason.
    Broken(&'static str),
    /// The profile leaves out what the condition is about. The reason.
    NotDefined(&'static str),
}

const NO_STOCK_COUNTERS: Standing =
    Standing::NotDefined("s_ytd, s_order_cnt and s_remote_cnt are never updated");
const NO_PAYMENT_COUNT: Standing = Standing::NotDefined("c_payment_cnt is never updated");

impl Condition {
    /// How `profile` stands to it.
    #[must_use]
    pub fn standing(&self, profile: Profile) -> Standing {
        match profile {
            Profile::Standard => Standing::Required,
            Profile::HammerDb => self.standing_of_hammerdb(),
            Profile::SysbenchTpcc => match self.name {
                "stock_counters" => NO_STOCK_COUNTERS,
                "payment_count" => NO_PAYMENT_COUNT,
                _ => Standing::Required,
            },
            Profile::TpccMysql => self.standing_of_tpcc_mysql(),
        }
    }

    fn standing_of_hammerdb(&self) -> Standing {
        match self.name {
            "10_balance" => Standing::Broken(
                "delivered orders of the population have amounts that no balance holds, and payments are added to the \
                 balance instead of taken from it",
            ),
            "12_balance_and_payments" => Standing::Broken(
                "delivered orders of the population have amounts that no balance holds, and c_ytd_payment is never updated",
            ),
            "11_orders_delivered" => Standing::NotDefined(
                "c_delivery_cnt, which deliveries are counted by, is never updated",
            ),
            "stock_counters" => NO_STOCK_COUNTERS,
            "payment_count" => NO_PAYMENT_COUNT,
            _ => Standing::Required,
        }
    }

    fn standing_of_tpcc_mysql(&self) -> Standing {
        match self.name {
            "10_balance" => Standing::Broken(
                "delivered orders of the population have amounts that no balance holds",
            ),
            "12_balance_and_payments" => Standing::Broken(
                "delivered orders of the population have amounts that no balance holds, and c_ytd_payment is never updated",
            ),
            "11_orders_delivered" => Standing::Broken(
                "the oldest new order is read without a lock, so that two deliveries may both count the same one",
            ),
            "stock_counters" => NO_STOCK_COUNTERS,
            "payment_count" => NO_PAYMENT_COUNT,
            _ => Standing::Required,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_have_names_of_their_own_and_the_first_twelve_their_numbers() {
        let mut names: Vec<&str> = CONDITIONS.iter().map(|c| c.name).collect();
        for (index, name) in names[..12].iter().enumerate() {
            assert!(name.starts_with(&format!("{:02}_", index + 1)), "{name}");
        }
        names.dedup();
        assert_eq!(names.len(), CONDITIONS.len());
    }

    #[test]
    fn the_standard_profile_must_meet_every_condition_and_no_other_one_does() {
        let required = |profile: Profile| {
            let all = CONDITIONS.iter();
            all.filter(|c| c.standing(profile) == Standing::Required)
                .count()
        };
        assert_eq!(Profile::ALL.map(required), [14, 9, 12, 9]);
    }

    #[test]
    fn conditions_name_the_tables_of_their_set() {
        for profile in Profile::ALL {
            let set = super::super::schema::TableSet {
                definitions: profile.tables(),
                number: Some(7),
            };
            for condition in CONDITIONS {
                let sql = set.sql(condition.sql);
                assert!(
                    !sql.contains('{') && !sql.contains("FROM warehouse "),
                    "{sql}"
                );
            }
        }
    }
}
