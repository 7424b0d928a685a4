//! The stored procedures. They read, lock, compute and commit as HammerDB's do; its deviations from the specification are
//! meant, and `docs/WORKLOADS.md` lists them. Their results come back as a row each, not through session variables, so
//! that a transaction is one round trip.

use crate::error::BuildError;
use crate::sql::{execute, quoted};
use dyno_wire::Connection;

/// A stored procedure.
#[derive(Debug)]
pub struct Procedure {
    /// Its name.
    pub name: &'static str,
    parameters: &'static str,
    body: &'static str,
}

impl Procedure {
    /// The statement that makes it in `database`, which is quoted.
    fn create(&self, database: &str) -> String {
        let Self {
            name,
            parameters,
            body,
        } = self;
        format!("CREATE PROCEDURE {database}.{name} ({parameters}) {body}")
    }
}

/// Makes all of them, anew where they are there.
pub async fn make_all(connection: &mut Connection, database: &str) -> Result<(), BuildError> {
    drop_all(connection, database).await?;
    for procedure in &ALL {
        let doing = format!("create procedure {}", procedure.name);
        execute(connection, &procedure.create(&quoted(database)), &doing).await?;
    }
    Ok(())
}

/// Drops those that are there.
pub async fn drop_all(connection: &mut Connection, database: &str) -> Result<(), BuildError> {
    for Procedure { name, .. } in &ALL {
        let sql = format!("DROP PROCEDURE IF EXISTS {}.{name}", quoted(database));
        execute(connection, &sql, &format!("drop procedure {name}")).await?;
    }
    Ok(())
}

/// All of them.
pub const ALL: [Procedure; 5] = [NEWORD, PAYMENT, DELIVERY, SLEV, OSTAT];

/// Items, suppliers and the rollback are drawn by the server. Stock is read without a lock and written as a number; the
/// counters of stock stay as they are. An item that does not exist ends it: rolled back, and no row comes back.
const NEWORD: Procedure = Procedure {
    name: "NEWORD",
    parameters: "w INT, warehouses INT, d INT, c INT, line_count INT, entered DATETIME",
    body: "
BEGIN
  DECLARE order_id, line, item_id, supplier, ordered, rolled_back INT;
  DECLARE discount, w_rate, d_rate DECIMAL(4,4);
  DECLARE last_name VARCHAR(16);
  DECLARE credit VARCHAR(2);
  DECLARE price DECIMAL(5,2);
  DECLARE item_name VARCHAR(24);
  DECLARE item_data, stock_data VARCHAR(50);
  DECLARE in_stock DECIMAL(6);
  DECLARE info CHAR(24);
  DECLARE EXIT HANDLER FOR SQLSTATE '23000' ROLLBACK;
  DECLARE EXIT HANDLER FOR NOT FOUND ROLLBACK;
  SELECT c_discount, c_last, c_credit, w_tax INTO discount, last_name, credit, w_rate
    FROM customer, warehouse WHERE w_id = w AND c_w_id = w AND c_d_id = d AND c_id = c;
  START TRANSACTION;
  SELECT d_next_o_id, d_tax INTO order_id, d_rate FROM district WHERE d_id = d AND d_w_id = w FOR UPDATE;
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = d AND d_w_id = w;
  INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (order_id, d, w, c, entered, line_count, 0);
  INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (order_id, d, w);
  SET rolled_back = FLOOR(1 + RAND() * 99), line = 1;
  WHILE line <= line_count DO
    SET item_id = IF(line = line_count AND rolled_back = 1, 100001, FLOOR(1 + RAND() * 100000));
    SET supplier = w;
    IF FLOOR(1 + RAND() * 100) <= 1 THEN
      WHILE supplier = w AND warehouses <> 1 DO
        SET supplier = FLOOR(1 + RAND() * warehouses);
      END WHILE;
    END IF;
    SET ordered = FLOOR(1 + RAND() * 10);
    SELECT i_price, i_name, i_data INTO price, item_name, item_data FROM item WHERE i_id = item_id;
    SELECT s_quantity, s_data, ELT(d, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07,
        s_dist_08, s_dist_09, s_dist_10) INTO in_stock, stock_data, info
      FROM stock WHERE s_i_id = item_id AND s_w_id = supplier;
    SET in_stock = IF(in_stock > ordered, in_stock - ordered, in_stock - ordered + 91);
    UPDATE stock SET s_quantity = in_stock WHERE s_i_id = item_id AND s_w_id = supplier;
    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
        ol_dist_info)
      VALUES (order_id, d, w, line, item_id, supplier, ordered,
        ordered * price * (1 + w_rate + d_rate) * (1 - discount), info);
    SET line = line + 1;
  END WHILE;
  COMMIT;
  SELECT discount, last_name, credit, d_rate, w_rate, order_id;
END",
};

