"""`Plan` → `ResolvedPlan`: pure, from what was found on the machine (engines, CPUs, workloads)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dyno.plan import names
from dyno.plan.complain import PlanError, closest
from dyno.plan.connection_schema import address
from dyno.plan.early_end import resolve_stopping
from dyno.plan.load import accepted, settings_sets
from dyno.plan.resolved import (
    MissingEngine,
    ResolvedCell,
    ResolvedConnection,
    ResolvedEngine,
    ResolvedLoad,
    ResolvedPhases,
    ResolvedPlacement,
    ResolvedPlan,
    ResolvedSettings,
    ResolvedStage,
    ResolvedWorkload,
    sha256_of,
)
from dyno.plan.schedule import schedule

if TYPE_CHECKING:
    from dyno.plan.connection_schema import ConnectionTable
    from dyno.plan.load_schema import LoadTable, Stage
    from dyno.plan.schema import OptionValue, Plan, WorkloadEntry


PROFILE_COMMON = ("profile", "warehouses")
"""Options that every profile takes, with one default."""

PROFILE_OWN = ("shape",)
"""Options of the default profile alone that are part of what is measured."""

CHECKED = frozenset({"tpcc"})
"""Workloads whose data has conditions that must hold at any time: those that `dyno-rig check` knows."""


@dataclass(frozen=True)
class WorkloadKind:
    """A workload as the rig knows it: its definition's version and its options with their defaults.

    A default of None means that the rig chooses the value itself. `aliases` are other names of options
    (those of sysbench) → the option's own.
    """

    name: str
    version: int
    defaults: dict[str, OptionValue | None]
    aliases: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Found:
    """What was found for a plan: the engines it can have and those it cannot, in the order of the plan."""

    engines: list[ResolvedEngine]
    missing: list[MissingEngine]
    placement: ResolvedPlacement
    workloads: list[WorkloadKind]


def resolve(plan: Plan, text: str, found: Found, *, keep_data: bool = False) -> ResolvedPlan:
    """The resolved plan; `text` is the file's text, whose hash identifies it.

    Raises:
        PlanError: A workload, an option or the baseline does not exist, or two things share an id.
    """
    settings = [
        ResolvedSettings(id=id_, requested=one.model_dump(mode="json"), asked=sorted(one.model_fields_set))
        for id_, one in settings_sets(plan)
    ]
    workloads = resolve_workloads(plan.workloads, found.workloads)
    loads = resolve_loads(plan.load)
    cells = [
        ResolvedCell(
            id=names.cell_id(engine.id, one.id, workload.id, load.id),
            engine=engine.id,
            settings=one.id,
            workload=workload.id,
            load=load.id,
        )
        for engine in found.engines
        for one in settings
        for workload in workloads
        for load in loads
    ]
    shuffled = plan.trials.order == "randomized-blocks"
    return ResolvedPlan(
        name=plan.plan.name,
        title=plan.plan.title or plan.plan.name,
        question=plan.plan.question,
        seed=plan.plan.seed,
        plan_sha256=sha256_of(text),
        engines=found.engines,
        engines_missing=found.missing,
        settings=settings,
        accept=accepted(plan),
        workloads=workloads,
        loads=loads,
        connection=resolve_connection(plan.connection),
        phases=ResolvedPhases(
            warmup_s=plan.phases.warmup,
            measure_s=plan.phases.measure,
            drain_s=plan.phases.drain,
            stopping=resolve_stopping(plan.phases),
        ),
        trials_per_cell=plan.trials.count,
        order_method=plan.trials.order,
        placement=found.placement,
        baseline=_baseline(plan, found),
        relevant_difference=plan.report.relevant_difference,
        keep_data=keep_data,
        cells=cells,
        order=schedule(cells, plan.trials.count, plan.plan.seed, shuffled=shuffled),
    )


def resolve_connection(connection: ConnectionTable) -> ResolvedConnection:
    """How sessions connect; the authority's file by its absolute path."""
    ca, io = connection.tls_ca, connection.io_timeout
    return ResolvedConnection(
        **connection.model_dump(
            include={"tls", "compression", "init", "isolation", "reconnect", "per_transaction"}
        ),
        tls_ca=None if ca is None else str(Path(ca).expanduser().absolute()),
        connect_timeout_s=connection.connect_timeout,
        io_timeout_s=None if io == "never" else io,
        targets=[address(target) for target in connection.targets],
        stagger_s=connection.stagger,
    )


