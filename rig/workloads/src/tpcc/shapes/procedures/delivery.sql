(in_w INT, in_carrier INT)
BEGIN
  -- every read locks: an order may be younger than the snapshot of the transaction
  DECLARE v_district, v_order, v_customer, v_missing, v_delivered INT DEFAULT 0;
  DECLARE v_amount DECIMAL(12,2);
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_missing = 1;

  START TRANSACTION;
  WHILE v_district < 10 DO
    SET v_district = v_district + 1;
    SET v_missing = 0;
    SELECT no_o_id INTO v_order FROM new_order WHERE no_w_id = in_w AND no_d_id = v_district
      ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    IF NOT v_missing THEN
      DELETE FROM new_order WHERE no_w_id = in_w AND no_d_id = v_district AND no_o_id = v_order;
      SELECT o_c_id INTO v_customer FROM orders WHERE o_w_id = in_w AND o_d_id = v_district AND o_id = v_order
        FOR UPDATE;
      UPDATE orders SET o_carrier_id = in_carrier WHERE o_w_id = in_w AND o_d_id = v_district AND o_id = v_order;
      UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_w_id = in_w AND ol_d_id = v_district AND ol_o_id = v_order;
      SELECT SUM(ol_amount) INTO v_amount FROM order_line
        WHERE ol_w_id = in_w AND ol_d_id = v_district AND ol_o_id = v_order FOR UPDATE;
      UPDATE customer SET c_balance = c_balance + v_amount, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_w_id = in_w AND c_d_id = v_district AND c_id = v_customer;
      SET v_delivered = v_delivered + 1;
    END IF;
  END WHILE;
  COMMIT;
  SELECT v_delivered AS delivered_cnt;
END
