//! The workloads as data: every name is a list of statement groups, run by one engine.

use super::settings::{
    self, DELETE_INSERTS, DISTINCT_RANGES, INDEX_UPDATES, NON_INDEX_UPDATES, ORDER_RANGES,
    POINT_SELECTS, SIMPLE_RANGES, SUM_RANGES,
};
use crate::options::OptionSpec;

/// Statements that belong together: they share one table, drawn once for the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// `SELECT c` of one id.
    PointSelects,
    /// `SELECT c` of a range of ids.
    SimpleRanges,
    /// `SELECT SUM(k)` of a range of ids.
    SumRanges,
    /// `SELECT c … ORDER BY c` of a range of ids.
    OrderRanges,
    /// `SELECT DISTINCT c … ORDER BY c` of a range of ids.
    DistinctRanges,
    /// `UPDATE … SET k=k+1` of one id.
    IndexUpdates,
    /// `UPDATE … SET c=?` of one id.
    NonIndexUpdates,
    /// `DELETE` of one id, then `INSERT` of the same id with new content.
    DeleteInserts,
    /// `DELETE` of one id.
    Deletes,
    /// `INSERT` of a new id.
    Inserts,
    /// `SELECT … WHERE k IN (…)` on the first table.
    RandomPoints,
    /// `SELECT count(k) … WHERE k BETWEEN … OR …` on the first table.
    RandomRanges,
}

impl Group {
    /// Whether `range_selects = off` leaves this group out.
    #[must_use]
    pub const fn is_range_select(self) -> bool {
        matches!(
            self,
            Self::SimpleRanges | Self::SumRanges | Self::OrderRanges | Self::DistinctRanges
        )
    }

    /// Whether its statements always go to table 1.
    #[must_use]
    pub const fn is_on_first_table(self) -> bool {
        matches!(self, Self::RandomPoints | Self::RandomRanges)
    }
}

/// How often a group's statements run in one transaction.
#[derive(Clone, Copy, Debug)]
pub enum Count {
    /// Once.
    Once,
    /// As often as this option says, and so often by default.
    By(&'static OptionSpec, &'static str),
}

/// One named workload.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    /// Its name.
    pub name: &'static str,
    /// Must change whenever the rows or the statements that a seed produces change.
    pub version: u32,
    /// What one event (one transaction of the record) is, for people.
    pub event: &'static str,
    /// Whether BEGIN and COMMIT enclose the groups, unless `skip_trx` is on.
    pub transaction: bool,
    /// The groups, in order.
    pub groups: &'static [(Group, Count)],
}

const fn default_of(option: &'static OptionSpec) -> Count {
    Count::By(option, option.default)
}

const READS: [(Group, Count); 5] = [
    (Group::PointSelects, default_of(&POINT_SELECTS)),
    (Group::SimpleRanges, default_of(&SIMPLE_RANGES)),
    (Group::SumRanges, default_of(&SUM_RANGES)),
    (Group::OrderRanges, default_of(&ORDER_RANGES)),
    (Group::DistinctRanges, default_of(&DISTINCT_RANGES)),
];

const WRITES: [(Group, Count); 3] = [
    (Group::IndexUpdates, default_of(&INDEX_UPDATES)),
    (Group::NonIndexUpdates, default_of(&NON_INDEX_UPDATES)),
    (Group::DeleteInserts, default_of(&DELETE_INSERTS)),
];

/// Every OLTP workload.
pub const MIXES: &[Mix] = &[
    Mix {
        name: "oltp_point_select",
        version: 1,
        event: "one SELECT by primary key",
        transaction: false,
        groups: &[(Group::PointSelects, Count::Once)],
    },
    Mix {
        name: "oltp_read_only",
        version: 1,
        event: "BEGIN, 10 point selects, a simple, a sum, an ordered and a distinct range select, COMMIT",
        transaction: true,
        groups: &READS,
    },
    Mix {
        name: "oltp_read_write",
        version: 1,
        event: "the statements of oltp_read_only and of oltp_write_only in one transaction",
        transaction: true,
        groups: &[
            READS[0], READS[1], READS[2], READS[3], READS[4], WRITES[0], WRITES[1], WRITES[2],
        ],
    },
    Mix {
        name: "oltp_write_only",
        version: 1,
        event: "BEGIN, an update of the indexed column, an update of another, a DELETE and an INSERT of one id, COMMIT",
        transaction: true,
        groups: &WRITES,
    },
    Mix {
        name: "oltp_update_index",
        version: 1,
        event: "one UPDATE of the indexed column, committed by itself",
        transaction: false,
        groups: &[WRITES[0]],
    },
    Mix {
        name: "oltp_update_non_index",
        version: 1,
        event: "one UPDATE of a column without index, committed by itself",
        transaction: false,
        groups: &[WRITES[1]],
    },
    Mix {
        name: "oltp_insert",
        version: 1,
        event: "one INSERT of a new id, committed by itself",
        transaction: false,
        groups: &[(Group::Inserts, Count::Once)],
    },
    Mix {
        name: "oltp_delete",
        version: 1,
        event: "one DELETE of an id that may be gone already, committed by itself",
        transaction: false,
        groups: &[(Group::Deletes, Count::Once)],
    },
    Mix {
        name: "select_random_points",
        version: 1,
        event: "one SELECT of all rows whose indexed column is among 10 random numbers",
        transaction: false,
        groups: &[(Group::RandomPoints, Count::Once)],
    },
    Mix {
        name: "select_random_ranges",
        version: 1,
        event: "one count of the rows whose indexed column is within any of 10 random short ranges",
        transaction: false,
        groups: &[(Group::RandomRanges, Count::Once)],
    },
    Mix {
        name: "oltp_90_10",
        version: 1,
        event: "BEGIN, 9 point selects, 1 update of a column without index, COMMIT",
        transaction: true,
        groups: &[
            (Group::PointSelects, Count::By(&POINT_SELECTS, "9")),
            (Group::NonIndexUpdates, default_of(&NON_INDEX_UPDATES)),
        ],
    },
    Mix {
        name: "oltp_hybrid",
        version: 1,
        event: "BEGIN, 1 point select, 1 update of the indexed column, a DELETE and an INSERT of one id, COMMIT",
        transaction: true,
        groups: &[
            (Group::PointSelects, Count::By(&POINT_SELECTS, "1")),
            (Group::IndexUpdates, default_of(&INDEX_UPDATES)),
            (Group::DeleteInserts, default_of(&DELETE_INSERTS)),
        ],
    },
];

impl Mix {
    /// The workload of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        MIXES.iter().find(|mix| mix.name == name)
    }

    /// The options that have an effect on this workload, with its own defaults, in the order they are explained.
    #[must_use]
    pub fn options(&self) -> Vec<OptionSpec> {
        let has = |wanted: fn(Group) -> bool| self.groups.iter().any(|&(group, _)| wanted(group));
        let mut options = settings::SCHEMA.to_vec();
        if self.transaction {
            options.push(settings::SKIP_TRX);
        }
        for (_, count) in self.groups {
            if let Count::By(option, default) = count {
                options.push(OptionSpec {
                    default,
                    ..**option
                });
            }
        }
        if has(Group::is_range_select) {
            options.extend([settings::RANGE_SELECTS, settings::RANGE_SIZE]);
        }
        if has(|group| group == Group::RandomPoints) {
            options.push(settings::RANDOM_POINTS);
        }
        if has(|group| group == Group::RandomRanges) {
            options.extend([settings::NUMBER_OF_RANGES, settings::DELTA]);
        }
        options.extend(settings::DISTRIBUTION);
        options
    }
}
