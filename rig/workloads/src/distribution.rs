//! Which rows are asked for: the five laws over the ids `1..=n`, with the parameters and formulas that benchmarkers know
//! from sysbench, over 64-bit ranges.

use crate::random::Random;

/// A law and its parameters, as the options name it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Every id alike.
    Uniform,
    /// The mean of `iterations` uniform numbers: a bell around the middle of the table.
    Gaussian {
        /// How many uniform numbers are averaged.
        iterations: u32,
    },
    /// `share_pct` of the draws fall on a few ids near the middle, the rest is gaussian.
    Special {
        /// How many uniform numbers the gaussian part averages.
        iterations: u32,
        /// Width of the hot range, in percent of the table.
        hot_pct: f64,
        /// Percent of the draws that go to the hot range.
        share_pct: f64,
    },
    /// A power of a uniform number: with `h` = 0.2, 80 % of the draws fall on the first 20 % of the ids.
    Pareto {
        /// The fraction h of the table that takes 1 − h of the draws, within (0, 1).
        h: f64,
    },
    /// P(id) ∝ id^−`exponent`.
    Zipfian {
        /// s ≥ 0; 0 is uniform.
        exponent: f64,
    },
}

/// A [`Law`] over `1..=n`, with everything computed that does not change from draw to draw.
#[derive(Clone, Copy, Debug)]
pub struct Distribution {
    n: u64,
    sampler: Sampler,
}

#[derive(Clone, Copy, Debug)]
enum Sampler {
    Uniform,
    Gaussian {
        iterations: u32,
    },
    Special {
        iterations: u32,
        cold: f64,
        hot_start: f64,
        hot_width: f64,
    },
    Pareto {
        power: f64,
    },
    Zipfian(Zipfian),
}

impl Distribution {
    /// The law over the ids `1..=n`. An `n` of 0 counts as 1.
    #[must_use]
    pub fn new(law: Law, n: u64) -> Self {
        let n = n.max(1);
        let sampler = match law {
            Law::Uniform => Sampler::Uniform,
            Law::Gaussian { iterations } => Sampler::Gaussian { iterations },
            Law::Special {
                iterations,
                hot_pct,
                share_pct,
            } => special(n, iterations, hot_pct, share_pct),
            Law::Pareto { h } => Sampler::Pareto {
                power: h.ln() / (1.0 - h).ln(),
            },
            Law::Zipfian { exponent } => Sampler::Zipfian(Zipfian::new(n, exponent)),
        };
        Self { n, sampler }
    }

    /// One id, within `1..=n`.
    #[inline]
    pub fn sample(&self, random: &mut impl Random) -> u64 {
        match self.sampler {
            Sampler::Uniform => 1 + random.below(self.n),
            Sampler::Gaussian { iterations } => {
                self.id_at(mean_of_units(random, iterations) * self.n as f64)
            }
            Sampler::Special {
                iterations,
                cold,
                hot_start,
                hot_width,
            } => {
                // one number decides the branch and then places the draw, so the hot range loses its first quarter:
                // this is the law that published figures were made with
                let unit = random.unit();
                if unit < cold {
                    self.id_at(mean_of_units(random, iterations) * (self.n - 1) as f64)
                } else {
                    self.id_at(unit * hot_width + hot_start)
                }
            }
            Sampler::Pareto { power } => self.id_at(self.n as f64 * random.unit().powf(power)),
            Sampler::Zipfian(ref zipfian) => zipfian.sample(random),
        }
    }

    /// The id at `offset` rows from the first, whatever rounding did at the ends.
    fn id_at(&self, offset: f64) -> u64 {
        // a float beyond u64 saturates, and a negative one becomes 0
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let offset = offset as u64;
        1 + offset.min(self.n - 1)
    }
}

fn special(n: u64, iterations: u32, hot_pct: f64, share_pct: f64) -> Sampler {
    let span = (n - 1) as f64;
    Sampler::Special {
        iterations,
        cold: (100.0 - share_pct) / 100.0,
        hot_start: span / 2.0 - span * hot_pct / 200.0,
        hot_width: span * hot_pct / 100.0 + 1.0,
    }
}

fn mean_of_units(random: &mut impl Random, iterations: u32) -> f64 {
    let mut sum = 0.0;
    for _ in 0..iterations {
        sum += random.unit();
    }
    sum / f64::from(iterations)
}

