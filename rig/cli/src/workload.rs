//! Workloads by name: the one place that turns a spec into code.

use std::fmt::Write as _;
use std::process::ExitCode;

use dyno_record::{Spec, Summary};
use dyno_workloads::tpcc::profiles::Profile;
use dyno_workloads::tpcc::profiles::client_sql::ClientSql;
use dyno_workloads::tpcc::profiles::hammerdb::HammerDb;
use dyno_workloads::{Oltp, Tpcc, WorkloadInfo, catalog, tpcc};

use crate::drive_command::Trial;
use crate::failure::Failure;
use crate::print;

/// Drives the workload that the spec names. The trial is made only when the workload is known to be possible.
pub fn drive<'a>(
    spec: &Spec,
    trial: &dyn Fn() -> Result<Trial<'a>, Failure>,
) -> Result<Summary, Failure> {
    if spec.workload.name == tpcc::settings::NAME {
        return drive_tpcc(spec, trial);
    }
    let workload = Oltp::new(&spec.workload).map_err(Failure::usage)?;
    trial()?.drive(workload)
}

/// Drives the TPC-C-derived workload in the profile that the spec names.
fn drive_tpcc<'a>(
    spec: &Spec,
    trial: &dyn Fn() -> Result<Trial<'a>, Failure>,
) -> Result<Summary, Failure> {
    let profile = tpcc::settings::profile(&spec.workload).map_err(Failure::usage)?;
    match profile {
        Profile::Standard => {
            let workload = Tpcc::new(spec).map_err(Failure::usage)?;
            trial()?.drive(workload)
        }
        Profile::HammerDb => {
            let workload = HammerDb::new(spec).map_err(Failure::usage)?;
            trial()?.drive(workload)
        }
        Profile::SysbenchTpcc | Profile::TpccMysql => {
            let workload = ClientSql::new(spec).map_err(Failure::usage)?;
            trial()?.drive(workload)
        }
    }
}

/// `dyno-rig workloads`: what there is, with every option.
pub fn list(json: bool) -> Result<ExitCode, Failure> {
    let catalog = catalog();
    if json {
        let text = serde_json::to_string_pretty(&catalog).map_err(Failure::failed)?;
        return print(&(text + "\n"));
    }
    print(&catalog.iter().map(describe).collect::<String>())
}

fn describe(workload: &WorkloadInfo) -> String {
    let mut text = format!(
        "{} (version {}): {}\n",
        workload.name, workload.version, workload.event
    );
    for option in &workload.options {
        let default = option
            .default
            .as_str()
            .map_or_else(|| option.default.to_string(), str::to_owned);
        // writing into a string does not fail
        let _ = writeln!(
            text,
            "  -o {:<28} {} ({})",
            format!("{}={default}", option.name),
            option.meaning,
            option.allowed
        );
    }
    text + "\n"
}
