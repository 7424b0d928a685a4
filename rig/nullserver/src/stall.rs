//! A time in which the server answers nobody.

use std::str::FromStr;
use std::time::Duration;

/// The server reads statements but holds its answers back, once: from `after` the first statement, `length` long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// How long.
    pub length: Duration,
    /// From when on, counted from the first statement of any client.
    pub after: Duration,
}

/// A text that describes no stall.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot read the stall `{text}`\nhint: LENGTH@AFTER with units ms or s, such as 2s@5s or 250ms@1.5s"
)]
pub struct StallError {
    text: String,
}

impl FromStr for Stall {
    type Err = StallError;

    fn from_str(text: &str) -> Result<Self, StallError> {
        let parsed = text.split_once('@').and_then(|(length, after)| {
            Some(Self {
                length: duration(length)?,
                after: duration(after)?,
            })
        });
        parsed.ok_or_else(|| StallError {
            text: text.to_owned(),
        })
    }
}

fn duration(text: &str) -> Option<Duration> {
    let (number, unit_s) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s')?, 1.0),
    };
    let value: f64 = number.trim().parse().ok()?;
    Duration::try_from_secs_f64(value * unit_s).ok()
}

/// A stall on the clock of one server.
#[derive(Debug)]
pub(crate) struct StallClock {
    stall: Stall,
    first_ns: Option<u64>,
}

impl StallClock {
    pub fn new(stall: Stall) -> Self {
        Self {
            stall,
            first_ns: None,
        }
    }

    /// Until when an answer to a statement that arrived at `now_ns` is held back; none: not at all.
    pub fn held_until(&mut self, now_ns: u64) -> Option<u64> {
        let first_ns = *self.first_ns.get_or_insert(now_ns);
        let begin = first_ns + nanoseconds(self.stall.after);
        let end = begin + nanoseconds(self.stall.length);
        (begin..end).contains(&now_ns).then_some(end)
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    // half the range: a sum of two never overflows
    u64::try_from(duration.as_nanos())
        .unwrap_or(u64::MAX)
        .min(u64::MAX >> 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_command_line_says() {
        let stall: Stall = "2s@5s".parse().unwrap();
        assert_eq!(
            stall,
            Stall {
                length: Duration::from_secs(2),
                after: Duration::from_secs(5)
            }
        );
        let stall: Stall = "250ms@1.5s".parse().unwrap();
        assert_eq!(
            stall,
            Stall {
                length: Duration::from_millis(250),
                after: Duration::from_millis(1500)
            }
        );
        for wrong in ["", "2s", "2@5", "-1s@5s", "2s@five", "infs@1s"] {
            let error = wrong.parse::<Stall>().unwrap_err().to_string();
            assert!(error.contains(wrong) && error.contains("hint:"), "{error}");
        }
    }

    #[test]
    fn holds_answers_within_its_time_only() {
        let mut clock = StallClock::new("2s@5s".parse().unwrap());
        let s = 1_000_000_000;
        assert_eq!(
            clock.held_until(100 * s),
            None,
            "the first statement starts the clock"
        );
        assert_eq!(clock.held_until(105 * s - 1), None);
        assert_eq!(clock.held_until(105 * s), Some(107 * s));
        assert_eq!(clock.held_until(107 * s - 1), Some(107 * s));
        assert_eq!(clock.held_until(107 * s), None);
    }
}
