//! From flags to a spec: each flag sets the field of its name, over a spec file when there is one.

use std::io::Read;
use std::path::{Path, PathBuf};

use dyno_record::Spec;
use serde_json::{Map, Value, json};

use crate::args::{LoadArgs, SpecArgs};
use crate::failure::Failure;

/// The checked spec of a command.
pub fn resolve(args: &SpecArgs, load: &LoadArgs) -> Result<Spec, Failure> {
    if args.password.is_some() {
        return Err(Failure::usage(
            "a password on the command line is visible to every user of this host\n\
             hint: use --password-env NAME or --password-file FILE",
        ));
    }
    let mut spec = match &args.spec {
        Some(path) => read(path)?,
        None => json!({}),
    };
    if args.spec.is_none() && args.workload.is_none() {
        return Err(Failure::usage(
            "no workload\nhint: name one with --workload (dyno-rig workloads lists them), or give a spec with --spec FILE",
        ));
    }
    let targets = load.session.targets()?;
    let named = args.spec.is_some() || args.socket.is_some() || args.host.is_some();
    let mut overlay = Overlay(&mut spec);
    overlay.target(args);
    match targets.first() {
        _ if named => {}
        // the first of several servers answers for them all
        Some(first) => overlay.target_from(first),
        None => {
            return Err(Failure::usage(
                "no server\nhint: name it with --socket PATH or --host HOST [--port PORT]",
            ));
        }
    }
    args.connect.overlay(&mut overlay)?;
    load.session.overlay(&mut overlay)?;
    load.pace.overlay(&mut overlay)?;
    overlay.workload(args)?;
    overlay.load(args, load)?;
    Ok(Spec::from_json(&spec.to_string())?)
}

fn read(path: &Path) -> Result<Value, Failure> {
    let name = path.display();
    let text = if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(path)
    };
    let text = text.map_err(|e| Failure::usage(format!("cannot read the spec {name}: {e}")))?;
    // read as a spec first: its errors name fields, and a flag must not hide them
    Spec::from_json(&text).map_err(|e| Failure::usage(format!("{name}: {e}")))?;
    serde_json::from_str(&text).map_err(|e| Failure::usage(format!("{name}: {e}")))
}

/// A spec that flags are laid over.
pub struct Overlay<'a>(&'a mut Value);

