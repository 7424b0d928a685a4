//! Tests of the statement sequences, and the guard of every workload's version.

use super::*;
use crate::distribution::Law;
use crate::oltp::mix::MIXES;
use crate::oltp::rows::TableRows;
use crate::random::RowRandom;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

fn options(mix: &Mix, given: &Json) -> Result<Options, OptionError> {
    let given: BTreeMap<String, Json> = serde_json::from_value(given.clone()).unwrap();
    Options::resolve(mix.name, &mix.options(), &given)
}

fn sequence(name: &str, given: &Json) -> Sequence {
    let mix = Mix::named(name).unwrap();
    Sequence::new(mix, &options(mix, given).unwrap()).unwrap()
}

/// The statements of one transaction, by name.
fn names(name: &str, given: &Json) -> String {
    let sequence = sequence(name, given);
    let names: Vec<&str> = sequence
        .steps()
        .iter()
        .map(|step| step.statement.name())
        .collect();
    names.join(" ")
}

/// The statements of `transactions` transactions as text, with every input.
fn transcript(sequence: &Sequence, transactions: usize, seed: u64, session: u64) -> String {
    let mut text = String::new();
    let mut random = dyno_drive::Rng::new(seed, session);
    let mut inputs = sequence.inputs(NewIds::new(session, 4));
    for _ in 0..transactions {
        for &step in sequence.steps() {
            sequence.draw(step, &mut random, &mut inputs);
            let sql = step
                .statement
                .sql(inputs.table as u64 + 1, sequence.shape());
            let Inputs {
                id, row, numbers, ..
            } = &inputs;
            let (c, pad) = (
                String::from_utf8_lossy(&row.c),
                String::from_utf8_lossy(&row.pad),
            );
            writeln!(text, "{sql} | {id} {} {c} {pad} {numbers:?}", row.k).unwrap();
        }
    }
    text
}

/// FNV-1a, whose value no library can change under us.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[test]
fn events_are_those_of_the_definition() {
    let points = |n| vec!["point_select"; n].join(" ");
    let ranges = "simple_range sum_range order_range distinct_range";
    let writes = "index_update non_index_update delete insert";
    let none = json!({});
    assert_eq!(names("oltp_point_select", &none), "point_select");
    assert_eq!(
        names("oltp_read_only", &none),
        format!("begin {} {ranges} commit", points(10))
    );
    assert_eq!(
        names("oltp_read_write", &none),
        format!("begin {} {ranges} {writes} commit", points(10))
    );
    assert_eq!(
        names("oltp_write_only", &none),
        format!("begin {writes} commit")
    );
    assert_eq!(names("oltp_update_index", &none), "index_update");
    assert_eq!(names("oltp_update_non_index", &none), "non_index_update");
    assert_eq!(names("oltp_insert", &none), "insert");
    assert_eq!(names("oltp_delete", &none), "delete");
    assert_eq!(names("select_random_points", &none), "random_points");
    assert_eq!(names("select_random_ranges", &none), "random_ranges");
    assert_eq!(
        names("oltp_90_10", &none),
        format!("begin {} non_index_update commit", points(9))
    );
    assert_eq!(
        names("oltp_hybrid", &none),
        "begin point_select index_update delete insert commit"
    );
    assert_eq!(MIXES.len(), 12);
}

#[test]
fn options_change_the_counts() {
    let given = json!({"skip_trx": true, "point_selects": 1, "range_selects": "off", "delete_inserts": 2,
                       "index_updates": 0});
    assert_eq!(
        names("oltp_read_write", &given),
        "point_select non_index_update delete insert delete insert"
    );
    assert_eq!(
        names("oltp_update_index", &json!({"index_updates": 2})),
        "index_update index_update"
    );
}

#[test]
fn options_without_effect_are_refused() {
    for (name, option) in [
        ("oltp_point_select", "range_size"),
        ("oltp_point_select", "skip_trx"),
        ("oltp_write_only", "point_selects"),
        ("select_random_points", "delta"),
    ] {
        let mix = Mix::named(name).unwrap();
        let refused = options(mix, &json!({option: 1}));
        assert!(
            matches!(refused, Err(OptionError::UnknownOption { .. })),
            "{name} {option}"
        );
    }
}

