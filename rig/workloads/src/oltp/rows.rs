//! The rows of the OLTP tables: `k` after the workload's law, `c` and `pad` of random digits.
//!
//! A row is a pure function of (seed, table, id), so that any part of a table can be built by anyone in any order, and a
//! row that was read can be checked without having been kept.

use crate::distribution::Distribution;
use crate::random::{Random, RowRandom};

/// Length of column `c`: ten groups of eleven digits and the dashes between them.
pub const C_LEN: usize = 119;
/// Length of column `pad`: five groups.
pub const PAD_LEN: usize = 59;

const GROUP_DIGITS: usize = 11;

/// What a row holds besides its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The indexed number.
    pub k: u64,
    /// The long text.
    pub c: [u8; C_LEN],
    /// The short text.
    pub pad: [u8; PAD_LEN],
}

impl Row {
    /// A row to draw into.
    #[must_use]
    pub const fn blank() -> Self {
        Self {
            k: 0,
            c: [b'-'; C_LEN],
            pad: [b'-'; PAD_LEN],
        }
    }

    /// Fills the row with fresh content: `k`, then `c`, then `pad`.
    #[inline]
    pub fn draw(&mut self, k: &Distribution, random: &mut impl Random) {
        self.k = k.sample(random);
        draw_digit_groups(&mut self.c, random);
        draw_digit_groups(&mut self.pad, random);
    }
}

/// The content of one table.
#[derive(Clone, Copy, Debug)]
pub struct TableRows {
    key: u64,
    k: Distribution,
}

impl TableRows {
    /// The rows of table number `table` (the first is 1) under `seed`, `k` drawn from the law.
    #[must_use]
    pub const fn new(seed: u64, table: u64, k: Distribution) -> Self {
        Self {
            key: RowRandom::table_key(seed, table),
            k,
        }
    }

    /// Writes the content of row `id` into `row`.
    #[inline]
    pub fn fill(&self, id: u64, row: &mut Row) {
        row.draw(&self.k, &mut RowRandom::new(self.key, id));
    }
}

/// "00" to "99", one after the other.
const DIGIT_PAIRS: [u8; 200] = {
    let mut pairs = [0; 200];
    let mut at = 0;
    let mut number = 0_u8;
    while number < 100 {
        pairs[at] = b'0' + number / 10;
        pairs[at + 1] = b'0' + number % 10;
        at += 2;
        number += 1;
    }
    pairs
};

/// Fills `text` with groups of eleven random digits joined by dashes, one draw a group.
#[inline]
pub fn draw_digit_groups(text: &mut [u8], random: &mut impl Random) {
    for group in text.chunks_mut(GROUP_DIGITS + 1) {
        // The draw is a fraction of 2⁶⁴: each multiplication by a hundred moves its next two decimals above the point.
        // That costs one multiplication for two digits, where division would cost far more.
        let mut fraction = random.next_u64();
        let mut next_pair = |numbers: u64| {
            let product = u128::from(fraction) * u128::from(numbers);
            // the low half is what is left of the fraction, the high half a number below `numbers`
            #[allow(clippy::cast_possible_truncation)]
            let (rest, number) = (product as u64, (product >> 64) as usize);
            fraction = rest;
            &DIGIT_PAIRS[2 * number..2 * number + 2]
        };
        let (digits, dash) = group.split_at_mut(GROUP_DIGITS);
        digits[0] = next_pair(10)[1];
        for pair in digits[1..].chunks_exact_mut(2) {
            pair.copy_from_slice(next_pair(100));
        }
        if let [dash] = dash {
            *dash = b'-';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::Law;

    fn row(seed: u64, table: u64, id: u64) -> Row {
        let mut row = Row::blank();
        TableRows::new(seed, table, Distribution::new(Law::Uniform, 10_000)).fill(id, &mut row);
        row
    }

    fn assert_groups(text: &[u8], groups: usize) {
        let parts: Vec<&[u8]> = text.split(|&b| b == b'-').collect();
        assert_eq!(parts.len(), groups);
        for part in parts {
            assert_eq!(part.len(), 11);
            assert!(
                part.iter().all(u8::is_ascii_digit),
                "{}",
                String::from_utf8_lossy(part)
            );
        }
    }

    #[test]
    fn a_row_has_the_shape_that_the_columns_expect() {
        for id in [1, 2, 10_000, u64::MAX] {
            let row = row(1, 1, id);
            assert_groups(&row.c, 10);
            assert_groups(&row.pad, 5);
            assert!((1..=10_000).contains(&row.k));
        }
    }

    #[test]
    fn a_row_depends_on_seed_table_and_id_and_on_nothing_else() {
        assert_eq!(row(1, 2, 3), row(1, 2, 3));
        assert_ne!(row(1, 2, 3), row(2, 2, 3));
        assert_ne!(row(1, 2, 3), row(1, 3, 3));
        assert_ne!(row(1, 2, 3), row(1, 2, 4));
        // a buffer's past does not show
        let mut used = row(9, 9, 9);
        TableRows::new(1, 2, Distribution::new(Law::Uniform, 10_000)).fill(3, &mut used);
        assert_eq!(used, row(1, 2, 3));
    }

    #[test]
    fn every_digit_is_as_frequent_as_any_other_at_every_place() {
        let mut seen = [[0_u32; 10]; 11];
        let rows = 3000_u32;
        for id in 0..rows {
            for group in row(5, 1, u64::from(id)).c.split(|&b| b == b'-') {
                for (place, digit) in group.iter().enumerate() {
                    seen[place][usize::from(digit - b'0')] += 1;
                }
            }
        }
        let expected = f64::from(rows);
        for place in seen {
            let statistic: f64 = place
                .iter()
                .map(|&n| (f64::from(n) - expected).powi(2) / expected)
                .sum();
            // the 99.99th percentile of chi-square with nine degrees of freedom is 33.7
            assert!(statistic < 33.7, "{statistic} {place:?}");
        }
    }
}
