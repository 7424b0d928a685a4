//! The options of the OLTP workloads, and what they say once they are resolved.

use crate::distribution::{Distribution, Law};
use crate::options::{Kind, OptionSpec, Options};

const fn count(name: &'static str, default: &'static str, meaning: &'static str) -> OptionSpec {
    OptionSpec {
        name,
        aliases: &[],
        kind: Kind::Integer(0, 10_000),
        default,
        meaning,
    }
}

const fn switch(name: &'static str, default: &'static str, meaning: &'static str) -> OptionSpec {
    OptionSpec {
        name,
        aliases: &[],
        kind: Kind::Switch,
        default,
        meaning,
    }
}

/// What the tables look like: every workload has these.
pub const SCHEMA: [OptionSpec; 6] = [
    OptionSpec {
        name: "tables",
        aliases: &[],
        kind: Kind::Integer(1, 100_000),
        default: "1",
        meaning: "how many tables",
    },
    OptionSpec {
        name: "table_size",
        aliases: &[],
        kind: Kind::Integer(1, 1_000_000_000_000),
        default: "10000",
        meaning: "rows in each table; above 2147483647 the columns id and k are BIGINT",
    },
    switch(
        "auto_inc",
        "on",
        "id is AUTO_INCREMENT, and oltp_insert lets the server number its rows",
    ),
    switch(
        "secondary",
        "off",
        "id has a plain index xid instead of the primary key",
    ),
    switch(
        "create_secondary",
        "on",
        "build the index k_N on column k after the load",
    ),
    OptionSpec {
        name: "storage_engine",
        aliases: &["mysql_storage_engine"],
        kind: Kind::Identifier,
        default: "innodb",
        meaning: "the tables' storage engine",
    },
];

/// Transactions off.
pub const SKIP_TRX: OptionSpec = switch(
    "skip_trx",
    "off",
    "no BEGIN and COMMIT: every statement commits by itself",
);

/// Point selects a transaction.
pub const POINT_SELECTS: OptionSpec = count("point_selects", "10", "point selects a transaction");
/// Simple range selects a transaction.
pub const SIMPLE_RANGES: OptionSpec =
    count("simple_ranges", "1", "range selects of c a transaction");
/// Sums over a range a transaction.
pub const SUM_RANGES: OptionSpec =
    count("sum_ranges", "1", "range selects of SUM(k) a transaction");
/// Ordered range selects a transaction.
pub const ORDER_RANGES: OptionSpec = count(
    "order_ranges",
    "1",
    "range selects of c in order a transaction",
);
/// Distinct range selects a transaction.
pub const DISTINCT_RANGES: OptionSpec = count(
    "distinct_ranges",
    "1",
    "range selects of distinct c in order a transaction",
);
/// Updates of the indexed column a transaction.
pub const INDEX_UPDATES: OptionSpec = count(
    "index_updates",
    "1",
    "updates of k, which is indexed, a transaction",
);
/// Updates of a column without index a transaction.
pub const NON_INDEX_UPDATES: OptionSpec = count(
    "non_index_updates",
    "1",
    "updates of c, which has no index, a transaction",
);
/// DELETE and INSERT pairs a transaction.
pub const DELETE_INSERTS: OptionSpec = count(
    "delete_inserts",
    "1",
    "pairs of DELETE and INSERT of one id a transaction",
);

/// All range selects on or off.
pub const RANGE_SELECTS: OptionSpec = switch(
    "range_selects",
    "on",
    "off leaves out all four kinds of range selects",
);
/// Length of a range.
pub const RANGE_SIZE: OptionSpec = OptionSpec {
    name: "range_size",
    aliases: &[],
    kind: Kind::Integer(1, 1_000_000_000),
    default: "100",
    meaning: "ids in the range of a range select",
};
/// Length of the IN list.
pub const RANDOM_POINTS: OptionSpec = OptionSpec {
    name: "random_points",
    aliases: &[],
    kind: Kind::Integer(1, 10_000),
    default: "10",
    meaning: "numbers in the IN list",
};
/// Number of OR terms.
pub const NUMBER_OF_RANGES: OptionSpec = OptionSpec {
    name: "number_of_ranges",
    aliases: &[],
    kind: Kind::Integer(1, 5_000),
    default: "10",
    meaning: "ranges in one statement, joined by OR",
};
/// Length of an OR term.
pub const DELTA: OptionSpec = OptionSpec {
    name: "delta",
    aliases: &[],
    kind: Kind::Integer(0, 1_000_000_000),
    default: "5",
    meaning: "the end of a range less its beginning",
};