/// The Zipf law by rejection inversion: W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from
/// monotone discrete distributions", ACM TOMACS 6 (3), 1996.
///
/// The histogram of k^−s is covered by the area under x^−s shifted half a step. A uniform point of that area gives x by
/// inversion; its nearest integer k is kept when the point lies in k's own bar. No table, so n costs nothing.
#[derive(Clone, Copy, Debug)]
struct Zipfian {
    n: u64,
    exponent: f64,
    /// area at the left end: that of x = 1.5 less the whole bar of k = 1
    area_first: f64,
    /// area at x = n + ½
    area_last: f64,
    /// within this distance right of x, k needs no further test
    squeeze: f64,
}

impl Zipfian {
    fn new(n: u64, exponent: f64) -> Self {
        let mut law = Self {
            n,
            exponent,
            area_first: 0.0,
            area_last: 0.0,
            squeeze: 0.0,
        };
        law.area_first = law.area(1.5) - 1.0;
        law.area_last = law.area(n as f64 + 0.5);
        law.squeeze = 2.0 - law.area_inverse(law.area(2.5) - law.density(2.0));
        law
    }

    fn sample(&self, random: &mut impl Random) -> u64 {
        loop {
            let area = self.area_last + random.unit() * (self.area_first - self.area_last);
            let x = self.area_inverse(area);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let id = ((x + 0.5) as u64).clamp(1, self.n);
            let k = id as f64;
            if k - x <= self.squeeze || area >= self.area(k + 0.5) - self.density(k) {
                return id;
            }
        }
    }

    /// x^−s
    fn density(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// ∫ x^−s dx from 1 = (x^(1−s) − 1) / (1 − s), and ln x in the limit s = 1.
    fn area(&self, x: f64) -> f64 {
        let log = x.ln();
        log * exp_m1_over((1.0 - self.exponent) * log)
    }

    /// The x at which [`Self::area`] has this value.
    fn area_inverse(&self, area: f64) -> f64 {
        // −1 is the end of the law's domain for s > 1; rounding must not step over it
        let t = (area * (1.0 - self.exponent)).max(-1.0);
        (area * ln_1p_over(t)).exp()
    }
}

/// (eˣ − 1) / x, by its series where the quotient would lose every digit.
fn exp_m1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        x.exp_m1() / x
    } else {
        1.0 + x / 2.0 * (1.0 + x / 3.0)
    }
}

