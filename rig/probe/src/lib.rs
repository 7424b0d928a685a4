//! Samples the host, the server's process, the rig's own process and the server's status counters once
//! per interval, on the rig's clock, beside the load and never in its way.
//!
//! [`Probe::start`] runs two threads: one reads `/proc`, the other asks the server. They are apart so that
//! a server that stops answering never stops the view of the machine, which is when it is needed most.
//! Both keep off the workers' CPUs where the machine has others.
#![warn(missing_docs)]

mod gauges;
mod host;
mod placement;
mod process;
mod status;
mod switches;

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use dyno_reactor::now_ns;
use dyno_record::{Level, Line, Note, Role, Sink};
use dyno_wire::ConnectOptions;

pub use gauges::is_gauge;
use host::{Devices, HostReading};
use process::Watched;
use status::StatusThread;

/// What a probe samples.
#[derive(Clone, Debug)]
pub struct ProbeOptions {
    /// The machine, and the process that this probe runs in.
    pub host: bool,
    /// The server's process, when it runs on this machine.
    pub server_pid: Option<u32>,
    /// How to reach the server for `SHOW GLOBAL STATUS`; none: do not ask.
    pub status: Option<ConnectOptions>,
    /// Thread numbers (`gettid`) of the workers, whose waiting for a CPU is recorded.
    pub worker_threads: Vec<i32>,
    /// CPUs that the workers are pinned to.
    pub worker_cpus: Vec<usize>,
    /// Time between samples. They fall on t = 0 plus whole multiples of it.
    pub interval: Duration,
}

impl ProbeOptions {
    /// The machine and this process alone, every `interval`.
    #[must_use]
    pub fn host_only(interval: Duration) -> Self {
        Self {
            host: true,
            server_pid: None,
            status: None,
            worker_threads: Vec::new(),
            worker_cpus: Vec::new(),
            interval,
        }
    }
}

/// What a probe itself cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeReport {
    /// What the probe added to the server's `Questions`: `SHOW GLOBAL STATUS` statements, and the goodbye.
    pub statements: u64,
    /// Samples taken of the machine and the processes.
    pub samples: u64,
    /// CPU time of the thread that took them, µs.
    pub cpu_us: u64,
}

/// A running probe. Dropping it stops it.
pub struct Probe {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<ProbeReport>>,
}

impl Probe {
    /// Starts sampling. The first readings are taken at `t0_ns` (`CLOCK_MONOTONIC`, [`now_ns`]) or at once
    /// if that is over; the first records one interval later, and `t_us` in them counts from `t0_ns`.
    ///
    /// What cannot be sampled (no such process, no connection) becomes a note in the record, not an
    /// error: the load is what matters. Fails only when a thread cannot be made.
    pub fn start(options: ProbeOptions, t0_ns: u64, sink: Sink) -> io::Result<Self> {
        let clock = Clock { t0_ns };
        let (stop, stopped) = channel();
        let status = match &options.status {
            Some(connect) => Some(StatusThread::start(
                connect.clone(),
                &options,
                clock,
                sink.clone(),
            )?),
            None => None,
        };
        let sampler = Sampler::new(options, clock, sink, status);
        let thread = std::thread::Builder::new()
            .name("dyno-probe".into())
            .spawn(move || sampler.run(&stopped))?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Ends sampling: at once, whatever the server does. The samples of full intervals are in the sink.
    #[must_use]
    pub fn stop(mut self) -> ProbeReport {
        self.end().unwrap_or(ProbeReport {
            statements: 0,
            samples: 0,
            cpu_us: 0,
        })
    }

    fn end(&mut self) -> Option<ProbeReport> {
        drop(self.stop.take());
        self.thread.take()?.join().ok()
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.end();
    }
}

/// The rig's clock: t = 0 is where the driver put it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    t0_ns: u64,
}

impl Clock {
    /// µs since t = 0, negative before it.
    pub fn t_us(self, at_ns: u64) -> i64 {
        (at_ns.cast_signed() - self.t0_ns.cast_signed()) / 1000
    }
}

/// A remark of the probe. A sink that fails is the driver's to notice: it writes to it all the time.
pub(crate) fn note(sink: &Sink, clock: Clock, level: Level, text: String) {
    let t_us = clock.t_us(now_ns());
    let _ = sink.write(&Line::Note(Note { t_us, level, text }));
}

/// The thread that reads `/proc` and beats the time for the one that asks the server.
struct Sampler {
    options: ProbeOptions,
    clock: Clock,
    sink: Sink,
    status: Option<StatusThread>,
    devices: Devices,
    rig: Option<Watched>,
    server: Option<Watched>,
}