/// Which rows are asked for: every workload has these.
pub const DISTRIBUTION: [OptionSpec; 6] = [
    OptionSpec {
        name: "distribution",
        aliases: &["rand_type"],
        kind: Kind::Choice(&["uniform", "gaussian", "special", "pareto", "zipfian"]),
        default: "uniform",
        meaning: "the law that ids and k are drawn from",
    },
    OptionSpec {
        name: "rand_spec_iter",
        aliases: &[],
        kind: Kind::Integer(1, 1_000),
        default: "12",
        meaning: "gaussian and special: how many uniform numbers are averaged",
    },
    OptionSpec {
        name: "rand_spec_pct",
        aliases: &[],
        kind: Kind::Number(0.0, 100.0),
        default: "1",
        meaning: "special: width of the hot range in percent of the table",
    },
    OptionSpec {
        name: "rand_spec_res",
        aliases: &[],
        kind: Kind::Number(0.0, 100.0),
        default: "75",
        meaning: "special: percent of the draws that go to the hot range",
    },
    OptionSpec {
        name: "rand_pareto_h",
        aliases: &[],
        kind: Kind::Number(0.001, 0.999),
        default: "0.2",
        meaning: "pareto: the fraction h of the table that takes 1 - h of the draws",
    },
    OptionSpec {
        name: "rand_zipfian_exp",
        aliases: &[],
        kind: Kind::Number(0.0, 10.0),
        default: "0.8",
        meaning: "zipfian: the exponent s in P(id) ~ id^-s",
    },
];

/// What the tables look like, resolved.
#[derive(Clone, Debug)]
pub struct Schema {
    /// How many tables.
    pub tables: u64,
    /// Rows in each.
    pub table_size: u64,
    /// Whether the server numbers new rows.
    pub auto_inc: bool,
    /// Whether `id` has a plain index instead of the primary key.
    pub secondary: bool,
    /// Whether `k` is indexed.
    pub create_secondary: bool,
    /// The storage engine, an identifier.
    pub storage_engine: String,
}

impl Schema {
    /// Reads the options of [`SCHEMA`].
    ///
    /// # Panics
    /// When the options were resolved for a workload that does not declare them.
    #[must_use]
    pub fn from(options: &Options) -> Self {
        Self {
            tables: integer(options, "tables"),
            table_size: integer(options, "table_size"),
            auto_inc: options.is_on("auto_inc"),
            secondary: options.is_on("secondary"),
            create_secondary: options.is_on("create_secondary"),
            storage_engine: options
                .word("storage_engine")
                .expect("every workload has storage_engine")
                .to_owned(),
        }
    }
}

/// The distribution over the ids of one table, and over its `k`, from the options of [`DISTRIBUTION`].
///
/// # Panics
/// When the options were resolved for a workload that does not declare them.
#[must_use]
pub fn distribution(options: &Options) -> Distribution {
    let number = |name| {
        options
            .number(name)
            .expect("every workload has the distribution's options")
    };
    let iterations = u32::try_from(integer(options, "rand_spec_iter")).expect("at most 1000");
    let law = match options.word("distribution") {
        Some("gaussian") => Law::Gaussian { iterations },
        Some("special") => Law::Special {
            iterations,
            hot_pct: number("rand_spec_pct"),
            share_pct: number("rand_spec_res"),
        },
        Some("pareto") => Law::Pareto {
            h: number("rand_pareto_h"),
        },
        Some("zipfian") => Law::Zipfian {
            exponent: number("rand_zipfian_exp"),
        },
        _ => Law::Uniform,
    };
    Distribution::new(law, integer(options, "table_size"))
}

fn integer(options: &Options, name: &str) -> u64 {
    options
        .integer(name)
        .expect("every workload has the options of the schema and of the distribution")
}
