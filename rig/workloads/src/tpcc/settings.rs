//! The options of the TPC-C-derived workload.

use super::profiles::{self, Profile};
use super::schema;
use super::shapes::Shape;
use crate::options::{Kind, OptionError, OptionSpec, Options};
use dyno_record::WorkloadSpec;

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
        name: "profile",
        aliases: &[],
        kind: Kind::Choice(profiles::NAMES),
        default: "standard",
        meaning: "the specification's tables, rows and transactions, or those of a known tool",
    },
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
        meaning: "declare the foreign keys; on by default in sysbench-tpcc and tpcc-mysql",
    },
    OptionSpec {
        name: "history_pk",
        aliases: &[],
        kind: Kind::Switch,
        default: "off",
        meaning: "give history an AUTO_INCREMENT primary key",
    },
    OptionSpec {
        name: "partitions",
        aliases: &[],
        kind: Kind::Integer(0, 8192),
        default: "0",
        meaning: "cut the large tables, in hammerdb order_line only, into so many by a hash of the warehouse; 0: no",
    },
    OptionSpec {
        name: "schemas",
        aliases: &[],
        kind: Kind::Integer(1, 1000),
        default: "1",
        meaning: "shard: the same tables and warehouses in so many databases, over which the sessions are dealt",
    },
    OptionSpec {
        name: "all_warehouses",
        aliases: &[],
        kind: Kind::Switch,
        default: "off",
        meaning: "hammerdb: draw a warehouse for each transaction from the session's share, instead of keeping one",
    },
    OptionSpec {
        name: "tables",
        aliases: &[],
        kind: Kind::Integer(1, 1000),
        default: "1",
        meaning: "sysbench-tpcc: sets of tables, each with all warehouses; one is drawn for each transaction",
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
    /// Whose tables they are.
    pub profile: Profile,
    /// Databases, each with all sets of tables.
    pub schemas: u64,
    /// Sets of nine tables.
    pub sets: u64,
    /// Number of warehouses of each set, at least 1.
    pub warehouses: u64,
    /// Whether the foreign keys are declared.
    pub foreign_keys: bool,
    /// Whether history has a primary key.
    pub history_pk: bool,
    /// Partitions of the tables that have any; 0: none has.
    pub partitions: u64,
    /// Storage engine, as SQL takes it.
    pub storage_engine: String,
}

/// The most warehouses that a SMALLINT can number.
const SMALLINT_MAX: u64 = 32_767;

/// The profile that a spec asks for; the standard one when it asks for none, or for one that does not exist.
fn profile_of(spec: &WorkloadSpec) -> Profile {
    let given = spec.options.get("profile");
    let named = given.and_then(|value| Profile::named(value.as_str()?));
    named.unwrap_or(Profile::Standard)
}

/// The options that have an effect on a profile, with its own defaults.
fn declared(profile: Profile) -> Vec<OptionSpec> {
    let taken = OPTIONS.iter().filter(|option| profile.takes(option.name));
    taken
        .map(|option| OptionSpec {
            default: profile.default(option.name).unwrap_or(option.default),
            ..*option
        })
        .collect()
}

/// Checks the options of a spec and fills in the defaults of its profile.
pub fn resolve(spec: &WorkloadSpec) -> Result<Options, OptionError> {
    let profile = profile_of(spec);
    let workload = match profile {
        Profile::Standard => NAME.to_owned(),
        other => format!("{NAME} with profile = {}", other.name()),
    };
    let options = Options::resolve(&workload, &declared(profile), &spec.options)?;
    let schema = Schema::from(&options);
    let refused = |option: &str, value: String, allowed: &str| {
        Err(OptionError::Value {
            workload: workload.clone(),
            option: option.to_owned(),
            value,
            allowed: allowed.to_owned(),
        })
    };
    if schema.partitions > 0 && schema.foreign_keys {
        let allowed =
            "0 while foreign_keys is on: no engine has foreign keys between partitioned tables";
        return refused("partitions", schema.partitions.to_string(), allowed);
    }
    let numbered_small = matches!(profile, Profile::SysbenchTpcc | Profile::TpccMysql);
    if numbered_small && schema.warehouses > SMALLINT_MAX {
        let allowed = "a whole number from 1 to 32767: its tables number warehouses with SMALLINT";
        return refused("warehouses", schema.warehouses.to_string(), allowed);
    }
    Ok(options)
}

/// The profile that a spec asks for, when all of its options are allowed in it.
pub fn profile(spec: &WorkloadSpec) -> Result<Profile, OptionError> {
    Ok(Schema::from(&resolve(spec)?).profile)
}