impl Overlay<'_> {
    /// Lays flags over a spec.
    #[cfg(test)]
    pub fn new(spec: &mut Value) -> Overlay<'_> {
        Overlay(spec)
    }

    /// Whether there is a value at `path`.
    pub fn has(&self, path: &[&str]) -> bool {
        let at = path.iter().try_fold(&*self.0, |at, key| at.get(key));
        at.is_some_and(|value| !value.is_null())
    }

    /// Sets the field at `path` when its flag was given.
    pub fn put<T: Into<Value>>(&mut self, path: &[&str], value: Option<T>) {
        let Some(value) = value else { return };
        let mut at = &mut *self.0;
        for key in path {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            at = &mut at[*key];
        }
        *at = value.into();
    }

    fn target(&mut self, args: &SpecArgs) {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        // a flag that names one way to the server takes the place of the other one in a spec
        if args.socket.is_some() {
            self.put(&["target", "host"], Some(Value::Null));
            self.put(&["target", "port"], Some(Value::Null));
        }
        if args.host.is_some() {
            self.put(&["target", "socket"], Some(Value::Null));
        }
        if args.password_env.is_some() || args.password_file.is_some() {
            self.put(&["target", "password_env"], Some(Value::Null));
            self.put(&["target", "password_file"], Some(Value::Null));
        }
        self.put(&["target", "socket"], args.socket.as_ref().map(text));
        self.put(&["target", "host"], args.host.clone());
        self.put(&["target", "port"], args.port);
        self.put(&["target", "user"], args.user.clone());
        self.put(&["target", "password_env"], args.password_env.clone());
        self.put(
            &["target", "password_file"],
            args.password_file.as_ref().map(text),
        );
        self.put(&["target", "database"], args.database.clone());
    }

    /// Takes the address of a target from one of several.
    fn target_from(&mut self, address: &Value) {
        for field in ["socket", "host", "port"] {
            self.put(&["target", field], address.get(field).cloned());
        }
    }

    fn workload(&mut self, args: &SpecArgs) -> Result<(), Failure> {
        self.put(&["workload", "name"], args.workload.clone());
        for option in &args.options {
            let (key, value) = option.split_once('=').ok_or_else(|| {
                Failure::usage(format!(
                    "-o {option}: no value\nhint: write -o KEY=VALUE, such as -o tables=4"
                ))
            })?;
            self.put(
                &["workload", "options", &key.replace('-', "_")],
                Some(scalar(value)),
            );
        }
        self.put(&["workload", "options", "tables"], args.tables);
        self.put(&["workload", "options", "table_size"], args.table_size);
        self.put(&["seed"], args.seed);
        Ok(())
    }

    fn load(&mut self, args: &SpecArgs, load: &LoadArgs) -> Result<(), Failure> {
        self.put(&["cpus"], args.cpus.as_deref().map(cpus).transpose()?);
        for (flag, path, text) in [
            ("--warmup", &["phases", "warmup_s"][..], &load.warmup),
            ("--time", &["phases", "measure_s"], &load.time),
            ("--drain", &["phases", "drain_s"], &load.drain),
            ("--interval", &["interval_s"], &load.interval),
        ] {
            let seconds = text
                .as_deref()
                .map(|text| seconds(flag, text))
                .transpose()?;
            self.put(path, seconds);
        }
        self.put(&["statement_mode"], load.statement_mode.clone());
        if load.probe {
            self.put(&["probe", "host"], Some(true));
            self.put(&["probe", "status"], Some(true));
        }
        Ok(())
    }
}

/// A value as JSON would read it when it is a number, a truth value or null; a string otherwise.
fn scalar(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_) | Value::Null)) => value,
        _ => Value::from(text),
    }
}

/// Seconds of a duration such as `2s`, `500ms`, `3m`, `1h` or `2.5`.
pub fn seconds(flag: &str, text: &str) -> Result<f64, Failure> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "" | "s" => Some(1.0),
        "ms" => Some(0.001),
        "m" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    let number = digits
        .parse::<f64>()
        .ok()
        .filter(|n| n.is_finite() && *n >= 0.0);
    scale
        .zip(number)
        .map(|(scale, number)| number * scale)
        .ok_or_else(|| {
            Failure::usage(format!(
                "{flag} {text}: not a duration\nhint: write 500ms, 2s, 2.5, 3m or 1h"
            ))
        })
}

/// The CPUs of a list such as `1` or `0-3,6`.
pub fn cpus(text: &str) -> Result<Vec<usize>, Failure> {
    let wrong = || {
        Failure::usage(format!(
            "--cpus {text}: not a list of CPUs\nhint: write 1 or 0-3,6"
        ))
    };
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (
            first.parse().map_err(|_| wrong())?,
            last.parse().map_err(|_| wrong())?,
        );
        if first > last || last > CPU_MAX {
            return Err(wrong());
        }
        cpus.extend(first..=last);
    }
    Ok(cpus)
}

