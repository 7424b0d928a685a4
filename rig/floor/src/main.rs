//! The floor: the least that a client can spend on a prepared point select.
//!
//! One thread, one epoll, N connections. Each connection sends the same pre-encoded `COM_STMT_EXECUTE`, receives
//! the whole reply and sends it again: two system calls a query and a share of one `epoll_wait`. No histograms, no
//! clock, no parsing. The rig is measured against this (`bench/generator.py`), not against an idea of fast.
//!
//! `--io uring` does the same through `io_uring`, to see what the other way of waiting would save.
//!
//! `dyno-floor timer` is the floor of an open loop: how late a bare timerfd loop wakes up on this host.
//!
//! For the null server only: a reply must be as long each time as it was the first time.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

mod timer;
mod uring;

const SQL: &[u8] = b"SELECT c FROM sbtest1 WHERE id=?";
const USAGE: &str = "usage: dyno-floor --port PORT [--connections N] [--warmup SECONDS] [--seconds SECONDS] [--cpu CPU] [--io epoll|uring]";

struct Options {
    port: u16,
    connections: usize,
    warmup: Duration,
    measure: Duration,
    cpu: Option<usize>,
    uring: bool,
}

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let result = if arguments.next_if_eq("timer").is_some() {
        timer::run(arguments)
    } else {
        parse(arguments).and_then(|options| run(&options))
    };
    match result {
        Ok(line) => println!("{line}"),
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        port: 0,
        connections: 16,
        warmup: Duration::from_millis(500),
        measure: Duration::from_secs(3),
        cpu: None,
        uring: false,
    };
    while let Some(name) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{name} needs a value\nhint: {USAGE}"))?;
        let wrong = || format!("{name}: cannot read `{value}`\nhint: {USAGE}");
        match name.as_str() {
            "--port" => options.port = value.parse().map_err(|_| wrong())?,
            "--connections" => options.connections = value.parse().map_err(|_| wrong())?,
            "--warmup" => options.warmup = seconds(&value).ok_or_else(wrong)?,
            "--seconds" => options.measure = seconds(&value).ok_or_else(wrong)?,
            "--cpu" => options.cpu = Some(value.parse().map_err(|_| wrong())?),
            "--io" if value == "epoll" => options.uring = false,
            "--io" if value == "uring" => options.uring = true,
            "--io" => return Err(wrong()),
            _ => return Err(format!("there is no option {name}\nhint: {USAGE}")),
        }
    }
    if options.port == 0 || options.connections == 0 {
        return Err(format!(
            "a port and at least one connection are needed\nhint: {USAGE}"
        ));
    }
    Ok(options)
}

fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

fn run(options: &Options) -> Result<String, String> {
    if let Some(cpu) = options.cpu {
        pin(cpu).map_err(|error| format!("cannot run on CPU {cpu}: {error}"))?;
    }
    raise_file_limit();
    let text = |error: io::Error| format!("127.0.0.1:{}: {error}", options.port);
    let mut sockets = Vec::with_capacity(options.connections);
    for _ in 0..options.connections {
        sockets.push(connect(options.port).map_err(text)?);
    }
    let reply_bytes = first_reply(&mut sockets[0]).map_err(text)?;
    let mut drive: Box<dyn FnMut(Duration) -> io::Result<u64>> = if options.uring {
        let mut floor = uring::Floor::new(sockets, reply_bytes).map_err(text)?;
        floor.start().map_err(text)?;
        Box::new(move |time| floor.drive(time))
    } else {
        let mut floor = Floor::new(sockets, reply_bytes).map_err(text)?;
        floor.start().map_err(text)?;
        Box::new(move |time| floor.drive(time))
    };
    drive(options.warmup).map_err(text)?;
    let (cpu_before, begun) = (cpu_us(), Instant::now());
    let queries = drive(options.measure).map_err(text)?;
    let (cpu_us, elapsed_s) = (cpu_us() - cpu_before, begun.elapsed().as_secs_f64());
    Ok(format!(
        r#"{{"connections": {}, "queries": {queries}, "seconds": {elapsed_s:.6}, "queries_per_s": {:.1}, "cpu_us": {cpu_us}, "cpu_us_per_query": {:.4}}}"#,
        options.connections,
        queries as f64 / elapsed_s,
        cpu_us as f64 / queries as f64,
    ))
}

/// Connects, logs in and prepares [`SQL`], which becomes statement 1.
fn connect(port: u16) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    read_packet(&mut stream)?;
    // long password, protocol 4.1, secure connection, EOF packets deprecated; packets of 16 MiB; utf8mb4
    let capabilities = 1_u32 | 1 << 9 | 1 << 15 | 1 << 24;
    let mut login = capabilities.to_le_bytes().to_vec();
    login.extend_from_slice(&(1_u32 << 24).to_le_bytes());
    login.push(45);
    login.extend_from_slice(&[0; 23]);
    login.extend_from_slice(b"floor\0\0");
    stream.write_all(&packet(1, &login))?;
    expect_ok(&mut stream)?;
    stream.write_all(&packet(0, &[b"\x16", SQL].concat()))?;
    expect_ok(&mut stream)?;
    // the definitions of one parameter and one column
    read_packet(&mut stream)?;
    read_packet(&mut stream)?;
    Ok(stream)
}

