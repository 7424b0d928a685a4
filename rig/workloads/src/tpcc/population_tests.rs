//! Tests of the population's laws, on whole districts of it.

use super::*;
use crate::load::writer::Form;
use std::collections::{BTreeMap, BTreeSet};

/// The rows of some units of the standard profile as fields.
fn rows(kind: Kind, units: std::ops::Range<u64>) -> Vec<Vec<String>> {
    rows_of(Profile::Standard, kind, units)
}

fn rows_of(profile: Profile, kind: Kind, units: std::ops::Range<u64>) -> Vec<Vec<String>> {
    let mut bytes = Vec::new();
    let mut writer = RowWriter::new(&mut bytes, Form::Tabbed);
    for unit in units {
        Population::new(profile, 1, 0).append(kind, unit, &mut writer);
    }
    let text = String::from_utf8(bytes).unwrap();
    let fields = |line: &str| line.split('\t').map(str::to_owned).collect();
    text.lines().map(fields).collect()
}

fn of_warehouse(kind: Kind, warehouse: u64) -> Vec<Vec<String>> {
    rows(
        kind,
        (warehouse - 1) * kind.units()..warehouse * kind.units(),
    )
}

/// The share of the rows for which something holds.
fn share(rows: &[Vec<String>], holds: impl Fn(&[String]) -> bool) -> f64 {
    rows.iter().filter(|row| holds(row)).count() as f64 / rows.len() as f64
}

fn number(field: &str) -> f64 {
    field.parse().unwrap()
}

#[test]
fn a_tenth_of_items_and_stock_is_original() {
    for kind in [Kind::Item, Kind::Stock] {
        let rows = of_warehouse(kind, 1);
        assert_eq!(rows.len(), 100_000);
        let original = share(&rows, |row| row.last().unwrap().contains("ORIGINAL"));
        assert!((0.095..0.105).contains(&original), "{kind:?} {original}");
        assert!(
            rows.iter()
                .all(|row| (26..=50).contains(&row.last().unwrap().len()))
        );
    }
}

#[test]
fn items_and_stock_stay_in_their_ranges() {
    let items = of_warehouse(Kind::Item, 1);
    assert!(
        items
            .iter()
            .all(|row| (1.0..=100.0).contains(&number(&row[3])))
    );
    assert!(items.iter().all(|row| (14..=24).contains(&row[2].len())));
    let stock = of_warehouse(Kind::Stock, 2);
    assert!(
        stock
            .iter()
            .all(|row| row[1] == "2" && (10.0..=100.0).contains(&number(&row[2])))
    );
    assert!(
        stock
            .iter()
            .all(|row| row[3..13].iter().all(|info| info.len() == 24))
    );
    assert!(
        stock
            .iter()
            .all(|row| row[13..16].iter().all(|counter| counter == "0"))
    );
    let ids: BTreeSet<&str> = stock.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(ids.len(), 100_000);
}

#[test]
fn warehouses_and_districts_begin_with_their_sums() {
    for row in of_warehouse(Kind::Warehouse, 3) {
        assert_eq!((row[0].as_str(), row[8].as_str()), ("3", "300000.00"));
        assert!((0.0..=0.2).contains(&number(&row[7])));
        assert!(row[6].len() == 9 && row[6].ends_with("11111"));
    }
    let districts = of_warehouse(Kind::District, 3);
    assert_eq!(districts.len(), 10);
    for (index, row) in districts.iter().enumerate() {
        assert_eq!(row[0], (index + 1).to_string());
        assert_eq!(
            (row[1].as_str(), row[9].as_str(), row[10].as_str()),
            ("3", "30000.00", "3001")
        );
    }
}

#[test]
fn customers_follow_their_laws() {
    let customers = of_warehouse(Kind::Customer, 1);
    assert_eq!(customers.len(), 30_000);
    let bad_credit = share(&customers, |row| row[13] == "BC");
    assert!((0.09..0.11).contains(&bad_credit), "{bad_credit}");
    for row in &customers {
        assert_eq!(row[14..15], ["50000.00"]);
        assert_eq!(row[16..20], ["-10.00", "10.00", "1", "0"]);
        assert!((0.0..=0.5).contains(&number(&row[15])));
        assert!((300..=500).contains(&row[20].len()) && row[11].len() == 16);
    }
}