/// The balance is read without a lock, the payment *added* to it, and the sum written as a number; the sums and counts of a
/// customer's payments stay as they are. Of several customers with one name it takes the one after the middle.
const PAYMENT: Procedure = Procedure {
    name: "PAYMENT",
    parameters: "w INT, d INT, cw INT, cd INT, c INT, by_name INT, amount DECIMAL(6,2), name VARCHAR(16), \
                 paid DATETIME",
    body: "
BEGIN
  DECLARE done, namesakes, fetched INT DEFAULT 0;
  DECLARE w_street_1_, w_street_2_, w_city_, d_street_1_, d_street_2_, d_city_ VARCHAR(20);
  DECLARE street_1, street_2, city VARCHAR(20);
  DECLARE w_state_, d_state_, state, middle, credit CHAR(2);
  DECLARE w_zip_, d_zip_, zip CHAR(9);
  DECLARE w_name_, d_name_ VARCHAR(11);
  DECLARE first_name, phone VARCHAR(16);
  DECLARE since DATETIME;
  DECLARE discount DECIMAL(4,4);
  DECLARE credit_limit, balance DECIMAL(12,2);
  DECLARE old_data, new_data VARCHAR(500);
  DECLARE namesake CURSOR FOR
    SELECT c_first, c_middle, c_id, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit, c_credit_lim,
      c_discount, c_balance, c_since
    FROM customer WHERE c_w_id = cw AND c_d_id = cd AND c_last = name ORDER BY c_first;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1;
  DECLARE EXIT HANDLER FOR SQLSTATE '23000' ROLLBACK;
  START TRANSACTION;
  UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = w;
  SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name
    INTO w_street_1_, w_street_2_, w_city_, w_state_, w_zip_, w_name_ FROM warehouse WHERE w_id = w;
  UPDATE district SET d_ytd = d_ytd + amount WHERE d_w_id = w AND d_id = d;
  SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name
    INTO d_street_1_, d_street_2_, d_city_, d_state_, d_zip_, d_name_ FROM district WHERE d_w_id = w AND d_id = d;
  IF by_name = 1 THEN
    SELECT COUNT(c_id) INTO namesakes FROM customer WHERE c_last = name AND c_d_id = cd AND c_w_id = cw;
    OPEN namesake;
    IF MOD(namesakes, 2) = 1 THEN
      SET namesakes = namesakes + 1;
    END IF;
    WHILE fetched <= namesakes / 2 DO
      FETCH namesake INTO first_name, middle, c, street_1, street_2, city, state, zip, phone, credit, credit_limit,
        discount, balance, since;
      SET fetched = fetched + 1;
    END WHILE;
    CLOSE namesake;
  ELSE
    SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit, c_credit_lim,
        c_discount, c_balance, c_since
      INTO first_name, middle, name, street_1, street_2, city, state, zip, phone, credit, credit_limit,
        discount, balance, since
      FROM customer WHERE c_w_id = cw AND c_d_id = cd AND c_id = c;
  END IF;
  SET balance = balance + amount;
  IF credit = 'BC' THEN
    SELECT c_data INTO old_data FROM customer WHERE c_w_id = cw AND c_d_id = cd AND c_id = c;
    SET new_data = CONCAT(c, ' ', cd, ' ', cw, ' ', d, ' ', w, ' ', FORMAT(amount, 2), paid, w_name_, ' ', d_name_);
    SET new_data = SUBSTR(CONCAT(new_data, old_data), 1, 500 - LENGTH(new_data));
    UPDATE customer SET c_balance = balance, c_data = new_data WHERE c_w_id = cw AND c_d_id = cd AND c_id = c;
  ELSE
    UPDATE customer SET c_balance = balance WHERE c_w_id = cw AND c_d_id = cd AND c_id = c;
  END IF;
  INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (cd, cw, c, d, w, paid, amount, CONCAT(w_name_, ' ', d_name_));
  COMMIT;
  SELECT c, name, w_street_1_, w_street_2_, w_city_, w_state_, w_zip_, d_street_1_, d_street_2_, d_city_, d_state_,
    d_zip_, first_name, middle, street_1, street_2, city, state, zip, phone, since, credit, credit_limit, discount,
    balance, new_data;
END",
};

