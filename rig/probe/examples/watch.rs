//! Watches a server for some seconds, prints the records, and says what watching cost:
//! `cargo run --release -p dyno-probe --example watch -- PID SOCKET SECONDS`.

use std::process::ExitCode;
use std::time::Duration;

use dyno_probe::{Probe, ProbeOptions};
use dyno_record::{LinesTo, Sink};
use dyno_wire::{Address, ConnectOptions};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [pid, socket, seconds] = arguments.as_slice() else {
        eprintln!("usage: watch PID SOCKET SECONDS");
        return ExitCode::from(2);
    };
    let options = ProbeOptions {
        server_pid: pid.parse().ok(),
        status: Some(ConnectOptions::new(Address::Unix(socket.into()), "root")),
        ..ProbeOptions::host_only(Duration::from_secs(1))
    };
    let sink = Sink::new(vec![Box::new(LinesTo::new(std::io::stdout(), "stdout"))]);
    let probe = match Probe::start(options, dyno_reactor::now_ns(), sink) {
        Ok(probe) => probe,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    std::thread::sleep(Duration::from_secs_f64(seconds.parse().unwrap_or(5.0)));
    eprintln!("{:?}", probe.stop());
    ExitCode::SUCCESS
}
