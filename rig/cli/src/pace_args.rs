//! The flags that set the load level: sessions of a closed loop, a rate of an open one, stages of either.

use clap::Args;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::spec_args::{Overlay, seconds};

/// What only a drive takes.
#[derive(Debug, Default, Args)]
pub struct PaceArgs {
    /// Closed loop: sessions [default: 1], with --stages before the first one. Open loop: connections [default: 64]
    #[arg(long, help_heading = "Load", value_name = "N")]
    pub sessions: Option<u64>,
    /// Open loop: transactions that become due each second, with --stages before the first one
    #[arg(long, help_heading = "Load", value_name = "PER_SECOND")]
    pub rate: Option<f64>,
    /// Open loop: poisson, as independent users come, or constant [default: poisson]
    #[arg(long, help_heading = "Load", value_name = "KIND")]
    pub arrivals: Option<String>,
    /// How the level changes in measure, DURATION:TARGET[,…], on straight lines; a DURATION of 0 is a step
    #[arg(
        long,
        help_heading = "Load",
        value_name = "LIST",
        value_delimiter = ','
    )]
    pub stages: Vec<String>,
    /// How the level changes in warm-up
    #[arg(
        long,
        help_heading = "Load",
        value_name = "LIST",
        value_delimiter = ','
    )]
    pub warmup_stages: Vec<String>,
    /// Open loop: due transactions that may wait for a session; more are dropped and counted [default: 100000]
    #[arg(long, help_heading = "Load", value_name = "N")]
    pub backlog_max: Option<u64>,
    /// Open loop: poll for so many microseconds before a transaction is due instead of sleeping [default: 0]
    #[arg(long, help_heading = "Load", value_name = "US")]
    pub spin_us: Option<u64>,
}

impl PaceArgs {
    pub fn overlay(&self, spec: &mut Overlay<'_>) -> Result<(), Failure> {
        let stages = read("--stages", &self.stages)?;
        let warmup_stages = read("--warmup-stages", &self.warmup_stages)?;
        for (field, list) in [("measure_s", &stages), ("warmup_s", &warmup_stages)] {
            if !list.is_empty() {
                // --time and --warmup come later, and win
                let sum_s: f64 = list.iter().map(|stage| stage.0).sum();
                spec.put(&["phases", field], Some(sum_s));
            }
        }
        let open = self.is_open(spec);
        if !open {
            self.refuse_open_flags()?;
        }
        if open != spec.has(&["load", "open"]) {
            // one loop only
            spec.put(&["load"], Some(json!({})));
        }
        if open {
            spec.put(&["load", "open", "sessions"], self.sessions);
            spec.put(&["load", "open", "arrivals"], self.arrivals.clone());
            spec.put(&["load", "open", "backlog_max"], self.backlog_max);
            spec.put(&["load", "open", "spin_us"], self.spin_us);
            let rate = self.rate.map(Value::from);
            put_level(spec, "open", "rate_per_s", rate, &stages);
        } else {
            let sessions = self.sessions.map(Value::from);
            put_level(spec, "closed", "sessions", sessions, &stages);
        }
        if !warmup_stages.is_empty() {
            let kind = if open { "open" } else { "closed" };
            spec.put(&["load", kind, "warmup_stages"], Some(json(&warmup_stages)));
        }
        Ok(())
    }

    fn is_open(&self, spec: &Overlay<'_>) -> bool {
        self.rate.is_some() || spec.has(&["load", "open"])
    }

    /// A flag without effect would be a trap.
    fn refuse_open_flags(&self) -> Result<(), Failure> {
        let given = [
            ("--arrivals", self.arrivals.is_some()),
            ("--backlog-max", self.backlog_max.is_some()),
            ("--spin-us", self.spin_us.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Failure::usage(format!(
                "{flag} belongs to an open loop\nhint: add --rate PER_SECOND"
            ))),
            None => Ok(()),
        }
    }
}

