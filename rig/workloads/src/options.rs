//! Workload options: declared as data, read from JSON or from the text of a command line, checked before anything starts.

use crate::oltp::mix::MIXES;
use serde::Serialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// One option of a workload: what it is called, what it takes, what it does.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Its name, with underscores.
    pub name: &'static str,
    /// Other names it answers to: those of sysbench, where ours differ.
    pub aliases: &'static [&'static str],
    /// What values it takes.
    pub kind: Kind,
    /// Its default, as one would write it.
    pub default: &'static str,
    /// What it does, in one sentence without a full stop.
    pub meaning: &'static str,
}

/// What an option takes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A whole number within these bounds, both included.
    Integer(u64, u64),
    /// A number within these bounds, both included.
    Number(f64, f64),
    /// on or off.
    Switch,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A name of letters, digits and underscores.
    Identifier,
}

impl Kind {
    /// What is allowed, for an error message or a list of options.
    #[must_use]
    pub fn allowed(&self) -> String {
        match self {
            Self::Integer(low, high) => format!("a whole number from {low} to {high}"),
            Self::Number(low, high) => format!("a number from {low} to {high}"),
            Self::Switch => "on or off".to_owned(),
            Self::Choice(words) => words.join(", "),
            Self::Identifier => "letters, digits and underscores".to_owned(),
        }
    }

    fn parse(&self, value: &Json) -> Option<OptionValue> {
        match self {
            Self::Integer(low, high) => {
                let number = whole_number(value)?;
                (*low..=*high)
                    .contains(&number)
                    .then_some(OptionValue::Integer(number))
            }
            Self::Number(low, high) => {
                let number = value
                    .as_f64()
                    .or_else(|| value.as_str()?.trim().parse().ok())?;
                (*low..=*high)
                    .contains(&number)
                    .then_some(OptionValue::Number(number))
            }
            Self::Switch => switch(value).map(OptionValue::Switch),
            Self::Choice(words) => {
                let word = value.as_str()?;
                words
                    .contains(&word)
                    .then(|| OptionValue::Word(word.to_owned()))
            }
            Self::Identifier => {
                let word = value.as_str()?;
                let fits = (1..=64).contains(&word.len())
                    && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                fits.then(|| OptionValue::Word(word.to_owned()))
            }
        }
    }
}

fn whole_number(value: &Json) -> Option<u64> {
    match value {
        // a client that keeps every number as a double writes 10000.0
        Json::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
        Json::String(text) => text
            .trim()
            .parse()
            .ok()
            .or_else(|| whole(text.trim().parse().ok()?)),
        _ => None,
    }
}

/// The whole number that a float stands for exactly, if it does (1e6 does, 0.5 does not).
fn whole(number: f64) -> Option<u64> {
    let exact = (0.0..=9_007_199_254_740_992.0).contains(&number) && number.fract() == 0.0;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    exact.then_some(number as u64)
}

fn switch(value: &Json) -> Option<bool> {
    match value {
        Json::Bool(flag) => Some(*flag),
        Json::Number(number) => match number.as_u64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        },
        Json::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "on" | "true" | "yes" | "1" => Some(true),
            "off" | "false" | "no" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// A value that passed its option's check.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// Of [`Kind::Integer`].
    Integer(u64),
    /// Of [`Kind::Number`].
    Number(f64),
    /// Of [`Kind::Switch`].
    Switch(bool),
    /// Of [`Kind::Choice`] and [`Kind::Identifier`].
    Word(String),
}