#[test]
fn a_transaction_of_nothing_is_refused() {
    let mix = Mix::named("oltp_hybrid").unwrap();
    let given = json!({"point_selects": 0, "index_updates": 0, "delete_inserts": 0});
    let refused = Sequence::new(mix, &options(mix, &given).unwrap()).unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("oltp_hybrid has no statement left to run"),
        "{refused}"
    );
}

#[test]
fn defaults_of_every_workload_are_allowed() {
    for mix in MIXES {
        let options = options(mix, &json!({})).unwrap();
        assert!(Sequence::new(mix, &options).is_ok(), "{}", mix.name);
        assert!(mix.version >= 1);
    }
}

#[test]
fn a_group_stays_on_the_table_it_drew() {
    let sequence = sequence("oltp_read_write", &json!({"tables": 1000}));
    let mut random = RowRandom::new(1, 1);
    let mut inputs = sequence.inputs(NewIds::new(0, 1));
    let mut tables = HashSet::new();
    for &step in sequence.steps() {
        let before = inputs.table;
        sequence.draw(step, &mut random, &mut inputs);
        assert!(step.new_table || inputs.table == before);
        tables.insert(inputs.table);
    }
    // seven groups besides table 0 at the start; a repeat among a thousand would be unlikely, and is not so for this seed
    assert!(tables.len() >= 7, "{tables:?}");
    assert_eq!(
        sequence
            .steps()
            .iter()
            .filter(|step| step.new_table)
            .count(),
        8
    );
}

#[test]
fn a_pair_deletes_and_inserts_one_id() {
    let sequence = sequence(
        "oltp_write_only",
        &json!({"delete_inserts": 3, "tables": 4}),
    );
    let mut random = RowRandom::new(3, 1);
    let mut inputs = sequence.inputs(NewIds::new(0, 1));
    let mut deleted = None;
    for &step in sequence.steps() {
        sequence.draw(step, &mut random, &mut inputs);
        match step.statement {
            Statement::Delete => deleted = Some((inputs.table, inputs.id)),
            Statement::Insert => assert_eq!(deleted.take(), Some((inputs.table, inputs.id))),
            _ => {}
        }
    }
}

#[test]
fn the_table_is_drawn_evenly_and_the_id_after_the_law() {
    let sequence = sequence(
        "oltp_point_select",
        &json!({"tables": 4, "table_size": 100, "rand_type": "pareto"}),
    );
    let mut random = RowRandom::new(5, 1);
    let mut inputs = sequence.inputs(NewIds::new(0, 1));
    let (mut by_table, mut first_fifth) = ([0_u32; 4], 0_u32);
    for _ in 0..40_000 {
        sequence.draw(sequence.steps()[0], &mut random, &mut inputs);
        by_table[inputs.table] += 1;
        first_fifth += u32::from(inputs.id <= 20);
    }
    assert!(
        by_table.iter().all(|n| n.abs_diff(10_000) < 400),
        "{by_table:?}"
    );
    assert!(first_fifth.abs_diff(32_000) < 400, "{first_fifth}");
}

#[test]
fn sessions_insert_different_ids() {
    let sequence = sequence("oltp_insert", &json!({"auto_inc": "off"}));
    let mut seen = HashSet::new();
    for session in 0..8 {
        let mut random = RowRandom::new(1, session);
        let mut inputs = sequence.inputs(NewIds::new(session, 8));
        for _ in 0..1000 {
            sequence.draw(sequence.steps()[0], &mut random, &mut inputs);
            assert!((i64::from(i32::MIN)..0).contains(&inputs.id));
            assert!(seen.insert(inputs.id), "{} twice", inputs.id);
        }
    }
}

#[test]
fn with_auto_increment_the_server_numbers_the_rows() {
    let sequence = sequence("oltp_insert", &json!({}));
    let mut inputs = sequence.inputs(NewIds::new(3, 8));
    sequence.draw(sequence.steps()[0], &mut RowRandom::new(1, 1), &mut inputs);
    assert_eq!(inputs.id, 0);
}

#[test]
fn scattering_is_a_permutation() {
    let seen: HashSet<u64> = (0..1 << 16).map(scatter::<16>).collect();
    assert_eq!(seen.len(), 1 << 16);
    let odd: HashSet<u64> = (0..1 << 15).map(scatter::<15>).collect();
    assert_eq!(odd.len(), 1 << 15);
    assert!((0..1000).all(|n| scatter::<31>(n) < 1 << 31));
}

