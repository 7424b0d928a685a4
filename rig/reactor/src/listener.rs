//! A socket that takes connections.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::task::Poll;

use socket2::{Domain, SockAddr, SockRef, Socket, Type};

use crate::address::Endpoint;
use crate::stream::{Stream, Watched};
use crate::sys;

/// A listening socket on this thread's reactor.
pub struct Listener {
    watched: Watched,
    is_tcp: bool,
}

impl Listener {
    /// Listen at `endpoint`; port 0 lets the kernel choose. TCP listeners of several threads may share one port, and
    /// the kernel deals connections out among them.
    ///
    /// # Panics
    /// When the thread runs no reactor.
    pub fn bind(endpoint: &Endpoint) -> io::Result<Self> {
        let socket = match endpoint {
            Endpoint::Tcp(address) => {
                let socket = Socket::new(
                    Domain::for_address(*address),
                    Type::STREAM.nonblocking(),
                    None,
                )?;
                socket.set_reuse_address(true)?;
                socket.set_reuse_port(true)?;
                socket.bind(&(*address).into())?;
                socket
            }
            Endpoint::Unix(path) => {
                let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None)?;
                socket.bind(&SockAddr::unix(path)?)?;
                socket
            }
        };
        socket.listen(libc::SOMAXCONN)?;
        let is_tcp = matches!(endpoint, Endpoint::Tcp(_));
        Ok(Self {
            watched: Watched::new(socket.into(), sys::WATCH_READ)?,
            is_tcp,
        })
    }

    /// The address in use, or nothing for a Unix socket.
    pub fn local_address(&self) -> io::Result<Option<SocketAddr>> {
        Ok(SockRef::from(&self.watched.fd).local_addr()?.as_socket())
    }

    /// Take the next connection.
    pub async fn accept(&self) -> io::Result<Stream> {
        let socket = poll_fn(|_| self.poll_accept()).await?;
        Stream::from_socket(socket, self.is_tcp)
    }

    fn poll_accept(&self) -> Poll<io::Result<Socket>> {
        loop {
            std::task::ready!(self.watched.poll(sys::READABLE))?;
            match accept(self.watched.fd.as_raw_fd()) {
                Ok(socket) => return Poll::Ready(Ok(socket)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.watched.clear(sys::READABLE);
                }
                // The peer gave up between its arrival and now.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

fn accept(listener: std::os::fd::RawFd) -> io::Result<Socket> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: the peer's address is not asked for; a non-negative result is a descriptor that nobody else owns.
    unsafe {
        let fd = libc::accept4(listener, std::ptr::null_mut(), std::ptr::null_mut(), flags);
        if fd < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(OwnedFd::from_raw_fd(fd).into())
        }
    }
}
