//! The load level of a trial: sessions of a closed loop or arrivals of an open one, constant or in stages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Phases, SpecError};

/// The load level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Sessions that each start a transaction as soon as their last one ended: measures capacity.
    Closed(Closed),
    /// Transactions that become due on a schedule of their own, whatever the server does: measures response time.
    Open(Open),
}

/// A closed loop: `sessions`, or `stages`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Closed {
    /// Sessions, from beginning to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<usize>,
    /// Active sessions before the first stage; null: the first stage's target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<f64>,
    /// How the number of active sessions changes in warm-up; its last target holds until the end of warm-up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warmup_stages: Vec<Stage>,
    /// How it changes in measure; its last target holds until the end of measure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
}

/// An open loop: `rate_per_s`, or `stages`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Open {
    /// Transactions that become due each second, from beginning to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// Rate before the first stage, per second; null: the first stage's target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<f64>,
    /// How the rate changes in warm-up; its last target holds until the end of warm-up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warmup_stages: Vec<Stage>,
    /// How it changes in measure; its last target holds until the end of measure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// How transactions are spread over time.
    pub arrivals: Arrivals,
    /// Connections that serve them.
    pub sessions: usize,
    /// Due transactions that may wait for a free session, over all workers; one more is dropped and counted.
    pub backlog_max: usize,
    /// How long before a transaction is due its worker stops sleeping and watches the clock instead, in microseconds.
    pub spin_us: u64,
}

impl Default for Open {
    fn default() -> Self {
        Self {
            rate_per_s: None,
            start: None,
            warmup_stages: Vec::new(),
            stages: Vec::new(),
            arrivals: Arrivals::Poisson,
            sessions: 64,
            backlog_max: 100_000,
            spin_us: 0,
        }
    }
}

/// One part of a load that changes: from the target before it to its own, on a straight line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// How long it takes; 0: a step.
    pub duration_s: f64,
    /// Sessions of a closed loop, transactions a second of an open one, when it ends.
    pub target: f64,
}

/// How the transactions of an open loop are spread over time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// As independent users send them: a Poisson process of which the number of arrivals in each phase is known.
    #[default]
    Poisson,
    /// At equal distances.
    Constant,
}

/// Which loop a trial runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Loop {
    /// The next transaction of a session begins when its last one ended.
    Closed,
    /// Transactions are due on a schedule of their own.
    Open,
}

/// What the `latency` of a transaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LatencyIs {
    /// From the start of the transaction: what a closed loop can tell.
    Service,
    /// From when the transaction was due: what a user waits.
    Response,
}

impl Default for Load {
    fn default() -> Self {
        Self::closed(1)
    }
}

/// A level that changes with time, as both loops write it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile<'a> {
    /// Before the first stage.
    pub start: f64,
    /// Within warm-up.
    pub warmup_stages: &'a [Stage],
    /// Within measure.
    pub stages: &'a [Stage],
}

impl Profile<'_> {
    /// The highest level of all.
    #[must_use]
    pub fn highest(&self) -> f64 {
        let stages = self.warmup_stages.iter().chain(self.stages);
        stages.map(|stage| stage.target).fold(self.start, f64::max)
    }
}

/// More sessions than a machine has ports and descriptors for.
const SESSIONS_MAX: usize = 1_000_000;
/// A rate that no machine reaches; a larger number is a slip of units.
const RATE_MAX: f64 = 1e8;
/// A backlog of 1.6 GB.
const BACKLOG_MAX: usize = 100_000_000;
/// More than a second of watching the clock is a slip of units.
const SPIN_MAX_US: u64 = 1_000_000;

impl Load {
    /// A closed loop of so many sessions.
    #[must_use]
    pub fn closed(sessions: usize) -> Self {
        Self::Closed(Closed {
            sessions: Some(sessions),
            ..Closed::default()
        })
    }

