//! How to connect.

use std::path::PathBuf;
use std::time::Duration;

use dyno_reactor::Address;

use crate::secret::Secret;

/// Whether and how the connection is encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum TlsMode {
    /// Plain text, even when the server offers TLS.
    #[default]
    Off,
    /// TLS with any certificate: no protection against a man in the middle.
    Required,
    /// TLS with a certificate that one of the authorities in this PEM file signed; the name is not looked at.
    VerifyCa(PathBuf),
    /// The same, and the certificate names the host that was connected to.
    VerifyIdentity(PathBuf),
}

/// Whether packets are compressed on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// As they are.
    #[default]
    Off,
    /// zlib at its default level; all servers that were built with it.
    Zlib,
    /// Zstandard; `MySQL` 8.0.18 and later.
    Zstd {
        /// 1 (fast) to 22 (small); 3 is usual.
        level: u8,
    },
}

/// Everything that [`crate::Connection::connect`] needs to know. Make one with [`ConnectOptions::new`] and set what
/// differs.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    /// Where the server listens.
    pub address: Address,
    /// User to log in as.
    pub user: String,
    /// Password; none and an empty one are the same.
    pub password: Option<Secret>,
    /// Default database.
    pub database: Option<String>,
    /// How long connecting and logging in may take.
    pub connect_timeout: Duration,
    /// How long the server may leave one read or write waiting; without it, for ever. Noticed within 100 ms.
    pub io_timeout: Option<Duration>,
    /// Encryption.
    pub tls: TlsMode,
    /// Compression.
    pub compression: Compression,
    /// Count rows matched instead of rows changed in `affected_rows`.
    pub found_rows: bool,
    /// Let the server ask for data by LOAD DATA LOCAL, see [`crate::Connection::load_local`]. No file is ever read.
    pub local_infile: bool,
    /// Allow several statements in one query.
    pub multi_statements: bool,
    /// Connection attributes, shown by the server's performance schema.
    pub attributes: Vec<(String, String)>,
    /// Statements run right after the login, such as `SET SESSION …`.
    pub init: Vec<String>,
    /// The longest packet accepted, in bytes.
    pub packet_bytes_max: usize,
}

impl ConnectOptions {
    /// Connect to `address` as `user`, with defaults: no password, no database, 10 s to connect, no TLS.
    #[must_use]
    pub fn new(address: Address, user: impl Into<String>) -> Self {
        Self {
            address,
            user: user.into(),
            password: None,
            database: None,
            connect_timeout: Duration::from_secs(10),
            io_timeout: None,
            tls: TlsMode::Off,
            compression: Compression::Off,
            found_rows: false,
            local_infile: false,
            multi_statements: false,
            attributes: vec![("_client_name".into(), "dyno".into())],
            init: Vec::new(),
            packet_bytes_max: 64 << 20,
        }
    }
}
