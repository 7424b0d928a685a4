//! The draws that the population and the inputs are made of.

use crate::random::Random;

/// Uniform over `low..=high`.
#[inline]
pub fn between(random: &mut impl Random, low: u64, high: u64) -> u64 {
    low + random.below(high - low + 1)
}

/// The non-uniform law: the OR of two uniform draws, shifted by the run's constant `c` and wrapped into `low..=high`.
#[inline]
pub fn nurand(random: &mut impl Random, a: u64, c: u64, low: u64, high: u64) -> u64 {
    let mixed = random.below(a + 1) | between(random, low, high);
    (mixed + c) % (high - low + 1) + low
}

/// The constants C of the non-uniform draws: one for all sessions of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// For last names, A = 255.
    pub last: u64,
    /// For customer ids, A = 1023.
    pub customer: u64,
    /// For item ids, A = 8191.
    pub item: u64,
}

/// C of the last names in the population. A constant: a run must know it, and the seeds of load and run may differ.
pub const LAST_LOADED: u64 = 157;

impl Constants {
    /// The constants of a run. That of the last names keeps the distance from the population's which the specification
    /// asks for: 65 to 119, except 96 and 112.
    pub fn of_run(random: &mut impl Random) -> Self {
        let allowed = |distance: &u64| !matches!(distance, 96 | 112);
        let distances: Vec<u64> = (65..=119).filter(allowed).collect();
        let drawn = distances[usize::try_from(random.below(distances.len() as u64)).unwrap_or(0)];
        Self {
            last: LAST_LOADED - drawn,
            customer: random.below(1024),
            item: random.below(8192),
        }
    }
}

const SYLLABLES: [&str; 10] = [
    "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING",
];

/// The last name of a number in `0..=999`: one syllable a digit. `name` is emptied first.
pub fn last_name(number: u64, name: &mut Vec<u8>) {
    name.clear();
    for digit in [number / 100 % 10, number / 10 % 10, number % 10] {
        let syllable = SYLLABLES[usize::try_from(digit).unwrap_or(0)];
        name.extend_from_slice(syllable.as_bytes());
    }
}

/// Letters, digits and two signs: 64, so that six bits choose one.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Appends a random string of `low..=high` letters and digits.
pub fn letters(random: &mut impl Random, low: u64, high: u64, out: &mut Vec<u8>) {
    let length = between(random, low, high);
    let (mut bits, mut left) = (0, 0);
    for _ in 0..length {
        if left == 0 {
            (bits, left) = (random.next_u64(), 10);
        }
        out.push(LETTERS[(bits & 63) as usize]);
        bits >>= 6;
        left -= 1;
    }
}

/// Appends a random string of `length` digits.
pub fn digits(random: &mut impl Random, length: u32, out: &mut Vec<u8>) {
    for _ in 0..length {
        out.push(b'0' + random.below(10).to_le_bytes()[0]);
    }
}

/// Appends a number of hundredths as a decimal number: 5 is `0.05`.
pub fn hundredths(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number / 100).as_bytes());
    out.push(b'.');
    for digit in [number / 10 % 10, number % 10] {
        out.push(b'0' + digit.to_le_bytes()[0]);
    }
}

/// A permutation of `0..size`, chosen by `key`: a Feistel network over the next power of four, walked until it falls
/// below `size`. Any element is found without the others.
#[must_use]
pub fn permuted(key: u64, size: u64, index: u64) -> u64 {
    use crate::random::mix64;
    let half_bits = (64 - (size - 1).leading_zeros()).div_ceil(2);
    let mask = (1_u64 << half_bits) - 1;
    let mut at = index;
    loop {
        let (mut left, mut right) = (at >> half_bits, at & mask);
        for round in 0..4_u64 {
            let scrambled = mix64(key ^ mix64(right.wrapping_add(round << 32))) & mask;
            (left, right) = (right, left ^ scrambled);
        }
        at = left << half_bits | right;
        if at < size {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RowRandom;

    fn random(row: u64) -> RowRandom {
        RowRandom::new(RowRandom::table_key(1, 99), row)
    }

    #[test]
    fn nurand_stays_in_range_and_favours_numbers_with_many_bits() {
        let (mut random, mut counts) = (random(1), vec![0_u32; 1001]);
        for _ in 0..300_000 {
            let drawn = nurand(&mut random, 255, 0, 0, 999);
            counts[usize::try_from(drawn).unwrap()] += 1;
        }
        // with C = 0 a number is the OR of two draws: 511 (nine bits set) is frequent, 256 (one bit) is rare
        assert!(
            counts[511] > 40 * counts[256].max(1),
            "{} {}",
            counts[511],
            counts[256]
        );
        assert_eq!(counts[1000], 0);
    }

    #[test]
    fn the_constant_shifts_and_wraps() {
        for row in 0..1000 {
            let plain = nurand(&mut random(row), 1023, 0, 1, 3000);
            let shifted = nurand(&mut random(row), 1023, 2999, 1, 3000);
            assert!((1..=3000).contains(&shifted));
            assert_eq!((plain + 2999 - 1) % 3000 + 1, shifted);
        }
    }

    #[test]
    fn the_constants_of_a_run_keep_their_distance_from_the_population() {
        let mut seen = std::collections::BTreeSet::new();
        for row in 0..5000 {
            let constants = Constants::of_run(&mut random(row));
            assert!(constants.last <= 255 && constants.customer <= 1023 && constants.item <= 8191);
            seen.insert(constants.last.abs_diff(LAST_LOADED));
        }
        let allowed = (65..=119).filter(|d| ![96, 112].contains(d));
        assert_eq!(seen, allowed.collect());
    }

    #[test]
    fn names_have_a_syllable_a_digit() {
        let mut name = Vec::new();
        last_name(371, &mut name);
        assert_eq!(name, b"PRICALLYOUGHT");
        last_name(40, &mut name);
        assert_eq!(name, b"BARPRESBAR");
    }

    #[test]
    fn a_permutation_visits_everything_once() {
        for key in 0..20 {
            let mut seen: Vec<u64> = (0..3000).map(|i| permuted(key, 3000, i)).collect();
            assert_ne!(seen, (0..3000).collect::<Vec<_>>());
            seen.sort_unstable();
            assert_eq!(seen, (0..3000).collect::<Vec<_>>());
        }
        assert_ne!(permuted(1, 3000, 0), permuted(2, 3000, 0));
    }

    #[test]
    fn strings_have_the_length_and_the_characters() {
        let mut lengths = std::collections::BTreeSet::new();
        for row in 0..500 {
            let mut text = Vec::new();
            letters(&mut random(row), 14, 24, &mut text);
            lengths.insert(text.len());
            assert!(text.iter().all(|letter| LETTERS.contains(letter)));
        }
        assert_eq!(lengths, (14..=24).collect());
        let mut number = Vec::new();
        digits(&mut random(1), 16, &mut number);
        assert!(number.len() == 16 && number.iter().all(u8::is_ascii_digit));
    }

    #[test]
    fn hundredths_are_written_as_decimals() {
        let text = |number| {
            let mut out = Vec::new();
            hundredths(number, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            [text(5), text(100), text(999_999)],
            ["0.05", "1.00", "9999.99"]
        );
    }
}
