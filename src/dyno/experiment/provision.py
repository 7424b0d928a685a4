"""From the engines that a plan names to those that are there: installed, or answering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dyno.engines import EngineSpec, Installed, Store, find, install
from dyno.errors import DynoError
from dyno.experiment.installed import InstalledStand
from dyno.experiment.stand import Stand
from dyno.experiment.target import Address, TargetStand, look_at
from dyno.plan import names
from dyno.plan.complain import PlanError
from dyno.plan.resolve import resolve_connection
from dyno.plan.resolved import MissingEngine, Package, ResolvedConnection, ResolvedEngine, ResolvedPlan

if TYPE_CHECKING:
    from dyno.plan.schema import EngineEntry, Plan

Say = Callable[[str], None]


@dataclass
class Provisioned:
    """The engines of a run: those that can be had, with their stands by id, and those that cannot."""

    engines: list[ResolvedEngine] = field(default_factory=list[ResolvedEngine])
    missing: list[MissingEngine] = field(default_factory=list[MissingEngine])
    stands: dict[str, Stand] = field(default_factory=dict[str, Stand])

    def add(self, stand: Stand) -> None:
        """One more engine."""
        self.engines.append(stand.engine)
        self.stands[stand.engine.id] = stand


def check_names(plan: Plan) -> list[EngineSpec | None]:
    """The catalog's entry of every engine of a plan (None for a target), before anything is fetched.

    Raises:
        PlanError: An engine does not exist, or two have the same id.
    """
    specs: list[EngineSpec | None] = []
    seen: dict[str, int] = {}
    for index, entry in enumerate(plan.engines):
        where = f"engines[{index}]"
        spec = None
        if entry.engine is not None:
            try:
                spec = find(entry.engine)
            except DynoError as error:
                raise PlanError(
                    f'{where}.engine = "{entry.engine}": {error.message}', hint=error.hint
                ) from error
        engine_id = spec.id if spec is not None else _target_id(entry)
        if engine_id in seen:
            raise PlanError(
                f"{where}: the engine {engine_id} is in the plan already, as engines[{seen[engine_id]}]",
                hint="name each engine once; targets are told apart by their label",
            )
        seen[engine_id] = index
        specs.append(spec)
    return specs


def provision(plan: Plan, say: Say) -> Provisioned:
    """Install or reach every engine of the plan; one that cannot be had is noted and left out.

    Raises:
        PlanError: The plan names an engine that does not exist.
        DynoError: None of them can be had.
    """
    found = Provisioned()
    line = resolve_connection(plan.connection)
    for entry, spec in zip(plan.engines, check_names(plan), strict=True):
        try:
            found.add(_stand(entry, spec, line, say))
        except DynoError as error:
            engine_id = spec.id if spec is not None else _target_id(entry)
            label = entry.label or (spec.name if spec is not None else engine_id)
            found.missing.append(
                MissingEngine(id=engine_id, label=label, reason=error.message, hint=error.hint)
            )
            say(f"{label} cannot be had, the run goes on without it: {error.message}")
            if error.hint:
                say(f"hint: {error.hint}")
    if not found.engines:
        first = found.missing[0]
        raise DynoError(f"none of the plan's engines can be had; {first.id}: {first.reason}", hint=first.hint)
    return found


def provision_again(resolved: ResolvedPlan, say: Say) -> dict[str, Stand]:
    """The stands of a run that is resumed: exactly the engines that it began with.

    Raises:
        DynoError: An engine is not there any more, or is another one now.
    """
    stands: dict[str, Stand] = {}
    for engine in resolved.engines:
        if engine.kind == "target":
            line = resolved.connection
            address = Address.parse(engine.request, engine.password_env, engine.password_file, line)
            now = look_at(address, engine.label, engine.request)
            _require_same(engine, "version", engine.server_version, now.server_version)
            stands[engine.id] = TargetStand(engine, line)
        else:
            installed = _same_prefix(engine) or install(find(engine.request), progress=say)
            _require_same(engine, "package hash", engine.content_sha256, installed.content_sha256)
            stands[engine.id] = InstalledStand(engine, installed)
    return stands


def cached(spec: EngineSpec) -> Installed | None:
    """The engine when it is on this machine already; nothing is fetched."""
    entry = Store().lookup(spec.id, spec.source)
    return entry.installed if entry is not None else None


def resolved_engine(entry: EngineEntry, spec: EngineSpec, installed: Installed) -> ResolvedEngine:
    """An installed engine as the resolved plan has it."""
    return ResolvedEngine(
        id=spec.id,
        label=entry.label or spec.name,
        request=spec.name,
        kind="installed",
        family=installed.family,
        version=installed.version,
        server_version=None,
        source=installed.source,
        content_sha256=installed.content_sha256,
        packages=[
            Package(name=each.name, version=each.version, sha256=each.sha256) for each in installed.packages
        ],
    )


def _stand(entry: EngineEntry, spec: EngineSpec | None, line: ResolvedConnection, say: Say) -> Stand:
    if spec is None:
        url = entry.target or ""
        password_file = str(Path(entry.password_file).expanduser()) if entry.password_file else None
        address = Address.parse(url, entry.password_env, password_file, line)
        return TargetStand(look_at(address, entry.label, url), line)
    installed = install(spec, progress=lambda text: say(f"{spec.id}: {text}"))
    return InstalledStand(resolved_engine(entry, spec, installed), installed)


def _target_id(entry: EngineEntry) -> str:
    address = Address.parse(entry.target or "")
    return names.slug(entry.label or f"{address.host}-{address.port}")


def _same_prefix(engine: ResolvedEngine) -> Installed | None:
    """The very prefix that the run began with, when the cache still knows it under its request."""
    known = cached(find(engine.request))
    return known if known is not None and known.content_sha256 == engine.content_sha256 else None


def _require_same(engine: ResolvedEngine, what: str, before: str | None, now: str | None) -> None:
    if before != now:
        raise DynoError(
            f"{engine.id} is not the engine that this run began with: {what} was {before}, is {now}",
            hint="start a new run: one run compares the same engines from its first to its last trial",
        )
