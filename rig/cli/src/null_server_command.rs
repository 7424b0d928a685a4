//! `dyno-rig null-server`: the server that is never the limit.

use std::net::Ipv4Addr;
use std::process::ExitCode;

use dyno_nullserver::{Endpoint, Options, serve};

use crate::args::NullServer;
use crate::failure::Failure;

/// Serves until the process is killed. The address is told on standard error once clients may connect.
pub fn run(args: &NullServer) -> Result<ExitCode, Failure> {
    crate::system::raise_nofile()?;
    let endpoint = match &args.socket {
        Some(path) => Endpoint::Unix(path.clone()),
        None => Endpoint::Tcp((Ipv4Addr::LOCALHOST, args.port.unwrap_or(0)).into()),
    };
    let options = Options {
        cpu: args.cpu,
        stall: args.stall,
        arrivals: args.arrivals.clone(),
        fault: args.fault,
    };
    let told = |endpoint: &Endpoint| match endpoint {
        Endpoint::Tcp(address) => eprintln!("serving at {address}"),
        Endpoint::Unix(path) => eprintln!("serving at {}", path.display()),
    };
    serve(&endpoint, &options, told).map_err(|e| Failure::failed(format!("cannot serve: {e}")))?;
    Ok(ExitCode::SUCCESS)
}
