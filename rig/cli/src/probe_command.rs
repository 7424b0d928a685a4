//! `dyno-rig probe`: sample this host alone.

use std::io::stdout;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use dyno_probe::{Probe, ProbeOptions};
use dyno_record::{LinesTo, Sink};

use crate::failure::Failure;
use crate::spec_args::seconds;
use crate::system::stop_on_signals;

/// The shortest interval: `/proc` counts CPU time in hundredths of a second.
const INTERVAL_MIN_S: f64 = 0.1;
/// How often signals and the sink are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Writes `host` and `process` records to standard output until a signal or the end of `time`.
pub fn run(time: Option<&str>, interval: &str) -> Result<ExitCode, Failure> {
    let interval_s = seconds("--interval", interval)?;
    if interval_s < INTERVAL_MIN_S {
        return Err(Failure::usage(format!(
            "--interval {interval}: too short\nhint: at least {INTERVAL_MIN_S} s"
        )));
    }
    let time = time
        .map(|text| seconds("--time", text))
        .transpose()?
        .map(Duration::from_secs_f64);
    let stop = stop_on_signals()?;
    let sink = Sink::new(vec![Box::new(LinesTo::new(stdout(), "standard output"))]);
    let begun = Instant::now();
    let options = ProbeOptions::host_only(Duration::from_secs_f64(interval_s));
    let probe = Probe::start(options, dyno_reactor::now_ns(), sink.clone())
        .map_err(|e| Failure::failed(format!("cannot start the probe: {e}")))?;
    // the sample at the very end is still wanted
    let end = time.map(|time| time + LOOK_EVERY);
    while !stop.requested() && end.is_none_or(|end| begun.elapsed() < end) && sink.check().is_ok() {
        std::thread::sleep(LOOK_EVERY);
    }
    let _ = probe.stop();
    sink.check()?;
    Ok(ExitCode::SUCCESS)
}
