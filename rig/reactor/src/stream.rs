//! A connected socket, TCP or Unix.

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::task::{Poll, ready};
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, Type};

use crate::address::Endpoint;
use crate::clock::duration_ns;
use crate::executor::{Core, NO_TASK};
use crate::sources::{Readiness, SourceKey};
use crate::sys;
use crate::time::{sleep, timeout};

/// A descriptor known to a reactor's epoll; closing it ends the registration.
pub(crate) struct Watched {
    pub(crate) fd: OwnedFd,
    core: Rc<Core>,
    key: SourceKey,
    has_timeout: bool,
}

impl Watched {
    pub(crate) fn new(fd: OwnedFd, events: u32) -> io::Result<Self> {
        let core = Core::current();
        let key = core.sources.borrow_mut().insert();
        let watched = Self {
            fd,
            core,
            key,
            has_timeout: false,
        };
        sys::epoll_add(
            watched.core.epoll().as_fd(),
            watched.fd.as_raw_fd(),
            events,
            key.to_u64(),
        )?;
        Ok(watched)
    }

    fn watch(&self, events: u32) -> io::Result<()> {
        sys::epoll_modify(
            self.core.epoll().as_fd(),
            self.fd.as_raw_fd(),
            events,
            self.key.to_u64(),
        )
    }

    #[inline]
    pub(crate) fn poll(&self, interest: u32) -> Poll<io::Result<()>> {
        let task = self.core.current_task();
        match self
            .core
            .sources
            .borrow_mut()
            .poll(self.key, interest, task)
        {
            Readiness::Ready => Poll::Ready(Ok(())),
            Readiness::TimedOut => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Readiness::Wait if task == NO_TASK => Poll::Ready(Err(io::Error::other(
                "the reactor of this socket does not run",
            ))),
            Readiness::Wait => Poll::Pending,
        }
    }

    /// A future begins to wait for this socket.
    #[inline]
    pub(crate) fn begin_wait(&self) {
        if self.has_timeout {
            self.core.sources.borrow_mut().begin_wait(self.key);
        }
    }

    fn set_timeout(&mut self, limit: Option<Duration>) {
        self.has_timeout = limit.is_some();
        let timeout_ns = limit.map_or(u64::MAX, duration_ns);
        self.core
            .sources
            .borrow_mut()
            .set_timeout(self.key, timeout_ns);
        if self.has_timeout {
            self.core.start_sweeping();
        }
    }

    #[inline]
    pub(crate) fn clear(&self, events: u32) {
        self.core.sources.borrow_mut().clear(self.key, events);
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.core.sources.borrow_mut().remove(self.key);
    }
}

/// A non-blocking connected socket on this thread's reactor. Dropping it closes the connection.
pub struct Stream {
    watched: Watched,
    /// TCP reports room to write only after a write found none, so it can be watched for it always. A Unix socket
    /// reports it each time the peer reads, so it is watched only while a write waits.
    watch_writes: bool,
}

impl Stream {
    /// Connect, without waiting longer than `limit`. TCP sockets get `TCP_NODELAY`.
    ///
    /// # Panics
    /// When the thread runs no reactor.
    pub async fn connect(endpoint: &Endpoint, limit: Duration) -> io::Result<Self> {
        match timeout(limit, Self::connect_unlimited(endpoint)).await {
            Ok(result) => result,
            Err(_) => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!(
                    "no connection to {endpoint} within {} ms",
                    limit.as_millis()
                ),
            )),
        }
    }

    async fn connect_unlimited(endpoint: &Endpoint) -> io::Result<Self> {
        match endpoint {
            Endpoint::Unix(path) => {
                let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None)?;
                let address = SockAddr::unix(path)?;
                // A Unix socket whose backlog is full says "try again" instead of letting the caller wait.
                let mut pause = Duration::from_micros(200);
                while let Err(error) = socket.connect(&address) {
                    if error.kind() != io::ErrorKind::WouldBlock {
                        return Err(error);
                    }
                    sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_millis(10));
                }
                Self::from_socket(socket, false)
            }
            Endpoint::Tcp(address) => {
                let socket = Socket::new(
                    Domain::for_address(*address),
                    Type::STREAM.nonblocking(),
                    None,
                )?;
                match socket.connect(&(*address).into()) {
                    Ok(()) => {}
                    Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
                    Err(error) => return Err(error),
                }
                let stream = Self::from_socket(socket, true)?;
                poll_fn(|_| stream.watched.poll(sys::WRITABLE)).await?;
                match socket2::SockRef::from(&stream.watched.fd).take_error()? {
                    Some(error) => Err(error),
                    None => Ok(stream),
                }
            }
        }
    }

    /// Take over one end of a Unix socket pair.
    pub fn from_unix(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Self::from_socket(Socket::from(OwnedFd::from(stream)), false)
    }

    /// Take over a socket that does not block.
    pub(crate) fn from_socket(socket: Socket, is_tcp: bool) -> io::Result<Self> {
        if is_tcp {
            socket.set_tcp_nodelay(true)?;
        }
        let events = if is_tcp {
            sys::WATCH_BOTH
        } else {
            sys::WATCH_READ
        };
        Ok(Self {
            watched: Watched::new(socket.into(), events)?,
            watch_writes: is_tcp,
        })
    }

    /// From now on a read or write that waits longer than `limit` fails with [`io::ErrorKind::TimedOut`], at most a
    /// tenth of a second late. Costs next to nothing while the peer answers.
    pub fn set_timeout(&mut self, limit: Option<Duration>) {
        self.watched.set_timeout(limit);
    }

    /// Wait until a read would not block.
    pub async fn readable(&self) -> io::Result<()> {
        self.watched.begin_wait();
        poll_fn(|_| self.watched.poll(sys::READABLE)).await
    }

    /// Read once into `buffer`, after the kernel reported data; 0 is the end of the stream.
    #[inline]
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.watched.begin_wait();
        poll_fn(|_| self.poll_read(buffer)).await
    }

    #[inline]
    fn poll_read(&mut self, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.watched.poll(sys::READABLE))?;
            match sys::recv(self.watched.fd.as_raw_fd(), buffer) {
                Ok(count) => {
                    if count < buffer.len() {
                        // The kernel had no more; whatever comes next is a new event.
                        self.watched.clear(sys::DATA);
                    }
                    return Poll::Ready(Ok(count));
                }
                Err(errno) if errno.would_block() => {
                    self.watched.clear(sys::READABLE);
                }
                Err(errno) => return Poll::Ready(Err(errno.into())),
            }
        }
    }

    /// Write as much of `bytes` as the kernel has room for, without waiting; returns how much that was.
    #[inline]
    pub fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match sys::send(self.watched.fd.as_raw_fd(), bytes) {
            Ok(count) => Ok(count),
            Err(errno) if errno.would_block() => Ok(0),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Write all of `bytes`: at once where the kernel has room, waiting where it has none.
    pub async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut left = bytes;
        while !left.is_empty() {
            match self.write_now(left)? {
                0 => self.writable().await?,
                count => left = &left[count..],
            }
        }
        Ok(())
    }

    /// Wait until the kernel has room again after a write found none.
    async fn writable(&self) -> io::Result<()> {
        self.watched.begin_wait();
        self.watched.clear(sys::WRITABLE);
        if !self.watch_writes {
            self.watched.watch(sys::WATCH_BOTH)?;
        }
        let result = poll_fn(|_| self.watched.poll(sys::WRITABLE)).await;
        if !self.watch_writes {
            self.watched.watch(sys::WATCH_READ)?;
        }
        result
    }
}
