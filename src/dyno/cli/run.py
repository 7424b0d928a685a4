# ruff: noqa: PLC0415, D301 - commands import what they need when they run (numpy takes half a second); a
# backspace in a docstring keeps the lines of an example apart.
"""`dyno run`: a plan from its file to its report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dyno.cli import console
from dyno.plan.units import format_bytes, format_duration

if TYPE_CHECKING:
    from dyno.experiment.rehearse import Rehearsal
    from dyno.plan.resolved import ResolvedLoad

RUNS = Path("runs")
ORDER_SHOWN_MAX = 60

RunsDir = Annotated[Path, typer.Option("--runs-dir", help="Folder of all runs.", show_default=True)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]


def run(
    plan: Annotated[Path | None, typer.Argument(help="The plan, such as plans/quickstart.toml.")] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            help="Go on with a run that was cut short: its folder, its id, or `latest`.", metavar="RUN"
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show cells, trials, order, time and disk; start nothing.")
    ] = False,
    runs_dir: RunsDir = RUNS,
    as_json: AsJson = False,
) -> None:
    """Run a plan: engines, equal settings, load in a randomised order, statistics, report.

    Every trial is written down when it ends: after a crash or Ctrl-C, --resume goes on where it stopped,
    repeating nothing.

    \b
      dyno run plans/quickstart.toml
      dyno run plans/quickstart.toml --dry-run
      dyno run --resume latest
    """
    from dyno.cli.ending import show_outcome
    from dyno.experiment.run import Request, resume_run, start
    from dyno.plan.load import read
    from dyno.record.run import find_run

    if resume is not None:
        if dry_run:
            raise typer.BadParameter("--dry-run and --resume exclude each other")
        text = read(plan)[1] if plan is not None else None
        show_outcome(resume_run(find_run(resume, runs_dir), console.err, text), as_json=as_json)
        return
    if plan is None:
        raise typer.BadParameter("name a plan, such as plans/quickstart.toml, or a run to --resume")
    parsed, text = read(plan)
    if dry_run:
        from dyno.experiment.rehearse import rehearse

        show_rehearsal(rehearse(parsed, text), as_json=as_json)
        return
    request = Request(parsed, text, runs_dir, command=["dyno", *sys.argv[1:]])
    show_outcome(start(request, console.err), as_json=as_json)


def show_rehearsal(rehearsal: Rehearsal, *, as_json: bool) -> None:
    """Print a dry run: what would be done, in which order, at what price."""
    resolved, cost = rehearsal.resolved, rehearsal.estimate
    if as_json:
        console.print_json(
            {
                "resolved": resolved.model_dump(mode="json"),
                "to_install": rehearsal.to_install,
                "estimate": cost.as_dict(),
            }
        )
        return
    say = console.out.print
    say(f"{resolved.title}", markup=False)
    for engine in resolved.engines:
        state = "to be fetched" if engine.id in rehearsal.to_install else "is here"
        say(
            f"  engine    {engine.label}: {engine.family} {engine.version} from {engine.source}, {state}",
            markup=False,
        )
    for one in resolved.settings:
        pool = format_bytes(int(one.requested["buffer_pool"]))
        say(
            f"  settings  {one.id}: buffer pool {pool}, durability {one.requested['durability']}",
            markup=False,
        )
    for workload in resolved.workloads:
        options = ", ".join(f"{name}={value}" for name, value in workload.options.items())
        say(f"  workload  {workload.id} ({workload.statement_mode}): {options}", markup=False)
    for line in describe_loads(resolved.loads):
        say(f"  load      {line}", markup=False)
    say(f"  placement {resolved.placement.text}", markup=False)
    trials = f"{cost.cells} cells × {resolved.trials_per_cell} = {cost.trials} trials"
    say(f"  order     {trials}, {resolved.order_method}, seed {resolved.seed}")
    stopping, most = resolved.phases.stopping, "about"
    if stopping is not None:
        most = "at most"
        windows = f"{stopping.measure_min_s:g} s to {resolved.phases.measure_s:g} s"
        target = f"until the mean is known to ±{100 * stopping.precision:g} %"
        say(f"  measure   {windows}, {target} ({stopping.rule})", markup=False)
    price = f"{most} {format_duration(cost.time_s)} and {format_bytes(cost.disk_bytes)} of disk"
    say(f"  cost      {price}, with {cost.builds} data builds when nothing is built yet")
    for scheduled in resolved.order[:ORDER_SHOWN_MAX]:
        say(f"  {scheduled.trial}", markup=False)
    hidden = len(resolved.order) - ORDER_SHOWN_MAX
    if hidden > 0:
        say(f"  … and {hidden} more; --json lists all")


def describe_loads(loads: list[ResolvedLoad]) -> list[str]:
    """Every level of a plan, those of one kind in one line."""
    closed = [f"{load.sessions}" for load in loads if load.kind == "closed" and not load.stages]
    opened = [load for load in loads if load.kind == "open" and not load.stages]
    lines = [f"closed loop: {', '.join(closed)} sessions"] if closed else []
    if opened:
        rates = ", ".join(f"{load.rate_per_s:g}" for load in opened)
        how = f"{opened[0].arrivals} arrivals, {opened[0].sessions} connections"
        lines.append(f"open loop: {rates} transactions/s offered, {how}")
    for load in loads:
        if load.stages:
            steps = " → ".join([f"{load.start:g}", *(f"{stage.target:g}" for stage in load.stages)])
            unit = "sessions" if load.kind == "closed" else "transactions/s offered"
            lines.append(f"schedule {load.id}: {steps} {unit}")
    return lines