def resolve_loads(load: LoadTable) -> list[ResolvedLoad]:
    """Every load level: those of the closed loop, those of the open one, then the schedules."""
    opened: dict[str, Any] = {
        "sessions": load.connections,
        "arrivals": load.arrivals,
        "backlog_max": load.backlog_max,
    }
    closed = [
        ResolvedLoad(id=names.sessions_id(count), kind="closed", sessions=count)
        for count in load.sessions or []
    ]
    rates = [
        ResolvedLoad(id=names.rate_id(rate), kind="open", rate_per_s=rate, **opened)
        for rate in load.rate_per_s or []
    ]
    schedules = [
        ResolvedLoad(
            id=schedule.name,
            kind=schedule.kind,
            start=schedule.levels[0],
            warmup_stages=_stages(schedule.warmup_stages),
            stages=_stages(schedule.stages),
            **(opened if schedule.kind == "open" else {}),
        )
        for schedule in load.schedules
    ]
    return [*closed, *rates, *schedules]


def _stages(stages: list[Stage]) -> list[ResolvedStage]:
    return [ResolvedStage(duration_s=stage.duration, target=stage.target) for stage in stages]


def resolve_workloads(entries: list[WorkloadEntry], known: list[WorkloadKind]) -> list[ResolvedWorkload]:
    """Every workload of the plan with the rig's defaults filled in.

    Values are checked by the rig itself before anything runs; names are checked here.
    """
    kinds = {kind.name: kind for kind in known}
    resolved: dict[str, ResolvedWorkload] = {}
    for index, entry in enumerate(entries):
        where = f"workloads[{index}]"
        kind = kinds.get(entry.name)
        if kind is None:
            raise PlanError(
                f'{where}.name = "{entry.name}": the rig has no such workload',
                hint=f"{closest(entry.name, list(kinds))}; `dyno-rig workloads` describes them",
            )
        workload_id = names.slug(entry.id or entry.name)
        if workload_id in resolved:
            raise PlanError(
                f'{where}: a second workload has the id "{workload_id}"',
                hint='tell them apart: id = "read_write_small"',
            )
        resolved[workload_id] = ResolvedWorkload(
            id=workload_id,
            name=entry.name,
            version=kind.version,
            options=_defaults(kind, named := _options(entry, kind, where)) | named,
            statement_mode=entry.statement_mode,
            check=_check(entry, where),
        )
    return list(resolved.values())


def _defaults(kind: WorkloadKind, named: dict[str, OptionValue]) -> dict[str, OptionValue]:
    """The rig's defaults. Of a workload with profiles only those that mean the same in the profile chosen.

    Which other options a profile takes, and with which defaults, is for the rig to know: naming one that it
    does not take would be an error.
    """
    defaults = {name: value for name, value in kind.defaults.items() if value is not None}
    if "profile" not in defaults:
        return defaults
    own = named.get("profile", defaults["profile"]) == defaults["profile"]
    common = [*PROFILE_COMMON, *(PROFILE_OWN if own else ())]
    return {name: defaults[name] for name in common if name in defaults}


def _check(entry: WorkloadEntry, where: str) -> bool:
    """Whether the data is to be checked; only some workloads have conditions that must hold."""
    if entry.check and entry.name not in CHECKED:
        raise PlanError(
            f"{where}.check = true: {entry.name} has no consistency conditions",
            hint=f"leave it out; workloads that can be checked: {', '.join(sorted(CHECKED))}",
        )
    return entry.check


def _options(entry: WorkloadEntry, kind: WorkloadKind, where: str) -> dict[str, OptionValue]:
    """The options that the plan names, by their own names."""
    named: dict[str, OptionValue] = {}
    for written, value in entry.options.items():
        option = kind.aliases.get(written, written)
        if option not in kind.defaults:
            raise PlanError(
                f"{where}.options.{written}: {entry.name} has no such option",
                hint=closest(written, list(kind.defaults)),
            )
        if option in named:
            raise PlanError(f"{where}.options.{written}: {option} is named twice", hint="keep one of the two")
        named[option] = value
    return named


def _baseline(plan: Plan, found: Found) -> str | None:
    """The id of the engine that the others are compared with: the named one, else the first."""
    wanted = plan.report.baseline
    if wanted is None:
        return found.engines[0].id if found.engines else None
    for engine in found.engines:
        if wanted in (engine.id, engine.label, engine.request):
            return engine.id
    if any(wanted in (gone.id, gone.label) or names.slug(wanted) == gone.id for gone in found.missing):
        return found.engines[0].id if found.engines else None
    known = [engine.id for engine in found.engines] + [gone.id for gone in found.missing]
    raise PlanError(
        f'report.baseline = "{wanted}": no engine of this plan is called that', hint=closest(wanted, known)
    )
