//! The random numbers of a session: a stable function of (seed, session index).

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};

/// xoshiro256++, seeded by `SplitMix64`.
///
/// The sequence, and how numbers are derived from it, are part of every workload's version: a change here changes the
/// input of every trial, and the golden test below must not be edited without raising those versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rng(Xoshiro256PlusPlus);

/// The increment of `SplitMix64`: 2^64 divided by the golden ratio, made odd.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of `SplitMix64`: a bijection in which each input bit reaches each output bit.
const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

impl Rng {
    /// The numbers of one session of a trial.
    #[must_use]
    pub fn new(seed: u64, session: u64) -> Self {
        // both are mixed before they meet, so that neighbouring seeds and sessions share no part of a sequence
        let start =
            mix(mix(seed.wrapping_add(GOLDEN)).wrapping_add(mix(session.wrapping_mul(GOLDEN))));
        Self(Xoshiro256PlusPlus::seed_from_u64(start))
    }

    /// The next number, uniform over all 64-bit numbers.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform over `0..n`: the high half of the 128-bit product of one draw and `n`; 0 when `n` is 0.
    ///
    /// Always one draw; the bias is below n / 2^64.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Uniform over `low..=high`, in one draw.
    ///
    /// # Panics
    /// In debug builds, when `low` is above `high`.
    #[inline]
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        debug_assert!(low <= high, "{low} is above {high}");
        match (high - low).checked_add(1) {
            Some(n) => low + self.below(n),
            None => self.next_u64(),
        }
    }

    /// Uniform over [0, 1), a multiple of 2^-53, in one draw.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_stable() {
        let mut rng = Rng::new(1, 0);
        let first: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(
            first,
            [
                8_770_077_814_761_700_327,
                4_154_907_570_581_360_111,
                6_152_150_078_786_220_154
            ]
        );
        assert_eq!(Rng::new(1, 0).below(1000), 475);
    }

    #[test]
    fn sessions_and_seeds_differ() {
        let first = |seed, session| Rng::new(seed, session).next_u64();
        let mut seen: Vec<u64> = (0..20)
            .flat_map(|seed| (0..20).map(move |s| first(seed, s)))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 400);
    }

    #[test]
    fn draws_stay_in_range_and_reach_its_ends() {
        let mut rng = Rng::new(7, 7);
        let draws: Vec<u64> = (0..1000).map(|_| rng.between(3, 5)).collect();
        for value in 3..=5 {
            assert!(
                draws.iter().filter(|&&d| d == value).count() > 250,
                "{value}"
            );
        }
        assert!(draws.iter().all(|d| (3..=5).contains(d)));
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.between(9, 9), 9);
        rng.between(0, u64::MAX);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&rng.unit())));
    }
}
