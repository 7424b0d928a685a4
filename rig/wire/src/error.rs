//! What can go wrong between client and server.

use std::borrow::Cow;
use std::fmt;
use std::io;

/// The result of everything in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The server refused: its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// The server's error number, such as 1213 for a deadlock.
    pub code: u16,
    /// SQLSTATE; `HY000` when the server sent none.
    pub sqlstate: [u8; 5],
    /// The server's message.
    pub message: String,
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sqlstate = String::from_utf8_lossy(&self.sqlstate);
        write!(
            f,
            "server error {} ({sqlstate}): {}",
            self.code, self.message
        )
    }
}

/// Why a connection or a statement failed. After anything but [`Error::Server`] and [`Error::Usage`] the connection is
/// of no more use.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server answered with an error; the connection can go on.
    #[error("{0}")]
    Server(ServerError),
    /// The operating system failed.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: Cow<'static, str>,
        /// The system's error.
        source: io::Error,
    },
    /// The peer sent what the protocol does not allow.
    #[error("protocol violation: {what}")]
    Protocol {
        /// What was wrong, with the offending value.
        what: Cow<'static, str>,
    },
    /// The peer did not answer in time.
    #[error("{what} took too long")]
    Timeout {
        /// What was being done.
        what: Cow<'static, str>,
    },
    /// The connection is closed, by the server or after an earlier error.
    #[error("the connection is closed")]
    Closed,
    /// The server closed the connection and said why, such as a time-out or a shutdown.
    #[error("the server closed the connection: {0}")]
    ClosedBy(ServerError),
    /// The server asked for a login that this client or these options cannot give.
    #[error("cannot log in: {0}")]
    Auth(String),
    /// TLS could not be agreed on, or broke.
    #[error("TLS: {0}")]
    Tls(String),
    /// The server lacks what the options ask for, or asks for what they forbid.
    #[error("{0}")]
    Unsupported(String),
    /// The caller's mistake; nothing was sent.
    #[error("{0}")]
    Usage(String),
}

impl Error {
    pub(crate) fn protocol(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Protocol { what: what.into() }
    }

    pub(crate) fn io(what: impl Into<Cow<'static, str>>, source: io::Error) -> Self {
        let what = what.into();
        match source.kind() {
            io::ErrorKind::TimedOut => Self::Timeout { what },
            _ => Self::Io { what, source },
        }
    }

    /// The server's error number, when it was the server that refused.
    #[must_use]
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Server(error) | Self::ClosedBy(error) => Some(error.code),
            _ => None,
        }
    }

    /// Whether the peer is known to be gone, so that reading what it left behind does not wait.
    pub(crate) fn is_hang_up(&self) -> bool {
        let kind = match self {
            Self::Io { source, .. } => source.kind(),
            _ => return false,
        };
        matches!(
            kind,
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
        )
    }

    /// Whether the connection can be used after this error.
    #[must_use]
    pub fn leaves_connection_usable(&self) -> bool {
        matches!(self, Self::Server(_) | Self::Usage(_))
    }

    /// What the user can do about it, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Server(error) | Self::ClosedBy(error) => server_hint(error.code),
            Self::Io { source, .. } => io_hint(source),
            Self::Timeout { .. } => Some(
                "is the server overloaded, stopped or behind a firewall? the time-outs are options",
            ),
            Self::Closed => Some("the server's error log says why it hung up"),
            Self::Auth(_) => {
                Some("create the user with mysql_native_password, caching_sha2_password or ed25519")
            }
            Self::Protocol { .. } => {
                Some("is this the port of a MySQL-family server, and does it speak TLS only?")
            }
            Self::Tls(_) => Some(
                "the certificate must be signed by the CA file; verify-identity also wants the host's name in it",
            ),
            Self::Unsupported(_) | Self::Usage(_) => None,
        }
    }
}

fn server_hint(code: u16) -> Option<&'static str> {
    Some(match code {
        1040 => "raise max_connections on the server or use fewer sessions",
        1044 | 1045 | 1698 => {
            "check user, password, the host that the grant is for, and whether the account must use TLS"
        }
        1049 => "create the database, or run prepare first",
        1130 => "the server has no user for the host that this connection comes from",
        1146 => "run prepare first, with the same options",
        1153 => "raise max_allowed_packet on the server",
        1203 | 1226 => "raise max_user_connections for this user or use fewer sessions",
        4031 => "raise wait_timeout on the server",
        1461 => {
            "raise max_prepared_stmt_count: each session prepares its statements for each table"
        }
        3948 | 1148 => "set local_infile=ON on the server to load data from the client",
        _ => return None,
    })
}

fn io_hint(source: &io::Error) -> Option<&'static str> {
    Some(match source.kind() {
        io::ErrorKind::ConnectionRefused => {
            "is the server running, and does it listen at this address?"
        }
        io::ErrorKind::NotFound => "is the server running? the socket does not exist",
        io::ErrorKind::PermissionDenied => "this user may not open the server's socket",
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            "the server's error log says why it hung up"
        }
        _ if source.raw_os_error() == Some(24) => "raise the limit of open files: ulimit -n",
        _ => return None,
    })
}