/// Why a workload cannot be set up as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// No workload has this name.
    #[error("there is no workload {name:?}\nhint: the workloads are {known}")]
    UnknownWorkload {
        /// As given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The workload has no such option.
    #[error("{workload} has no option {option:?}\nhint: {hint}")]
    UnknownOption {
        /// The workload.
        workload: String,
        /// As given.
        option: String,
        /// The nearest name, or all of them.
        hint: String,
    },
    /// The value is not one the option takes.
    #[error("{option} = {value} is not allowed in {workload}\nhint: {option} takes {allowed}")]
    Value {
        /// The workload.
        workload: String,
        /// The option.
        option: String,
        /// As given.
        value: String,
        /// What it takes.
        allowed: String,
    },
    /// Two names of one option were given.
    #[error(
        "{workload}: {option} is set twice, once by another of its names\nhint: keep one of them"
    )]
    Twice {
        /// The workload.
        workload: String,
        /// The option.
        option: String,
    },
    /// The workload knows no condition that its data must meet.
    #[error(
        "{workload} has no consistency conditions\nhint: `check` is for the tpcc workload; prepare verifies the others"
    )]
    NoConditions {
        /// The workload.
        workload: String,
    },
    /// The options are each allowed, and do not go with each other or with the load.
    #[error("{workload}: {what}\nhint: {hint}")]
    Conflict {
        /// The workload.
        workload: String,
        /// What does not go together.
        what: String,
        /// What to set.
        hint: String,
    },
    /// The options are each allowed, and nothing is left to do.
    #[error("{workload} has no statement left to run with these options\nhint: {hint}")]
    Empty {
        /// The workload.
        workload: String,
        /// What to set.
        hint: String,
    },
}

impl OptionError {
    /// No workload is called so.
    pub(crate) fn unknown_workload(name: &str) -> Self {
        let known = MIXES
            .iter()
            .map(|mix| mix.name)
            .chain([crate::tpcc::settings::NAME])
            .collect::<Vec<_>>()
            .join(", ");
        Self::UnknownWorkload {
            name: name.to_owned(),
            known,
        }
    }
}

/// The options of one workload, every default filled in.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Options(BTreeMap<&'static str, OptionValue>);

impl Options {
    /// Checks `given` against the options that `workload` declares, and fills in the defaults.
    ///
    /// Dashes and underscores in names are the same. Values may be JSON or text: `true`, `"on"`, `10000`, `"1e4"`.
    ///
    /// # Panics
    /// When a declared default is not allowed by its own option.
    pub fn resolve(
        workload: &str,
        declared: &[OptionSpec],
        given: &BTreeMap<String, Json>,
    ) -> Result<Self, OptionError> {
        let mut values = BTreeMap::new();
        for (name, value) in given {
            let plain = name.replace('-', "_");
            let spec = declared
                .iter()
                .find(|spec| spec.name == plain || spec.aliases.contains(&plain.as_str()))
                .ok_or_else(|| unknown_option(workload, declared, name, &plain))?;
            let parsed = spec.kind.parse(value).ok_or_else(|| OptionError::Value {
                workload: workload.to_owned(),
                option: spec.name.to_owned(),
                value: value
                    .as_str()
                    .map_or_else(|| value.to_string(), |text| format!("{text:?}")),
                allowed: spec.kind.allowed(),
            })?;
            if values.insert(spec.name, parsed).is_some() {
                return Err(OptionError::Twice {
                    workload: workload.to_owned(),
                    option: spec.name.to_owned(),
                });
            }
        }
        for spec in declared {
            values.entry(spec.name).or_insert_with(|| {
                let default = Json::String(spec.default.to_owned());
                spec.kind
                    .parse(&default)
                    .expect("an option's default is allowed: a test checks all of them")
            });
        }
        Ok(Self(values))
    }

