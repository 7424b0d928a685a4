//! The MySQL client protocol, as much of it as a load generator speaks.
//!
//! The core knows no socket: [`frame`] cuts bytes into packets, [`handshake`] and [`auth`] say what to answer,
//! [`response`] walks through result sets, [`row`] finds values inside a packet. [`Connection`] is the driver that feeds
//! it from a `dyno_reactor` stream.
//!
//! The hot path allocates nothing: one read buffer and one write buffer a connection, rows visited where they lie,
//! statements encoded straight into the write buffer.

pub mod auth;
pub mod columns;
pub mod compress;
mod connect;
mod connection;
pub mod cursor;
mod error;
pub mod frame;
pub mod handshake;
mod options;
pub mod response;
pub mod row;
mod secret;
pub mod sql;
mod statement;
mod tls;
mod transport;
mod value;

pub use connection::{Connection, ConnectionInfo, Table};
pub use dyno_reactor::Address;
pub use error::{Error, Result, ServerError};
pub use options::{Compression, ConnectOptions, TlsMode};
pub use response::Outcome;
pub use row::{BinaryRow, TextRow};
pub use secret::Secret;
pub use statement::Statement;
pub use value::Value;
