//! What a trial is asked to do (`docs/FORMAT.md` §4): read, with every default filled in, then checked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{ConnectionSpec, Load, SPEC_FORMAT};

/// A spec that cannot be run: the field, what was found, what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("spec: {field}: {found}\nhint: {allowed}")]
pub struct SpecError {
    /// Path of the field, such as `phases.measure_s`.
    pub field: String,
    /// The value that was found, and what is wrong with it.
    pub found: String,
    /// What is allowed.
    pub allowed: String,
}

impl SpecError {
    /// An error about one field.
    pub fn new(
        field: impl Into<String>,
        found: impl Into<String>,
        allowed: impl Into<String>,
    ) -> Self {
        Self {
            field: field.into(),
            found: found.into(),
            allowed: allowed.into(),
        }
    }
}

/// Everything that defines a trial, except the password.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// `dyno-spec/1`.
    #[serde(default = "spec_format")]
    pub format: String,
    /// The server.
    pub target: Target,
    /// How sessions connect.
    #[serde(default)]
    pub connection: ConnectionSpec,
    /// The work.
    pub workload: WorkloadSpec,
    /// How statements are sent.
    #[serde(default)]
    pub statement_mode: StatementMode,
    /// How much of it.
    #[serde(default)]
    pub load: Load,
    /// For how long.
    #[serde(default)]
    pub phases: Phases,
    /// Seed of every random choice.
    #[serde(default = "one")]
    pub seed: u64,
    /// CPUs of the worker threads, one each; empty: one worker, not pinned.
    #[serde(default)]
    pub cpus: Vec<usize>,
    /// Length of an interval.
    #[serde(default = "one_second")]
    pub interval_s: f64,
    /// What to do with errors.
    #[serde(default)]
    pub errors: ErrorPolicy,
    /// What to sample beside the load.
    #[serde(default)]
    pub probe: ProbeSpec,
    /// File to which each acknowledged transaction that names what it wrote is appended, as it is acknowledged: for a
    /// durability audit, not for a measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_log: Option<PathBuf>,
}

/// Where the server is and who logs in. A password comes from an environment variable or a file, never from here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Unix socket; excludes `host`.
    #[serde(default)]
    pub socket: Option<PathBuf>,
    /// Host name or address; excludes `socket`.
    #[serde(default)]
    pub host: Option<String>,
    /// TCP port; 3306 when null.
    #[serde(default)]
    pub port: Option<u16>,
    /// Account.
    #[serde(default = "root")]
    pub user: String,
    /// Name of the environment variable that holds the password.
    #[serde(default)]
    pub password_env: Option<String>,
    /// File whose first line is the password.
    #[serde(default)]
    pub password_file: Option<PathBuf>,
    /// Database of the tables.
    #[serde(default = "sbtest")]
    pub database: String,
}

/// Which workload, with which options (`dyno-rig workloads` lists them).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadSpec {
    /// Its name.
    pub name: String,
    /// Its options by name.
    #[serde(default)]
    pub options: BTreeMap<String, Value>,
}

/// How statements are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatementMode {
    /// Prepared once a session, executed with parameters in binary form.
    #[default]
    Prepared,
    /// As text, with the values written into it.
    Text,
}

/// Lengths of the phases, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Phases {
    /// Load that does not count.
    pub warmup_s: f64,
    /// Load that counts.
    pub measure_s: f64,
    /// The most that is waited for transactions under way at the end.
    pub drain_s: f64,
}

impl Default for Phases {
    fn default() -> Self {
        Self {
            warmup_s: 2.0,
            measure_s: 10.0,
            drain_s: 1.0,
        }
    }
}

/// Which server errors repeat a transaction, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ErrorPolicy {
    /// Codes that roll back and repeat; every other code ends the trial.
    pub retry: Vec<u16>,
    /// Repeats of one transaction before its error ends the trial.
    pub retries_max: u32,
    /// Shortest pause before a repeat.
    pub backoff_min_us: u64,
    /// Longest pause before a repeat.
    pub backoff_max_us: u64,
}

impl Default for ErrorPolicy {
    fn default() -> Self {
        // deadlock, lock wait timeout, record changed since last read; at most 100 repeats within about three
        // seconds, so that a statement that can never succeed ends its trial soon
        Self {
            retry: vec![1213, 1205, 1020],
            retries_max: 100,
            backoff_min_us: 100,
            backoff_max_us: 50_000,
        }
    }
}