impl Sampler {
    fn new(options: ProbeOptions, clock: Clock, sink: Sink, status: Option<StatusThread>) -> Self {
        Self {
            options,
            clock,
            sink,
            status,
            devices: Devices::default(),
            rig: None,
            server: None,
        }
    }

    fn run(mut self, stopped: &Receiver<()>) -> ProbeReport {
        placement::keep_away(&self.options.worker_cpus, self.options.server_pid);
        let samples = self.sample_until(stopped);
        let statements = self.status.take().map_or(0, StatusThread::stop);
        ProbeReport {
            statements,
            samples,
            cpu_us: thread_cpu_us(),
        }
    }

    fn sample_until(&mut self, stopped: &Receiver<()>) -> u64 {
        if wait_until(self.clock.t0_ns, stopped) {
            return 0;
        }
        self.open();
        let mut last_ns = now_ns();
        let mut before = self.read_host();
        let interval_ns = u64::try_from(self.options.interval.as_nanos()).unwrap_or(u64::MAX);
        let mut samples = 0;
        loop {
            // a sample that was late (a suspended machine) moves the next one to a boundary still ahead
            let passed = (now_ns() - self.clock.t0_ns) / interval_ns;
            if wait_until(self.clock.t0_ns + (passed + 1) * interval_ns, stopped) {
                return samples;
            }
            let now = now_ns();
            let (t_us, duration_us) = (self.clock.t_us(now), (now - last_ns) / 1000);
            last_ns = now;
            // first of all, so that the server's counters are of the same moment
            if let Some(status) = &mut self.status {
                status.beat();
            }
            before = self.sample_host(before, t_us, duration_us);
            self.sample_processes(t_us, duration_us);
            samples += 1;
        }
    }

    /// Finds the processes, and takes the first readings of everything at t = 0.
    fn open(&mut self) {
        if let Some(status) = &mut self.status {
            status.beat();
        }
        if let Some(pid) = self.options.server_pid {
            match Watched::open(pid, Role::Server, Vec::new()) {
                Ok(server) => self.server = Some(server),
                Err(error) => {
                    self.warn(format!("cannot watch the server's process {pid}: {error}"));
                }
            }
        }
        if self.options.host {
            let folder = self.server.as_ref().and_then(Watched::folder);
            self.devices = Devices::of_host(folder.as_deref());
            let threads = self.options.worker_threads.clone();
            match Watched::open(std::process::id(), Role::Rig, threads) {
                Ok(rig) => self.rig = Some(rig),
                Err(error) => self.warn(format!("cannot watch the rig's own process: {error}")),
            }
        }
    }

    fn read_host(&mut self) -> Option<HostReading> {
        if !self.options.host {
            return None;
        }
        match HostReading::now(&self.devices) {
            Ok(reading) => Some(reading),
            Err(error) => {
                self.options.host = false;
                self.warn(format!("cannot sample the host any more: {error}"));
                None
            }
        }
    }

    fn sample_host(
        &mut self,
        before: Option<HostReading>,
        t_us: i64,
        duration_us: u64,
    ) -> Option<HostReading> {
        let now = self.read_host()?;
        if let Some(before) = before {
            self.write(&Line::Host(now.since(&before, t_us, duration_us)));
        }
        Some(now)
    }

    fn sample_processes(&mut self, t_us: i64, duration_us: u64) {
        for mut watched in [self.server.take(), self.rig.take()].into_iter().flatten() {
            match watched.sample(t_us, duration_us) {
                Ok(record) => {
                    self.write(&Line::Process(record));
                    match watched.role() {
                        Role::Server => self.server = Some(watched),
                        Role::Rig => self.rig = Some(watched),
                    }
                }
                Err(error) => self.warn(format!("{} has ended: {error}", watched.name())),
            }
        }
    }

    fn write(&self, line: &Line) {
        let _ = self.sink.write(line);
    }

    fn warn(&self, text: String) {
        note(&self.sink, self.clock, Level::Warn, text);
    }
}

/// Sleeps until `at_ns`; true when the probe was told to stop before that.
fn wait_until(at_ns: u64, stopped: &Receiver<()>) -> bool {
    let left = Duration::from_nanos(at_ns.saturating_sub(now_ns()));
    !matches!(stopped.recv_timeout(left), Err(RecvTimeoutError::Timeout))
}

/// CPU time of the calling thread so far, µs.
fn thread_cpu_us() -> u64 {
    procfs::process::Process::myself()
        .and_then(|me| me.task_from_tid(gettid()))
        .and_then(|task| task.schedstat())
        .map_or(0, |stat| stat.sum_exec_runtime / 1000)
}

fn gettid() -> i32 {
    // SAFETY: takes nothing, always succeeds
    unsafe { libc::gettid() }
}

#[cfg(test)]
mod tests;
