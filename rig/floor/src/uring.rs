//! The same client through `io_uring`: what would its way of waiting save?
//!
//! A send and a receive of each query are queued as a linked pair and go to the kernel, with those of all other
//! connections that are due, in one `io_uring_enter`, which also waits: no system call a query is left.

use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use io_uring::{IoUring, opcode, squeue, types};

/// What a send's completion carries; only failed ones complete.
const SENT: u64 = u64::MAX;
/// Room for one reply, or for the part of it that came.
const BUFFER: usize = 1024;

/// All connections and the ring that serves them.
pub struct Floor {
    sockets: Vec<TcpStream>,
    /// Bytes of the reply that each connection still waits for.
    missing: Vec<usize>,
    reply_bytes: usize,
    request: Vec<u8>,
    buffers: Vec<[u8; BUFFER]>,
    ring: IoUring,
}

impl Floor {
    /// Fails where the kernel or a container's profile does not allow `io_uring`.
    pub fn new(sockets: Vec<TcpStream>, reply_bytes: usize) -> io::Result<Self> {
        let entries = u32::try_from(2 * sockets.len())
            .unwrap_or(u32::MAX)
            .clamp(64, 32_768);
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(entries.next_power_of_two())?;
        Ok(Self {
            missing: vec![reply_bytes; sockets.len()],
            buffers: vec![[0; BUFFER]; sockets.len()],
            sockets,
            reply_bytes,
            request: crate::execute(),
            ring,
        })
    }

    /// Queues the first query of each connection.
    pub fn start(&mut self) -> io::Result<()> {
        (0..self.sockets.len()).try_for_each(|index| {
            self.queue_send(index)?;
            self.queue_receive(index)
        })
    }

    fn queue_send(&mut self, index: usize) -> io::Result<()> {
        let socket = types::Fd(self.sockets[index].as_raw_fd());
        let length = u32::try_from(self.request.len()).unwrap_or(u32::MAX);
        let send = opcode::Send::new(socket, self.request.as_ptr(), length)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build()
            .flags(squeue::Flags::IO_LINK | squeue::Flags::SKIP_SUCCESS)
            .user_data(SENT);
        self.queue(&send)
    }

    fn queue_receive(&mut self, index: usize) -> io::Result<()> {
        let socket = types::Fd(self.sockets[index].as_raw_fd());
        let buffer = self.buffers[index].as_mut_ptr();
        let receive = opcode::Recv::new(socket, buffer, 1024)
            .build()
            .user_data(index as u64);
        self.queue(&receive)
    }

    fn queue(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: request and buffers live as long as the ring; a connection has one receive under way at a time
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.ring.submit()?;
        }
        Ok(())
    }

    /// Runs for `time` and returns the number of whole replies.
    pub fn drive(&mut self, time: Duration) -> io::Result<u64> {
        let end = Instant::now() + time;
        let mut queries = 0;
        let mut due = Vec::with_capacity(self.sockets.len());
        while Instant::now() < end {
            self.ring.submit_and_wait(1)?;
            due.clear();
            due.extend(self.ring.completion().map(|c| (c.user_data(), c.result())));
            for &(index, result) in &due {
                queries += u64::from(self.completed(index, result)?);
            }
        }
        Ok(queries)
    }

    /// Takes what came, and queues the next query when that was the end of a reply.
    fn completed(&mut self, index: u64, result: i32) -> io::Result<bool> {
        let count = usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result))?;
        if index == SENT {
            return Err(io::Error::other(format!(
                "only {count} bytes of a request were sent"
            )));
        }
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        if count == 0 || count > self.missing[index] {
            return Err(io::Error::other(format!(
                "a reply of {} bytes was due, {count} came",
                self.missing[index]
            )));
        }
        self.missing[index] -= count;
        let whole = self.missing[index] == 0;
        if whole {
            self.missing[index] = self.reply_bytes;
            self.queue_send(index)?;
        }
        self.queue_receive(index)?;
        Ok(whole)
    }
}
