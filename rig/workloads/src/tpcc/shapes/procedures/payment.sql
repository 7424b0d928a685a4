(in_w INT, in_d INT, in_c_w INT, in_c_d INT, in_c INT, in_last VARCHAR(16), in_amount INT)
BEGIN
  -- in_c is 0 when the customer is looked for by name; in_amount is in hundredths
  DECLARE v_customer, v_namesakes INT DEFAULT 0;
  DECLARE v_places VARCHAR(24);

  START TRANSACTION;
  UPDATE warehouse SET w_ytd = w_ytd + in_amount * 0.01 WHERE w_id = in_w;
  UPDATE district SET d_ytd = d_ytd + in_amount * 0.01 WHERE d_w_id = in_w AND d_id = in_d;
  SET v_customer = in_c;
  IF in_c = 0 THEN
    SELECT COUNT(*) INTO v_namesakes FROM customer WHERE c_w_id = in_c_w AND c_d_id = in_c_d AND c_last = in_last;
    SET v_namesakes = GREATEST(v_namesakes + 1, 2) DIV 2 - 1;
    SELECT c_id INTO v_customer FROM customer WHERE c_w_id = in_c_w AND c_d_id = in_c_d AND c_last = in_last
      ORDER BY c_first, c_id LIMIT v_namesakes, 1;
  END IF;
  UPDATE customer SET c_balance = c_balance - in_amount * 0.01, c_ytd_payment = c_ytd_payment + in_amount * 0.01,
    c_payment_cnt = c_payment_cnt + 1,
    c_data = IF(c_credit = 'BC', LEFT(CONCAT(v_customer, ' ', in_c_d, ' ', in_c_w, ' ', in_d, ' ', in_w, ' ',
      in_amount * 0.01, '|', c_data), 500), c_data)
    WHERE c_w_id = in_c_w AND c_d_id = in_c_d AND c_id = v_customer;
  SELECT CONCAT(w_name, '    ', d_name) INTO v_places
    FROM warehouse JOIN district ON d_w_id = w_id AND d_id = in_d WHERE w_id = in_w;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (v_customer, in_c_d, in_c_w, in_d, in_w, NOW(), in_amount * 0.01, v_places);
  SELECT c_id, c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since,
    c_credit_lim, c_discount, c_balance, IF(c_credit = 'BC', LEFT(c_data, 200), '') AS c_data,
    w_street_1, w_street_2, w_city, w_state, w_zip, d_street_1, d_street_2, d_city, d_state, d_zip
    FROM warehouse JOIN district ON d_w_id = w_id AND d_id = in_d
    JOIN customer ON c_w_id = in_c_w AND c_d_id = in_c_d AND c_id = v_customer WHERE w_id = in_w;
  COMMIT;
END