    /// How many sessions are connected: the most that are ever active.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a checked spec holds whole numbers below a million"
    )]
    pub fn sessions(&self) -> usize {
        match self {
            Self::Closed(_) => self.profile().highest() as usize,
            Self::Open(open) => open.sessions,
        }
    }

    /// Which loop this is.
    #[must_use]
    pub fn kind(&self) -> Loop {
        match self {
            Self::Closed(_) => Loop::Closed,
            Self::Open(_) => Loop::Open,
        }
    }

    /// Active sessions of a closed loop, transactions a second of an open one, over time.
    #[must_use]
    pub fn profile(&self) -> Profile<'_> {
        let (constant, start, warmup_stages, stages) = match self {
            Self::Closed(c) => {
                let sessions = c.sessions.map(|n| n as f64);
                (sessions, c.start, &c.warmup_stages, &c.stages)
            }
            Self::Open(o) => (o.rate_per_s, o.start, &o.warmup_stages, &o.stages),
        };
        let first = warmup_stages.iter().chain(stages).next();
        Profile {
            start: constant
                .or(start)
                .or(first.map(|stage| stage.target))
                .unwrap_or(0.0),
            warmup_stages,
            stages,
        }
    }

    pub(crate) fn check(&self, phases: Phases) -> Result<(), SpecError> {
        match self {
            Self::Closed(closed) => {
                let level = Level {
                    path: "load.closed",
                    name: "sessions",
                    constant: closed.sessions.map(|n| n as f64),
                    start: closed.start,
                    highest: SESSIONS_MAX as f64,
                    whole: true,
                };
                level.check(self.profile(), phases)
            }
            Self::Open(open) => {
                open.check()?;
                let level = Level {
                    path: "load.open",
                    name: "rate_per_s",
                    constant: open.rate_per_s,
                    start: open.start,
                    highest: RATE_MAX,
                    whole: false,
                };
                level.check(self.profile(), phases)
            }
        }
    }
}

impl Open {
    fn check(&self) -> Result<(), SpecError> {
        for (field, value, range) in [
            ("sessions", self.sessions, 1..=SESSIONS_MAX),
            ("backlog_max", self.backlog_max, 0..=BACKLOG_MAX),
        ] {
            if !range.contains(&value) {
                let allowed = format!("{} to {}", range.start(), range.end());
                let field = format!("load.open.{field}");
                return Err(SpecError::new(field, value.to_string(), allowed));
            }
        }
        if self.spin_us > SPIN_MAX_US {
            let allowed = format!("at most {SPIN_MAX_US} (one second)");
            return Err(SpecError::new(
                "load.open.spin_us",
                self.spin_us.to_string(),
                allowed,
            ));
        }
        Ok(())
    }
}

/// What may be written for the level of one loop.
struct Level {
    path: &'static str,
    name: &'static str,
    constant: Option<f64>,
    start: Option<f64>,
    highest: f64,
    whole: bool,
}

impl Level {
    fn error(
        &self,
        field: &str,
        found: impl std::fmt::Display,
        allowed: impl Into<String>,
    ) -> SpecError {
        let field = format!("{}.{field}", self.path);
        SpecError::new(field, found.to_string(), allowed)
    }

    fn check(&self, profile: Profile<'_>, phases: Phases) -> Result<(), SpecError> {
        let either = format!("set {} or stages, one of them", self.name);
        match (self.constant, profile.stages.is_empty()) {
            (None, true) => return Err(self.error(self.name, "neither is set", either)),
            (Some(_), false) => return Err(self.error("stages", "both are set", either)),
            (Some(_), true) if self.start.is_some() || !profile.warmup_stages.is_empty() => {
                let found = format!("beside a constant {}", self.name);
                let allowed = "start and warmup_stages belong to stages";
                return Err(self.error("stages", found, allowed));
            }
            _ => {}
        }
        let field = if self.constant.is_some() {
            self.name
        } else {
            "start"
        };
        self.value(field, profile.start)?;
        for (field, stages, phase_s) in [
            ("warmup_stages", profile.warmup_stages, phases.warmup_s),
            ("stages", profile.stages, phases.measure_s),
        ] {
            self.stages(field, stages, phase_s)?;
        }
        if profile.highest() <= 0.0 {
            let allowed = "a level above 0 at some time";
            return Err(self.error(field, profile.highest(), allowed));
        }
        Ok(())
    }

    fn value(&self, field: &str, value: f64) -> Result<(), SpecError> {
        let whole = !self.whole || value.fract() == 0.0;
        if !(0.0..=self.highest).contains(&value) || !whole {
            let kind = if self.whole {
                "a whole number"
            } else {
                "a number"
            };
            let allowed = format!("{kind} from 0 to {}", self.highest);
            return Err(self.error(field, value, allowed));
        }
        Ok(())
    }