/// The highest CPU number that Linux knows.
const CPU_MAX: usize = 8191;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection_args::{ConnectArgs, SessionArgs};
    use crate::pace_args::PaceArgs;
    use dyno_record::{Load, StatementMode};

    fn args() -> SpecArgs {
        SpecArgs {
            socket: Some("/s".into()),
            workload: Some("oltp_read_write".into()),
            ..SpecArgs::default()
        }
    }

    fn failure(args: &SpecArgs, load: &LoadArgs) -> String {
        format!("{:?}", resolve(args, load).unwrap_err())
    }

    #[test]
    fn flags_set_the_fields_of_their_names() {
        let args = SpecArgs {
            options: vec!["distribution=pareto".into(), "skip-trx=true".into()],
            tables: Some(4),
            cpus: Some("0-1,3".into()),
            ..args()
        };
        let load = LoadArgs {
            pace: PaceArgs {
                sessions: Some(16),
                ..PaceArgs::default()
            },
            warmup: Some("500ms".into()),
            time: Some("2m".into()),
            statement_mode: Some("text".into()),
            ..LoadArgs::default()
        };
        let spec = resolve(&args, &load).unwrap();
        let options = json!({"distribution": "pareto", "skip_trx": true, "tables": 4});
        assert_eq!(
            serde_json::to_value(&spec.workload.options).unwrap(),
            options
        );
        assert_eq!(spec.cpus, [0, 1, 3]);
        assert_eq!(spec.load, Load::closed(16));
        assert!(
            (spec.phases.warmup_s - 0.5).abs() < 1e-9
                && (spec.phases.measure_s - 120.0).abs() < 1e-9
        );
        assert_eq!(spec.statement_mode, StatementMode::Text);
    }

    #[test]
    fn connection_flags_set_the_fields_of_their_names() {
        let args = SpecArgs {
            socket: None,
            connect: ConnectArgs {
                tls: Some("verify-ca".into()),
                tls_ca: Some("/ca.pem".into()),
                compression: Some("zlib".into()),
                connect_timeout: Some("500ms".into()),
                io_timeout: Some("never".into()),
            },
            ..args()
        };
        let load = LoadArgs {
            session: SessionArgs {
                init: vec!["SET @a = 1".into(), "DO 2".into()],
                isolation: Some("serializable".into()),
                reconnect: Some("reconnect".into()),
                per_transaction: true,
                targets: vec!["a:1".into(), "/b".into()],
                stagger: Some("10ms".into()),
            },
            ..LoadArgs::default()
        };
        let spec = resolve(&args, &load).unwrap();
        let connection = json!({
            "tls": "verify-ca", "tls_ca": "/ca.pem", "compression": "zlib", "connect_timeout_s": 0.5,
            "io_timeout_s": null, "init": ["SET @a = 1", "DO 2"], "isolation": "serializable",
            "reconnect": "reconnect", "per_transaction": true, "stagger_s": 0.01,
            "targets": [
                {"socket": null, "host": "a", "port": 1},
                {"socket": "/b", "host": null, "port": null},
            ],
        });
        assert_eq!(serde_json::to_value(&spec.connection).unwrap(), connection);
        assert_eq!(
            (spec.target.host.as_deref(), spec.target.port),
            (Some("a"), Some(1)),
            "the first of them is the target"
        );
    }

    #[test]
    fn a_password_is_refused_with_a_hint() {
        let args = SpecArgs {
            password: Some("secret".into()),
            ..args()
        };
        let message = failure(&args, &LoadArgs::default());
        assert!(
            message.contains("--password-env") && !message.contains("secret"),
            "{message}"
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        let no_workload = SpecArgs {
            workload: None,
            ..args()
        };
        assert!(failure(&no_workload, &LoadArgs::default()).contains("--workload"));
        let no_server = SpecArgs {
            socket: None,
            ..args()
        };
        assert!(failure(&no_server, &LoadArgs::default()).contains("--socket"));
    }

    #[test]
    fn wrong_values_are_named() {
        for text in ["2 s", "-1", "s", "1y", "1e999"] {
            let load = LoadArgs {
                time: Some(text.into()),
                ..LoadArgs::default()
            };
            assert!(failure(&args(), &load).contains(&format!("--time {text}")));
        }
        for text in ["", "a", "3-1", "1,", "0-99999"] {
            let args = SpecArgs {
                cpus: Some(text.into()),
                ..args()
            };
            assert!(failure(&args, &LoadArgs::default()).contains("--cpus"));
        }
        let args = SpecArgs {
            options: vec!["tables".into()],
            ..args()
        };
        assert!(failure(&args, &LoadArgs::default()).contains("KEY=VALUE"));
    }
}