impl Schema {
    /// One warehouse of a profile, with nothing added.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn of(profile: Profile) -> Self {
        let options =
            std::collections::BTreeMap::from([("profile".to_owned(), profile.name().into())]);
        let name = NAME.to_owned();
        Self {
            foreign_keys: false,
            ..Self::from(&resolve(&WorkloadSpec { name, options }).unwrap())
        }
    }

    /// The sets of tables, from the first.
    pub fn table_sets(&self) -> impl Iterator<Item = schema::TableSet> + use<> {
        let definitions = self.profile.tables();
        let numbered = self.profile == Profile::SysbenchTpcc;
        (1..=self.sets).map(move |set| schema::TableSet {
            definitions,
            number: numbered.then_some(set),
        })
    }

    /// The databases: the target's own, and those named after it with a number from 2.
    #[must_use]
    pub fn databases(&self, own: &str) -> Vec<String> {
        let named = (1..=self.schemas).map(|number| match number {
            1 => own.to_owned(),
            number => format!("{own}_{number}"),
        });
        named.collect()
    }

    /// Orders of the population, of all sets in all databases.
    #[must_use]
    pub fn orders_loaded(&self) -> i64 {
        let each =
            self.schemas * self.sets * self.warehouses * schema::DISTRICTS * schema::CUSTOMERS;
        each.cast_signed()
    }

    /// What follows the columns of a table besides its engine.
    #[must_use]
    pub fn table_options(&self) -> &'static str {
        match self.profile {
            Profile::HammerDb => " DEFAULT CHARACTER SET latin1 COLLATE latin1_bin",
            _ => "",
        }
    }

    /// The column by which a table is partitioned, if it is.
    #[must_use]
    pub fn partitioned_by(&self, kind: schema::Kind) -> Option<&'static str> {
        let column = match kind {
            schema::Kind::OrderLine => "ol_w_id",
            _ if self.profile == Profile::HammerDb => return None,
            schema::Kind::Customer => "c_w_id",
            schema::Kind::Stock => "s_w_id",
            schema::Kind::History => "h_w_id",
            schema::Kind::Orders => "o_w_id",
            schema::Kind::NewOrder => "no_w_id",
            _ => return None,
        };
        (self.partitions > 0).then_some(column)
    }
}

impl From<&Options> for Schema {
    fn from(options: &Options) -> Self {
        Self {
            profile: options
                .word("profile")
                .and_then(Profile::named)
                .unwrap_or(Profile::Standard),
            schemas: options.integer("schemas").unwrap_or(1),
            sets: options.integer("tables").unwrap_or(1),
            warehouses: options.integer("warehouses").unwrap_or(1),
            foreign_keys: options.is_on("foreign_keys"),
            history_pk: options.is_on("history_pk"),
            partitions: options.integer("partitions").unwrap_or(0),
            storage_engine: options
                .word("storage_engine")
                .unwrap_or("innodb")
                .to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn resolved(options: &[(&str, Json)]) -> Result<Schema, String> {
        let owned = options
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()));
        let spec = WorkloadSpec {
            name: NAME.to_owned(),
            options: owned.collect(),
        };
        let options = resolve(&spec).map_err(|error| error.to_string())?;
        Ok(Schema::from(&options))
    }

    #[test]
    fn profiles_have_their_own_defaults() {
        assert!(!resolved(&[]).unwrap().foreign_keys);
        assert!(
            resolved(&[("profile", json!("tpcc-mysql"))])
                .unwrap()
                .foreign_keys
        );
        let off = [("profile", json!("tpcc-mysql")), ("fk", json!(false))];
        assert!(!resolved(&off).unwrap().foreign_keys);
    }

    #[test]
    fn an_option_without_effect_on_the_profile_is_refused() {
        for (profile, option) in [
            ("standard", "tables"),
            ("standard", "all_warehouses"),
            ("hammerdb", "foreign_keys"),
            ("hammerdb", "mix"),
            ("sysbench-tpcc", "home"),
            ("tpcc-mysql", "tables"),
        ] {
            let refused = resolved(&[("profile", json!(profile)), (option, json!("1"))]);
            let refused = refused.unwrap_err();
            assert!(
                refused.contains(&format!("has no option \"{option}\"")),
                "{refused}"
            );
        }
        let unknown = resolved(&[("profile", json!("tpcb"))]).unwrap_err();
        assert!(
            unknown.contains("hint: profile takes standard, hammerdb"),
            "{unknown}"
        );
    }

    #[test]
    fn what_cannot_be_built_is_refused() {
        let both = [("partitions", json!(4)), ("fk", json!(true))];
        let refused = resolved(&both).unwrap_err();
        assert!(
            refused.contains("partitions = 4 is not allowed"),
            "{refused}"
        );
        let many = [
            ("profile", json!("sysbench-tpcc")),
            ("scale", json!(40_000)),
        ];
        assert!(resolved(&many).unwrap_err().contains("SMALLINT"));
        assert!(resolved(&[("scale", json!(40_000))]).is_ok());
    }
}