/// What to sample beside the load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProbeSpec {
    /// The host and the rig's own process.
    pub host: bool,
    /// The server's process, when it runs on this host.
    pub server_pid: Option<u32>,
    /// `SHOW GLOBAL STATUS`.
    pub status: bool,
}

fn spec_format() -> String {
    SPEC_FORMAT.into()
}
fn one() -> u64 {
    1
}
fn one_second() -> f64 {
    1.0
}
fn root() -> String {
    "root".into()
}
fn sbtest() -> String {
    "sbtest".into()
}

/// No trial is longer than a week; a larger number is a slip of units.
const SECONDS_MAX: f64 = 604_800.0;

impl Spec {
    /// Reads a spec from JSON text and checks it.
    pub fn from_json(text: &str) -> Result<Self, SpecError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let spec: Self = serde_path_to_error::deserialize(&mut reader).map_err(|e| {
            let field = e.path().to_string();
            SpecError::new(
                field,
                e.inner().to_string(),
                "the fields of a spec are described in docs/FORMAT.md §4",
            )
        })?;
        reader.end().map_err(|e| {
            SpecError::new(
                ".",
                e.to_string(),
                "a spec is one JSON object and nothing after it",
            )
        })?;
        spec.check()?;
        Ok(spec)
    }

    /// Checks every field that a type cannot.
    pub fn check(&self) -> Result<(), SpecError> {
        if self.format != SPEC_FORMAT {
            let allowed = format!("this rig reads {SPEC_FORMAT}");
            return Err(SpecError::new(
                "format",
                format!("{:?}", self.format),
                allowed,
            ));
        }
        self.target.check()?;
        self.connection.check()?;
        self.check_times()?;
        self.load.check(self.phases)?;
        self.check_cpus()?;
        self.errors.check()
    }

    fn check_times(&self) -> Result<(), SpecError> {
        let phases = self.phases;
        for (field, seconds, least) in [
            ("phases.warmup_s", phases.warmup_s, 0.0),
            ("phases.measure_s", phases.measure_s, 0.001),
            ("phases.drain_s", phases.drain_s, 0.0),
            ("interval_s", self.interval_s, 0.01),
        ] {
            if !(least..=SECONDS_MAX).contains(&seconds) {
                let allowed = format!("{least} to {SECONDS_MAX} seconds");
                return Err(SpecError::new(field, seconds.to_string(), allowed));
            }
        }
        Ok(())
    }

    fn check_cpus(&self) -> Result<(), SpecError> {
        let repeated = (1..self.cpus.len()).find(|&i| self.cpus[..i].contains(&self.cpus[i]));
        if let Some(i) = repeated {
            let found = format!("CPU {} is named twice", self.cpus[i]);
            return Err(SpecError::new(
                "cpus",
                found,
                "each CPU once: one worker runs on it",
            ));
        }
        Ok(())
    }
}

impl Target {
    fn check(&self) -> Result<(), SpecError> {
        match (&self.socket, &self.host) {
            (Some(_), Some(_)) => Err(SpecError::new(
                "target",
                "both socket and host are set",
                "set one of them",
            )),
            (None, None) => Err(SpecError::new(
                "target",
                "neither socket nor host is set",
                "set target.socket or target.host",
            )),
            (Some(_), None) if self.port.is_some() => Err(SpecError::new(
                "target.port",
                "a port beside a socket",
                "a port belongs to target.host",
            )),
            _ => Ok(()),
        }?;
        if self.password_env.is_some() && self.password_file.is_some() {
            let found = "both password_env and password_file are set";
            return Err(SpecError::new(
                "target",
                found,
                "set one of them, or none for an empty password",
            ));
        }
        if self.database.is_empty() || self.database.contains(['`', '\0']) {
            let found = format!("{:?}", self.database);
            return Err(SpecError::new(
                "target.database",
                found,
                "a database name without backquotes",
            ));
        }
        Ok(())
    }

    /// The password, read from where the target says; `None` when it names no place.
    pub fn password(&self) -> Result<Option<String>, SpecError> {
        if let Some(name) = &self.password_env {
            let read = std::env::var(name).map_err(|e| {
                SpecError::new(
                    "target.password_env",
                    format!("${name}: {e}"),
                    "export the variable before the run",
                )
            })?;
            return Ok(Some(read));
        }
        self.password_file
            .as_deref()
            .map(password_of_file)
            .transpose()
    }
}

