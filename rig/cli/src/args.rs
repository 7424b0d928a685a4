//! The command line as written.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use dyno_nullserver::{Fault, Stall};

use crate::connection_args::{ConnectArgs, SessionArgs};
use crate::pace_args::PaceArgs;

const EXAMPLES: &str = "\
Examples:
  Build four tables, drive them with 16 sessions for ten seconds, remove them:
    dyno-rig prepare --socket /run/mysqld/mysqld.sock --workload oltp_read_write --tables 4
    dyno-rig drive --socket /run/mysqld/mysqld.sock --workload oltp_read_write --tables 4 \\
      --sessions 16 --warmup 2s --time 10s
    dyno-rig cleanup --socket /run/mysqld/mysqld.sock --workload oltp_read_write --tables 4

  Over TCP, password from the environment, on CPU 1, the record kept:
    MY_PASSWORD=… dyno-rig drive --host db1 --user app --password-env MY_PASSWORD \\
      --workload oltp_point_select --cpus 1 --record run.ndjson

  Encrypted, read committed, over two proxies, lost connections made again:
    dyno-rig drive --host db1 --targets db1:6033,db2:6033 --tls verify-identity --tls-ca ca.pem \
      --isolation read-committed --reconnect reconnect --workload oltp_read_write --sessions 64

  What there is to run, and what a record line looks like:
    dyno-rig workloads
    dyno-rig schema

Exit codes:
  0  the trial ran to its end     1  it failed     2  wrong usage or spec     3  interrupted by a signal

Records go to standard output (or --record), everything else to standard error.";

const DRIVE_EXAMPLES: &str = "\
A closed loop measures capacity: each session starts a transaction when its last
one has ended, and latency is service time. An open loop measures response time:
transactions are due on a schedule, whatever the server does, and latency counts
from when they were due.

Examples (each with a target and a workload):
  Capacity with 64 sessions:
    --sessions 64 --time 60s
  Response times at 2,000 transactions/s:
    --rate 2000 --sessions 128 --time 60s
  From 1 to 512 sessions in five minutes:
    --sessions 1 --stages 5m:512
  Steps of 16, 64 and 256 sessions, a minute each:
    --stages 60s:16,0:64,60s:64,0:256,60s:256
  A spike of ten seconds from 500 to 5,000 transactions/s:
    --rate 500 --stages 30s:500,0:5000,10s:5000,0:500,30s:500

A terminal gets one line a second and a table; anything else gets NDJSON
(docs/FORMAT.md).

Ctrl-C ends a trial in order, a second one at once: its record is no result.
SIGUSR1 ends its measured phase with an interval: its record is one.";

/// Drives load against MySQL-family servers and records what it sees.
#[derive(Debug, Parser)]
#[command(name = "dyno-rig", version, after_help = EXAMPLES, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run one trial: connect, warm up, measure, drain
    #[command(
        after_help = DRIVE_EXAMPLES
    )]
    Drive(Box<Drive>),
    /// Build the data of a workload and verify it
    Prepare(Prepare),
    /// Check that the data of a workload is consistent
    Check(Check),
    /// Drop the tables of a workload
    Cleanup(SpecArgs),
    /// List the workloads and their options
    Workloads {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON schema of a record line
    Schema,
    /// Sample this host every second and write records
    Probe {
        /// Stop after this long (default: at Ctrl-C)
        #[arg(long, value_name = "DURATION")]
        time: Option<String>,
        /// Length of an interval
        #[arg(long, value_name = "DURATION", default_value = "1s")]
        interval: String,
    },
    /// Measure how much load this host can make, on the null server, in less than 20 s
    Selftest(Selftest),
    /// Serve a server that answers at once and stores nothing: the limit of any client
    NullServer(NullServer),
}

#[derive(Debug, Args)]
pub struct Drive {
    #[command(flatten)]
    pub spec: SpecArgs,
    #[command(flatten)]
    pub load: LoadArgs,
    /// Write the record stream to this file
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Print one line a second and a closing table, even when standard output is no terminal
    #[arg(long)]
    pub human: bool,
}

#[derive(Debug, Args)]
pub struct Prepare {
    #[command(flatten)]
    pub spec: SpecArgs,
    /// Drop tables of the same names first
    #[arg(long)]
    pub force: bool,
    /// Connections that load at the same time [default: one a CPU, 4 to 32]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    pub spec: SpecArgs,
    /// The longest that the server may spend on one condition
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub limit: String,
}