#[test]
fn ranges_have_the_length_asked_for() {
    let sequence = sequence(
        "select_random_ranges",
        &json!({"number_of_ranges": 3, "delta": 7}),
    );
    let mut inputs = sequence.inputs(NewIds::new(0, 1));
    sequence.draw(sequence.steps()[0], &mut RowRandom::new(1, 1), &mut inputs);
    assert_eq!(inputs.numbers.len(), 6);
    assert!(
        inputs
            .numbers
            .chunks(2)
            .all(|range| range[1] - range[0] == 7)
    );
    let read_only = self::sequence("oltp_read_only", &json!({"range_size": 50}));
    assert_eq!(read_only.range_end(1), 50);
}

#[test]
fn the_same_seed_gives_the_same_statements() {
    let sequence = sequence("oltp_read_write", &json!({"tables": 4}));
    assert_eq!(
        transcript(&sequence, 20, 1, 0),
        transcript(&sequence, 20, 1, 0)
    );
    assert_ne!(
        transcript(&sequence, 20, 1, 0),
        transcript(&sequence, 20, 2, 0)
    );
    assert_ne!(
        transcript(&sequence, 20, 1, 0),
        transcript(&sequence, 20, 1, 1)
    );
}

/// The statements and the rows that each version of a workload stands for. When this fails and the change is meant, give
/// the workload a new version in its mix, and its new fingerprint here.
#[test]
fn a_change_of_data_or_statements_needs_a_new_version() {
    let given = |name: &str| match name {
        "oltp_insert" => json!({"tables": 4, "auto_inc": "off"}),
        _ => json!({"tables": 4}),
    };
    let seen: Vec<(&str, u32, u64)> = MIXES
        .iter()
        .map(|mix| {
            let text = transcript(&sequence(mix.name, &given(mix.name)), 50, 1, 2);
            (mix.name, mix.version, fingerprint(text.as_bytes()))
        })
        .collect();
    assert_eq!(seen, GOLDEN, "{seen:#x?}");
}

#[test]
fn a_change_of_rows_needs_a_new_version_of_every_workload() {
    let seen: Vec<u64> = LAWS.iter().map(|law| rows_fingerprint(*law)).collect();
    assert_eq!(seen, GOLDEN_ROWS, "{seen:#x?}");
}

const LAWS: [Law; 5] = [
    Law::Uniform,
    Law::Gaussian { iterations: 12 },
    Law::Special {
        iterations: 12,
        hot_pct: 1.0,
        share_pct: 75.0,
    },
    Law::Pareto { h: 0.2 },
    Law::Zipfian { exponent: 0.8 },
];

fn rows_fingerprint(law: Law) -> u64 {
    let rows = TableRows::new(1, 3, Distribution::new(law, 10_000));
    let mut row = Row::blank();
    let mut bytes = Vec::new();
    for id in 1..=1000 {
        rows.fill(id, &mut row);
        bytes.extend(row.k.to_le_bytes());
        bytes.extend(row.c);
        bytes.extend(row.pad);
    }
    fingerprint(&bytes)
}

const GOLDEN_ROWS: [u64; 5] = [
    0x57D6_0DBE_69CB_B003,
    0xE28A_D50F_014A_2AB8,
    0xE298_BCF9_03AB_AAFE,
    0xBE8A_CD82_CDD2_555E,
    0xC9B8_EB57_9345_A291,
];

const GOLDEN: [(&str, u32, u64); 12] = [
    ("oltp_point_select", 1, 0x6DC0_EDB3_9A49_F83F),
    ("oltp_read_only", 1, 0xD8CC_0BEC_73ED_5305),
    ("oltp_read_write", 1, 0x974E_8F08_3A3E_608A),
    ("oltp_write_only", 1, 0xDE16_C1E6_A0E9_D63D),
    ("oltp_update_index", 1, 0x1417_D062_D43D_64BD),
    ("oltp_update_non_index", 1, 0x0915_D7B8_13AF_B3BA),
    ("oltp_insert", 1, 0xCBA4_4DAE_8B79_22B9),
    ("oltp_delete", 1, 0xAA5B_F6FB_068A_2FD3),
    ("select_random_points", 1, 0x16C3_B4DF_5D7B_E67B),
    ("select_random_ranges", 1, 0x446D_FB64_975B_4432),
    ("oltp_90_10", 1, 0x05CE_803A_A48C_54BD),
    ("oltp_hybrid", 1, 0xAB87_B6D0_F6BB_5642),
];