fn password_of_file(path: &Path) -> Result<String, SpecError> {
    let text = std::fs::read_to_string(path).map_err(|e| {
        SpecError::new(
            "target.password_file",
            format!("{}: {e}", path.display()),
            "a readable file, password in line 1",
        )
    })?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

impl ErrorPolicy {
    fn check(&self) -> Result<(), SpecError> {
        if self.backoff_min_us > self.backoff_max_us {
            let found = format!(
                "{} is more than backoff_max_us = {}",
                self.backoff_min_us, self.backoff_max_us
            );
            return Err(SpecError::new(
                "errors.backoff_min_us",
                found,
                "at most backoff_max_us",
            ));
        }
        if self.backoff_max_us > 60_000_000 {
            let found = self.backoff_max_us.to_string();
            return Err(SpecError::new(
                "errors.backoff_max_us",
                found,
                "at most 60000000 (one minute)",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = r#"{"target": {"socket": "/s"}, "workload": {"name": "w"}}"#;

    fn error(text: &str) -> SpecError {
        Spec::from_json(text).unwrap_err()
    }

    #[test]
    fn target_and_workload_are_enough() {
        let spec = Spec::from_json(LEAST).unwrap();
        assert_eq!(spec.load.sessions(), 1);
        assert_eq!(spec.target.user, "root");
        assert_eq!(spec.target.database, "sbtest");
        assert_eq!(spec.errors.retry, [1213, 1205, 1020]);
    }

    #[test]
    fn the_example_of_the_documentation_is_valid() {
        let document = include_str!("../../../docs/FORMAT.md");
        let section = document.split("## 4. spec.json").nth(1).unwrap();
        let example = section
            .split("```json")
            .nth(1)
            .unwrap()
            .split("```")
            .next()
            .unwrap();
        let spec = Spec::from_json(example).unwrap();
        assert_eq!(spec.load, Load::closed(16));
        let again = Spec::from_json(&serde_json::to_string(&spec).unwrap()).unwrap();
        assert_eq!(again, spec);
    }

    #[test]
    fn an_unknown_field_is_named_with_its_path() {
        let e = error(r#"{"target": {"socket": "/s", "hots": 1}, "workload": {"name": "w"}}"#);
        assert!(
            e.field.starts_with("target")
                && e.found.contains("`hots`")
                && e.found.contains("`host`"),
            "{e}"
        );
    }

    #[test]
    fn wrong_values_name_field_value_and_what_is_allowed() {
        for (field, json) in [
            ("format", r#""format": "dyno-spec/9""#),
            ("statement_mode", r#""statement_mode": "binary""#),
            (
                "load.closed.sessions",
                r#""load": {"closed": {"sessions": 0}}"#,
            ),
            ("load", r#""load": {"half_open": {}}"#),
            ("phases.measure_s", r#""phases": {"measure_s": 0}"#),
            ("phases.warmup_s", r#""phases": {"warmup_s": -1}"#),
            ("interval_s", r#""interval_s": 0"#),
            ("cpus", r#""cpus": [1, 1]"#),
            (
                "errors.backoff_min_us",
                r#""errors": {"backoff_min_us": 9, "backoff_max_us": 8}"#,
            ),
            ("seed", r#""seed": -1"#),
        ] {
            let text = format!(r"{{{json}, {}", &LEAST[1..]);
            let e = error(&text);
            assert_eq!(e.field, field, "{e}");
        }
    }

    #[test]
    fn exactly_one_way_to_the_server() {
        let workload = r#""workload": {"name": "w"}"#;
        for target in [
            r"{}",
            r#"{"socket": "/s", "host": "h"}"#,
            r#"{"socket": "/s", "port": 1}"#,
        ] {
            let e = error(&format!(r#"{{"target": {target}, {workload}}}"#));
            assert!(e.field.starts_with("target"), "{e}");
        }
    }

    #[test]
    fn a_missing_password_variable_is_named() {
        let target = Target {
            password_env: Some("DYNO_NO_SUCH_VARIABLE".into()),
            ..Target::default()
        };
        assert!(
            target
                .password()
                .unwrap_err()
                .to_string()
                .contains("$DYNO_NO_SUCH_VARIABLE")
        );
    }

    #[test]
    fn the_first_line_of_a_file_is_the_password() {
        let path = std::env::temp_dir().join(format!("dyno-password-{}", std::process::id()));
        std::fs::write(&path, "s3cret \nsecond line\n").unwrap();
        let target = Target {
            password_file: Some(path.clone()),
            ..Target::default()
        };
        let password = target.password();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(password.unwrap().as_deref(), Some("s3cret "));
        assert!(
            target
                .password()
                .unwrap_err()
                .to_string()
                .contains("password_file")
        );
    }
}
