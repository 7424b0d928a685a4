//! Where random numbers come from.
//!
//! Two generators feed the same samplers: the session's, which drives a trial, and [`RowRandom`], which makes a table's
//! content a pure function of (seed, table, row). The order in which a workload draws is part of its version.

/// A source of uniform 64-bit numbers, and the two derived draws that every sampler is built from.
pub trait Random {
    /// The next number, uniform over all 2⁶⁴.
    fn next_u64(&mut self) -> u64;

    /// Uniform over `0..n`, by the high half of a 64 × 64-bit product; 0 when `n` is 0.
    ///
    /// One draw, no rejection: the bias is below n / 2⁶⁴, under 10⁻⁹ for every table up to 10¹⁰ rows.
    fn below(&mut self, n: u64) -> u64 {
        let product = u128::from(self.next_u64()) * u128::from(n);
        (product >> 64) as u64
    }

    /// Uniform over [0, 1), a multiple of 2⁻⁵³.
    fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}

/// The increment of `SplitMix64`: 2⁶⁴ divided by the golden ratio, odd.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of `SplitMix64`: a bijection of 64-bit numbers in which every input bit reaches every output bit.
#[must_use]
pub const fn mix64(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// `SplitMix64`, positioned by (seed, table, row): cheap to start, which a generator of many short rows needs most.
#[derive(Clone, Debug)]
pub struct RowRandom {
    state: u64,
}

impl RowRandom {
    /// The part of the position that all rows of one table share. Compute it once a table.
    #[must_use]
    pub const fn table_key(seed: u64, table: u64) -> u64 {
        mix64(mix64(seed.wrapping_add(GOLDEN)).wrapping_add(table.wrapping_mul(GOLDEN)))
    }

    /// The generator of one row.
    #[must_use]
    pub const fn new(table_key: u64, row: u64) -> Self {
        Self {
            state: mix64(table_key.wrapping_add(row.wrapping_mul(GOLDEN))),
        }
    }
}

impl Random for RowRandom {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix64(self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // the published first outputs for state 1234567
        let mut random = RowRandom { state: 1_234_567 };
        let drawn: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn neighbouring_rows_tables_and_seeds_differ() {
        let first =
            |seed, table, row| RowRandom::new(RowRandom::table_key(seed, table), row).next_u64();
        let base = first(1, 1, 1);
        for other in [
            first(1, 1, 2),
            first(1, 2, 1),
            first(2, 1, 1),
            first(1, 0, 2),
            first(0, 1, 1),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn below_and_unit_stay_in_range_at_the_edges() {
        struct Fixed(u64);
        impl Random for Fixed {
            fn next_u64(&mut self) -> u64 {
                self.0
            }
        }
        assert_eq!(Fixed(u64::MAX).below(10), 9);
        assert_eq!(Fixed(0).below(10), 0);
        assert_eq!(Fixed(u64::MAX).below(u64::MAX), u64::MAX - 1);
        assert_eq!(Fixed(7).below(0), 0);
        assert!(Fixed(u64::MAX).unit() < 1.0);
    }
}
