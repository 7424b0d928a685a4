//! `dyno-rig drive`: one trial, its record, its probe.

use std::io::{IsTerminal, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use dyno_drive::{Observer, Started, Stop, Workload};
use dyno_probe::{Probe, ProbeOptions};
use dyno_record::{Line, LinesTo, Outcome, Output, Sink, Spec, Summary};
use dyno_wire::ConnectOptions;

use crate::args::Drive;
use crate::failure::{Failure, INTERRUPTED};
use crate::human::Human;
use crate::system::{allow_sessions, stop_on_signals};
use crate::{spec_args, workload};

/// Runs the command.
pub fn run(args: &Drive) -> Result<ExitCode, Failure> {
    let spec = spec_args::resolve(&args.spec, &args.load)?;
    allow_sessions(spec.load.sessions())?;
    let summary = workload::drive(&spec, &|| Trial::new(&spec, args))?;
    Ok(conclude(&summary))
}

/// NDJSON to the record file, or to standard output when no person reads that.
fn sink(args: &Drive) -> Result<Sink, Failure> {
    let human = args.human || stdout().is_terminal();
    let mut outputs: Vec<Box<dyn Output>> = Vec::new();
    if let Some(path) = &args.record {
        outputs.push(Box::new(LinesTo::create(path)?));
    }
    if human {
        outputs.push(Box::new(Human::new(stdout())));
    } else if args.record.is_none() {
        outputs.push(Box::new(LinesTo::new(stdout(), "standard output")));
    }
    Ok(Sink::new(outputs))
}

/// A trial that is ready to run, whatever its workload.
pub struct Trial<'a> {
    spec: &'a Spec,
    connect: ConnectOptions,
    sink: Sink,
    stop: Stop,
}

impl<'a> Trial<'a> {
    /// Everything that is needed besides the workload. From here on there is a record file.
    fn new(spec: &'a Spec, args: &Drive) -> Result<Self, Failure> {
        let connect = dyno_drive::connect_options(spec)?;
        let stop = stop_on_signals()?;
        Ok(Self {
            spec,
            connect,
            sink: sink(args)?,
            stop,
        })
    }

    /// Drives a workload beside the probe, and writes the last line of the record.
    pub fn drive<W: Workload>(&self, workload: W) -> Result<Summary, Failure> {
        let mut companion = Companion {
            trial: self,
            probe: None,
        };
        let workload = Arc::new(workload);
        let mut summary = dyno_drive::run(
            workload,
            self.spec,
            &self.connect,
            &self.sink,
            &self.stop,
            &mut companion,
        )?;
        if let Some(probe) = companion.probe.take() {
            summary.probe_statements = probe.stop().statements;
        }
        self.sink.write(&Line::Summary(Box::new(summary.clone())))?;
        Ok(summary)
    }
}

/// What runs beside a trial: progress on standard error, and the probe.
struct Companion<'a> {
    trial: &'a Trial<'a>,
    probe: Option<Probe>,
}

impl Observer for Companion<'_> {
    fn connecting(&mut self, opened: usize, sessions: usize) {
        eprintln!("connecting: {opened} of {sessions} sessions are ready");
    }

    fn started(&mut self, started: &Started) {
        let spec = &self.trial.spec;
        let wanted = spec.probe;
        if !wanted.host && !wanted.status && wanted.server_pid.is_none() {
            return;
        }
        let options = ProbeOptions {
            host: wanted.host,
            server_pid: wanted.server_pid,
            status: wanted.status.then(|| self.trial.connect.clone()),
            worker_threads: started.worker_tids.clone(),
            worker_cpus: spec.cpus.clone(),
            interval: Duration::from_secs_f64(spec.interval_s),
        };
        match Probe::start(options, started.t0_ns, self.trial.sink.clone()) {
            Ok(probe) => self.probe = Some(probe),
            Err(error) => eprintln!(
                "warning: the probe could not be started, this trial has no telemetry: {error}"
            ),
        }
    }
}

/// Says how a trial ended, unless it ended well.
fn conclude(summary: &Summary) -> ExitCode {
    match (summary.outcome, &summary.error) {
        (Outcome::Ok, _) => ExitCode::SUCCESS,
        (Outcome::Interrupted, _) => {
            eprintln!("interrupted: the record ends early and is no result");
            ExitCode::from(INTERRUPTED)
        }
        (Outcome::Failed, error) => {
            Failure::failed(error.as_ref().map_or_else(String::new, error_text)).report()
        }
    }
}

fn error_text(error: &dyno_record::Failure) -> String {
    let statement = error.statement.as_ref().map(|name| format!(" in {name}"));
    let server = error.code.map(|code| {
        let sqlstate = error.sqlstate.as_deref().unwrap_or("HY000");
        format!(": server error {code} ({sqlstate})")
    });
    let hint = error.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
    [
        "the trial failed".into(),
        statement.unwrap_or_default(),
        server.unwrap_or_default(),
        format!(": {}", error.message),
        hint.unwrap_or_default(),
    ]
    .concat()
}
