//! The thread that asks the server for its counters, on a connection of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use std::{io, thread};

use dyno_reactor::{block_on, now_ns, timeout};
use dyno_record::{Level, Line, Sink, Status};
use dyno_wire::{ConnectOptions, Connection};

use crate::gauges::StatusReader;
use crate::{Clock, ProbeOptions, note, placement};

/// How long one answer may take before the connection is given up for dead.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long `stop` waits for an answer under way. A server that hangs is left hanging.
const FAREWELL: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Shared {
    /// A question is open: set by who asks, cleared by the thread.
    busy: AtomicBool,
    /// What the server counts in Questions because of this thread.
    questions: AtomicU64,
}

/// The handle of the thread.
pub(crate) struct StatusThread {
    beats: Sender<()>,
    ended: Receiver<()>,
    shared: Arc<Shared>,
    silent: bool,
    clock: Clock,
    sink: Sink,
}

impl StatusThread {
    /// Starts the thread; it connects at once and then asks at each [`beat`](Self::beat).
    pub fn start(
        connect: ConnectOptions,
        options: &ProbeOptions,
        clock: Clock,
        sink: Sink,
    ) -> io::Result<Self> {
        // a session's settings are not the probe's, and would be statements that nobody counts
        let connect = ConnectOptions {
            init: Vec::new(),
            ..connect
        };
        let (beats, beaten) = channel();
        let (end, ended) = channel();
        let shared = Arc::new(Shared::default());
        let (thread_sink, thread_shared) = (sink.clone(), Arc::clone(&shared));
        let (worker_cpus, server_pid) = (options.worker_cpus.clone(), options.server_pid);
        thread::Builder::new()
            .name("dyno-status".into())
            .spawn(move || {
                placement::keep_away(&worker_cpus, server_pid);
                let mut asker = Asker {
                    connect,
                    clock,
                    sink: thread_sink,
                    shared: thread_shared,
                    session: None,
                    told: false,
                };
                // waiting for the next beat blocks the whole reactor, which has this one task only
                let served = block_on(async {
                    asker.connect().await;
                    while beaten.recv().is_ok() {
                        asker.ask().await;
                        asker.shared.busy.store(false, Ordering::Relaxed);
                    }
                    asker.leave().await;
                });
                if let Err(error) = served {
                    asker.warn(format!("cannot sample the server's status: {error}"));
                }
                let _ = end.send(());
            })?;
        Ok(Self {
            beats,
            ended,
            shared,
            silent: false,
            clock,
            sink,
        })
    }

    /// Asks for one sample, unless the last question is still open; says so once.
    pub fn beat(&mut self) {
        if self.shared.busy.load(Ordering::Relaxed) {
            if !self.silent {
                let text = "the server has not answered SHOW GLOBAL STATUS for a whole interval"
                    .to_owned();
                note(&self.sink, self.clock, Level::Warn, text);
            }
            self.silent = true;
        } else {
            self.silent = false;
            self.shared.busy.store(true, Ordering::Relaxed);
            let _ = self.beats.send(());
        }
    }

    /// Ends the thread and returns how much it added to the server's Questions. Never waits for a server that hangs.
    pub fn stop(self) -> u64 {
        drop(self.beats);
        let _ = self.ended.recv_timeout(FAREWELL);
        self.shared.questions.load(Ordering::Relaxed)
    }
}

/// What the thread holds.
struct Asker {
    connect: ConnectOptions,
    clock: Clock,
    sink: Sink,
    shared: Arc<Shared>,
    session: Option<Session>,
    /// A connection that cannot be made is told once, not at every beat.
    told: bool,
}

/// One connection, and what it has answered so far.
struct Session {
    connection: Connection,
    reader: StatusReader,
    /// When the last answer came; none before the first.
    last_ns: Option<u64>,
}

impl Asker {
    async fn connect(&mut self) {
        match timeout(PATIENCE, Box::pin(Connection::connect(&self.connect))).await {
            Ok(Ok(connection)) => {
                self.told = false;
                let reader = StatusReader::default();
                self.session = Some(Session {
                    connection,
                    reader,
                    last_ns: None,
                });
            }
            Ok(Err(error)) => self.lost(format!("no connection for the server's status: {error}")),
            Err(_) => self.lost("no connection for the server's status: no answer".to_owned()),
        }
    }

    /// Takes one sample. A connection that failed is made anew at the next beat.
    async fn ask(&mut self) {
        if self.session.is_none() {
            self.connect().await;
        }
        let Some(session) = &mut self.session else {
            return;
        };
        self.shared.questions.fetch_add(1, Ordering::Relaxed);
        match timeout(PATIENCE, session.ask()).await {
            Ok(Ok(())) => {
                let now = now_ns();
                let (counters, gauges) = session.reader.take();
                if let Some(last_ns) = session.last_ns.replace(now) {
                    let duration_us = (now - last_ns) / 1000;
                    let t_us = self.clock.t_us(now);
                    let _ = self.sink.write(&Line::Status(Status {
                        t_us,
                        duration_us,
                        counters,
                        gauges,
                    }));
                }
            }
            Ok(Err(error)) => self.lost(format!("the server's status is lost: {error}")),
            Err(_) => {
                let seconds = PATIENCE.as_secs();
                self.lost(format!(
                    "the server's status is lost: no answer for {seconds} s"
                ));
            }
        }
    }

    /// Says goodbye, so that the server does not count an aborted client.
    async fn leave(&mut self) {
        if let Some(session) = self.session.take() {
            self.shared.questions.fetch_add(1, Ordering::Relaxed);
            let _ = timeout(FAREWELL, session.connection.quit()).await;
        }
    }

    /// Forgets the connection. The next one begins with a first answer again.
    fn lost(&mut self, text: String) {
        self.session = None;
        if !self.told {
            self.warn(text);
        }
        self.told = true;
    }

    fn warn(&self, text: String) {
        note(&self.sink, self.clock, Level::Warn, text);
    }
}

impl Session {
    async fn ask(&mut self) -> dyno_wire::Result<()> {
        let reader = &mut self.reader;
        let row = |row: dyno_wire::TextRow<'_>| {
            if let (Some(name), Some(value)) = (row.get_str(0)?, row.get_str(1)?) {
                reader.row(name, value);
            }
            Ok(())
        };
        self.connection
            .query_rows(b"SHOW GLOBAL STATUS", row)
            .await?;
        Ok(())
    }
}
