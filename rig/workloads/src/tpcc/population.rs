//! The rows of the population: a pure function of (seed, table, unit), so that any connection can load any of them.

use super::draw::{self, between, digits, hundredths, last_name, letters, nurand};
use super::profiles::Profile;
use super::profiles::laws::{Amounts, Filler, Laws, OrderCustomers};
use super::schema::{CUSTOMERS, DISTRICTS, FIRST_UNDELIVERED, ITEMS, Kind};
use crate::load::writer::RowWriter;
use crate::random::{Random, RowRandom, mix64};

/// When everything in the population happened: one moment, so that equal seeds give equal rows.
pub const MOMENT: &[u8] = b"2026-01-01 00:00:00";

/// The generator of one seed and profile.
#[derive(Clone, Copy, Debug)]
pub struct Population {
    seed: u64,
    laws: &'static Laws,
}

/// A place in a table whose rows belong to districts.
#[derive(Clone, Copy, Debug)]
struct Place {
    warehouse: u64,
    district: u64,
    /// Customer or order, from 1.
    id: u64,
}

impl Place {
    /// Of the row with this index over all warehouses, when each district has `each` of them.
    const fn of(index: u64, each: u64) -> Self {
        Self {
            warehouse: index / (DISTRICTS * each) + 1,
            district: index / each % DISTRICTS + 1,
            id: index % each + 1,
        }
    }

    /// Its index when each district has 3,000: what a row's random numbers hang on.
    const fn index(self) -> u64 {
        ((self.warehouse - 1) * DISTRICTS + self.district - 1) * CUSTOMERS + self.id - 1
    }
}

impl Population {
    /// The population of a profile's table set under a seed; sets count from 0 and differ in their content.
    pub const fn new(profile: Profile, seed: u64, set: u64) -> Self {
        let seed = match set {
            0 => seed,
            other => mix64(seed ^ mix64(other)),
        };
        Self {
            seed,
            laws: profile.laws(),
        }
    }

    /// Appends the rows of one unit.
    pub fn append(self, kind: Kind, unit: u64, writer: &mut RowWriter<'_>) {
        let mut row = Row {
            writer,
            laws: self.laws,
            text: Vec::with_capacity(512),
        };
        let rows = kind.unit_rows();
        for index in unit * rows..(unit + 1) * rows {
            let random = self.random(kind, index);
            match kind {
                Kind::Item => item(index + 1, random, &mut row),
                Kind::Warehouse => warehouse(index + 1, random, &mut row),
                Kind::District => district(index, random, &mut row),
                Kind::Customer => customer(Place::of(index, CUSTOMERS), random, &mut row),
                Kind::Stock => stock(index, random, &mut row),
                Kind::History => history(Place::of(index, CUSTOMERS), random, &mut row),
                Kind::Orders => self.order(Place::of(index, CUSTOMERS), random, &mut row),
                Kind::NewOrder => new_order(index, &mut row),
                Kind::OrderLine => self.order_lines(Place::of(index, CUSTOMERS), random, &mut row),
            }
        }
    }

    fn random(self, kind: Kind, index: u64) -> RowRandom {
        RowRandom::new(RowRandom::table_key(self.seed, kind as u64 + 1), index)
    }

    /// The lines of an order: the orders say how many there are, the lines must know it too.
    fn lines(self, place: Place) -> u64 {
        between(&mut self.random(Kind::Orders, place.index()), 5, 15)
    }

    fn order(self, place: Place, mut random: RowRandom, row: &mut Row<'_, '_>) {
        let lines = between(&mut random, 5, 15);
        row.integer(place.id);
        row.integer(place.district);
        row.integer(place.warehouse);
        row.integer(self.order_customer(place, &mut random));
        row.writer.text(MOMENT);
        if place.id < FIRST_UNDELIVERED {
            row.integer(between(&mut random, 1, 10));
        } else {
            row.writer.null();
        }
        row.integer(lines);
        row.integer(1);
        row.end();
    }

