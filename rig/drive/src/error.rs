//! What can go wrong while sessions work, and how it reads in a summary.

use dyno_record::{Failure, FailureKind, StatementType};
use dyno_wire::Error as WireError;

/// An error of a session: what happened, and in which statement.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub struct Error {
    /// What happened.
    pub cause: Cause,
    /// Index of the statement type that met it.
    pub statement: Option<usize>,
}

/// What happened.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The connection or the server.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A statement that the spec lets every session run.
    #[error("init statement `{sql}`: {source}")]
    Init {
        /// The statement.
        sql: String,
        /// What became of it.
        source: WireError,
    },
    /// The workload saw a wrong result or cannot run here.
    #[error("{0}")]
    Workload(String),
    /// The rig itself.
    #[error("{0}")]
    Rig(String),
}

/// Errors of a server that mean: this connection is over, or there is none now, but there may be one later. Too many
/// connections, shutdown, forced close, aborted, network errors, too many connections of the user, query interrupted
/// (what KILL makes of a running statement), connection killed (`MariaDB`), offline mode, session killed, idle too long.
const LOST: [u16; 17] = [
    1040, 1053, 1080, 1152, 1158, 1159, 1160, 1161, 1184, 1203, 1226, 1317, 1927, 3032, 3169, 4031,
    9001,
];

/// Codes of the client library, which stand for what no server said.
const CANNOT_CONNECT_LOCAL: u16 = 2002;
const CANNOT_CONNECT: u16 = 2003;
const CONNECTION_LOST: u16 = 2013;
const TLS_FAILED: u16 = 2026;
const MALFORMED: u16 = 2027;
const LOGIN_FAILED: u16 = 2061;

impl Error {
    /// A statement of the spec's `connection.init` failed.
    pub(crate) fn init(sql: &str, source: WireError) -> Self {
        Self {
            cause: Cause::Init {
                sql: sql.to_owned(),
                source,
            },
            statement: None,
        }
    }

    /// The workload cannot go on: a wrong result, or a server it cannot run on.
    pub fn workload(message: impl Into<String>) -> Self {
        Self {
            cause: Cause::Workload(message.into()),
            statement: None,
        }
    }

    /// The rig cannot go on.
    pub(crate) fn rig(message: impl Into<String>) -> Self {
        Self {
            cause: Cause::Rig(message.into()),
            statement: None,
        }
    }

    /// The error met the statement type of this index.
    #[must_use]
    pub fn in_statement(mut self, statement: usize) -> Self {
        self.statement.get_or_insert(statement);
        self
    }

    fn wire(&self) -> Option<&WireError> {
        match &self.cause {
            Cause::Wire(error) | Cause::Init { source: error, .. } => Some(error),
            Cause::Workload(_) | Cause::Rig(_) => None,
        }
    }

    /// The server's error code, when the server sent one.
    #[must_use]
    pub fn code(&self) -> Option<u16> {
        self.wire().and_then(WireError::code)
    }

    /// Whether the connection is gone, or could not be made for now: another one may do better.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        match self.wire() {
            Some(WireError::Server(server)) => LOST.contains(&server.code),
            Some(error) => matches!(
                error,
                WireError::Io { .. }
                    | WireError::Timeout { .. }
                    | WireError::Closed
                    | WireError::ClosedBy(_)
            ),
            None => false,
        }
    }

    /// The code under which it is counted: the server's, or the client library's for what no server said.
    pub(crate) fn code_counted(&self) -> Option<u16> {
        Some(match self.wire()? {
            WireError::Server(server) | WireError::ClosedBy(server) => server.code,
            WireError::Io { .. } | WireError::Timeout { .. } | WireError::Closed => CONNECTION_LOST,
            WireError::Tls(_) => TLS_FAILED,
            WireError::Protocol { .. } => MALFORMED,
            WireError::Auth(_) => LOGIN_FAILED,
            WireError::Unsupported(_) | WireError::Usage(_) => return None,
        })
    }

    /// The same of an error met while connecting, `local` by a Unix socket.
    pub(crate) fn code_connecting(&self, local: bool) -> Option<u16> {
        self.code_counted().map(|code| match (code, local) {
            (CONNECTION_LOST, true) => CANNOT_CONNECT_LOCAL,
            (CONNECTION_LOST, false) => CANNOT_CONNECT,
            _ => code,
        })
    }

    /// How it reads in a summary.
    #[must_use]
    pub fn failure(&self, statement_types: &[StatementType]) -> Failure {
        let (kind, message) = match &self.cause {
            Cause::Wire(WireError::Server(server)) => (FailureKind::Server, server.message.clone()),
            Cause::Wire(error) => (wire_kind(error), error.to_string()),
            Cause::Init { source, .. } => (wire_kind(source), self.to_string()),
            Cause::Workload(message) => (FailureKind::Workload, message.clone()),
            Cause::Rig(message) => (FailureKind::Rig, message.clone()),
        };
        // a workload's message brings its hint along, a connection knows its own
        let (message, hint) = match message.split_once("\nhint: ") {
            Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
            None => (message, self.wire_hint().map(str::to_owned)),
        };
        let statement = self
            .statement
            .and_then(|i| statement_types.get(i))
            .map(|t| t.name.clone());
        Failure {
            kind,
            code: self.code(),
            sqlstate: self.sqlstate(),
            message,
            statement,
            hint,
        }
    }

    fn sqlstate(&self) -> Option<String> {
        match self.wire()? {
            WireError::Server(server) | WireError::ClosedBy(server) => {
                Some(String::from_utf8_lossy(&server.sqlstate).into_owned())
            }
            _ => None,
        }
    }

    fn wire_hint(&self) -> Option<&'static str> {
        self.wire().and_then(WireError::hint)
    }
}

fn wire_kind(error: &WireError) -> FailureKind {
    match error {
        WireError::Server(_) => FailureKind::Server,
        WireError::Auth(_) => FailureKind::Auth,
        WireError::Protocol { .. } => FailureKind::Protocol,
        WireError::Unsupported(_) => FailureKind::Rig,
        _ => FailureKind::Io,
    }
}

impl From<WireError> for Error {
    fn from(error: WireError) -> Self {
        Self {
            cause: Cause::Wire(error),
            statement: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_record::StatementClass;
    use dyno_wire::ServerError;

    #[test]
    fn a_failure_tells_what_where_and_what_to_do() {
        let server = ServerError {
            code: 1146,
            sqlstate: *b"42S02",
            message: "Table 'a.b' doesn't exist".into(),
        };
        let types = [StatementType {
            name: "point_select".into(),
            class: StatementClass::Select,
        }];
        let failure = Error::from(WireError::Server(server))
            .in_statement(0)
            .failure(&types);
        assert_eq!(
            (failure.kind, failure.code),
            (FailureKind::Server, Some(1146))
        );
        assert_eq!(failure.sqlstate.as_deref(), Some("42S02"));
        assert_eq!(failure.statement.as_deref(), Some("point_select"));
        assert!(failure.hint.is_some_and(|hint| hint.contains("prepare")));
    }

    #[test]
    fn the_hint_of_a_workload_is_kept_apart() {
        let failure = Error::workload("row 5 is missing\nhint: build again").failure(&[]);
        assert_eq!(
            (failure.message.as_str(), failure.hint.as_deref()),
            ("row 5 is missing", Some("build again"))
        );
    }
}
