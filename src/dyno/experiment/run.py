"""A run from its first line to its last: begun in a new folder, or resumed in its own."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from dyno.engines import cache_root, reap
from dyno.errors import DynoError
from dyno.experiment.journal import FINISHED, Journal
from dyno.experiment.loop import Loop, Outcome
from dyno.experiment.manifest import manifest
from dyno.experiment.provision import provision, provision_again
from dyno.experiment.rig import Rig, find_rig
from dyno.experiment.stand import run_work
from dyno.hosts.ceiling import demand_warning, known_ceiling
from dyno.hosts.doctor import examine
from dyno.hosts.facts import host_facts
from dyno.hosts.noise import known_noise
from dyno.hosts.placement import place
from dyno.plan.resolve import Found, resolve
from dyno.plan.resolved import ResolvedPlacement, ResolvedPlan, sha256_of
from dyno.record.layout import RunLayout, new_run, write_json, write_text
from dyno.record.manifest import Manifest, TrialFile

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from dyno.hosts.ceiling import Ceiling
    from dyno.plan.schema import Plan


@dataclass(frozen=True)
class Request:
    """One plan to run: the plan, its text, how it was asked for, and how much is said of it."""

    plan: Plan
    text: str
    runs: Path
    command: list[str]
    keep_data: bool = False
    each_second: bool = False


def start(request: Request, console: Console) -> Outcome:
    """Run a plan in a new folder.

    Raises:
        DynoError: Nothing can be run: no rig, no engine, a workload that does not exist.
        InterruptedRunError: Ctrl-C; the message says how to go on.
    """
    rig = Rig(find_rig())
    placement = place(request.plan.placement.server_cpus, request.plan.placement.rig_cpus)
    workloads = rig.workloads()
    found = provision(request.plan, lambda text: console.print(text, markup=False))
    resolved = resolve(
        request.plan,
        request.text,
        Found(found.engines, found.missing, ResolvedPlacement(**vars(placement)), workloads),
        keep_data=request.keep_data,
    )
    layout = new_run(request.runs, resolved.name)
    data_path = cache_root()
    facts = host_facts(data_path)
    rig_version = rig.version()
    ceiling = known_ceiling(data_path, facts, rig_version, placement.rig_cpus)
    _warn_of_demand(resolved, ceiling, console)
    write_text(layout.plan, request.text)
    write_text(layout.resolved, resolved.model_dump_json(indent=1) + "\n")
    checks = examine(data_path, placement, ceiling=ceiling)
    write_json(
        layout.manifest,
        manifest(
            layout.id,
            resolved,
            rig_version=rig_version,
            command=request.command,
            host=facts,
            doctor=checks,
            ceiling=ceiling,
            noise=known_noise(data_path, facts),
        ),
    )
    with Journal(layout.journal) as journal:
        journal.write_all((each.trial for each in resolved.order), "planned")
        loop = Loop(
            layout,
            resolved,
            stands=found.stands,
            rig=rig,
            journal=journal,
            console=console,
            each_second=request.each_second,
        )
        return loop.execute()


def _warn_of_demand(resolved: ResolvedPlan, ceiling: Ceiling | None, console: Console) -> None:
    """Say before anything starts that the rig may become what is measured."""
    rates = [load.rate_per_s for load in resolved.loads if load.rate_per_s is not None]
    rates += [
        stage.target
        for load in resolved.loads
        if load.kind == "open"
        for stage in [*load.warmup_stages, *load.stages]
    ]
    warning = demand_warning(rates, ceiling)
    if warning is not None:
        console.print(f"warning: {warning}", markup=False)
        console.print("hint: give the rig more CPUs ([placement] rig_cpus), or offer less", markup=False)


def resume_run(path: Path, console: Console, text: str | None = None) -> Outcome:
    """Go on with a run: finished trials stay as they are, all others are run.

    Args:
        path: The run's folder.
        console: Where progress goes.
        text: The plan's text, when the caller named one: it must be the run's own.

    Raises:
        DynoError: The folder is not a run, or engine, rig or host are not those it began with.
    """
    layout = RunLayout(path.resolve())
    resolved = read_resolved(layout)
    if text is not None and sha256_of(text) != resolved.plan_sha256:
        raise DynoError(
            f"the plan is not the one that {layout.id} began with",
            hint="leave the plan away, or start a new run",
        )
    rig = Rig(find_rig())
    _require_same_place(layout, rig)
    with Journal(layout.journal) as journal:
        _reap(layout, console)
        _adopt(layout, resolved, journal)
        stands = provision_again(resolved, lambda said: console.print(said, markup=False))
        loop = Loop(layout, resolved, stands=stands, rig=rig, journal=journal, console=console)
        return loop.execute()


def read_resolved(layout: RunLayout) -> ResolvedPlan:
    """The ResolvedPlan of a run folder.

    Raises:
        DynoError: There is none, or it is not readable by this Dyno.
    """
    try:
        return ResolvedPlan.model_validate_json(layout.resolved.read_text(encoding="utf-8"))
    except OSError as error:
        raise DynoError(
            f"{layout.path} is not a run: it has no resolved.json", hint="name a folder that `dyno run` made"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DynoError(
            f"{layout.resolved}: {where}: {first['msg']}", hint="resume a run with the Dyno that began it"
        ) from error


def _adopt(layout: RunLayout, resolved: ResolvedPlan, journal: Journal) -> None:
    """A trial that wrote its `trial.json` is finished, even if the lab died before it told the journal."""
    for scheduled in resolved.order:
        path = layout.trial(scheduled.trial).trial
        if journal.states.get(scheduled.trial) in FINISHED or not path.exists():
            continue
        try:
            ended = TrialFile.model_validate_json(path.read_text(encoding="utf-8"))
        except ValidationError:
            continue
        journal.write(scheduled.trial, ended.status, ended.reason)


def _require_same_place(layout: RunLayout, rig: Rig) -> None:
    try:
        written = Manifest.model_validate_json(layout.manifest.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise DynoError(f"cannot read {layout.manifest}", hint="start a new run") from error
    facts = host_facts(cache_root()).as_dict()
    now = {"rig_version": rig.version(), **{key: facts[key] for key in ("hostname", "cpu_model", "cpus")}}
    before = {"rig_version": written.rig_version, **{key: written.host.get(key) for key in list(now)[1:]}}
    for key, value in now.items():
        if before[key] != value:
            raise DynoError(
                f"{key} was {before[key]!r} when {layout.id} began, now it is {value!r}",
                hint="start a new run: its trials would not be comparable",
            )


def _reap(layout: RunLayout, console: Console) -> None:
    """End the servers that a killed lab left behind; a trial beside them would be worthless."""
    for server in reap():
        console.print(
            f"ended {server.engine} (pid {server.pid}), left over from an earlier run", markup=False
        )
    shutil.rmtree(run_work(cache_root(), layout), ignore_errors=True)