    /// Whose order it is.
    fn order_customer(self, place: Place, random: &mut RowRandom) -> u64 {
        let district = match self.laws.customers {
            OrderCustomers::Permutation => (place.warehouse - 1) * DISTRICTS + place.district,
            OrderCustomers::WarehousePermutation => place.warehouse * DISTRICTS,
            OrderCustomers::AtLeastOrder => return between(random, place.id, CUSTOMERS),
        };
        let key = mix64(RowRandom::table_key(self.seed, 0) ^ mix64(district));
        draw::permuted(key, CUSTOMERS, place.id - 1) + 1
    }

    fn order_lines(self, place: Place, mut random: RowRandom, row: &mut Row<'_, '_>) {
        let delivered = place.id < FIRST_UNDELIVERED;
        for number in 1..=self.lines(place) {
            row.integer(place.id);
            row.integer(place.district);
            row.integer(place.warehouse);
            row.integer(number);
            row.integer(between(&mut random, 1, ITEMS));
            row.integer(place.warehouse);
            if delivered {
                row.writer.text(MOMENT);
            } else {
                row.writer.null();
            }
            row.integer(5);
            row.money(match (self.laws.amounts, delivered) {
                (Amounts::Waiting, false) => between(&mut random, 1, 999_999),
                (Amounts::Delivered, true) => between(&mut random, 10, 10_000),
                _ => 0,
            });
            row.filler(&mut random, 24, 24);
            row.end();
        }
    }
}

fn item(id: u64, mut random: RowRandom, row: &mut Row<'_, '_>) {
    row.integer(id);
    row.integer(between(&mut random, 1, 10_000));
    row.letters(&mut random, 14, 24);
    row.money(between(&mut random, 100, 10_000));
    row.data(&mut random);
    row.end();
}

fn warehouse(id: u64, mut random: RowRandom, row: &mut Row<'_, '_>) {
    row.integer(id);
    row.letters(&mut random, 6, 10);
    row.address(&mut random);
    row.tax(&mut random);
    row.money(30_000_000);
    row.end();
}

fn district(index: u64, mut random: RowRandom, row: &mut Row<'_, '_>) {
    row.integer(index % DISTRICTS + 1);
    row.integer(index / DISTRICTS + 1);
    row.letters(&mut random, 6, 10);
    row.address(&mut random);
    row.tax(&mut random);
    row.money(3_000_000);
    row.integer(CUSTOMERS + 1);
    row.end();
}

fn customer(place: Place, mut random: RowRandom, row: &mut Row<'_, '_>) {
    let name = if place.id <= 1000 {
        place.id - 1
    } else {
        nurand(&mut random, 255, row.laws.last_name_constant, 0, 999)
    };
    row.integer(place.id);
    row.integer(place.district);
    row.integer(place.warehouse);
    row.letters(&mut random, 8, 16);
    row.writer.text(b"OE");
    last_name(name, &mut row.text);
    row.writer.text(&row.text);
    row.address(&mut random);
    row.digits(&mut random, 16);
    row.writer.text(MOMENT);
    let bad = random.below(10) < row.laws.bad_credit_of_ten;
    row.writer.text(if bad { b"BC" } else { b"GC" });
    row.money(5_000_000);
    let discount = between(&mut random, 0, row.laws.discount_max);
    row.rate(discount * row.laws.rate_step);
    row.writer.text(b"-10.00");
    row.writer.text(b"10.00");
    row.integer(1);
    row.integer(0);
    row.filler(&mut random, 300, 500);
    row.end();
}

fn stock(index: u64, mut random: RowRandom, row: &mut Row<'_, '_>) {
    row.integer(index % ITEMS + 1);
    row.integer(index / ITEMS + 1);
    row.integer(between(&mut random, 10, 100));
    for _ in 0..DISTRICTS {
        row.filler(&mut random, 24, 24);
    }
    for _ in 0..3 {
        row.integer(0);
    }
    row.data(&mut random);
    row.end();
}