    fn stages(&self, field: &str, stages: &[Stage], phase_s: f64) -> Result<(), SpecError> {
        let mut sum_s = 0.0;
        for (i, stage) in stages.iter().enumerate() {
            self.value(&format!("{field}[{i}].target"), stage.target)?;
            if !(stage.duration_s >= 0.0 && stage.duration_s.is_finite()) {
                let at = format!("{field}[{i}].duration_s");
                return Err(self.error(&at, stage.duration_s, "seconds, at least 0"));
            }
            sum_s += stage.duration_s;
        }
        // a sum of tenths is not exact; a nanosecond is nothing
        if sum_s > phase_s + 1e-9 {
            let found = format!("{sum_s} s of stages in a phase of {phase_s} s");
            let allowed = "a phase as long as its stages (phases.warmup_s, phases.measure_s), or shorter stages";
            return Err(self.error(field, found, allowed));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(json: &str) -> Load {
        serde_json::from_str(json).unwrap()
    }

    fn error(json: &str) -> SpecError {
        let phases = Phases {
            warmup_s: 2.0,
            measure_s: 10.0,
            drain_s: 1.0,
        };
        load(json).check(phases).unwrap_err()
    }

    #[test]
    fn a_constant_is_a_profile_without_stages() {
        let closed = load(r#"{"closed": {"sessions": 16}}"#);
        assert_eq!(closed, Load::closed(16));
        assert_eq!((closed.sessions(), closed.kind()), (16, Loop::Closed));
        assert!((closed.profile().start - 16.0).abs() < 1e-9);
        assert_eq!(
            serde_json::to_string(&closed).unwrap(),
            r#"{"closed":{"sessions":16}}"#
        );
        let open = load(r#"{"open": {"rate_per_s": 0.5}}"#);
        assert_eq!((open.sessions(), open.kind()), (64, Loop::Open));
        assert!((open.profile().start - 0.5).abs() < 1e-9);
    }

    #[test]
    fn stages_begin_at_the_first_target_unless_told() {
        let stages =
            r#""stages": [{"duration_s": 1, "target": 8}, {"duration_s": 2, "target": 4}]"#;
        let untold = load(&format!(r#"{{"closed": {{{stages}}}}}"#));
        assert!((untold.profile().start - 8.0).abs() < 1e-9);
        assert_eq!(untold.sessions(), 8);
        let told = load(&format!(r#"{{"closed": {{"start": 20, {stages}}}}}"#));
        assert!((told.profile().start - 20.0).abs() < 1e-9);
        assert_eq!(told.sessions(), 20, "as many as are ever active");
    }

    #[test]
    fn what_cannot_be_run_is_named() {
        for (field, json) in [
            ("load.closed.sessions", r#"{"closed": {}}"#),
            ("load.closed.sessions", r#"{"closed": {"sessions": 0}}"#),
            ("load.open.rate_per_s", r#"{"open": {"rate_per_s": 0}}"#),
            ("load.open.rate_per_s", r#"{"open": {"rate_per_s": -1}}"#),
            (
                "load.open.sessions",
                r#"{"open": {"rate_per_s": 1, "sessions": 0}}"#,
            ),
            (
                "load.open.spin_us",
                r#"{"open": {"rate_per_s": 1, "spin_us": 2000000}}"#,
            ),
            (
                "load.closed.stages",
                r#"{"closed": {"sessions": 1, "stages": [{"duration_s": 1, "target": 8}]}}"#,
            ),
            (
                "load.closed.stages",
                r#"{"closed": {"sessions": 1, "start": 2}}"#,
            ),
            (
                "load.closed.stages[0].target",
                r#"{"closed": {"start": 1, "stages": [{"duration_s": 1, "target": 1.5}]}}"#,
            ),
            (
                "load.open.stages[0].duration_s",
                r#"{"open": {"stages": [{"duration_s": -1, "target": 1.5}]}}"#,
            ),
            (
                "load.open.stages",
                r#"{"open": {"stages": [{"duration_s": 10.5, "target": 1.5}]}}"#,
            ),
            (
                "load.open.warmup_stages",
                r#"{"open": {"warmup_stages": [{"duration_s": 3, "target": 1}],
                             "stages": [{"duration_s": 1, "target": 1.5}]}}"#,
            ),
        ] {
            let e = error(json);
            assert_eq!(e.field, field, "{e}");
        }
    }
}
