//! The few system calls of the hot path, as safe functions.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

pub(crate) use libc::epoll_event as Event;

/// What a socket is watched for: data and the peer's end, reported once per change.
pub(crate) const WATCH_READ: u32 =
    (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLET).cast_unsigned();
/// The same, and room to write.
pub(crate) const WATCH_BOTH: u32 = WATCH_READ | libc::EPOLLOUT.cast_unsigned();

/// Events after which a read does not block: data, the peer's end, a failure.
pub(crate) const READABLE: u32 =
    (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR).cast_unsigned();
/// Events after which a write does not block: room, a failure.
pub(crate) const WRITABLE: u32 = (libc::EPOLLOUT | libc::EPOLLHUP | libc::EPOLLERR).cast_unsigned();
/// The part of [`READABLE`] that a read uses up; the peer's end stays true.
pub(crate) const DATA: u32 = libc::EPOLLIN.cast_unsigned();

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

pub(crate) fn epoll_create() -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointer; a non-negative result is a descriptor that nobody else owns.
    unsafe {
        Ok(OwnedFd::from_raw_fd(check(libc::epoll_create1(
            libc::EPOLL_CLOEXEC,
        ))?))
    }
}

pub(crate) fn timerfd_create() -> io::Result<OwnedFd> {
    let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
    // SAFETY: as above.
    unsafe {
        Ok(OwnedFd::from_raw_fd(check(libc::timerfd_create(
            libc::CLOCK_MONOTONIC,
            flags,
        ))?))
    }
}

/// Let `timer` expire once, when `CLOCK_MONOTONIC` reaches `deadline_ns`.
pub(crate) fn timerfd_arm(timer: BorrowedFd<'_>, deadline_ns: u64) -> io::Result<()> {
    // Zero would disarm the timer; 1 ns after boot is as much in the past.
    let deadline_ns = i64::try_from(deadline_ns.max(1)).unwrap_or(i64::MAX);
    let value = libc::timespec {
        tv_sec: deadline_ns / 1_000_000_000,
        tv_nsec: deadline_ns % 1_000_000_000,
    };
    let spec = libc::itimerspec {
        it_interval: libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        },
        it_value: value,
    };
    // SAFETY: `spec` outlives the call and the old value is not asked for.
    let result = unsafe {
        libc::timerfd_settime(
            timer.as_raw_fd(),
            libc::TFD_TIMER_ABSTIME,
            &raw const spec,
            std::ptr::null_mut(),
        )
    };
    check(result).map(drop)
}

pub(crate) fn epoll_add(epoll: BorrowedFd<'_>, fd: RawFd, events: u32, key: u64) -> io::Result<()> {
    epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, events, key)
}

pub(crate) fn epoll_modify(
    epoll: BorrowedFd<'_>,
    fd: RawFd,
    events: u32,
    key: u64,
) -> io::Result<()> {
    epoll_ctl(epoll, libc::EPOLL_CTL_MOD, fd, events, key)
}

fn epoll_ctl(
    epoll: BorrowedFd<'_>,
    operation: libc::c_int,
    fd: RawFd,
    events: u32,
    key: u64,
) -> io::Result<()> {
    let mut event = Event { events, u64: key };
    // SAFETY: `event` outlives the call; a stale descriptor is an error, not undefined behaviour.
    check(unsafe { libc::epoll_ctl(epoll.as_raw_fd(), operation, fd, &raw mut event) }).map(drop)
}

/// Wait for events: for ever, or not at all when `poll` is set. A signal counts as no event.
pub(crate) fn epoll_wait<'e>(
    epoll: BorrowedFd<'_>,
    events: &'e mut [Event],
    poll: bool,
) -> io::Result<&'e [Event]> {
    let capacity = libc::c_int::try_from(events.len()).unwrap_or(libc::c_int::MAX);
    let timeout_ms = if poll { 0 } else { -1 };
    // SAFETY: the kernel writes at most `capacity` events into the slice.
    let result = check(unsafe {
        libc::epoll_wait(epoll.as_raw_fd(), events.as_mut_ptr(), capacity, timeout_ms)
    });
    match result {
        Ok(count) => Ok(&events[..count.cast_unsigned() as usize]),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(&[]),
        Err(error) => Err(error),
    }
}

/// The system's error number. An `io::Error` is made of it only where somebody looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno(i32);

impl Errno {
    pub(crate) fn would_block(self) -> bool {
        self.0 == libc::EAGAIN
    }
}

impl From<Errno> for io::Error {
    #[cold]
    fn from(errno: Errno) -> Self {
        Self::from_raw_os_error(errno.0)
    }
}

/// One `recv`, repeated only when a signal cut it short.
///
/// It and [`send`] go past glibc's functions of these names: those are cancellation points, which in a process of
/// several threads costs two atomic operations a call, about 2 % of what a query costs a client.
#[inline]
pub(crate) fn recv(fd: RawFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    let nobody = std::ptr::null_mut::<libc::c_void>();
    loop {
        // SAFETY: the kernel writes at most `buffer.len()` bytes into the buffer, and no address.
        let result = unsafe {
            libc::syscall(
                libc::SYS_recvfrom,
                fd,
                buffer.as_mut_ptr(),
                buffer.len(),
                0,
                nobody,
                nobody,
            )
        };
        if let Some(outcome) = transferred(result) {
            return outcome;
        }
    }
}

/// One `send` that raises no SIGPIPE, repeated only when a signal cut it short.
#[inline]
pub(crate) fn send(fd: RawFd, bytes: &[u8]) -> Result<usize, Errno> {
    let (flags, nobody) = (libc::MSG_NOSIGNAL, std::ptr::null::<libc::c_void>());
    loop {
        // SAFETY: the kernel reads at most `bytes.len()` bytes of the slice, and no address.
        let result = unsafe {
            libc::syscall(
                libc::SYS_sendto,
                fd,
                bytes.as_ptr(),
                bytes.len(),
                flags,
                nobody,
                0,
            )
        };
        if let Some(outcome) = transferred(result) {
            return outcome;
        }
    }
}

/// The outcome of a transfer, or nothing when a signal interrupted it.
#[inline]
fn transferred(result: libc::c_long) -> Option<Result<usize, Errno>> {
    if let Ok(count) = usize::try_from(result) {
        return Some(Ok(count));
    }
    let errno = io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or_default();
    if errno == libc::EINTR {
        None
    } else {
        Some(Err(Errno(errno)))
    }
}
