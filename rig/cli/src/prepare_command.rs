//! `dyno-rig prepare` and `dyno-rig cleanup`: the data of a workload.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use dyno_workloads::{BuildError, BuildOptions, Progress, Stage};
use serde::Serialize;

use crate::args::{LoadArgs, Prepare, SpecArgs};
use crate::failure::Failure;
use crate::{print, spec_args};

/// How often progress is told.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

/// Builds and verifies the data; the last line on standard output is what was done, as JSON.
pub fn prepare(args: &Prepare) -> Result<ExitCode, Failure> {
    let spec = spec_args::resolve(&args.spec, &LoadArgs::default())?;
    if args.threads == Some(0) {
        return Err(Failure::usage(
            "--threads 0: nobody would load\nhint: at least 1",
        ));
    }
    let options = BuildOptions {
        connections: args.threads,
        force: args.force,
    };
    let mut teller = Teller::new();
    let prepared = dyno_workloads::prepare(&spec, options, &mut |progress| teller.tell(progress))
        .map_err(failure)?;
    print_json(&prepared)
}

/// Drops the tables; prints which, as JSON.
pub fn cleanup(args: &SpecArgs) -> Result<ExitCode, Failure> {
    let spec = spec_args::resolve(args, &LoadArgs::default())?;
    print_json(&dyno_workloads::cleanup(&spec).map_err(failure)?)
}

fn print_json(value: &impl Serialize) -> Result<ExitCode, Failure> {
    let text = serde_json::to_string(value).map_err(Failure::failed)?;
    print(&(text + "\n"))
}

fn failure(error: BuildError) -> Failure {
    match error {
        BuildError::Options(_) | BuildError::Spec(_) => Failure::usage(error),
        _ => Failure::failed(error),
    }
}

/// Tells progress on standard error: each stage when it begins, then every two seconds, and when it is done.
struct Teller {
    stage: Option<Stage>,
    begun: Instant,
    told: Instant,
}

impl Teller {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            stage: None,
            begun: now,
            told: now,
        }
    }

    fn tell(&mut self, progress: Progress) {
        let now = Instant::now();
        let new = self.stage != Some(progress.stage);
        if new {
            (self.stage, self.begun) = (Some(progress.stage), now);
        }
        if new || progress.done == progress.total || now - self.told >= PROGRESS_EVERY {
            self.told = now;
            eprintln!("{}", progress_text(progress, now - self.begun));
        }
    }
}

fn progress_text(progress: Progress, elapsed: Duration) -> String {
    let (verb, unit) = match progress.stage {
        Stage::Load => ("load", "rows"),
        Stage::Index => ("index", "tables"),
        Stage::Verify => ("verify", "tables"),
    };
    let percent = 100 * progress.done / progress.total.max(1);
    format!(
        "{verb}: {} of {} {unit}, {percent} %, {:.1} s",
        progress.done,
        progress.total,
        elapsed.as_secs_f64()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_names_stage_amount_and_time() {
        let progress = Progress {
            stage: Stage::Load,
            done: 250,
            total: 1000,
        };
        let text = progress_text(progress, Duration::from_millis(1500));
        assert_eq!(text, "load: 250 of 1000 rows, 25 %, 1.5 s");
        let nothing = Progress {
            stage: Stage::Index,
            done: 0,
            total: 0,
        };
        assert!(progress_text(nothing, Duration::ZERO).contains("0 %"));
    }
}
