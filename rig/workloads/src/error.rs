//! Why a data build failed.

use crate::options::OptionError;
use dyno_record::SpecError;

/// What went wrong while data was built, checked or removed. Every text ends with a `hint:` line where one is known.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The workload or its options.
    #[error(transparent)]
    Options(#[from] OptionError),
    /// The target.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The server or the connection to it.
    #[error("{doing}: {source}{}", hint_line(.source))]
    Wire {
        /// What was being done.
        doing: String,
        /// What the connection reported.
        source: dyno_wire::Error,
    },
    /// Tables of this workload are there already.
    #[error(
        "database {database} already has {tables}\n\
         hint: remove them with cleanup, or rebuild them with --force"
    )]
    TablesExist {
        /// The database.
        database: String,
        /// Their names, shortened.
        tables: String,
    },
    /// Something else has the name of one of the workload's tables.
    #[error(
        "{database}.{table} is not a table of this workload: it is {found}\n\
         hint: nothing was changed; use another database"
    )]
    ForeignTable {
        /// The database.
        database: String,
        /// The name.
        table: String,
        /// What it is instead.
        found: String,
    },
    /// The server took the data, and it is not there as sent.
    #[error(
        "{table}: {found}\nhint: the data cannot be used; remove it with cleanup and look into the server's error log"
    )]
    Wrong {
        /// The table.
        table: String,
        /// What was expected and what was found.
        found: String,
    },
    /// The rig's own resources.
    #[error("cannot run a connection: {0}")]
    Io(#[from] std::io::Error),
}

impl BuildError {
    /// Turns a connection's error into one that says what was being done.
    pub(crate) fn wire(doing: impl Into<String>) -> impl FnOnce(dyno_wire::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Wire { doing, source }
    }

    /// The server's error number, when it was the server that refused.
    #[must_use]
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Wire { source, .. } => source.code(),
            _ => None,
        }
    }
}

fn hint_line(source: &dyno_wire::Error) -> String {
    source
        .hint()
        .map_or_else(String::new, |hint| format!("\nhint: {hint}"))
}
