//! Where a server listens: as written by a user, and as the kernel wants it.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

/// A server's address as a user writes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// A host name or IP address, and a port.
    Tcp {
        /// Host name or literal IP address.
        host: String,
        /// TCP port.
        port: u16,
    },
    /// The path of a Unix socket.
    Unix(PathBuf),
}

/// An address that needs no more look-ups.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// IP address and port.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl Address {
    /// Whether it is a Unix socket.
    #[must_use]
    pub const fn is_local(&self) -> bool {
        matches!(self, Self::Unix(_))
    }

    /// Every endpoint that this address stands for, in the resolver's order. Blocks while a host name is looked up.
    pub fn resolve(&self) -> io::Result<Vec<Endpoint>> {
        match self {
            Self::Unix(path) => Ok(vec![Endpoint::Unix(path.clone())]),
            Self::Tcp { host, port } => {
                if let Ok(ip) = host.parse::<IpAddr>() {
                    return Ok(vec![Endpoint::Tcp(SocketAddr::new(ip, *port))]);
                }
                let found: Vec<_> = (host.as_str(), *port)
                    .to_socket_addrs()?
                    .map(Endpoint::Tcp)
                    .collect();
                if found.is_empty() {
                    return Err(io::Error::new(
                        io::ErrorKind::NotFound,
                        format!("host {host} has no address"),
                    ));
                }
                Ok(found)
            }
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_addresses_need_no_resolver() {
        let address = Address::Tcp {
            host: "::1".into(),
            port: 3306,
        };
        assert_eq!(
            address.resolve().unwrap(),
            [Endpoint::Tcp("[::1]:3306".parse().unwrap())]
        );
        assert_eq!(address.to_string(), "[::1]:3306");
    }
}
