//! `dyno-rig selftest`: how much load this rig can make on this host, measured on the null server.

use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use dyno_drive::{Observer, Started, Stop};
use dyno_nullserver::{Background, Options};
use dyno_record::{
    Interval, Line, Outcome, Output, PhaseName, Sink, Spec, Summary, decode_histogram,
};
use dyno_workloads::Oltp;
use serde::Serialize;
use serde_json::json;

use crate::args::Selftest;
use crate::failure::{Failure, INTERRUPTED};
use crate::print;
use crate::spec_args::cpus;
use crate::system::{allow_sessions, stop_on_signals};

/// Sessions of the closed loops.
const SESSIONS: [usize; 5] = [1, 16, 64, 256, 1024];
/// Connections of the open loops.
const OPEN_SESSIONS: usize = 64;
/// Open loops that are tried, each halving the range in which the highest rate must be.
const OPEN_STEPS: usize = 5;
/// Half of the transactions of an open loop must begin this soon after they are due.
const LAG_BOUND_US: f64 = 100.0;
/// A rig whose CPUs are busier than this is the limit of a closed loop.
const FULL: f64 = 0.95;
/// Phases of one loop, in seconds: together with connecting, all loops end within 20 s.
const WARMUP_S: f64 = 0.3;
const MEASURE_S: f64 = 1.2;
const DRAIN_S: f64 = 0.2;

/// One closed loop.
#[derive(Debug, Serialize)]
struct ClosedResult {
    sessions: usize,
    queries_per_s: f64,
    latency_p99_us: f64,
    /// CPU time of the worker threads, as a share of the CPUs that they may use.
    client_cpu: f64,
    /// `rig` when its CPUs were full, else `server`: then the rig could do more.
    limited_by: &'static str,
}

/// One open loop.
#[derive(Debug, Serialize)]
struct OpenResult {
    rate_per_s: f64,
    lag_p50_us: f64,
    lag_p99_us: f64,
    /// Everything due was done, and half of it began within the bound.
    kept: bool,
}

/// Where everything runs.
struct Bench {
    server: Background,
    cpus: Vec<usize>,
    stop: Stop,
}

/// Measures, with progress on standard error, and prints the result.
pub fn run(args: &Selftest) -> Result<ExitCode, Failure> {
    let (rig_cpus, server_cpu) = places(args)?;
    allow_sessions(2 * SESSIONS[SESSIONS.len() - 1])?;
    let options = Options {
        cpu: server_cpu,
        ..Options::default()
    };
    let bench = Bench {
        server: Background::on_loopback(options)
            .map_err(|e| Failure::failed(format!("cannot start the null server: {e}")))?,
        cpus: rig_cpus,
        stop: stop_on_signals()?,
    };
    let mut closed = Vec::new();
    for sessions in SESSIONS {
        let Some(result) = bench.closed(sessions)? else {
            return Ok(interrupted());
        };
        closed.push(result);
    }
    let highest = closed.iter().map(|c| c.queries_per_s).fold(0.0, f64::max);
    let Some(open) = bench.highest_rate(highest)? else {
        return Ok(interrupted());
    };
    let kept = open.iter().filter(|o| o.kept).map(|o| o.rate_per_s);
    let rate_max = kept.fold(None, |max: Option<f64>, rate| {
        Some(max.unwrap_or(0.0).max(rate))
    });
    if args.json {
        let whole = json!({
            "format": "dyno-selftest/1", "rig_version": env!("CARGO_PKG_VERSION"), "rig_cpus": bench.cpus,
            "server_cpu": server_cpu, "queries_per_s_max": highest, "closed": closed,
            "rate_per_s_max": rate_max, "lag_bound_us": LAG_BOUND_US, "open": open,
        });
        return print(&format!("{whole:#}\n"));
    }
    print(&text(&bench.cpus, server_cpu, &closed, rate_max))
}

fn interrupted() -> ExitCode {
    eprintln!("interrupted: nothing is known of this host");
    ExitCode::from(INTERRUPTED)
}

/// CPUs of rig and server: as asked, else the last and the first one, so that they do not share one.
fn places(args: &Selftest) -> Result<(Vec<usize>, Option<usize>), Failure> {
    let allowed = dyno_reactor::allowed_cpus();
    let apart = allowed.len() > 1;
    let rig = match &args.cpus {
        Some(text) => cpus(text)?,
        None => allowed
            .last()
            .copied()
            .filter(|_| apart)
            .into_iter()
            .collect(),
    };
    let free = allowed.iter().copied().find(|cpu| !rig.contains(cpu));
    let server = args.server_cpu.or(free.filter(|_| apart));
    if server.is_none_or(|cpu| rig.contains(&cpu)) {
        eprintln!(
            "warning: rig and null server share their CPUs: the rig can do more than this measures"
        );
    }
    Ok((rig, server))
}

impl Bench {
    /// Point selects in a closed loop; none when a signal came.
    fn closed(&self, sessions: usize) -> Result<Option<ClosedResult>, Failure> {
        eprintln!("closed loop, {sessions} sessions");
        let load = json!({"closed": {"sessions": sessions}});
        let Some((summary, intervals)) = self.drive(&load)? else {
            return Ok(None);
        };
        let transactions = &summary.transactions[0];
        let cpu_us: u64 = intervals.iter().map(|i| i.client_cpu_us).sum();
        let workers = self.cpus.len().clamp(1, sessions);
        let client_cpu = cpu_us as f64 / (summary.measure_us * workers as u64) as f64;
        Ok(Some(ClosedResult {
            sessions,
            queries_per_s: transactions.ok as f64 / summary.measure_us as f64 * 1e6,
            latency_p99_us: quantile_us(transactions.latency.as_ref(), 0.99),
            client_cpu,
            limited_by: if client_cpu >= FULL { "rig" } else { "server" },
        }))
    }

