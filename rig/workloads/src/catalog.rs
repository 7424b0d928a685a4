//! The list of workloads, for people and for programs.

use crate::oltp::mix::MIXES;
use crate::options::{Kind, OptionSpec};
use crate::tpcc::settings as tpcc;
use serde::Serialize;
use serde_json::{Value as Json, json};

/// A workload, described.
#[derive(Clone, Debug, Serialize)]
pub struct WorkloadInfo {
    /// Its name.
    pub name: &'static str,
    /// Version of its definition.
    pub version: u32,
    /// What one transaction does.
    pub event: &'static str,
    /// The options that have an effect on it.
    pub options: Vec<OptionInfo>,
}

/// An option, described.
#[derive(Clone, Debug, Serialize)]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// Its default in this workload.
    pub default: Json,
    /// What values it takes.
    pub allowed: String,
    /// What it does.
    pub meaning: &'static str,
}

/// Every workload there is.
#[must_use]
pub fn catalog() -> Vec<WorkloadInfo> {
    let describe = |mix: &crate::oltp::mix::Mix| WorkloadInfo {
        name: mix.name,
        version: mix.version,
        event: mix.event,
        options: mix.options().iter().map(OptionInfo::from).collect(),
    };
    let derived = WorkloadInfo {
        name: tpcc::NAME,
        version: tpcc::VERSION,
        event: tpcc::EVENT,
        options: tpcc::OPTIONS.iter().map(OptionInfo::from).collect(),
    };
    MIXES.iter().map(describe).chain([derived]).collect()
}

impl From<&OptionSpec> for OptionInfo {
    fn from(spec: &OptionSpec) -> Self {
        let default = match spec.kind {
            Kind::Integer(..) | Kind::Number(..) => {
                serde_json::from_str(spec.default).unwrap_or_else(|_| json!(spec.default))
            }
            Kind::Switch => json!(spec.default == "on"),
            Kind::Choice(_) | Kind::Identifier => json!(spec.default),
        };
        Self {
            name: spec.name,
            aliases: spec.aliases,
            default,
            allowed: spec.kind.allowed(),
            meaning: spec.meaning,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use std::collections::BTreeMap;

    #[test]
    fn the_defaults_that_are_listed_are_the_ones_in_force() {
        for (mix, info) in MIXES.iter().zip(catalog()) {
            let listed: BTreeMap<&str, Json> = info
                .options
                .iter()
                .map(|o| (o.name, o.default.clone()))
                .collect();
            let resolved = Options::resolve(mix.name, &mix.options(), &BTreeMap::new()).unwrap();
            let number = |value: &Json| value.as_f64().map_or_else(|| value.clone(), Json::from);
            let in_force = serde_json::to_value(&resolved).unwrap();
            assert_eq!(
                listed.len(),
                in_force.as_object().unwrap().len(),
                "{}",
                mix.name
            );
            for (name, value) in listed {
                assert_eq!(
                    number(&value),
                    number(&in_force[name]),
                    "{} {name}",
                    mix.name
                );
            }
        }
    }

    #[test]
    fn every_option_is_explained_once() {
        for workload in catalog() {
            let mut names: Vec<_> = workload
                .options
                .iter()
                .flat_map(|o| o.aliases.iter().chain([&o.name]))
                .collect();
            names.sort_unstable();
            let unique = names.len();
            names.dedup();
            assert_eq!(names.len(), unique, "{}", workload.name);
            assert!(
                workload
                    .options
                    .iter()
                    .all(|option| !option.meaning.is_empty() && !option.allowed.is_empty())
            );
        }
    }
}
