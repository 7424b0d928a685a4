//! The flags that say how sessions connect, and what they set in the spec.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::spec_args::{Overlay, seconds};

/// What every command that meets a server takes.
#[derive(Debug, Default, Args)]
pub struct ConnectArgs {
    /// Encryption: off, required (any certificate), verify-ca or verify-identity [default: off]
    #[arg(long, help_heading = "Connection", value_name = "MODE")]
    pub tls: Option<String>,
    /// PEM file of the authorities that may sign the server's certificate
    #[arg(long, help_heading = "Connection", value_name = "FILE")]
    pub tls_ca: Option<PathBuf>,
    /// Compression of the protocol: off, zlib or zstd [default: off]
    #[arg(long, help_heading = "Connection", value_name = "METHOD")]
    pub compression: Option<String>,
    /// How long connecting and logging in may take [default: 10s]
    #[arg(long, help_heading = "Connection", value_name = "DURATION")]
    pub connect_timeout: Option<String>,
    /// How long an answer of the server may take, or `never`; not for the statements of a build [default: 60s]
    #[arg(long, help_heading = "Connection", value_name = "DURATION")]
    pub io_timeout: Option<String>,
}

/// What only a drive takes.
#[derive(Debug, Default, Args)]
pub struct SessionArgs {
    /// SQL that every session runs after its login; repeat for more
    #[arg(long, help_heading = "Connection", value_name = "SQL")]
    pub init: Vec<String>,
    /// Isolation level: read-uncommitted, read-committed, repeatable-read or serializable [default: the server's]
    #[arg(long, help_heading = "Connection", value_name = "LEVEL")]
    pub isolation: Option<String>,
    /// What a lost connection means: fail the trial, or reconnect and count it [default: fail]
    #[arg(long, help_heading = "Connection", value_name = "POLICY")]
    pub reconnect: Option<String>,
    /// Connect for every transaction and disconnect after it
    #[arg(long, help_heading = "Connection")]
    pub per_transaction: bool,
    /// Servers that sessions are dealt over in turn: HOST, HOST:PORT or /SOCKET, separated by commas
    #[arg(
        long,
        help_heading = "Connection",
        value_name = "LIST",
        value_delimiter = ','
    )]
    pub targets: Vec<String>,
    /// Pause between the connecting of one session and the next [default: 0s]
    #[arg(long, help_heading = "Connection", value_name = "DURATION")]
    pub stagger: Option<String>,
}

impl ConnectArgs {
    pub fn overlay(&self, spec: &mut Overlay<'_>) -> Result<(), Failure> {
        let ca = self.tls_ca.as_ref().map(|path| path.to_string_lossy());
        spec.put(&["connection", "tls"], self.tls.clone());
        spec.put(&["connection", "tls_ca"], ca.map(String::from));
        spec.put(&["connection", "compression"], self.compression.clone());
        let connect = duration("--connect-timeout", self.connect_timeout.as_deref())?;
        spec.put(&["connection", "connect_timeout_s"], connect);
        let io = match self.io_timeout.as_deref() {
            Some("never") => Some(Value::Null),
            text => duration("--io-timeout", text)?.map(Value::from),
        };
        spec.put(&["connection", "io_timeout_s"], io);
        Ok(())
    }
}

impl SessionArgs {
    pub fn overlay(&self, spec: &mut Overlay<'_>) -> Result<(), Failure> {
        let init = (!self.init.is_empty()).then(|| json!(self.init));
        spec.put(&["connection", "init"], init);
        spec.put(&["connection", "isolation"], self.isolation.clone());
        spec.put(&["connection", "reconnect"], self.reconnect.clone());
        let per_transaction = self.per_transaction.then_some(true);
        spec.put(&["connection", "per_transaction"], per_transaction);
        let targets = self.targets()?;
        spec.put(
            &["connection", "targets"],
            (!targets.is_empty()).then_some(targets),
        );
        let stagger = duration("--stagger", self.stagger.as_deref())?;
        spec.put(&["connection", "stagger_s"], stagger);
        Ok(())
    }

    /// The servers as the spec names them.
    pub fn targets(&self) -> Result<Vec<Value>, Failure> {
        self.targets.iter().map(|text| target(text)).collect()
    }
}

fn duration(flag: &str, text: Option<&str>) -> Result<Option<f64>, Failure> {
    text.map(|text| seconds(flag, text)).transpose()
}

/// `/path`, `host`, `host:port` or `[address]:port`.
fn target(text: &str) -> Result<Value, Failure> {
    let wrong = || {
        Failure::usage(format!(
            "--targets {text}: not a server\nhint: write HOST, HOST:PORT, [ADDRESS]:PORT or /SOCKET"
        ))
    };
    if text.starts_with('/') {
        return Ok(json!({"socket": text}));
    }
    let (host, port) = match text.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(Some((address, ""))) => (address, None),
        Some(Some((address, rest))) => (address, Some(rest.strip_prefix(':').ok_or_else(wrong)?)),
        Some(None) => return Err(wrong()),
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = port
        .map(|port| port.parse::<u16>().map_err(|_| wrong()))
        .transpose()?;
    if host.is_empty() {
        return Err(wrong());
    }
    Ok(json!({"host": host, "port": port}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_read_as_they_are_written() {
        for (text, value) in [
            ("/run/s.sock", json!({"socket": "/run/s.sock"})),
            ("db1", json!({"host": "db1", "port": null})),
            ("db1:3307", json!({"host": "db1", "port": 3307})),
            ("[::1]:3307", json!({"host": "::1", "port": 3307})),
            ("[::1]", json!({"host": "::1", "port": null})),
        ] {
            assert_eq!(target(text).unwrap(), value);
        }
        for text in ["", ":1", "db:x", "db:70000", "[::1", "[::1]3307", "::1"] {
            let error = format!("{:?}", target(text).unwrap_err());
            assert!(
                error.contains("--targets") && error.contains("hint:"),
                "{error}"
            );
        }
    }
}