/// ln(1 + x) / x, likewise.
fn ln_1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        x.ln_1p() / x
    } else {
        1.0 - x * (0.5 - x / 3.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RowRandom;
    use proptest::prelude::*;

    const SPECIAL: Law = Law::Special {
        iterations: 12,
        hot_pct: 1.0,
        share_pct: 75.0,
    };
    const DRAWS: u64 = 200_000;

    /// How often each id of 1..=n was drawn; index 0 is id 1.
    fn counts(law: Law, n: u64, draws: u64) -> Vec<u64> {
        let distribution = Distribution::new(law, n);
        let mut random = RowRandom::new(42, 7);
        let mut counts = vec![0; usize::try_from(n).unwrap()];
        for _ in 0..draws {
            counts[usize::try_from(distribution.sample(&mut random) - 1).unwrap()] += 1;
        }
        counts
    }

    /// Pearson's statistic of the counts against probabilities, standardised: about N(0, 1) when the law holds.
    fn chi_square_z(counts: &[u64], probability: impl Fn(usize) -> f64) -> f64 {
        let draws: u64 = counts.iter().sum();
        let statistic: f64 = counts
            .iter()
            .enumerate()
            .map(|(i, &seen)| {
                let expected = probability(i) * draws as f64;
                (seen as f64 - expected).powi(2) / expected
            })
            .sum();
        let freedom = (counts.len() - 1) as f64;
        (statistic - freedom) / (2.0 * freedom).sqrt()
    }

    fn share(counts: &[u64], ids: std::ops::RangeInclusive<usize>) -> f64 {
        let inside: u64 = ids.map(|id| counts[id - 1]).sum();
        inside as f64 / counts.iter().sum::<u64>() as f64
    }

    #[test]
    fn uniform_draws_every_id_alike() {
        let z = chi_square_z(&counts(Law::Uniform, 1000, DRAWS), |_| 1.0 / 1000.0);
        assert!(z.abs() < 4.0, "z = {z}");
    }

    #[test]
    fn zipfian_follows_the_exact_law() {
        for exponent in [0.0, 0.5, 0.8, 1.0, 1.0 + 1e-10, 1.5, 3.0] {
            let n = 50_u32;
            let total: f64 = (1..=n).map(|k| f64::from(k).powf(-exponent)).sum();
            let law = Law::Zipfian { exponent };
            let z = chi_square_z(&counts(law, u64::from(n), DRAWS), |i| {
                (i as f64 + 1.0).powf(-exponent) / total
            });
            assert!(z.abs() < 4.0, "exponent {exponent}: z = {z}");
        }
    }

    #[test]
    fn a_wrong_law_fails_the_same_test() {
        let total: f64 = (1..=50).map(|k| f64::from(k).powf(-0.82)).sum();
        let seen = counts(Law::Zipfian { exponent: 0.8 }, 50, DRAWS);
        assert!(chi_square_z(&seen, |i| (i as f64 + 1.0).powf(-0.82) / total) > 4.0);
    }

    #[test]
    fn pareto_puts_eighty_percent_on_the_first_fifth() {
        let h = 0.2_f64;
        let seen = counts(Law::Pareto { h }, 100, DRAWS);
        // P(id ≤ k) = (k / n)^(1 / p), and at k = h n that is 1 − h
        assert!(
            (share(&seen, 1..=20) - 0.8).abs() < 0.005,
            "{}",
            share(&seen, 1..=20)
        );
        let power = h.ln() / (1.0 - h).ln();
        let cumulated = |k: usize| (k as f64 / 100.0).powf(1.0 / power);
        let z = chi_square_z(&seen, |i| cumulated(i + 1) - cumulated(i));
        assert!(z.abs() < 4.0, "z = {z}");
    }

    #[test]
    fn special_has_the_hot_range_that_was_measured_with_sysbench() {
        let seen = counts(SPECIAL, 10_000, 400_000);
        let hot = share(&seen, 4975..=5051);
        assert!((hot - 0.76).abs() < 0.003, "{hot}");
        // the two ids beside the range belong to the gaussian part: about 0.0001 each, against 0.0097 inside
        assert!(share(&seen, 4974..=4974) < 0.001 && share(&seen, 5052..=5052) < 0.001);
        assert!(share(&seen, 4976..=4976) > 0.008 && share(&seen, 5050..=5050) > 0.008);
    }

    #[test]
    fn gaussian_has_the_moments_of_a_mean_of_twelve() {
        let n = 10_000;
        let seen = counts(Law::Gaussian { iterations: 12 }, n, DRAWS);
        let mean = seen
            .iter()
            .enumerate()
            .map(|(i, &c)| (i as f64 + 0.5) * c as f64)
            .sum::<f64>()
            / DRAWS as f64;
        let variance = seen
            .iter()
            .enumerate()
            .map(|(i, &c)| (i as f64 + 0.5 - mean).powi(2) * c as f64)
            .sum::<f64>()
            / DRAWS as f64;
        // n / 2 and n / 12, within four standard errors
        assert!(
            (mean - 5000.0).abs() < 4.0 * 833.3 / (DRAWS as f64).sqrt(),
            "{mean}"
        );
        assert!(
            (variance.sqrt() - 10_000.0 / 12.0).abs() < 8.0,
            "{}",
            variance.sqrt()
        );
    }

    fn any_law() -> impl Strategy<Value = Law> {
        prop_oneof![
            Just(Law::Uniform),
            (1..40_u32).prop_map(|iterations| Law::Gaussian { iterations }),
            (1..40_u32, 0.0..=100.0, 0.0..=100.0).prop_map(|(iterations, hot_pct, share_pct)| {
                Law::Special {
                    iterations,
                    hot_pct,
                    share_pct,
                }
            }),
            (0.001..0.999).prop_map(|h| Law::Pareto { h }),
            (0.0..10.0).prop_map(|exponent| Law::Zipfian { exponent }),
        ]
    }

    /// Small, middling and absurd sizes alike.
    fn any_size() -> impl Strategy<Value = u64> {
        prop_oneof![
            1..5_u64,
            1..1_000_000_u64,
            any::<u64>().prop_map(|n| n.max(1)),
            Just(u64::MAX)
        ]
    }

    /// Extremes of the generator as well as ordinary numbers.
    struct Played(Vec<u64>, usize);
    impl Random for Played {
        fn next_u64(&mut self) -> u64 {
            self.1 += 1;
            self.0
                .get(self.1 - 1)
                .copied()
                .unwrap_or_else(|| crate::random::mix64(self.1 as u64))
        }
    }

    proptest! {
        #[test]
        fn every_draw_is_within_the_table(
            law in any_law(),
            n in any_size(),
            played in prop::collection::vec(prop_oneof![Just(0), Just(u64::MAX), any::<u64>()], 0..20),
        ) {
            let distribution = Distribution::new(law, n);
            let mut random = Played(played, 0);
            for _ in 0..50 {
                let id = distribution.sample(&mut random);
                prop_assert!((1..=n).contains(&id), "{id} of {n}");
            }
        }
    }
}
