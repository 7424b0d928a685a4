"""A dry run: the plan resolved as far as it can be without fetching or starting anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.experiment.estimate import Estimate, estimate
from dyno.experiment.provision import cached, check_names, resolved_engine
from dyno.experiment.rig import Rig, find_rig
from dyno.experiment.target import Address
from dyno.hosts.placement import place
from dyno.plan import names
from dyno.plan.resolve import Found, resolve
from dyno.plan.resolved import ResolvedEngine, ResolvedPlacement, ResolvedPlan

if TYPE_CHECKING:
    from dyno.engines import EngineSpec
    from dyno.plan.schema import EngineEntry, Plan


@dataclass(frozen=True)
class Rehearsal:
    """What a run would do. Engines that are not on this machine yet have no exact version."""

    resolved: ResolvedPlan
    to_install: list[str]
    estimate: Estimate


def rehearse(plan: Plan, text: str) -> Rehearsal:
    """Resolve a plan without fetching, connecting or starting anything.

    Raises:
        DynoError: The plan names something that does not exist, or there is no rig.
    """
    specs = check_names(plan)
    engines = [_engine(entry, spec) for entry, spec in zip(plan.engines, specs, strict=True)]
    to_install = [each.id for each in engines if each.kind == "installed" and each.content_sha256 is None]
    placement = place(plan.placement.server_cpus, plan.placement.rig_cpus)
    found = Found(engines, [], ResolvedPlacement(**vars(placement)), Rig(find_rig()).workloads())
    resolved = resolve(plan, text, found)
    return Rehearsal(resolved, to_install, estimate(resolved, len(to_install)))


def _engine(entry: EngineEntry, spec: EngineSpec | None) -> ResolvedEngine:
    if spec is None:
        address = Address.parse(entry.target or "")
        return ResolvedEngine(
            id=names.slug(entry.label or f"{address.host}-{address.port}"),
            label=entry.label or f"{address.host}:{address.port}",
            request=entry.target or "",
            kind="target",
            family="unknown",
            version="unknown",
            server_version=None,
            source="target",
            content_sha256=None,
        )
    installed = cached(spec)
    if installed is not None:
        return resolved_engine(entry, spec, installed)
    return ResolvedEngine(
        id=spec.id,
        label=entry.label or spec.name,
        request=spec.name,
        kind="installed",
        family=spec.family,
        version=spec.version,
        server_version=None,
        source=spec.source,
        content_sha256=None,
    )
