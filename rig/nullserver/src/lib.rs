//! A server that speaks the MySQL protocol and does nothing.
//!
//! It answers the statements of the OLTP and TPC-C workloads with canned rows of the right shape, as fast as
//! one thread can, so that whatever limits a client is the client itself. Any account, any password and any
//! database are welcome. It stores nothing, checks nothing and has no transactions.
//!
//! For tests of clients it can also [stall](Stall), write down [when statements arrived](Options::arrivals) and
//! [misbehave](Fault).
#![warn(missing_docs)]

mod canned;
mod fault;
mod protocol;
mod server;
mod session;
mod shape;
mod stall;

use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

pub use dyno_reactor::Endpoint;
pub use fault::{Fault, UnknownFault};
pub use stall::{Stall, StallError};

/// How a null server behaves.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The CPU to run on; none: wherever the kernel likes.
    pub cpu: Option<usize>,
    /// A time without answers.
    pub stall: Option<Stall>,
    /// A file for the arrival time of every statement (`COM_QUERY`, `COM_STMT_EXECUTE`) in the order of their
    /// arrival: nanoseconds of `CLOCK_MONOTONIC`, each a 64-bit little-endian number. Statements that came
    /// with one read share its time. Complete whenever no client is connected.
    pub arrivals: Option<PathBuf>,
    /// What to do wrong.
    pub fault: Option<Fault>,
}

/// Serves at `endpoint` on the calling thread, for ever. `ready` is told the address in use as soon as clients
/// may connect: port 0 lets the kernel choose.
///
/// Fails when the address cannot be used, the arrivals file cannot be made or the CPU is not there.
pub fn serve(
    endpoint: &Endpoint,
    options: &Options,
    ready: impl FnOnce(&Endpoint),
) -> io::Result<()> {
    server::run(endpoint, options, None, ready)
}

/// A null server on a thread of its own, for tests. Dropping it ends it and closes its connections.
pub struct Background {
    endpoint: Endpoint,
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Background {
    /// Starts to serve; clients may connect as soon as this returns.
    pub fn start(endpoint: Endpoint, options: Options) -> io::Result<Self> {
        let (stop, stopped) = UnixStream::pair()?;
        let (tell, told) = channel();
        let thread = std::thread::Builder::new()
            .name("dyno-null".into())
            .spawn(move || {
                server::run(&endpoint, &options, Some(stopped), |endpoint| {
                    let _ = tell.send(endpoint.clone());
                })
            })?;
        // when it fails, it drops its end without having told an address
        match told.recv() {
            Ok(endpoint) => Ok(Self {
                endpoint,
                stop: Some(stop),
                thread: Some(thread),
            }),
            Err(_) => match thread.join() {
                Ok(Err(error)) => Err(error),
                _ => Err(io::Error::other("the null server ended before it served")),
            },
        }
    }

    /// A server on a free port of 127.0.0.1.
    pub fn on_loopback(options: Options) -> io::Result<Self> {
        Self::start(Endpoint::Tcp(([127, 0, 0, 1], 0).into()), options)
    }

    /// Where it serves.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The TCP port; none on a Unix socket.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        match &self.endpoint {
            Endpoint::Tcp(address) => Some(address.port()),
            Endpoint::Unix(_) => None,
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