/// The level that was given takes the place of whatever the spec had: a constant, or stages and where they start.
fn put_level(
    spec: &mut Overlay<'_>,
    kind: &str,
    constant: &str,
    level: Option<Value>,
    stages: &[(f64, f64)],
) {
    if stages.is_empty() && level.is_none() {
        return;
    }
    let level = level.unwrap_or(Value::Null);
    let (constant_level, start) = if stages.is_empty() {
        (level, Value::Null)
    } else {
        (Value::Null, level)
    };
    spec.put(&["load", kind, constant], Some(constant_level));
    spec.put(&["load", kind, "start"], Some(start));
    spec.put(&["load", kind, "stages"], Some(json(stages)));
    spec.put(&["load", kind, "warmup_stages"], Some(json(&[])));
}

/// Durations in seconds and targets.
fn read(flag: &str, list: &[String]) -> Result<Vec<(f64, f64)>, Failure> {
    let stage = |text: &String| {
        let wrong = || {
            Failure::usage(format!(
                "{flag} {text}: not a stage\nhint: write DURATION:TARGET, such as 30s:512, or 0:512 for a step"
            ))
        };
        let (duration, target) = text.split_once(':').ok_or_else(wrong)?;
        let target: f64 = target.parse().map_err(|_| wrong())?;
        if !target.is_finite() {
            return Err(wrong());
        }
        Ok((seconds(flag, duration)?, target))
    };
    list.iter().map(stage).collect()
}

fn json(stages: &[(f64, f64)]) -> Value {
    let stage =
        |(duration_s, target): &(f64, f64)| json!({"duration_s": duration_s, "target": target});
    stages.iter().map(stage).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_over(mut spec: Value, args: &PaceArgs) -> Result<Value, Failure> {
        args.overlay(&mut Overlay::new(&mut spec))?;
        Ok(spec)
    }

    fn list(texts: &[&str]) -> Vec<String> {
        texts.iter().copied().map(str::to_owned).collect()
    }

    #[test]
    fn a_rate_makes_an_open_loop_of_whatever_was_there() {
        let args = PaceArgs {
            rate: Some(2000.0),
            sessions: Some(32),
            ..PaceArgs::default()
        };
        let spec = laid_over(json!({"load": {"closed": {"sessions": 8}}}), &args).unwrap();
        assert_eq!(
            spec["load"],
            json!({"open": {"sessions": 32, "stages": [], "warmup_stages": [], "start": null, "rate_per_s": 2000.0}})
        );
    }

    #[test]
    fn stages_set_the_length_of_their_phases_and_the_level_is_their_start() {
        let args = PaceArgs {
            sessions: Some(1),
            stages: list(&["30s:512", "0:64", "500ms:1"]),
            warmup_stages: list(&["2s:8"]),
            ..PaceArgs::default()
        };
        let spec = laid_over(json!({}), &args).unwrap();
        assert_eq!(spec["phases"], json!({"measure_s": 30.5, "warmup_s": 2.0}));
        let closed = &spec["load"]["closed"];
        assert_eq!(
            (&closed["sessions"], &closed["start"]),
            (&Value::Null, &json!(1))
        );
        assert_eq!(
            closed["stages"][1],
            json!({"duration_s": 0.0, "target": 64.0})
        );
        assert_eq!(closed["warmup_stages"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn nothing_given_changes_nothing() {
        for spec in [
            json!({}),
            json!({"load": {"closed": {"sessions": 8}}}),
            json!({"load": {"open": {"rate_per_s": 8}}}),
        ] {
            assert_eq!(laid_over(spec.clone(), &PaceArgs::default()).unwrap(), spec);
        }
    }

    #[test]
    fn what_has_no_effect_or_no_meaning_is_refused() {
        let args = PaceArgs {
            arrivals: Some("constant".into()),
            ..PaceArgs::default()
        };
        let error = format!("{:?}", laid_over(json!({}), &args).unwrap_err());
        assert!(
            error.contains("--arrivals") && error.contains("--rate"),
            "{error}"
        );
        for text in ["30s", "30s:", ":5", "30s:x", "x:5", "30s:inf"] {
            let args = PaceArgs {
                stages: list(&[text]),
                ..PaceArgs::default()
            };
            let error = format!("{:?}", laid_over(json!({}), &args).unwrap_err());
            assert!(error.contains("--stages"), "{error}");
        }
    }
}
