(in_w INT, in_d INT, in_c INT, in_last VARCHAR(16))
BEGIN
  -- in_c is 0 when the customer is looked for by name
  DECLARE v_customer, v_namesakes, v_order INT DEFAULT 0;

  START TRANSACTION;
  SET v_customer = in_c;
  IF in_c = 0 THEN
    SELECT COUNT(*) INTO v_namesakes FROM customer WHERE c_w_id = in_w AND c_d_id = in_d AND c_last = in_last;
    SET v_namesakes = GREATEST(v_namesakes + 1, 2) DIV 2 - 1;
    SELECT c_id INTO v_customer FROM customer WHERE c_w_id = in_w AND c_d_id = in_d AND c_last = in_last
      ORDER BY c_first, c_id LIMIT v_namesakes, 1;
  END IF;
  SELECT MAX(o_id) INTO v_order FROM orders WHERE o_w_id = in_w AND o_d_id = in_d AND o_c_id = v_customer;
  SELECT c_id, c_balance, c_first, c_middle, c_last, o_id, o_entry_d, o_carrier_id
    FROM customer JOIN orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_id = v_order
    WHERE c_w_id = in_w AND c_d_id = in_d AND c_id = v_customer;
  SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
    WHERE ol_w_id = in_w AND ol_d_id = in_d AND ol_o_id = v_order;
  COMMIT;
END
