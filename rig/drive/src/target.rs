//! From a spec to the options of its connections.

use std::time::Duration;

use dyno_record::{Compression, ConnectionSpec, Spec, SpecError, TargetAddress, Tls};
use dyno_wire::{Address, Compression as WireCompression, ConnectOptions, Secret, TlsMode};

/// The options of a connection to the target of a checked spec, password included. They do not hold what belongs to
/// the sessions of a drive only: their time-out, their isolation level, their init statements, their other addresses.
pub fn connect_options(spec: &Spec) -> Result<ConnectOptions, SpecError> {
    let target = &spec.target;
    let place = TargetAddress {
        socket: target.socket.clone(),
        host: target.host.clone(),
        port: target.port,
    };
    let address = address(&place).ok_or_else(|| {
        SpecError::new(
            "target",
            "neither socket nor host is set",
            "set one of them",
        )
    })?;
    let mut options = ConnectOptions::new(address, &target.user);
    options.password = target.password()?.map(Secret::new);
    options.database = Some(target.database.clone());
    options.tls = tls(&spec.connection)?;
    options.compression = compression(spec.connection.compression);
    options.connect_timeout = Duration::from_secs_f64(spec.connection.connect_timeout_s);
    Ok(options)
}

/// Where a checked address points to.
pub(crate) fn address(place: &TargetAddress) -> Option<Address> {
    match (&place.socket, &place.host) {
        (Some(socket), _) => Some(Address::Unix(socket.clone())),
        (None, Some(host)) => Some(Address::Tcp {
            host: host.clone(),
            port: place.port.unwrap_or(3306),
        }),
        (None, None) => None,
    }
}

fn tls(connection: &ConnectionSpec) -> Result<TlsMode, SpecError> {
    let ca = || {
        let path = connection.tls_ca.clone();
        // a file that cannot be read is an error of the spec and not of each session
        let read = path.as_ref().map(std::fs::File::open);
        match (path, read) {
            (Some(path), Some(Ok(_))) => Ok(path),
            (path, read) => {
                let path = path.map_or_else(|| "no file".into(), |path| path.display().to_string());
                let why = read
                    .and_then(Result::err)
                    .map_or_else(String::new, |e| format!(": {e}"));
                Err(SpecError::new(
                    "connection.tls_ca",
                    path + &why,
                    "a readable PEM file of the authority that signed the server's certificate",
                ))
            }
        }
    };
    Ok(match connection.tls {
        Tls::Off => TlsMode::Off,
        Tls::Required => TlsMode::Required,
        Tls::VerifyCa => TlsMode::VerifyCa(ca()?),
        Tls::VerifyIdentity => TlsMode::VerifyIdentity(ca()?),
    })
}

/// Zstandard's own default level.
const ZSTD_LEVEL: u8 = 3;

fn compression(compression: Compression) -> WireCompression {
    match compression {
        Compression::Off => WireCompression::Off,
        Compression::Zlib => WireCompression::Zlib,
        Compression::Zstd => WireCompression::Zstd { level: ZSTD_LEVEL },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(connection: &str) -> Result<ConnectOptions, SpecError> {
        let text = format!(
            r#"{{"target": {{"host": "db"}}, "workload": {{"name": "w"}}, "connection": {connection}}}"#
        );
        connect_options(&Spec::from_json(&text).unwrap())
    }

    #[test]
    fn the_options_are_those_of_the_spec() {
        let options =
            options(r#"{"tls": "required", "compression": "zstd", "connect_timeout_s": 2.5}"#)
                .unwrap();
        assert_eq!(options.tls, TlsMode::Required);
        assert_eq!(options.compression, WireCompression::Zstd { level: 3 });
        assert_eq!(options.connect_timeout, Duration::from_millis(2500));
        assert_eq!(
            options.address,
            Address::Tcp {
                host: "db".into(),
                port: 3306
            }
        );
    }

    #[test]
    fn a_missing_authority_is_an_error_of_the_spec() {
        let error = options(r#"{"tls": "verify-ca", "tls_ca": "/no/such/ca.pem"}"#).unwrap_err();
        assert_eq!(error.field, "connection.tls_ca");
        assert!(error.found.contains("/no/such/ca.pem"), "{error}");
    }
}
