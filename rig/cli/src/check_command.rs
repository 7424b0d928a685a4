//! `dyno-rig check`: whether the data of a workload is consistent.

use std::process::ExitCode;
use std::time::Duration;

use dyno_workloads::{BuildError, Checked, ConditionChecked};

use crate::args::{Check, LoadArgs};
use crate::failure::Failure;
use crate::spec_args::{self, seconds};

/// Checks and prints what was found as one line of JSON; conditions that do not hold go to standard error too.
pub fn run(args: &Check) -> Result<ExitCode, Failure> {
    let spec = spec_args::resolve(&args.spec, &LoadArgs::default())?;
    let limit_s = seconds("--limit", &args.limit)?;
    if limit_s <= 0.0 {
        return Err(Failure::usage(format!(
            "--limit {}: nothing would be checked\nhint: more than 0 s",
            args.limit
        )));
    }
    let limit = Duration::from_secs_f64(limit_s);
    let checked = dyno_workloads::check(&spec, limit).map_err(|error| match error {
        BuildError::Options(_) | BuildError::Spec(_) => Failure::usage(error),
        _ => Failure::failed(error),
    })?;
    let json = serde_json::to_string(&checked).map_err(Failure::failed)?;
    crate::print(&(json + "\n"))?;
    for condition in &checked.conditions {
        if let (Some(false), Some(reason)) = (condition.holds, condition.deviation) {
            let profile = checked.profile;
            eprintln!(
                "note: profile {profile} breaks {}: {reason}",
                name(condition)
            );
        }
    }
    if checked.consistent {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::failed(violations(&checked)))
}

fn violations(checked: &Checked) -> String {
    let broken = checked
        .conditions
        .iter()
        .filter(|condition| !condition.is_met());
    let lines: Vec<String> = broken.map(violation).collect();
    format!(
        "the data is not consistent: {} of {} conditions do not hold\n{}\n\
         hint: numbers measured on this data mean nothing; build it anew",
        lines.len(),
        checked.conditions.len(),
        lines.join("\n")
    )
}

/// Its name, and where it was asked when there are several databases or sets of tables.
fn name(condition: &ConditionChecked) -> String {
    let database = condition.database.iter().map(|name| format!(" in {name}"));
    let tables = condition
        .tables
        .iter()
        .map(|number| format!(" of tables {number}"));
    let place: String = tables.chain(database).collect();
    condition.name.to_owned() + &place
}

fn violation(condition: &ConditionChecked) -> String {
    let head = format!("  {}: {}", name(condition), condition.text);
    let Some(row) = condition.rows.first() else {
        return format!("{head}\n    not known: the server took longer than the limit (--limit)");
    };
    let cells = condition
        .columns
        .iter()
        .zip(row)
        .map(|(column, value)| format!("{column} = {}", value.as_deref().unwrap_or("NULL")));
    let others = match (condition.rows.len() - 1, condition.more) {
        (0, _) => String::new(),
        (others, true) => format!(" (and more than {others} others)"),
        (others, false) => format!(" (and {others} others)"),
    };
    format!(
        "{head}\n    {}{others}",
        cells.collect::<Vec<_>>().join(", ")
    )
}
