//! How the sessions of a trial are connected (`docs/FORMAT.md` §4, `connection`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

use crate::SpecError;

/// How sessions connect, and what happens when a connection is lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ConnectionSpec {
    /// Encryption.
    pub tls: Tls,
    /// PEM file of the authorities that may sign the server's certificate; for `verify-ca` and `verify-identity`.
    pub tls_ca: Option<PathBuf>,
    /// Compression of the protocol.
    pub compression: Compression,
    /// How long connecting and logging in may take, and how long a session may go without a successful transaction
    /// while it reconnects.
    pub connect_timeout_s: f64,
    /// How long the server may leave one read or write waiting; null: for ever. Not for the statements of a data
    /// build, which take as long as they need.
    pub io_timeout_s: Option<f64>,
    /// SQL that every session runs after its login.
    pub init: Vec<String>,
    /// Isolation level of every session; null: the server's default.
    pub isolation: Option<Isolation>,
    /// What a lost connection means.
    pub reconnect: Reconnect,
    /// Connect for every transaction and disconnect after it.
    pub per_transaction: bool,
    /// Addresses that sessions are dealt over in turn; empty: all go to the target's own address.
    pub targets: Vec<TargetAddress>,
    /// Pause between the connecting of one session and the next.
    pub stagger_s: f64,
}

impl Default for ConnectionSpec {
    fn default() -> Self {
        Self {
            tls: Tls::Off,
            tls_ca: None,
            compression: Compression::Off,
            connect_timeout_s: 10.0,
            // longer than the default lock wait time-out of InnoDB, 50 s
            io_timeout_s: Some(60.0),
            init: Vec::new(),
            isolation: None,
            reconnect: Reconnect::Fail,
            per_transaction: false,
            targets: Vec::new(),
            stagger_s: 0.0,
        }
    }
}

/// Whether and how connections are encrypted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tls {
    /// Not at all, even when the server offers it.
    #[default]
    Off,
    /// With any certificate.
    Required,
    /// With a certificate that an authority in `tls_ca` signed.
    VerifyCa,
    /// The same, and it names the host that was connected to.
    VerifyIdentity,
}

/// Whether the protocol is compressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// Not at all.
    #[default]
    Off,
    /// By zlib.
    Zlib,
    /// By Zstandard, level 3.
    Zstd,
}

/// A transaction isolation level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// READ UNCOMMITTED
    ReadUncommitted,
    /// READ COMMITTED
    ReadCommitted,
    /// REPEATABLE READ
    RepeatableRead,
    /// SERIALIZABLE
    Serializable,
}

impl Isolation {
    /// As SQL spells it.
    #[must_use]
    pub const fn sql(self) -> &'static str {
        match self {
            Self::ReadUncommitted => "READ UNCOMMITTED",
            Self::ReadCommitted => "READ COMMITTED",
            Self::RepeatableRead => "REPEATABLE READ",
            Self::Serializable => "SERIALIZABLE",
        }
    }

    /// As the server's variable `transaction_isolation` spells it.
    #[must_use]
    pub fn variable(self) -> String {
        self.sql().replace(' ', "-")
    }
}

/// What a lost connection means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reconnect {
    /// The trial has failed.
    #[default]
    Fail,
    /// The error is counted, its transaction is lost, and the session connects again.
    Reconnect,
}

/// One of several servers, all with the target's account and database.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TargetAddress {
    /// Unix socket; excludes `host`.
    pub socket: Option<PathBuf>,
    /// Host name or address; excludes `socket`.
    pub host: Option<String>,
    /// TCP port; 3306 when null.
    pub port: Option<u16>,
}

impl fmt::Display for TargetAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.socket, &self.host) {
            (Some(socket), _) => write!(f, "{}", socket.display()),
            (None, host) => write!(
                f,
                "{}:{}",
                host.as_deref().unwrap_or_default(),
                self.port.unwrap_or(3306)
            ),
        }
    }
}

/// Longer than anybody waits for a connection; a larger number is a slip of units.
const CONNECT_SECONDS_MAX: f64 = 3600.0;
/// No answer takes longer than the longest trial, a week.
const IO_SECONDS_MAX: f64 = 604_800.0;
const STAGGER_SECONDS_MAX: f64 = 60.0;