#[derive(Debug, Args)]
pub struct Selftest {
    /// CPUs of the worker threads, such as 1 or 0-3,6 [default: the last one]
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// CPU of the null server [default: the first one that is not the rig's]
    #[arg(long, value_name = "CPU")]
    pub server_cpu: Option<usize>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct NullServer {
    /// TCP port on 127.0.0.1; 0 takes a free one, which is printed
    #[arg(long, required_unless_present = "socket", conflicts_with = "socket")]
    pub port: Option<u16>,
    /// Unix socket to make
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// CPU to run on
    #[arg(long)]
    pub cpu: Option<usize>,
    /// Hold every answer back once, LENGTH@AFTER the first statement, such as 2s@5s
    #[arg(long, value_name = "STALL")]
    pub stall: Option<Stall>,
    /// Write when each statement arrived: nanoseconds of the monotonic clock, 64-bit little-endian
    #[arg(long, value_name = "FILE")]
    pub arrivals: Option<PathBuf>,
    /// Break the protocol in this way, to test a client
    #[arg(long, value_name = "NAME")]
    pub fault: Option<Fault>,
}

/// What every command that meets a server takes. A flag sets the field of the same name in the spec, and wins over it.
#[derive(Debug, Default, Args)]
pub struct SpecArgs {
    /// Read the spec from a JSON file, `-` is standard input (docs/FORMAT.md §4)
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// Unix socket of the server
    #[arg(long, value_name = "PATH", help_heading = "Target")]
    pub socket: Option<PathBuf>,
    /// Host of the server
    #[arg(long, help_heading = "Target")]
    pub host: Option<String>,
    /// TCP port of the server [default: 3306]
    #[arg(long, help_heading = "Target")]
    pub port: Option<u16>,
    /// Account [default: root]
    #[arg(long, help_heading = "Target")]
    pub user: Option<String>,
    /// Environment variable that holds the password
    #[arg(long, value_name = "NAME", help_heading = "Target")]
    pub password_env: Option<String>,
    /// File whose first line is the password
    #[arg(long, value_name = "FILE", help_heading = "Target")]
    pub password_file: Option<PathBuf>,
    // taken only to say why not: a command line is visible to every user of the host
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "")]
    pub password: Option<String>,
    /// Database of the tables [default: sbtest]
    #[arg(long, value_name = "NAME", help_heading = "Target")]
    pub database: Option<String>,
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Workload (`dyno-rig workloads` lists them)
    #[arg(long, value_name = "NAME", help_heading = "Workload")]
    pub workload: Option<String>,
    /// An option of the workload, KEY=VALUE; repeat for more
    #[arg(
        short = 'o',
        long = "option",
        value_name = "KEY=VALUE",
        help_heading = "Workload"
    )]
    pub options: Vec<String>,
    /// Number of tables (the workload's option of that name)
    #[arg(long, value_name = "N", help_heading = "Workload")]
    pub tables: Option<u64>,
    /// Rows a table (the workload's option of that name)
    #[arg(long, value_name = "N", help_heading = "Workload")]
    pub table_size: Option<u64>,
    /// Seed of every random choice [default: 1]
    #[arg(long, help_heading = "Workload")]
    pub seed: Option<u64>,
    /// CPUs of the worker threads, such as 1 or 0-3,6 [default: one worker, not pinned]
    #[arg(long, value_name = "LIST", help_heading = "Load")]
    pub cpus: Option<String>,
}

/// What only a drive takes.
#[derive(Debug, Default, Args)]
pub struct LoadArgs {
    #[command(flatten)]
    pub pace: PaceArgs,
    /// Load that does not count, such as 2s, 500ms or 3m [default: 2s]
    #[arg(long, value_name = "DURATION", help_heading = "Load")]
    pub warmup: Option<String>,
    /// Load that counts [default: 10s]
    #[arg(long, value_name = "DURATION", help_heading = "Load")]
    pub time: Option<String>,
    /// The most that is waited for transactions under way at the end [default: 1s]
    #[arg(long, value_name = "DURATION", help_heading = "Load")]
    pub drain: Option<String>,
    /// Length of an interval [default: 1s]
    #[arg(long, value_name = "DURATION", help_heading = "Load")]
    pub interval: Option<String>,
    /// How statements are sent: prepared or text [default: prepared]
    #[arg(long, value_name = "MODE", help_heading = "Load")]
    pub statement_mode: Option<String>,
    #[command(flatten)]
    pub session: SessionArgs,
    /// Sample host, processes and server status each second
    #[arg(long, help_heading = "Load")]
    pub probe: bool,
}
