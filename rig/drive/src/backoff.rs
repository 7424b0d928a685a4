//! How long a session waits before it repeats a transaction.

use std::time::Duration;

use dyno_record::ErrorPolicy;

use crate::Rng;

/// Exponential pauses with jitter: before repeat `n` (from 0) uniform between the minimum and the minimum times 2^n,
/// the latter bounded by the maximum.
///
/// The jitter has random numbers of its own: a repeated transaction must not change the input of those that follow.
#[derive(Debug, Clone)]
pub struct Backoff {
    min_us: u64,
    max_us: u64,
    rng: Rng,
}

impl Backoff {
    /// Pauses within the bounds of a policy.
    #[must_use]
    pub fn new(policy: &ErrorPolicy, rng: Rng) -> Self {
        Self {
            min_us: policy.backoff_min_us,
            max_us: policy.backoff_max_us,
            rng,
        }
    }

    /// The pause before repeat `n`, the first being 0.
    pub fn pause(&mut self, n: u32) -> Duration {
        let doubled = self
            .min_us
            .max(1)
            .checked_shl(n.min(63))
            .filter(|us| us >> n.min(63) == self.min_us.max(1));
        let longest_us = doubled.unwrap_or(u64::MAX).min(self.max_us);
        Duration::from_micros(self.rng.between(self.min_us.min(longest_us), longest_us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backoff(backoff_min_us: u64, backoff_max_us: u64) -> Backoff {
        let policy = ErrorPolicy {
            backoff_min_us,
            backoff_max_us,
            ..ErrorPolicy::default()
        };
        Backoff::new(&policy, Rng::new(1, 1))
    }

    #[test]
    fn pauses_grow_within_their_bounds() {
        let mut backoff = backoff(100, 5_000);
        for n in [0, 1, 3, 5, 6, 40, 63, 64, u32::MAX] {
            let longest = 100 * 2_u64.pow(n.min(10));
            for _ in 0..100 {
                let pause_us = u64::try_from(backoff.pause(n).as_micros()).unwrap();
                assert!(
                    (100..=longest.min(5_000)).contains(&pause_us),
                    "{n}: {pause_us}"
                );
            }
        }
    }

    #[test]
    fn jitter_spreads() {
        let mut backoff = backoff(100, 50_000);
        let pauses: std::collections::BTreeSet<Duration> =
            (0..50).map(|_| backoff.pause(20)).collect();
        assert!(pauses.len() > 40, "{pauses:?}");
    }

    #[test]
    fn no_pause_at_all_is_possible() {
        assert_eq!(backoff(0, 0).pause(3), Duration::ZERO);
    }

    #[test]
    fn the_default_policy_gives_up_within_five_seconds() {
        let policy = ErrorPolicy::default();
        let mut backoff = Backoff::new(&policy, Rng::new(3, 3));
        let total: Duration = (0..policy.retries_max).map(|n| backoff.pause(n)).sum();
        assert!(total < Duration::from_secs(4), "{total:?}");
    }
}