    /// The value of a whole-number option, if the workload has it.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<u64> {
        match self.0.get(name) {
            Some(OptionValue::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// The value of a number option, if the workload has it.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.0.get(name) {
            Some(OptionValue::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// Whether a switch is on; off when the workload does not have it.
    #[must_use]
    pub fn is_on(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(OptionValue::Switch(true)))
    }

    /// The value of a choice or an identifier, if the workload has it.
    #[must_use]
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.0.get(name) {
            Some(OptionValue::Word(word)) => Some(word),
            _ => None,
        }
    }
}

fn unknown_option(
    workload: &str,
    declared: &[OptionSpec],
    given: &str,
    plain: &str,
) -> OptionError {
    let nearest = declared
        .iter()
        .map(|spec| (edit_distance(plain, spec.name), spec.name))
        .min()
        .filter(|(distance, _)| *distance <= 3);
    let hint = match nearest {
        Some((_, name)) => format!("did you mean {name}?"),
        None => format!(
            "its options are {}",
            declared
                .iter()
                .map(|spec| spec.name)
                .collect::<Vec<_>>()
                .join(", ")
        ),
    };
    OptionError::UnknownOption {
        workload: workload.to_owned(),
        option: given.to_owned(),
        hint,
    }
}

/// Levenshtein's distance, for "did you mean".
pub(crate) fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, r) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(l != *r);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const DECLARED: &[OptionSpec] = &[
        OptionSpec {
            name: "size",
            aliases: &["old_size"],
            kind: Kind::Integer(1, 100),
            default: "10",
            meaning: "",
        },
        OptionSpec {
            name: "share",
            aliases: &[],
            kind: Kind::Number(0.0, 1.0),
            default: "0.5",
            meaning: "",
        },
        OptionSpec {
            name: "skip_trx",
            aliases: &[],
            kind: Kind::Switch,
            default: "off",
            meaning: "",
        },
        OptionSpec {
            name: "law",
            aliases: &[],
            kind: Kind::Choice(&["flat", "bell"]),
            default: "flat",
            meaning: "",
        },
        OptionSpec {
            name: "engine",
            aliases: &[],
            kind: Kind::Identifier,
            default: "innodb",
            meaning: "",
        },
    ];

    fn resolve(given: Json) -> Result<Options, OptionError> {
        let given: BTreeMap<String, Json> = serde_json::from_value(given).unwrap();
        Options::resolve("w", DECLARED, &given)
    }

    #[test]
    fn defaults_fill_what_is_not_given() {
        let options = resolve(json!({})).unwrap();
        assert_eq!(options.integer("size"), Some(10));
        assert_eq!(options.number("share"), Some(0.5));
        assert!(!options.is_on("skip_trx"));
        assert_eq!(options.word("law"), Some("flat"));
        assert_eq!(serde_json::to_value(&options).unwrap()["engine"], "innodb");
    }

    #[test]
    fn json_and_text_mean_the_same() {
        let json = resolve(json!({"size": 20, "share": 1, "skip_trx": true})).unwrap();
        for text in [
            json!({"old_size": "20", "share": "1", "skip-trx": "on"}),
            json!({"size": "2e1", "share": 1.0, "skip_trx": 1}),
            json!({"size": 20.0, "share": "1.0", "skip_trx": "TRUE"}),
        ] {
            assert_eq!(resolve(text).unwrap(), json);
        }
    }

    #[test]
    fn errors_name_option_value_and_what_is_allowed() {
        let texts = |given| resolve(given).unwrap_err().to_string();
        assert_eq!(
            texts(json!({"size": 0})),
            "size = 0 is not allowed in w\nhint: size takes a whole number from 1 to 100"
        );
        assert_eq!(
            texts(json!({"law": "zipf"})),
            "law = \"zipf\" is not allowed in w\nhint: law takes flat, bell"
        );
        assert_eq!(
            texts(json!({"skip_trks": 1})),
            "w has no option \"skip_trks\"\nhint: did you mean skip_trx?"
        );
        assert!(texts(json!({"quite_else": 1})).contains("its options are size, share,"));
        assert!(texts(json!({"size": 1, "old-size": 2})).contains("set twice"));
        for wrong in [
            json!(-1),
            json!(1.5),
            json!("ten"),
            json!(null),
            json!([1]),
            json!(101),
            json!(1e300),
        ] {
            assert!(
                matches!(
                    resolve(json!({"size": wrong})),
                    Err(OptionError::Value { .. })
                ),
                "{wrong}"
            );
        }
        for wrong in [json!(""), json!("a b"), json!("a;b"), json!("x`"), json!(3)] {
            assert!(
                matches!(
                    resolve(json!({"engine": wrong})),
                    Err(OptionError::Value { .. })
                ),
                "{wrong}"
            );
        }
        assert!(resolve(json!({"share": "NaN"})).is_err());
        assert!(resolve(json!({"skip_trx": 2})).is_err());
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("same", "same"), 0);
    }
}
