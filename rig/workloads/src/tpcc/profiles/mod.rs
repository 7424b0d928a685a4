//! The published variants of the workload: what each one's tables, rows and transactions are.
//!
//! `standard` is the specification. The others do what a known tool does, its deviations included, so that its numbers
//! can be read beside ours. `docs/WORKLOADS.md` lists them side by side.

pub mod client_sql;
pub mod hammerdb;
pub mod laws;
mod tables_of_tools;

use super::schema::{self, Definition};
use laws::Laws;

/// A variant of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The specification.
    Standard,
    /// TPROC-C, as HammerDB defines it.
    HammerDb,
    /// The Lua scripts of sysbench-tpcc.
    SysbenchTpcc,
    /// tpcc-mysql.
    TpccMysql,
}

/// Names of the profiles, in the order of [`Profile::ALL`].
pub const NAMES: &[&str] = &["standard", "hammerdb", "sysbench-tpcc", "tpcc-mysql"];

impl Profile {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Standard,
        Self::HammerDb,
        Self::SysbenchTpcc,
        Self::TpccMysql,
    ];

    /// The profile of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let index = NAMES.iter().position(|known| *known == name)?;
        Some(Self::ALL[index])
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// Whether an option of the workload has an effect on it.
    #[must_use]
    pub fn takes(self, option: &str) -> bool {
        match option {
            "profile" | "warehouses" | "schemas" | "history_pk" | "partitions"
            | "storage_engine" => true,
            "foreign_keys" => self != Self::HammerDb,
            "all_warehouses" => self == Self::HammerDb,
            "tables" => self == Self::SysbenchTpcc,
            _ => self == Self::Standard,
        }
    }

    /// Its default of an option, when that is another one than the workload's.
    #[must_use]
    pub fn default(self, option: &str) -> Option<&'static str> {
        match (self, option) {
            (Self::SysbenchTpcc | Self::TpccMysql, "foreign_keys") => Some("on"),
            _ => None,
        }
    }

    /// Its nine tables, those that others refer to first.
    #[must_use]
    pub const fn tables(self) -> &'static [Definition; 9] {
        match self {
            Self::Standard => &schema::TABLES,
            Self::HammerDb => &tables_of_tools::HAMMERDB,
            Self::SysbenchTpcc | Self::TpccMysql => &tables_of_tools::CLIENT_SQL,
        }
    }

    /// The laws of its rows.
    #[must_use]
    pub const fn laws(self) -> &'static Laws {
        match self {
            Self::Standard => &laws::STANDARD,
            Self::HammerDb => &laws::HAMMERDB,
            Self::SysbenchTpcc => &laws::SYSBENCH_TPCC,
            Self::TpccMysql => &laws::TPCC_MYSQL,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_profiles_are_in_step() {
        for profile in Profile::ALL {
            assert_eq!(Profile::named(profile.name()), Some(profile));
        }
        assert_eq!(Profile::named("tpcb"), None);
    }

    #[test]
    fn every_profile_has_the_same_tables_in_the_same_order() {
        for profile in Profile::ALL {
            let kinds = profile.tables().iter().map(|table| table.kind);
            assert!(kinds.eq(schema::TABLES.iter().map(|table| table.kind)));
        }
    }
}
