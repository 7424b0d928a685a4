//! The sockets: one task accepts, one task a connection reads, answers and writes.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use dyno_reactor::{
    Endpoint, Listener, Stream, block_on, now_ns, pin_current_thread, sleep, sleep_until_ns, spawn,
};

use crate::Options;
use crate::canned::Cache;
use crate::fault::{After, Fault};
use crate::protocol::{HEADER, LONGEST_PAYLOAD};
use crate::session::Session;
use crate::stall::StallClock;

/// Read buffer of a connection: small, as there may be ten thousand; it grows for a long packet and shrinks again.
const BUFFER: usize = 4096;
const LONGEST_PACKET: usize = HEADER + LONGEST_PAYLOAD;

/// What all connections of a server share.
struct Shared {
    cache: RefCell<Cache>,
    /// None on the fast path: nobody asked for either.
    timing: Option<RefCell<Timing>>,
    fault: Option<Fault>,
    connections: Cell<usize>,
}

/// What needs the time of each arrival.
struct Timing {
    stall: Option<StallClock>,
    arrivals: Option<BufWriter<File>>,
}

impl Timing {
    fn new(options: &Options) -> io::Result<Option<Self>> {
        let create = |path: &Path| {
            let file = File::create(path);
            file.map_err(|error| {
                io::Error::new(
                    error.kind(),
                    format!("cannot write arrivals to {}: {error}", path.display()),
                )
            })
        };
        let arrivals = options.arrivals.as_deref().map(create).transpose()?;
        let timing = Self {
            stall: options.stall.map(StallClock::new),
            arrivals: arrivals.map(|file| BufWriter::with_capacity(1 << 20, file)),
        };
        Ok((timing.stall.is_some() || timing.arrivals.is_some()).then_some(timing))
    }

    /// Takes note of `statements` that arrived together, and says until when to hold their answers back.
    fn arrived(&mut self, statements: u32) -> io::Result<Option<u64>> {
        if statements == 0 {
            return Ok(None);
        }
        let now_ns = now_ns();
        if let Some(file) = &mut self.arrivals {
            for _ in 0..statements {
                file.write_all(&now_ns.to_le_bytes())?;
            }
        }
        Ok(self
            .stall
            .as_mut()
            .and_then(|stall| stall.held_until(now_ns)))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.arrivals.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}

/// Serves until `stop` is closed by its other end, or for ever.
pub(crate) fn run(
    endpoint: &Endpoint,
    options: &Options,
    stop: Option<UnixStream>,
    ready: impl FnOnce(&Endpoint),
) -> io::Result<()> {
    if let Some(cpu) = options.cpu {
        pin_current_thread(cpu)?;
    }
    let shared = Rc::new(Shared {
        cache: RefCell::default(),
        timing: Timing::new(options)?.map(RefCell::new),
        fault: options.fault,
        connections: Cell::new(0),
    });
    block_on(async {
        let listener = Listener::bind(endpoint).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("cannot listen at {endpoint}: {error}"),
            )
        })?;
        let bound = listener.local_address()?.map(Endpoint::Tcp);
        ready(bound.as_ref().unwrap_or(endpoint));
        match stop {
            None => accept(&listener, shared).await,
            Some(stop) => {
                spawn(async move { accept(&listener, shared).await });
                // end of stream or a failure: either way, nobody wants this server any more
                let _ = Stream::from_unix(stop)?.read(&mut [0]).await;
            }
        }
        Ok(())
    })?
}

async fn accept(listener: &Listener, shared: Rc<Shared>) {
    let mut connection_id = 0_u32;
    loop {
        if let Ok(stream) = listener.accept().await {
            connection_id = connection_id.wrapping_add(1);
            spawn(connection(stream, connection_id, Rc::clone(&shared)));
        } else {
            // out of descriptors, most likely: those who wait get in when others have left
            sleep(Duration::from_millis(10)).await;
        }
    }
}

async fn connection(mut stream: Stream, id: u32, shared: Rc<Shared>) {
    shared.connections.set(shared.connections.get() + 1);
    // a client that went away is no event worth telling
    let _ = converse(&mut stream, id, &shared).await;
    let left = shared.connections.get() - 1;
    shared.connections.set(left);
    if let (0, Some(timing)) = (left, &shared.timing) {
        let _ = timing.borrow_mut().flush();
    }
}

async fn converse(stream: &mut Stream, id: u32, shared: &Shared) -> io::Result<()> {
    let mut session = Session::new(shared.fault);
    let mut out = Vec::with_capacity(BUFFER);
    let mut after = session.greet(id, &mut out);
    let mut input = vec![0; BUFFER];
    let mut filled = 0;
    loop {
        if !out.is_empty() {
            stream.write_all(&out).await?;
            out.clear();
        }
        match after {
            After::GoOn => {}
            After::Close => return Ok(()),
            After::Flood => return flood(stream).await,
        }
        let count = stream.read(&mut input[filled..]).await?;
        if count == 0 {
            return Ok(());
        }
        filled += count;
        let progress = session.consume(&input[..filled], &mut shared.cache.borrow_mut(), &mut out);
        after = progress.after;
        filled = keep_rest(&mut input, progress.used, filled);
        if let Some(timing) = &shared.timing {
            let held_until = timing.borrow_mut().arrived(progress.statements)?;
            if let Some(end_ns) = held_until {
                sleep_until_ns(end_ns).await;
            }
        }
    }
}

/// Moves what is left of the input to the front, and gives a packet that is longer than the buffer its room.
#[inline]
fn keep_rest(input: &mut Vec<u8>, used: usize, filled: usize) -> usize {
    let rest = filled - used;
    if rest > 0 {
        input.copy_within(used..filled, 0);
    }
    if rest == input.len() {
        input.resize((input.len() * 4).min(LONGEST_PACKET), 0);
    } else if rest == 0 && input.len() > BUFFER * 64 {
        input.truncate(BUFFER);
        input.shrink_to_fit();
    }
    rest
}

/// One packet after another, each of full length and so never the last, until the client goes away.
async fn flood(stream: &mut Stream) -> io::Result<()> {
    let mut packet = vec![0; LONGEST_PACKET];
    packet[..3].fill(0xff);
    packet[HEADER] = 1;
    let mut sequence = 1_u8;
    loop {
        packet[3] = sequence;
        sequence = sequence.wrapping_add(1);
        stream.write_all(&packet).await?;
    }
}
