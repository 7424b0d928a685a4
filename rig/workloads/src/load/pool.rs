//! Connections that work in parallel, each on a thread of its own, while the caller is told how far they are.

use crate::error::BuildError;
use dyno_wire::{ConnectOptions, Connection};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How often progress is reported.
const TICK: Duration = Duration::from_millis(400);

/// How to open the connections of a build, and how many.
#[derive(Clone, Debug)]
pub struct Pool {
    options: ConnectOptions,
    connections: usize,
    cpus: Vec<usize>,
}

/// What the connections of one job share.
#[derive(Debug, Default)]
pub struct Shared {
    done: AtomicU64,
    stopped: AtomicBool,
}

impl Shared {
    /// So much more is done.
    pub fn add(&self, done: u64) {
        self.done.fetch_add(done, Ordering::Relaxed);
    }

    /// Whether another connection failed, so that going on is in vain.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl Pool {
    /// A pool of `connections` (at least 1), their threads on `cpus` in turn, or anywhere when that is empty.
    #[must_use]
    pub fn new(options: ConnectOptions, connections: usize, cpus: Vec<usize>) -> Self {
        Self {
            options,
            connections: connections.max(1),
            cpus,
        }
    }

    /// How many connections it opens.
    #[must_use]
    pub const fn connections(&self) -> usize {
        self.connections
    }

    /// The same pool with no more connections than that.
    #[must_use]
    pub fn at_most(&self, connections: usize) -> Self {
        Self {
            connections: self.connections.min(connections.max(1)),
            ..self.clone()
        }
    }

    /// Runs `work` on one connection, on this thread.
    pub fn once<T>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, BuildError>,
    ) -> Result<T, BuildError> {
        dyno_reactor::block_on(async {
            let mut connection = self.connect().await?;
            let value = work(&mut connection).await?;
            // the work is done: whether the goodbye arrives changes nothing
            let _ = connection.quit().await;
            Ok(value)
        })?
    }

    /// Runs `work` on every connection at once, until all have returned. The first error is returned; the others are
    /// told to stop. `tick` gets the sum of what was added to [`Shared`], more than twice a second.
    pub fn run<W>(&self, tick: &mut dyn FnMut(u64), work: W) -> Result<(), BuildError>
    where
        W: AsyncFn(&mut Connection, &Shared) -> Result<(), BuildError> + Sync,
    {
        let shared = Shared::default();
        let (report, reports) = mpsc::channel();
        std::thread::scope(|scope| {
            for index in 0..self.connections {
                let (report, shared, work) = (report.clone(), &shared, &work);
                std::thread::Builder::new()
                    .name(format!("build-{index}"))
                    .spawn_scoped(scope, move || {
                        let result = self
                            .pin(index)
                            .and_then(|()| self.once(async |c| work(c, shared).await));
                        if result.is_err() {
                            shared.stopped.store(true, Ordering::Relaxed);
                        }
                        // nobody listens only when the caller is gone, and then this thread is being joined
                        let _ = report.send(result);
                    })?;
            }
            drop(report);
            let mut first = Ok(());
            loop {
                match reports.recv_timeout(TICK) {
                    Ok(result) => first = first.and(result),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                tick(shared.done.load(Ordering::Relaxed));
            }
            first
        })
    }

    /// Runs `work` for each of `items`, in parallel, one connection an item at most. `tick` gets the number done.
    pub fn for_each<T: Sync>(
        &self,
        items: &[T],
        tick: &mut dyn FnMut(u64),
        work: impl AsyncFn(&mut Connection, &T) -> Result<(), BuildError> + Sync,
    ) -> Result<(), BuildError> {
        let next = AtomicU64::new(0);
        self.at_most(items.len())
            .run(tick, async |connection, shared| {
                while !shared.is_stopped() {
                    let index =
                        usize::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap_or(usize::MAX);
                    let Some(item) = items.get(index) else { break };
                    work(connection, item).await?;
                    shared.add(1);
                }
                Ok(())
            })
    }

    fn pin(&self, index: usize) -> Result<(), BuildError> {
        match self.cpus.len() {
            0 => Ok(()),
            cpus => Ok(dyno_reactor::pin_current_thread(self.cpus[index % cpus])?),
        }
    }

    async fn connect(&self) -> Result<Connection, BuildError> {
        Connection::connect(&self.options)
            .await
            .map_err(BuildError::wire("connect to the server"))
    }
}