impl ConnectionSpec {
    pub(crate) fn check(&self) -> Result<(), SpecError> {
        self.check_tls()?;
        let seconds = [
            (
                "connection.connect_timeout_s",
                Some(self.connect_timeout_s),
                0.01,
                CONNECT_SECONDS_MAX,
            ),
            (
                "connection.io_timeout_s",
                self.io_timeout_s,
                0.1,
                IO_SECONDS_MAX,
            ),
            (
                "connection.stagger_s",
                Some(self.stagger_s),
                0.0,
                STAGGER_SECONDS_MAX,
            ),
        ];
        for (field, value, least, most) in seconds {
            if let Some(value) = value.filter(|value| !(least..=most).contains(value)) {
                let allowed = format!("{least} to {most} seconds");
                return Err(SpecError::new(field, value.to_string(), allowed));
            }
        }
        if let Some(at) = self.init.iter().position(|sql| sql.trim().is_empty()) {
            let field = format!("connection.init[{at}]");
            return Err(SpecError::new(
                field,
                "an empty statement",
                "SQL, such as SET SESSION sql_mode = ''",
            ));
        }
        let mut targets = self.targets.iter().enumerate();
        targets.try_for_each(|(at, target)| target.check(&format!("connection.targets[{at}]")))
    }

    fn check_tls(&self) -> Result<(), SpecError> {
        let verifies = matches!(self.tls, Tls::VerifyCa | Tls::VerifyIdentity);
        match &self.tls_ca {
            None if verifies => Err(SpecError::new(
                "connection.tls_ca",
                "no file beside a tls mode that verifies",
                "the PEM file of the authority that signed the server's certificate",
            )),
            Some(path) if !verifies => Err(SpecError::new(
                "connection.tls_ca",
                format!("{} beside a tls mode that verifies nothing", path.display()),
                "set connection.tls to verify-ca or verify-identity",
            )),
            _ => Ok(()),
        }
    }
}

impl TargetAddress {
    fn check(&self, field: &str) -> Result<(), SpecError> {
        let found = match (&self.socket, &self.host, self.port) {
            (Some(_), Some(_), _) => "both socket and host are set",
            (None, None, _) => "neither socket nor host is set",
            (Some(_), None, Some(_)) => "a port beside a socket",
            _ => return Ok(()),
        };
        Err(SpecError::new(
            field,
            found,
            "a socket, or a host with or without a port",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    fn read(connection: &str) -> Result<ConnectionSpec, SpecError> {
        let text = format!(
            r#"{{"target": {{"socket": "/s"}}, "workload": {{"name": "w"}}, "connection": {connection}}}"#
        );
        Spec::from_json(&text).map(|spec| spec.connection)
    }

    #[test]
    fn nothing_said_is_every_default() {
        assert_eq!(read("{}").unwrap(), ConnectionSpec::default());
    }

    #[test]
    fn every_field_is_read() {
        let all = read(
            r#"{"tls": "verify-identity", "tls_ca": "/ca.pem", "compression": "zstd", "connect_timeout_s": 1,
                "io_timeout_s": null, "init": ["SET @a = 1"], "isolation": "read-committed", "reconnect": "reconnect",
                "per_transaction": true, "targets": [{"host": "a"}, {"socket": "/b"}], "stagger_s": 0.5}"#,
        )
        .unwrap();
        assert_eq!(
            (all.tls, all.compression),
            (Tls::VerifyIdentity, Compression::Zstd)
        );
        assert_eq!(all.isolation.unwrap().variable(), "READ-COMMITTED");
        assert_eq!(all.io_timeout_s, None);
        let names: Vec<String> = all.targets.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["a:3306", "/b"]);
    }

    #[test]
    fn wrong_values_name_their_field() {
        for (field, json) in [
            ("connection.tls", r#"{"tls": "maybe"}"#),
            ("connection.tls_ca", r#"{"tls": "verify-ca"}"#),
            (
                "connection.tls_ca",
                r#"{"tls": "required", "tls_ca": "/ca.pem"}"#,
            ),
            ("connection.compression", r#"{"compression": "lz4"}"#),
            (
                "connection.connect_timeout_s",
                r#"{"connect_timeout_s": 0}"#,
            ),
            ("connection.io_timeout_s", r#"{"io_timeout_s": 0.01}"#),
            ("connection.init[1]", r#"{"init": ["SELECT 1", " "]}"#),
            ("connection.isolation", r#"{"isolation": "snapshot"}"#),
            ("connection.reconnect", r#"{"reconnect": true}"#),
            ("connection.targets[0]", r#"{"targets": [{}]}"#),
            (
                "connection.targets[1]",
                r#"{"targets": [{"host": "a"}, {"socket": "/b", "port": 1}]}"#,
            ),
            ("connection.stagger_s", r#"{"stagger_s": -1}"#),
        ] {
            let error = read(json).unwrap_err();
            assert_eq!(error.field, field, "{error}");
        }
        let error = read(r#"{"tsl": "off"}"#).unwrap_err();
        assert!(
            error.found.contains("`tsl`") && error.found.contains("`tls`"),
            "{error}"
        );
    }
}
