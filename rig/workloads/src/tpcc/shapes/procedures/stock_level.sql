(in_w INT, in_d INT, in_threshold INT)
BEGIN
  START TRANSACTION;
  SELECT COUNT(DISTINCT s_i_id) AS low_stock FROM district
    JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id AND ol_o_id >= d_next_o_id - 20 AND ol_o_id < d_next_o_id
    JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE d_w_id = in_w AND d_id = in_d AND s_quantity < in_threshold;
  COMMIT;
END
