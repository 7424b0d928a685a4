//! Keying and think times: how long a terminal's user types before a transaction, and reads after it.

use super::mix::Type;
use crate::options::Options;
use crate::random::Random;
use std::time::Duration;

/// Seconds of typing before a transaction of each type, in the order of their numbers (TPC-C v5.11, 5.2.5.7).
const KEYING_S: [f64; 5] = [18.0, 3.0, 2.0, 2.0, 2.0];
/// Mean seconds of reading after it.
const THINK_MEAN_S: [f64; 5] = [12.0, 12.0, 10.0, 5.0, 5.0];
/// No think time is longer than this many means.
const THINK_MAX: f64 = 10.0;

/// Which of the times are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pacing {
    pub keying: bool,
    pub think: bool,
    /// Factor on all times.
    pub scale: f64,
}

impl From<&Options> for Pacing {
    fn from(options: &Options) -> Self {
        Self {
            keying: options.is_on("keying"),
            think: options.is_on("think"),
            scale: options.number("pace").unwrap_or(1.0),
        }
    }
}

impl Pacing {
    /// Whether there is anything to wait for.
    pub const fn is_on(self) -> bool {
        self.keying || self.think
    }

    /// Whether times are others than the specification's.
    pub fn is_scaled(self) -> bool {
        (self.scale - 1.0).abs() > f64::EPSILON
    }

    /// The pause between a transaction of type `last` and one of type `next`. In front of a session's first, when nothing
    /// was read yet, it is cut to a random part: else all terminals would begin in step.
    pub fn pause(self, last: Option<Type>, next: Type, random: &mut impl Random) -> Duration {
        let keying_s = f64::from(u8::from(self.keying)) * KEYING_S[next as usize];
        let pause_s = match last {
            Some(last) if self.think => keying_s + think_s(last, random),
            Some(_) => keying_s,
            None => {
                let mean_s = f64::from(u8::from(self.think)) * THINK_MEAN_S[next as usize];
                unit(random) * (keying_s + mean_s)
            }
        };
        Duration::from_secs_f64(pause_s * self.scale)
    }
}

/// Exponentially distributed, and cut.
fn think_s(last: Type, random: &mut impl Random) -> f64 {
    let mean_s = THINK_MEAN_S[last as usize];
    (-(1.0 - unit(random)).ln() * mean_s).min(THINK_MAX * mean_s)
}

/// Uniform over [0, 1).
fn unit(random: &mut impl Random) -> f64 {
    const STEPS: u64 = 1 << 53;
    random.below(STEPS) as f64 / STEPS as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RowRandom;

    const BOTH: Pacing = Pacing {
        keying: true,
        think: true,
        scale: 1.0,
    };

    fn mean_s(pacing: Pacing, last: Option<Type>, next: Type) -> f64 {
        let mut random = RowRandom::new(RowRandom::table_key(1, 97), 1);
        let count = 20_000;
        let drawn = (0..count).map(|_| pacing.pause(last, next, &mut random).as_secs_f64());
        drawn.sum::<f64>() / f64::from(count)
    }

    #[test]
    fn pauses_have_the_specification_s_means() {
        let near = |found: f64, expected: f64| (found - expected).abs() < 0.03 * expected;
        // typing for the next one, reading of the last one
        assert!(near(
            mean_s(BOTH, Some(Type::Payment), Type::NewOrder),
            30.0
        ));
        assert!(near(
            mean_s(BOTH, Some(Type::Delivery), Type::StockLevel),
            7.0
        ));
        let keying = Pacing {
            think: false,
            ..BOTH
        };
        assert!(near(
            mean_s(keying, Some(Type::Payment), Type::Payment),
            3.0
        ));
        let think = Pacing {
            keying: false,
            scale: 0.5,
            ..BOTH
        };
        assert!(near(
            mean_s(think, Some(Type::OrderStatus), Type::NewOrder),
            5.0
        ));
        assert!(near(mean_s(BOTH, None, Type::NewOrder), 15.0));
    }

    #[test]
    fn nobody_thinks_longer_than_ten_means() {
        let mut random = RowRandom::new(RowRandom::table_key(1, 97), 2);
        let drawn = (0..200_000).map(|_| think_s(Type::StockLevel, &mut random));
        let longest = drawn.fold(0.0, f64::max);
        assert!((longest - 50.0).abs() < f64::EPSILON, "{longest}");
    }
}
