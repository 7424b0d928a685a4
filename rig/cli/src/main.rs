//! The `dyno-rig` command: arguments in, exit code out. The one place that prints errors.
//!
//! Records and tables go to standard output, progress and errors to standard error.

mod args;
mod check_command;
mod connection_args;
mod drive_command;
mod failure;
mod human;
mod null_server_command;
mod pace_args;
mod prepare_command;
mod probe_command;
mod selftest_command;
mod spec_args;
mod system;
mod workload;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    let cli = Cli::parse();
    run(&cli.command).unwrap_or_else(|failure| failure.report())
}

fn run(command: &Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Drive(args) => drive_command::run(args),
        Command::Prepare(args) => prepare_command::prepare(args),
        Command::Check(args) => check_command::run(args),
        Command::Cleanup(args) => prepare_command::cleanup(args),
        Command::Workloads { json } => workload::list(*json),
        Command::Schema => print(&dyno_record::schema_json()),
        Command::Selftest(args) => selftest_command::run(args),
        Command::NullServer(args) => null_server_command::run(args),
        Command::Probe { time, interval } => probe_command::run(time.as_deref(), interval),
    }
}

/// Prints data; a reader that went away is not an error worth a message.
fn print(text: &str) -> Result<ExitCode, Failure> {
    use std::io::{ErrorKind, Write};
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::failed(format!(
            "cannot write to standard output: {error}"
        ))),
        _ => Ok(ExitCode::SUCCESS),
    }
}