/// `COM_STMT_EXECUTE` of statement 1 with the parameter 5000, a 64-bit integer.
fn execute() -> Vec<u8> {
    let mut payload = vec![0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 8, 0];
    payload.extend_from_slice(&5000_i64.to_le_bytes());
    packet(0, &payload)
}

/// Executes once, and says how many bytes the reply has: column count, column, row, end.
fn first_reply(stream: &mut TcpStream) -> io::Result<usize> {
    stream.write_all(&execute())?;
    let mut bytes = 0;
    for _ in 0..4 {
        bytes += 4 + read_packet(stream)?.len();
    }
    Ok(bytes)
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, ..] = payload.len().to_le_bytes();
    [&[a, b, c, sequence], payload].concat()
}

fn read_packet(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut header = [0; 4];
    stream.read_exact(&mut header)?;
    let [a, b, c, _] = header;
    let mut payload = vec![0; u32::from_le_bytes([a, b, c, 0]) as usize];
    stream.read_exact(&mut payload)?;
    Ok(payload)
}

fn expect_ok(stream: &mut TcpStream) -> io::Result<()> {
    let payload = read_packet(stream)?;
    if payload.first() == Some(&0) {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&payload).into_owned();
    Err(io::Error::other(format!(
        "the server refused: {text}\nhint: start dyno-rig null-server at this port"
    )))
}

/// All connections and the loop over them.
struct Floor {
    sockets: Vec<TcpStream>,
    /// Bytes of the reply that each connection still waits for.
    missing: Vec<usize>,
    reply_bytes: usize,
    request: Vec<u8>,
    epoll: libc::c_int,
}

impl Floor {
    fn new(sockets: Vec<TcpStream>, reply_bytes: usize) -> io::Result<Self> {
        // SAFETY: takes no pointer
        let epoll = check(unsafe { libc::epoll_create1(0) })?;
        for (index, socket) in sockets.iter().enumerate() {
            let events = (libc::EPOLLIN | libc::EPOLLET).cast_unsigned();
            let mut event = libc::epoll_event {
                events,
                u64: index as u64,
            };
            // SAFETY: `event` lives through the call; both descriptors are open
            check(unsafe {
                libc::epoll_ctl(
                    epoll,
                    libc::EPOLL_CTL_ADD,
                    socket.as_raw_fd(),
                    &raw mut event,
                )
            })?;
        }
        let missing = vec![reply_bytes; sockets.len()];
        Ok(Self {
            sockets,
            missing,
            reply_bytes,
            request: execute(),
            epoll,
        })
    }

    fn start(&self) -> io::Result<()> {
        self.sockets
            .iter()
            .try_for_each(|socket| self.send(socket.as_raw_fd()))
    }

    fn send(&self, socket: libc::c_int) -> io::Result<()> {
        let (bytes, length) = (self.request.as_ptr().cast(), self.request.len());
        // SAFETY: the request lives through the call
        let sent = unsafe { libc::send(socket, bytes, length, libc::MSG_NOSIGNAL) };
        if usize::try_from(sent) == Ok(length) {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// Runs for `time` and returns the number of whole replies.
    fn drive(&mut self, time: Duration) -> io::Result<u64> {
        let end = Instant::now() + time;
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 512];
        let mut queries = 0;
        while Instant::now() < end {
            // SAFETY: the kernel writes at most as many events as the array holds
            let count =
                check(unsafe { libc::epoll_wait(self.epoll, events.as_mut_ptr(), 512, 1000) })?;
            if count == 0 {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "no reply for a second",
                ));
            }
            for event in events.iter().take(count.unsigned_abs() as usize) {
                queries +=
                    u64::from(self.receive(usize::try_from(event.u64).unwrap_or(usize::MAX))?);
            }
        }
        Ok(queries)
    }

    /// Receives what is there, and sends the next request when that was the end of a reply.
    fn receive(&mut self, index: usize) -> io::Result<bool> {
        let socket = self.sockets[index].as_raw_fd();
        let mut buffer = [0_u8; 4096];
        // SAFETY: the kernel writes at most the buffer's length
        let count = unsafe {
            libc::recv(
                socket,
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                libc::MSG_DONTWAIT,
            )
        };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        if count == 0 || count > self.missing[index] {
            return Err(io::Error::other(format!(
                "a reply of {} bytes was due, {count} came",
                self.missing[index]
            )));
        }
        self.missing[index] -= count;
        if self.missing[index] > 0 {
            return Ok(false);
        }
        self.missing[index] = self.reply_bytes;
        self.send(socket)?;
        Ok(true)
    }
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// CPU time of this process so far, µs.
fn cpu_us() -> i64 {
    // SAFETY: all-zero is a valid rusage, and the call fills it
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let us = |time: libc::timeval| time.tv_sec * 1_000_000 + time.tv_usec;
    us(usage.ru_utime) + us(usage.ru_stime)
}

fn pin(cpu: usize) -> io::Result<()> {
    // SAFETY: an all-zero set is empty; the bound is the set's own
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(
            cpu.min(libc::CPU_SETSIZE.cast_unsigned() as usize - 1),
            &mut set,
        );
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    check(result).map(drop)
}

/// As many descriptors as the system allows; when it allows too few, connecting will say so.
fn raise_file_limit() {
    // SAFETY: both calls get a valid rlimit
    unsafe {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}
