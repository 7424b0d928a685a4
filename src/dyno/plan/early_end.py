"""What a plan may ask of trials that end when their mean is known; the rule is `dyno.stats.stopping`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from dyno.plan.complain import PlanError
from dyno.plan.resolved import ResolvedStopping

if TYPE_CHECKING:
    from dyno.plan.schema import Phases, Plan

RULE: Literal["dyno-stopping/1"] = "dyno-stopping/1"
"""Raised with every change of the rule or of one of its constants."""
MEASURE_MIN_S = 120.0
SHORTEST_S = 20.0
"""The rule judges twenty batches of at least one interval, which is a second."""


def resolve_stopping(phases: Phases) -> ResolvedStopping | None:
    """The rule with its target, or None where every trial measures for the planned time."""
    if phases.precision is None:
        return None
    shortest_s = MEASURE_MIN_S if phases.measure_min is None else phases.measure_min
    return ResolvedStopping(rule=RULE, precision=phases.precision, measure_min_s=shortest_s)


def check_stopping(plan: Plan, source: str) -> None:
    """A trial that may end early needs a throughput to be found out, and time for the shortest window.

    Raises:
        PlanError: It has not; or there is a shortest window, but no precision.
    """
    phases = plan.phases
    stopping = resolve_stopping(phases)
    if stopping is None:
        if phases.measure_min is not None:
            raise PlanError(
                f"{source}: phases.measure_min = {phases.measure_min:g} s, but no phases.precision",
                hint='precision = "3%" ends a trial when its mean is known to ±3 %',
            )
        return
    if plan.load.rate_per_s or plan.load.schedules:
        kind = "rate_per_s" if plan.load.rate_per_s else "schedules"
        raise PlanError(
            f"{source}: phases.precision, but load.{kind}: such a load has no throughput to be found out",
            hint="precision is for closed loops of [load] sessions",
        )
    shortest_s = stopping.measure_min_s
    if not SHORTEST_S <= shortest_s <= phases.measure:
        raise PlanError(
            f"{source}: phases.precision with windows of {shortest_s:g} s to {phases.measure:g} s",
            hint=f'measure is the longest window; measure_min, from "{SHORTEST_S:g}s" on, the shortest: '
            f'"{MEASURE_MIN_S:g}s" where it is not given',
        )
