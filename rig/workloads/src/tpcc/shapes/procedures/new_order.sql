(in_w INT, in_d INT, in_c INT, in_count INT, in_local INT, in_lines VARCHAR(255))
BEGIN
  -- in_lines: for each line 6 digits of the item, 6 of the supplying warehouse, 2 of the quantity
  DECLARE v_order, v_number, v_item, v_supply, v_quantity, v_missing INT DEFAULT 0;
  DECLARE v_w_tax, v_d_tax, v_discount DECIMAL(4,4);
  DECLARE v_last VARCHAR(16);
  DECLARE v_credit CHAR(2);
  DECLARE v_price DECIMAL(5,2);
  DECLARE v_dist CHAR(24);
  DECLARE v_total DECIMAL(12,2) DEFAULT 0;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_missing = 1;

  START TRANSACTION;
  UPDATE district SET d_next_o_id = LAST_INSERT_ID(d_next_o_id) + 1 WHERE d_w_id = in_w AND d_id = in_d;
  SET v_order = LAST_INSERT_ID();
  SELECT w_tax, d_tax, c_discount, c_last, c_credit INTO v_w_tax, v_d_tax, v_discount, v_last, v_credit
    FROM warehouse JOIN district ON d_w_id = w_id AND d_id = in_d
    JOIN customer ON c_w_id = w_id AND c_d_id = d_id AND c_id = in_c WHERE w_id = in_w;
  INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (in_w, in_d, v_order, in_c, NOW(), in_count, in_local);
  INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (in_w, in_d, v_order);

  WHILE v_number < in_count AND NOT v_missing DO
    SET v_item = SUBSTRING(in_lines, 1 + 14 * v_number, 6);
    SET v_supply = SUBSTRING(in_lines, 7 + 14 * v_number, 6);
    SET v_quantity = SUBSTRING(in_lines, 13 + 14 * v_number, 2);
    SET v_number = v_number + 1;
    -- locks the stock, and finds none for an item that does not exist
    UPDATE stock SET s_quantity = s_quantity - v_quantity + IF(s_quantity - v_quantity >= 10, 0, 91),
      s_ytd = s_ytd + v_quantity, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + (v_supply <> in_w)
      WHERE s_w_id = v_supply AND s_i_id = v_item;
    SELECT i_price, ELT(in_d, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08,
      s_dist_09, s_dist_10) INTO v_price, v_dist
      FROM item JOIN stock ON s_w_id = v_supply AND s_i_id = i_id WHERE i_id = v_item;
    IF NOT v_missing THEN
      INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
        ol_dist_info)
        VALUES (in_w, in_d, v_order, v_number, v_item, v_supply, v_quantity, v_price * v_quantity, v_dist);
      SET v_total = v_total + v_price * v_quantity;
    END IF;
  END WHILE;

  IF v_missing THEN
    ROLLBACK;
    SET v_order = 0;
  ELSE
    COMMIT;
  END IF;
  SELECT v_order AS o_id, v_number AS lines_read, v_total * (1 - v_discount) * (1 + v_w_tax + v_d_tax) AS total,
    v_w_tax, v_d_tax, v_discount, v_last, v_credit;
END