#[test]
fn last_names_are_counted_up_and_then_drawn() {
    let customers = of_warehouse(Kind::Customer, 1);
    let mut name = Vec::new();
    for id in [1, 372, 1000] {
        last_name(id - 1, &mut name);
        assert_eq!(
            customers[usize::try_from(id).unwrap() - 1][5].as_bytes(),
            name
        );
    }
    let mut drawn: BTreeMap<&str, u32> = BTreeMap::new();
    for row in customers.iter().filter(|row| number(&row[0]) > 1000.0) {
        *drawn.entry(&row[5]).or_default() += 1;
    }
    // the law with C = 157 favours (511 + 157) and seldom gives (256 + 157)
    let count = |number: u64| {
        let mut name = Vec::new();
        last_name(number, &mut name);
        drawn
            .get(std::str::from_utf8(&name).unwrap())
            .copied()
            .unwrap_or(0)
    };
    assert!(
        count(668) > 10 * count(413).max(1),
        "{} {}",
        count(668),
        count(413)
    );
}

#[test]
fn orders_visit_every_customer_once() {
    let orders = of_warehouse(Kind::Orders, 2);
    let mut first = Vec::new();
    for district in orders.chunks(3000) {
        let customers: Vec<&str> = district.iter().map(|row| row[3].as_str()).collect();
        let unique: BTreeSet<u64> = customers.iter().map(|id| id.parse().unwrap()).collect();
        assert_eq!(unique, (1..=3000).collect());
        first.push(customers[..5].join(" "));
    }
    assert_eq!(
        first.iter().collect::<BTreeSet<_>>().len(),
        10,
        "districts share an order"
    );
}

#[test]
fn orders_carriers_lines_and_dates_agree() {
    let orders = of_warehouse(Kind::Orders, 1);
    let lines = of_warehouse(Kind::OrderLine, 1);
    let new_orders = of_warehouse(Kind::NewOrder, 1);
    let mut by_order: BTreeMap<(String, String), Vec<&Vec<String>>> = BTreeMap::new();
    for line in &lines {
        by_order
            .entry((line[1].clone(), line[0].clone()))
            .or_default()
            .push(line);
    }
    let waiting: BTreeSet<(&str, &str)> = new_orders
        .iter()
        .map(|row| (row[1].as_str(), row[0].as_str()))
        .collect();
    assert_eq!(waiting.len(), 9000);
    for order in &orders {
        let of_order = &by_order[&(order[1].clone(), order[0].clone())];
        let delivered = number(&order[0]) < 2101.0;
        assert_eq!(order[6], of_order.len().to_string());
        assert!((5..=15).contains(&of_order.len()));
        assert_eq!(order[5] != "\\N", delivered);
        assert_eq!(
            !waiting.contains(&(order[1].as_str(), order[0].as_str())),
            delivered
        );
        for line in of_order {
            assert_eq!(
                (line[6] == order[4], line[6] == "\\N"),
                (delivered, !delivered)
            );
            let amount = number(&line[8]);
            assert!(if delivered {
                amount == 0.0
            } else {
                (0.01..=9999.99).contains(&amount)
            });
        }
    }
    let mean = lines.len() as f64 / orders.len() as f64;
    assert!((9.9..10.1).contains(&mean), "{mean}");
}

#[test]
fn units_are_small_whatever_is_drawn_and_the_same_at_every_call() {
    for kind in [
        Kind::Item,
        Kind::Customer,
        Kind::Stock,
        Kind::OrderLine,
        Kind::District,
        Kind::History,
    ] {
        for unit in 0..kind.units().min(500) {
            let mut bytes = Vec::new();
            let mut writer = RowWriter::new(&mut bytes, Form::Literals);
            Population::new(Profile::Standard, 7, 0).append(kind, unit, &mut writer);
            assert!(bytes.len() <= 4096, "{kind:?} {unit}: {}", bytes.len());
        }
    }
    assert_eq!(rows(Kind::Customer, 5..6), rows(Kind::Customer, 0..6)[25..]);
}

/// The first warehouse of a profile.
fn first_of(profile: Profile, kind: Kind) -> Vec<Vec<String>> {
    rows_of(profile, kind, 0..kind.units())
}