    /// Open loops at rates ever closer to the highest one that can be kept; none when a signal came.
    fn highest_rate(&self, ceiling_per_s: f64) -> Result<Option<Vec<OpenResult>>, Failure> {
        let (mut low, mut high) = (0.0, ceiling_per_s);
        let mut results = Vec::new();
        for _ in 0..OPEN_STEPS {
            let rate_per_s = f64::midpoint(low, high).round();
            let Some(result) = self.open(rate_per_s)? else {
                return Ok(None);
            };
            if result.kept {
                low = rate_per_s;
            } else {
                high = rate_per_s;
            }
            results.push(result);
        }
        Ok(Some(results))
    }

    fn open(&self, rate_per_s: f64) -> Result<Option<OpenResult>, Failure> {
        eprintln!("open loop, {rate_per_s:.0} transactions/s");
        let load = json!({"open": {"rate_per_s": rate_per_s, "sessions": OPEN_SESSIONS}});
        let Some((summary, _)) = self.drive(&load)? else {
            return Ok(None);
        };
        let lag = summary.open.as_ref().and_then(|o| o.generator_lag.as_ref());
        let lag_p50_us = quantile_us(lag, 0.50);
        let due = summary.open.as_ref().map_or(0, |open| open.due);
        Ok(Some(OpenResult {
            rate_per_s,
            lag_p50_us,
            lag_p99_us: quantile_us(lag, 0.99),
            kept: summary.transactions[0].ok == due && lag_p50_us <= LAG_BOUND_US,
        }))
    }

    /// One trial, and its intervals of measure.
    fn drive(&self, load: &serde_json::Value) -> Result<Option<(Summary, Vec<Interval>)>, Failure> {
        let spec = json!({
            "target": {"host": "127.0.0.1", "port": self.server.port()},
            "workload": {"name": "oltp_point_select"}, "load": load, "cpus": self.cpus,
            "phases": {"warmup_s": WARMUP_S, "measure_s": MEASURE_S, "drain_s": DRAIN_S},
        });
        let spec = Spec::from_json(&spec.to_string())?;
        let workload = Arc::new(Oltp::new(&spec.workload).map_err(Failure::usage)?);
        let connect = dyno_drive::connect_options(&spec)?;
        let measured = Measured::default();
        let sink = Sink::new(vec![Box::new(measured.clone())]);
        let summary = dyno_drive::run(workload, &spec, &connect, &sink, &self.stop, &mut Nobody)?;
        let intervals =
            std::mem::take(&mut *measured.0.lock().unwrap_or_else(PoisonError::into_inner));
        match (summary.outcome, &summary.error) {
            (Outcome::Ok, _) => Ok(Some((summary, intervals))),
            (Outcome::Interrupted, _) => Ok(None),
            (Outcome::Failed, error) => {
                let message = error.as_ref().map_or("no reason given", |e| &e.message);
                Err(Failure::failed(format!("a trial failed: {message}")))
            }
        }
    }
}

fn quantile_us(histogram: Option<&String>, quantile: f64) -> f64 {
    let histogram = histogram.and_then(|text| decode_histogram(text).ok());
    histogram.map_or(0.0, |h| h.value_at_quantile(quantile) as f64 / 1e3)
}

/// Keeps the intervals of measure.
#[derive(Clone, Default)]
struct Measured(Arc<Mutex<Vec<Interval>>>);

impl Output for Measured {
    fn line(&mut self, line: &Line, _: &str) -> io::Result<()> {
        if let Line::Interval(interval) = line
            && interval.phase == PhaseName::Measure
            && let Ok(mut kept) = self.0.lock()
        {
            kept.push(interval.clone());
        }
        Ok(())
    }

    fn place(&self) -> String {
        "memory".into()
    }
}

struct Nobody;

impl Observer for Nobody {
    fn connecting(&mut self, _: usize, _: usize) {}
    fn started(&mut self, _: &Started) {}
}

fn text(
    rig_cpus: &[usize],
    server_cpu: Option<usize>,
    closed: &[ClosedResult],
    rate_max: Option<f64>,
) -> String {
    let server = server_cpu.map_or_else(|| "any CPU".into(), |cpu| format!("CPU {cpu}"));
    let mut text = format!("point selects, rig on CPUs {rig_cpus:?}, null server on {server}\n\n");
    text += "sessions    queries/s   p99 ms   client CPU   limited by\n";
    for row in closed {
        // writing into a string does not fail
        let _ = writeln!(
            text,
            "{:>8} {:>12.0} {:>8.3} {:>10.0} %   {}",
            row.sessions,
            row.queries_per_s,
            row.latency_p99_us / 1e3,
            100.0 * row.client_cpu,
            row.limited_by
        );
    }
    let _ = match rate_max {
        Some(rate) => writeln!(
            text,
            "\nopen loop: up to {rate:.0} transactions/s begin on time (half of them within {LAG_BOUND_US:.0} µs)"
        ),
        None => writeln!(
            text,
            "\nopen loop: at no rate that was tried did half of the transactions begin within {LAG_BOUND_US:.0} µs"
        ),
    };
    text
}
