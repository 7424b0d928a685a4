//! The options of the TPC-C-derived workload.

use super::shapes::Shape;
use crate::options::{Kind, OptionError, OptionSpec, Options};
use dyno_record::WorkloadSpec;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Its name.
pub const NAME: &str = "tpcc";

/// Version of its definition: of the rows and of the statements that a seed produces.
pub const VERSION: u32 = 1;

/// What one transaction is.
pub const EVENT: &str =
    "one of New-Order, Payment, Order-Status, Delivery and Stock-Level, TPC-C-derived";

/// Every option.
pub const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "warehouses",
        aliases: &["scale"],
        kind: Kind::Integer(1, 100_000),
        default: "1",
        meaning: "warehouses, some 90 MB each",
    },
    OptionSpec {
        name: "mix",
        aliases: &[],
        kind: Kind::Choice(&["deck", "weighted"]),
        default: "deck",
        meaning: "draw from decks of 23 without replacement, or each on its own with the same weights",
    },
    OptionSpec {
        name: "home",
        aliases: &[],
        kind: Kind::Choice(&["bound", "exclusive", "uniform", "random"]),
        default: "bound",
        meaning: "each session keeps a warehouse: dealt in turn, one of its own, or drawn; or draws one for each transaction",
    },
    OptionSpec {
        name: "shape",
        aliases: &[],
        kind: Kind::Choice(Shape::NAMES),
        default: "statements",
        meaning: "one statement a step, one for all rows of a step, or one CALL a transaction",
    },
    OptionSpec {
        name: "keying",
        aliases: &[],
        kind: Kind::Switch,
        default: "off",
        meaning: "wait before each transaction as long as its input takes to type: 18, 3, 2, 2, 2 s",
    },
    OptionSpec {
        name: "think",
        aliases: &[],
        kind: Kind::Switch,
        default: "off",
        meaning: "wait after each transaction as a reader does: on average 12, 12, 10, 5, 5 s",
    },
    OptionSpec {
        name: "pace",
        aliases: &[],
        kind: Kind::Number(0.001, 10.0),
        default: "1",
        meaning: "factor on the times of keying and think",
    },
    OptionSpec {
        name: "foreign_keys",
        aliases: &["fk"],
        kind: Kind::Switch,
        default: "off",
        meaning: "declare the foreign keys",
    },
    OptionSpec {
        name: "history_pk",
        aliases: &[],
        kind: Kind::Switch,
        default: "off",
        meaning: "give history an AUTO_INCREMENT primary key",
    },
    OptionSpec {
        name: "storage_engine",
        aliases: &["mysql_storage_engine"],
        kind: Kind::Identifier,
        default: "innodb",
        meaning: "storage engine",
    },
];

/// What the tables look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Number of warehouses, at least 1.
    pub warehouses: u64,
    /// Whether the foreign keys are declared.
    pub foreign_keys: bool,
    /// Whether history has a primary key.
    pub history_pk: bool,
    /// Storage engine, as SQL takes it.
    pub storage_engine: String,
}

/// Checks the options of a spec and fills in the defaults.
pub fn resolve(spec: &WorkloadSpec) -> Result<Options, OptionError> {
    let given: &BTreeMap<String, Json> = &spec.options;
    Options::resolve(NAME, OPTIONS, given)
}

impl From<&Options> for Schema {
    fn from(options: &Options) -> Self {
        Self {
            warehouses: options.integer("warehouses").unwrap_or(1),
            foreign_keys: options.is_on("foreign_keys"),
            history_pk: options.is_on("history_pk"),
            storage_engine: options
                .word("storage_engine")
                .unwrap_or("innodb")
                .to_owned(),
        }
    }
}
