use super::*;

fn rows(sql: &str) -> (Vec<(String, ColumnType)>, u32) {
    match parse(sql.as_bytes()).answer {
        Answer::Rows { columns, rows } => (
            columns.into_iter().map(|c| (c.name, c.kind)).collect(),
            rows,
        ),
        other => panic!("{sql}: {other:?}"),
    }
}

fn affected(sql: &str) -> u64 {
    match parse(sql.as_bytes()).answer {
        Answer::Done { affected_rows } => affected_rows,
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn the_oltp_reads() {
    let c = || vec![("c".to_owned(), ColumnType::Char(120))];
    assert_eq!(rows("SELECT c FROM sbtest1 WHERE id=?"), (c(), 1));
    assert_eq!(
        rows("SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?"),
        (c(), 100)
    );
    assert_eq!(
        rows("SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c"),
        (c(), 100)
    );
    assert_eq!(
        rows("SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c"),
        (c(), 100)
    );
    let sum = rows("SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?");
    assert_eq!(sum, (vec![("SUM(k)".into(), ColumnType::Decimal)], 1));
    let (columns, points) =
        rows("SELECT id, k, c, pad FROM sbtest1 WHERE k IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    assert_eq!((columns.len(), points), (4, 10));
    let ranges = rows("SELECT count(k) FROM sbtest1 WHERE k BETWEEN ? AND ? OR k BETWEEN ? AND ?");
    assert_eq!(ranges, (vec![("count(k)".into(), ColumnType::BigInt)], 1));
}

#[test]
fn parameters_are_counted_outside_of_strings_and_comments() {
    for (sql, params) in [
        ("SELECT c FROM sbtest1 WHERE id=?", 1),
        ("INSERT INTO t VALUES (?, 'a?b', \"?\", ?) /* ? */ -- ?", 2),
        ("SELECT 'it''s ?', '\\'?', `a?` FROM t WHERE x = ?", 1),
        ("COMMIT", 0),
    ] {
        assert_eq!(parse(sql.as_bytes()).params, params, "{sql}");
    }
}

#[test]
fn the_oltp_writes() {
    assert_eq!(affected("UPDATE sbtest1 SET k=k+1 WHERE id=?"), 1);
    assert_eq!(affected("DELETE FROM sbtest1 WHERE id=?"), 1);
    assert_eq!(
        affected("INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)"),
        1
    );
    assert_eq!(
        affected("INSERT INTO sbtest1 (k) VALUES (1),(2),(least(3, 4))"),
        3
    );
    assert_eq!(affected("BEGIN"), 0);
    assert_eq!(affected("CREATE TABLE t (id INT)"), 0);
}

#[test]
fn tpcc_names_have_their_types() {
    let (columns, count) = rows(
        "SELECT c_discount, c_last, c.c_credit, w_tax FROM customer c WHERE c_w_id = ? FOR UPDATE",
    );
    let kinds: Vec<ColumnType> = columns.into_iter().map(|(_, kind)| kind).collect();
    let text = ColumnType::Char(24);
    assert_eq!(
        (kinds, count),
        (
            vec![ColumnType::Decimal, text, text, ColumnType::Decimal],
            1
        )
    );
    assert_eq!(
        rows("SELECT c_id FROM customer WHERE c_w_id=? AND c_last=? ORDER BY c_first").1,
        3
    );
    assert_eq!(
        rows("SELECT s_i_id FROM stock WHERE (s_w_id, s_i_id) IN ((?,?),(?,?),(?,?)) FOR UPDATE").1,
        3
    );
    assert_eq!(
        affected(
            "UPDATE stock SET s_ytd = 1 WHERE s_w_id = ? AND s_i_id = ? OR s_w_id = ? AND s_i_id = ?"
        ),
        2
    );
    let number = ("o_id".to_owned(), ColumnType::Int);
    assert_eq!(rows("CALL tpcc_new_order(?, ?)"), (vec![number], 1));
    assert_eq!(
        rows("SELECT MIN(no_o_id) FROM new_order").0[0].1,
        ColumnType::Int
    );
    assert_eq!(
        rows("SELECT o_entry_d FROM orders LIMIT 1").0[0].1,
        ColumnType::Datetime
    );
}

#[test]
fn questions_about_the_server() {
    assert_eq!(rows("SELECT VERSION()").1, 1);
    assert_eq!(
        rows("SELECT @@max_allowed_packet").0[0].1,
        ColumnType::BigInt
    );
    assert_eq!(rows("SHOW GLOBAL STATUS LIKE 'x'"), rows("show variables"));
    assert_eq!(
        rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'x'").1,
        0
    );
    assert_eq!(
        cell(
            &Column {
                name: "1".into(),
                kind: ColumnType::BigInt
            },
            0
        ),
        Cell::Number(1)
    );
}

#[test]
fn load_data_asks_for_its_file() {
    let asked = parse(b"LOAD DATA LOCAL INFILE '/x/y.csv' INTO TABLE t").answer;
    assert_eq!(
        asked,
        Answer::Infile {
            file: b"/x/y.csv".to_vec()
        }
    );
    assert_eq!(affected("LOAD DATA INFILE '/x/y.csv' INTO TABLE t"), 0);
}

#[test]
fn texts_that_differ_in_values_share_a_fingerprint() {
    let print = |sql: &str| fingerprint(sql.as_bytes());
    assert_eq!(
        print("SELECT c FROM sbtest1 WHERE id=7"),
        print("SELECT c  FROM sbtest1 WHERE id=12345")
    );
    assert_eq!(
        print("INSERT INTO t VALUES ('a', 1)"),
        print("INSERT INTO t VALUES ('b''c', 2)")
    );
    assert_ne!(
        print("SELECT c FROM sbtest1 WHERE id=7"),
        print("SELECT c FROM sbtest2 WHERE id=7")
    );
    assert_ne!(
        print("SELECT c FROM t WHERE k IN (1,2)"),
        print("SELECT c FROM t WHERE k IN (1,2,3)")
    );
}

#[test]
fn text_values_have_their_columns_lengths() {
    let text = |length| match cell(
        &Column {
            name: "x".into(),
            kind: ColumnType::Char(length),
        },
        3,
    ) {
        Cell::Text(text) => text.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!((text(120), text(60)), (119, 59));
}
