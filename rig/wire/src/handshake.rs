//! The server's greeting and what both sides can do.

pub use mysql_common::constants::CapabilityFlags;

use crate::cursor::Cursor;
use crate::error::{Error, Result};
use crate::options::{Compression, ConnectOptions, TlsMode};
use crate::response::{ERR, parse_error};

const PROTOCOL_VERSION: u8 = 10;
/// Before its 11th release MariaDB puts this in front of its version, so that old replicas accept it.
const MARIADB_DISGUISE: &str = "5.5.5-";

/// The server's first packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshake {
    /// The version as the server's own `VERSION()` says it.
    pub server_version: String,
    /// The server's number for this connection.
    pub connection_id: u32,
    /// What the server can do.
    pub capabilities: CapabilityFlags,
    /// Random bytes that the login is bound to.
    pub nonce: Vec<u8>,
    /// The authentication plugin that the server begins with.
    pub auth_plugin: Vec<u8>,
}

impl Handshake {
    /// Read the greeting; a server that refuses sends [`Error::Server`] in its place.
    pub fn parse(packet: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(packet);
        match cursor.u8("the greeting")? {
            ERR => return Err(Error::Server(parse_error(packet)?)),
            PROTOCOL_VERSION => {}
            other => {
                return Err(Error::protocol(format!(
                    "a greeting of protocol version {other}, not 10"
                )));
            }
        }
        let version = cursor.until_zero("the server's version")?;
        let connection_id = cursor.u32("the connection id")?;
        let mut nonce = cursor.bytes(8, "the nonce")?.to_vec();
        cursor.u8("the greeting")?;
        let low = cursor.u16("the capabilities")?;
        cursor.bytes(3, "the character set and status")?;
        let high = cursor.u16("the capabilities")?;
        let capabilities =
            CapabilityFlags::from_bits_truncate(u32::from(high) << 16 | u32::from(low));
        let nonce_length = usize::from(cursor.u8("the length of the nonce")?);
        cursor.bytes(10, "the reserved bytes")?;
        let second = cursor.bytes(nonce_length.saturating_sub(8).max(13), "the nonce")?;
        nonce.extend_from_slice(second.strip_suffix(&[0]).unwrap_or(second));
        let rest = cursor.rest();
        let auth_plugin = rest.strip_suffix(&[0]).unwrap_or(rest).to_vec();
        let version = String::from_utf8_lossy(version).into_owned();
        let server_version = match version.strip_prefix(MARIADB_DISGUISE) {
            Some(real) if is_mariadb(&version) => real.to_owned(),
            _ => version,
        };
        Ok(Self {
            server_version,
            connection_id,
            capabilities,
            nonce,
            auth_plugin,
        })
    }

    /// Whether the server is a MariaDB.
    #[must_use]
    pub fn is_mariadb(&self) -> bool {
        is_mariadb(&self.server_version)
    }

    /// The capabilities that both sides have and `options` ask for.
    pub fn negotiate(&self, options: &ConnectOptions) -> Result<CapabilityFlags> {
        let required = CapabilityFlags::CLIENT_PROTOCOL_41
            | CapabilityFlags::CLIENT_SECURE_CONNECTION
            | CapabilityFlags::CLIENT_PLUGIN_AUTH;
        let mut wanted = required
            | CapabilityFlags::CLIENT_LONG_PASSWORD
            | CapabilityFlags::CLIENT_LONG_FLAG
            | CapabilityFlags::CLIENT_TRANSACTIONS
            | CapabilityFlags::CLIENT_MULTI_RESULTS
            | CapabilityFlags::CLIENT_PS_MULTI_RESULTS
            | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
            | CapabilityFlags::CLIENT_DEPRECATE_EOF;
        wanted.set(CapabilityFlags::CLIENT_FOUND_ROWS, options.found_rows);
        wanted.set(CapabilityFlags::CLIENT_LOCAL_FILES, options.local_infile);
        wanted.set(
            CapabilityFlags::CLIENT_MULTI_STATEMENTS,
            options.multi_statements,
        );
        wanted.set(
            CapabilityFlags::CLIENT_CONNECT_WITH_DB,
            options.database.is_some(),
        );
        wanted.set(
            CapabilityFlags::CLIENT_CONNECT_ATTRS,
            !options.attributes.is_empty(),
        );
        // Encryption and compression change what is measured: without them there is no connection.
        let mut demanded = required;
        demanded.set(CapabilityFlags::CLIENT_SSL, options.tls != TlsMode::Off);
        demanded.insert(match options.compression {
            Compression::Off => CapabilityFlags::empty(),
            Compression::Zlib => CapabilityFlags::CLIENT_COMPRESS,
            Compression::Zstd { .. } => CapabilityFlags::CLIENT_ZSTD_COMPRESSION_ALGORITHM,
        });
        let agreed = (wanted | demanded) & self.capabilities;
        let lacking = demanded - agreed;
        if let Some((name, _)) = lacking.iter_names().next() {
            return Err(Error::Unsupported(format!(
                "the server {} lacks {name}{}",
                self.server_version,
                meaning(lacking)
            )));
        }
        Ok(agreed)
    }
}

/// What a missing capability that the options demand means to the user, and what to do; nothing for those that every
/// server has.
const fn meaning(lacking: CapabilityFlags) -> &'static str {
    if lacking.contains(CapabilityFlags::CLIENT_SSL) {
        ": it offers no TLS\nhint: give the server a certificate and a key, or set tls to off for all engines alike"
    } else if lacking.contains(CapabilityFlags::CLIENT_COMPRESS) {
        ": it offers no zlib compression\n\
         hint: look at its protocol_compression_algorithms, or set compression to off for all engines alike"
    } else if lacking.contains(CapabilityFlags::CLIENT_ZSTD_COMPRESSION_ALGORITHM) {
        ": it offers no zstd compression\n\
         hint: MySQL 8.0.18 and later have it when protocol_compression_algorithms names it; MariaDB has zlib"
    } else {
        ""
    }
}

fn is_mariadb(version: &str) -> bool {
    version.contains("MariaDB")
}

/// The names of capabilities, as the protocol's documentation spells them.
#[must_use]
pub fn capability_names(capabilities: CapabilityFlags) -> Vec<String> {
    capabilities
        .iter_names()
        .map(|(name, _)| name.to_owned())
        .collect()
}