#[test]
fn half_the_customers_of_hammerdb_and_tpcc_mysql_have_bad_credit() {
    for (profile, low, high) in [
        (Profile::HammerDb, 0.48, 0.52),
        (Profile::TpccMysql, 0.48, 0.52),
        (Profile::SysbenchTpcc, 0.09, 0.11),
    ] {
        let customers = first_of(profile, Kind::Customer);
        let bad = share(&customers, |row| row[13] == "BC");
        assert!((low..high).contains(&bad), "{profile:?} {bad}");
        let two_places = |row: &[String]| number(&row[15]) * 100.0 % 1.0 == 0.0;
        assert!(
            share(&customers, two_places) > 0.5,
            "discounts are whole hundredths"
        );
    }
}

#[test]
fn amounts_of_hammerdb_and_tpcc_mysql_are_on_the_delivered_lines() {
    for profile in [Profile::HammerDb, Profile::TpccMysql] {
        for line in rows_of(profile, Kind::OrderLine, 0..1000) {
            let (delivered, amount) = (line[6] != "\\N", number(&line[8]));
            assert_eq!(delivered, (0.1..=100.0).contains(&amount), "{line:?}");
        }
    }
}

#[test]
fn orders_of_hammerdb_visit_some_customers_twice() {
    for district in first_of(Profile::HammerDb, Kind::Orders).chunks(3000) {
        let customers: BTreeSet<&str> = district.iter().map(|row| row[3].as_str()).collect();
        assert!(
            (1000..2999).contains(&customers.len()),
            "{}",
            customers.len()
        );
        assert!(
            district
                .iter()
                .all(|row| number(&row[3]) >= number(&row[0]))
        );
    }
}

#[test]
fn the_districts_of_sysbench_tpcc_share_a_permutation() {
    let orders = first_of(Profile::SysbenchTpcc, Kind::Orders);
    let customers = |district: usize| -> Vec<&str> {
        let rows = &orders[district * 3000..][..3000];
        rows.iter().map(|row| row[3].as_str()).collect()
    };
    assert_eq!(customers(0), customers(7));
    assert_eq!(
        customers(0).into_iter().collect::<BTreeSet<_>>().len(),
        3000
    );
}

#[test]
fn strings_of_sysbench_tpcc_repeat_one_letter() {
    for row in rows_of(Profile::SysbenchTpcc, Kind::Stock, 0..100) {
        for text in row[3..13].iter().chain([&row[16]]) {
            assert!(
                text.bytes().all(|byte| byte == text.as_bytes()[0]),
                "{text}"
            );
        }
    }
}

#[test]
fn sets_of_tables_differ_and_the_first_is_the_seed_itself() {
    let stock = |set| {
        let mut bytes = Vec::new();
        let mut writer = RowWriter::new(&mut bytes, Form::Tabbed);
        Population::new(Profile::SysbenchTpcc, 1, set).append(Kind::Stock, 0, &mut writer);
        bytes
    };
    assert_ne!(stock(0), stock(1));
    assert_ne!(stock(1), stock(2));
}

/// When this fails and the change is meant, raise the workload's version and note the new fingerprint.
#[test]
fn a_change_of_rows_needs_a_new_version() {
    let hashes = Profile::ALL.map(fingerprint);
    let version = crate::tpcc::settings::VERSION;
    assert_eq!((version, hashes), (1, GOLDEN), "{hashes:#x?}");
}

const GOLDEN: [u64; 4] = [
    0x8460_90C2_A987_58A1,
    0x69F9_4070_1A9D_4AEE,
    0x58AD_82DD_28DC_EB50,
    0xF0A3_3571_CB54_5FCD,
];

/// Of the first rows of every table.
fn fingerprint(profile: Profile) -> u64 {
    let kinds = [
        Kind::Item,
        Kind::Warehouse,
        Kind::District,
        Kind::Customer,
        Kind::Stock,
        Kind::History,
        Kind::Orders,
        Kind::NewOrder,
        Kind::OrderLine,
    ];
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for kind in kinds {
        for field in rows_of(profile, kind, 0..20).concat() {
            for byte in field.bytes().chain([0]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
            }
        }
    }
    hash
}
