//! The options of the TPC-C-derived workload.

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
        kind: Kind::Choice(&["bound", "random"]),
        default: "bound",
        meaning: "each session keeps a warehouse, dealt in turn, or draws one for each transaction",
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