/// A transaction for each district, begun by its first read. What it delivers is read without a lock or an order; a
/// district without a new order keeps the order number of the one before.
const DELIVERY: Procedure = Procedure {
    name: "DELIVERY",
    parameters: "w INT, carrier INT, delivered DATETIME",
    body: "
BEGIN
  DECLARE order_id, customer_id, total INT;
  DECLARE d INT DEFAULT 1;
  DECLARE EXIT HANDLER FOR SQLSTATE '23000' ROLLBACK;
  WHILE d <= 10 DO
    SELECT no_o_id INTO order_id FROM new_order WHERE no_w_id = w AND no_d_id = d LIMIT 1;
    DELETE FROM new_order WHERE no_w_id = w AND no_d_id = d AND no_o_id = order_id;
    SELECT o_c_id INTO customer_id FROM orders WHERE o_id = order_id AND o_d_id = d AND o_w_id = w;
    UPDATE orders SET o_carrier_id = carrier WHERE o_id = order_id AND o_d_id = d AND o_w_id = w;
    UPDATE order_line SET ol_delivery_d = delivered WHERE ol_o_id = order_id AND ol_d_id = d AND ol_w_id = w;
    SELECT SUM(ol_amount) INTO total FROM order_line WHERE ol_o_id = order_id AND ol_d_id = d AND ol_w_id = w;
    UPDATE customer SET c_balance = c_balance + total WHERE c_id = customer_id AND c_d_id = d AND c_w_id = w;
    COMMIT;
    SET d = d + 1;
  END WHILE;
END",
};

/// It ends no transaction: in a session without autocommit its snapshot lives until the next one commits.
const SLEV: Procedure = Procedure {
    name: "SLEV",
    parameters: "w INT, d INT, threshold INT",
    body: "
BEGIN
  DECLARE next_order, low INT;
  DECLARE EXIT HANDLER FOR SQLSTATE '23000' ROLLBACK;
  DECLARE EXIT HANDLER FOR NOT FOUND ROLLBACK;
  SELECT d_next_o_id INTO next_order FROM district WHERE d_w_id = w AND d_id = d;
  SELECT COUNT(DISTINCT s_i_id) INTO low FROM order_line, stock
    WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id < next_order AND ol_o_id >= next_order - 20
      AND s_w_id = w AND s_i_id = ol_i_id AND s_quantity < threshold;
  SELECT low;
END",
};

/// The lines of the last order are read one by one into lists, and the lists are not returned. Like SLEV it ends no
/// transaction.
const OSTAT: Procedure = Procedure {
    name: "OSTAT",
    parameters: "w INT, d INT, c INT, by_name INT, name VARCHAR(16)",
    body: "
BEGIN
  DECLARE done, namesakes, fetched, i INT DEFAULT 0;
  DECLARE order_id, carrier, item_id, supplier, quantity, amount INT;
  DECLARE entered, delivered DATETIME;
  DECLARE first_name VARCHAR(16);
  DECLARE middle CHAR(2);
  DECLARE balance DECIMAL(12,2);
  DECLARE items, suppliers, quantities, amounts VARCHAR(200) DEFAULT 'CSV,';
  DECLARE deliveries VARCHAR(420) DEFAULT 'CSV,';
  DECLARE namesake CURSOR FOR
    SELECT c_balance, c_first, c_middle, c_id FROM customer
    WHERE c_last = name AND c_d_id = d AND c_w_id = w ORDER BY c_first;
  DECLARE lines_of_order CURSOR FOR
    SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
    WHERE ol_o_id = order_id AND ol_d_id = d AND ol_w_id = w;
  DECLARE EXIT HANDLER FOR SQLSTATE '23000' ROLLBACK;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1;
  IF by_name = 1 THEN
    SELECT COUNT(c_id) INTO namesakes FROM customer WHERE c_last = name AND c_d_id = d AND c_w_id = w;
    IF MOD(namesakes, 2) = 1 THEN
      SET namesakes = namesakes + 1;
    END IF;
    OPEN namesake;
    WHILE fetched <= namesakes / 2 DO
      FETCH namesake INTO balance, first_name, middle, c;
      SET fetched = fetched + 1;
    END WHILE;
    CLOSE namesake;
  ELSE
    SELECT c_balance, c_first, c_middle, c_last INTO balance, first_name, middle, name
      FROM customer WHERE c_id = c AND c_d_id = d AND c_w_id = w;
  END IF;
  SELECT o_id, o_carrier_id, o_entry_d INTO order_id, carrier, entered FROM
    (SELECT o_id, o_carrier_id, o_entry_d FROM orders WHERE o_d_id = d AND o_w_id = w AND o_c_id = c
      ORDER BY o_id DESC) AS of_customer LIMIT 1;
  SET done = 0;
  OPEN lines_of_order;
  REPEAT
    FETCH lines_of_order INTO item_id, supplier, quantity, amount, delivered;
    IF NOT done THEN
      SET items = CONCAT(items, ',', i, ',', item_id), suppliers = CONCAT(suppliers, ',', i, ',', supplier),
        quantities = CONCAT(quantities, ',', i, ',', quantity), amounts = CONCAT(amounts, ',', i, ',', amount),
        deliveries = CONCAT(deliveries, ',', i, ',', delivered), i = i + 1;
    END IF;
  UNTIL done END REPEAT;
  CLOSE lines_of_order;
  SELECT c, name, first_name, middle, balance, order_id, entered, carrier;
END",
};