fn history(place: Place, mut random: RowRandom, row: &mut Row<'_, '_>) {
    row.integer(place.id);
    for _ in 0..2 {
        row.integer(place.district);
        row.integer(place.warehouse);
    }
    row.writer.text(MOMENT);
    row.money(1000);
    row.filler(&mut random, 12, 24);
    row.end();
}

fn new_order(index: u64, row: &mut Row<'_, '_>) {
    let place = Place::of(index, CUSTOMERS + 1 - FIRST_UNDELIVERED);
    row.integer(place.id + FIRST_UNDELIVERED - 1);
    row.integer(place.district);
    row.integer(place.warehouse);
    row.end();
}

/// A row under construction: the fields that several tables have.
struct Row<'a, 'b> {
    writer: &'a mut RowWriter<'b>,
    laws: &'static Laws,
    text: Vec<u8>,
}

impl Row<'_, '_> {
    fn integer(&mut self, number: u64) {
        self.writer.integer(number);
    }

    fn letters(&mut self, random: &mut RowRandom, low: u64, high: u64) {
        self.text.clear();
        letters(random, low, high, &mut self.text);
        self.writer.text(&self.text);
    }

    /// A string without meaning, of letters or of one letter, as the profile has it.
    fn filler(&mut self, random: &mut RowRandom, low: u64, high: u64) {
        self.fill(random, low, high);
        self.writer.text(&self.text);
    }

    fn fill(&mut self, random: &mut RowRandom, low: u64, high: u64) {
        self.text.clear();
        match self.laws.filler {
            Filler::Letters => letters(random, low, high, &mut self.text),
            Filler::Repeated => {
                let letter = b'a' + random.below(26).to_le_bytes()[0];
                let length = usize::try_from(between(random, low, high)).unwrap_or(0);
                self.text.resize(length, letter);
            }
        }
    }

    fn digits(&mut self, random: &mut RowRandom, length: u32) {
        self.text.clear();
        digits(random, length, &mut self.text);
        self.writer.text(&self.text);
    }

    /// An amount, from hundredths.
    fn money(&mut self, hundredths_: u64) {
        self.text.clear();
        hundredths(hundredths_, &mut self.text);
        self.writer.text(&self.text);
    }

    /// A tax or a discount, from ten-thousandths below 10,000.
    fn rate(&mut self, ten_thousandths: u64) {
        self.text.clear();
        self.text.extend_from_slice(b"0.");
        for unit in [1000, 100, 10, 1] {
            self.text
                .push(b'0' + (ten_thousandths / unit % 10).to_le_bytes()[0]);
        }
        self.writer.text(&self.text);
    }

    fn tax(&mut self, random: &mut RowRandom) {
        let [low, high] = self.laws.tax;
        self.rate(between(random, low, high) * self.laws.rate_step);
    }

    /// Two streets, a city, a state and a zip code.
    fn address(&mut self, random: &mut RowRandom) {
        for _ in 0..3 {
            self.letters(random, 10, 20);
        }
        self.letters(random, 2, 2);
        self.text.clear();
        digits(random, 4, &mut self.text);
        self.text.extend_from_slice(b"11111");
        self.writer.text(&self.text);
    }

    /// 26 to 50 letters, in one row of ten with the profile's mark somewhere among them.
    fn data(&mut self, random: &mut RowRandom) {
        let mark = self.laws.mark;
        self.fill(random, 26, 50);
        if random.below(10) == 0 {
            let places = self.text.len() - mark.len() + 1;
            let at = usize::try_from(random.below(places as u64)).unwrap_or(0);
            self.text[at..at + mark.len()].copy_from_slice(mark);
        }
        self.writer.text(&self.text);
    }

    fn end(&mut self) {
        self.writer.end_row();
    }
}

#[cfg(test)]
#[path = "population_tests.rs"]
mod tests;
