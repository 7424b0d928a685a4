"""Scaling laws of a run: each engine's throughput over sessions, its law or why it has none, and in words."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dyno import stats
from dyno.findings.comparisons import by_block
from dyno.findings.marks import care
from dyno.findings.words import joined, number, percent
from dyno.report.model import Estimate, Finding, Knee, Scaling, ScalingPoint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dyno.findings.names import Names
    from dyno.report.model import Cell, Load

CURVE_LEVELS_MIN = 2
"""Levels of a plan below which nobody asks how an engine scales."""

SPREAD_SHOWN_MIN = 0.001


def fit_curves(
    cells: list[Cell], loads: list[Load], names: Names, borders: Sequence[stats.Border] = ()
) -> list[Scaling]:
    """One for each engine, settings set and workload with several constant levels of a closed loop.

    A level whose number is the generator's is left out, like one without a number.

    Args:
        cells: All cells of a run.
        loads: Its load levels.
        names: What engines and conditions are called.
        borders: Where the CPUs of the server end, or a part of them.
    """
    x = {load.id: load.x for load in loads if load.kind == "closed" and load.schedule is None}
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        if cell.load in x:
            groups.setdefault((cell.engine, cell.settings, cell.workload), []).append(cell)
    return [
        _curve(sorted(group, key=lambda cell: x[cell.load]), x, names, borders)
        for group in groups.values()
        if len(group) >= CURVE_LEVELS_MIN
    ]


def _curve(
    group: list[Cell], x: Mapping[str, float], names: Names, borders: Sequence[stats.Border]
) -> Scaling:
    """One engine; `group` is in rising order of sessions."""
    first = group[0]
    levels = {x[cell.load]: values for cell in group if (values := _values(cell))}
    curve = fit_curve(f"{names.engine(first.engine)}{names.condition(first)}", levels, borders)
    without = [
        f"{names.loads.get(cell.load, cell.load)} ({_why(cell)})" for cell in group if not _values(cell)
    ]
    if curve.refused == "few levels" and without:
        curve.reason = f"{curve.reason}; without a number: {joined(without)}"
    return curve.model_copy(
        update={
            "engine": first.engine,
            "settings": first.settings,
            "workload": first.workload,
            "cells": [cell.id for cell in group],
        }
    )


def _values(cell: Cell) -> list[float]:
    return [] if _generator_limited(cell) else list(by_block(cell).values())


def _generator_limited(cell: Cell) -> bool:
    return any(mark.kind == "client_cpu" and mark.severity == "bad" for mark in cell.marks)


def _why(cell: Cell) -> str:
    if _generator_limited(cell):
        return "the generator was the limit"
    reasons = dict.fromkeys(trial.reason or trial.status for trial in cell.trials if trial.status != "ok")
    return joined(list(reasons)) or "not run"


def fit_curve(
    label: str, levels: Mapping[float, Sequence[float]], borders: Sequence[stats.Border] = ()
) -> Scaling:
    """A law for one curve, or the reason against one.

    Args:
        label: Whose curve it is.
        levels: Sessions → throughput of each trial, transactions/s.
        borders: Where the host may make it bend.
    """
    sessions = sorted(levels)
    throughput = [stats.geometric_mean([dict(enumerate(levels[n]))]).value for n in sessions]
    fit = stats.fit_scaling(levels)
    if isinstance(fit, stats.ScalingRefusal):
        found: dict[str, Any] = {"refused": fit.code, "reason": fit.reason}
    else:
        knees = [_knee(knee) for knee in stats.find_knees(levels, borders)]
        found = {**_fitted(fit), "knees": knees}
    return Scaling(
        label=label,
        engine="",
        settings="",
        workload="",
        sessions=sessions,
        throughput_per_s=throughput,
        **found,
    )


def _fitted(fit: stats.ScalingFit) -> dict[str, Any]:
    return {
        "law": fit.law,
        "gamma_per_s": _estimate(fit.gamma),
        "alpha": _estimate(fit.alpha),
        "beta": _estimate(fit.beta),
        "peak_sessions": _estimate(fit.peak_sessions),
        "peak_per_s": _estimate(fit.peak_throughput),
        "peak_note": fit.peak_note,
        "extrapolated": fit.extrapolated,
        "limit_per_s": _estimate(fit.limit),
        "residuals": list(fit.residuals),
        "residual_spread": fit.residual_spread,
        "curve": [ScalingPoint(**asdict(point)) for point in fit.curve],
    }


def _estimate(estimate: stats.Estimate | None) -> Estimate | None:
    return None if estimate is None else Estimate(**asdict(estimate))


def _knee(knee: stats.Knee) -> Knee:
    return Knee(
        sessions=knee.border.sessions,
        name=knee.border.name,
        exponent=knee.exponent,
        p_value=knee.p_value,
        p_value_holm=knee.p_holm,
        found=knee.found,
    )


def find_scaling(curves: list[Scaling], cells: list[Cell], names: Names) -> list[Finding]:
    """A sentence for each curve that had levels enough: its law, or why it follows none."""
    by_id = {cell.id: cell for cell in cells}
    findings = []
    for curve in curves:
        if curve.refused == "few levels":
            continue
        mine = [by_id[cell] for cell in curve.cells]
        repeated = all(len(by_block(cell)) > 1 for cell in mine if by_block(cell))
        findings.append(
            Finding(
                rule="scaling",
                sentence=sentence(curve) + care(mine, names),
                strength="caution" if curve.refused else "measured" if repeated else "untested",
                cells=curve.cells,
                trials=[trial.id for cell in mine for trial in cell.trials if trial.status == "ok"],
            )
        )
    return findings


def sentence(curve: Scaling) -> str:
    """What a curve says, without the marks of its cells."""
    if curve.alpha is None or curve.residual_spread is None:
        return f"No scaling law is given for {curve.label}: {curve.reason}."
    if curve.law == "usl" and curve.beta is not None:
        alpha, beta = with_interval(curve.alpha), with_interval(curve.beta)
        law = f"the Universal Scalability Law (α = {alpha}, β = {beta})"
    else:
        law = f"Amdahl's law (α = {with_interval(curve.alpha)})"
    off = f"its {len(curve.sessions)} levels are off by {off_by(curve.residual_spread)} (standard deviation)"
    return f"{curve.label} scales by {law}; {off}. {_peak(curve)}{_bend(curve)}"


def _peak(curve: Scaling) -> str:
    if curve.peak_sessions is not None and curve.peak_per_s is not None:
        note = f" ({curve.peak_note})" if curve.peak_note else ""
        at = f"{with_interval(curve.peak_sessions)} sessions"
        return f"The law's peak is {with_interval(curve.peak_per_s)} transactions/s at {at}{note}."
    if curve.limit_per_s is not None:
        limit = f"{with_interval(curve.limit_per_s)} transactions/s"
        return f"No peak shows; the law rises towards {limit}, beyond every level run."
    return f"No peak is given: {curve.peak_note}."


def _bend(curve: Scaling) -> str:
    """The clearest knee; its neighbours often see the same bend."""
    found = [knee for knee in curve.knees if knee.found]
    if not found:
        return ""
    knee = min(found, key=lambda each: each.p_value)
    way = "falls behind" if knee.exponent < 0 else "runs ahead of"
    place = f"{knee.sessions:g} sessions ({knee.name})"
    power = f"(N ÷ {knee.sessions:g})^{knee.exponent:.2f}"
    return f" Beyond {place} it {way} the law, as {power} (p = {knee.p_value_holm:.2g} after Holm)."


def off_by(spread: float) -> str:
    """How far levels lie off their law: "3.2 %"; next to nothing is not told in digits."""
    return percent(spread) if spread >= SPREAD_SHOWN_MIN else f"under {percent(SPREAD_SHOWN_MIN)}"


def with_interval(estimate: Estimate) -> str:
    """A value with its interval: "0.030 [0.025, 0.036]"."""
    if estimate.low is None or estimate.high is None:
        return figure(estimate.value)
    return f"{figure(estimate.value)} [{figure(estimate.low)}, {figure(estimate.high)}]"


def figure(value: float) -> str:
    """Large figures whole, small ones with three digits, tiny ones as a power of ten."""
    if value >= 1:
        return number(value)
    return f"{value:.3g}"
