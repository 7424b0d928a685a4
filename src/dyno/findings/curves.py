"""Throughput over sessions: where each engine stops growing, by how much it grew, and where it collapses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.findings.comparisons import tested, verdict_of
from dyno.findings.results import good_trials, peak_of, single_runs, value_of
from dyno.findings.words import joined, number, percent
from dyno.report.model import Finding

if TYPE_CHECKING:
    from dyno.findings.results import Curve, Results
    from dyno.report.model import Cell

COLLAPSE = 2 / 3
"""Share of the peak at or below which a higher level counts as collapsed."""

LEVELS_MIN = 3
"""Levels below which a curve has no shape."""


def find_curves(results: Results, *, relevant_difference: float) -> list[Finding]:
    """Saturation, gain by sessions and collapses, for each settings set and workload."""
    findings = []
    for settings, workload in results.conditions():
        curves = {
            engine: curve
            for engine, curve in results.curves(settings, workload).items()
            if len(curve) >= LEVELS_MIN
        }
        if curves:
            findings += [_saturation(curves, results, relevant_difference), _gain(curves, results)]
            findings += _collapses(curves, results, relevant_difference)
    return findings


def _finding(rule: str, sentence: str, cells: list[Cell]) -> Finding:
    return Finding(
        rule=rule,
        sentence=sentence,
        strength="untested" if single_runs(cells) else "measured",
        cells=[cell.id for cell in cells],
        trials=good_trials(cells),
    )


def saturation_of(curve: Curve, relevant_difference: float) -> Cell:
    """The lowest level whose throughput is not relevantly below the peak's: more sessions give no more."""
    enough = value_of(peak_of(curve)) / (1 + relevant_difference)
    return next(cell for cell in curve if value_of(cell) >= enough)


def _saturation(curves: dict[str, Curve], results: Results, delta: float) -> Finding:
    names = results.names
    points = {engine: saturation_of(curve, delta) for engine, curve in curves.items()}
    still = [engine for engine, point in points.items() if point is curves[engine][-1]]
    by_level: dict[str, list[str]] = {}
    for engine, point in sorted(points.items(), key=lambda item: results.x[item[1].load]):
        if engine not in still:
            by_level.setdefault(names.loads.get(point.load, point.load), []).append(names.engine(engine))
    parts = [f"at {level} {joined(engines)}" for level, engines in by_level.items()]
    condition = names.condition(next(iter(points.values())))
    sentence = f"Within {percent(delta)} of the highest throughput{condition}"
    sentence += f": {'; '.join(parts)}" if parts else ": no engine before the highest level"
    if still and parts:
        sentence += f"; only at the highest level run {joined([names.engine(e) for e in still])}"
    return _finding("saturation", f"{sentence}.", [cell for curve in curves.values() for cell in curve])


def _gain(curves: dict[str, Curve], results: Results) -> Finding:
    """Peak against the lowest level, and the sessions that it took."""
    names = results.names
    gains = []
    for engine, curve in curves.items():
        first, top = curve[0], peak_of(curve)
        times = results.x[top.load] / results.x[first.load]
        gains.append((value_of(top) / value_of(first), times, engine))
    gains.sort(reverse=True)
    parts = [
        f"{names.engine(engine)} {number(gain)}× with {number(times)}× the sessions"
        for gain, times, engine in gains
    ]
    cell = next(iter(curves.values()))[0]
    start = names.loads.get(cell.load, cell.load)
    sentence = f"From {start} to the peak{names.condition(cell)}: {'; '.join(parts)}."
    cells = [each for curve in curves.values() for each in (curve[0], peak_of(curve))]
    return _finding("session_gain", sentence, list({cell.id: cell for cell in cells}.values()))


def collapse_of(curve: Curve) -> Cell | None:
    """The lowest cell beyond the peak, if it is down to two thirds of it; else None."""
    peak = peak_of(curve)
    beyond = curve[curve.index(peak) + 1 :]
    low = min(beyond, key=value_of, default=None)
    return low if low is not None and value_of(low) <= COLLAPSE * value_of(peak) else None


def _collapses(curves: dict[str, Curve], results: Results, delta: float) -> list[Finding]:
    """One sentence for all engines that lose a third or more beyond their peak; noise alone is left out."""
    names = results.names
    parts, cells = [], []
    for engine, curve in curves.items():
        low, peak = collapse_of(curve), peak_of(curve)
        result = tested(low, peak) if low else None
        if low is None or result is None:
            continue
        if verdict_of(low, result, relevant_difference=delta) not in {"slower", "untested"}:
            continue
        where = names.loads.get(low.load, low.load)
        at_peak = names.loads.get(peak.load, peak.load)
        figures = (
            f"{number(value_of(peak))} transactions/s at {at_peak} to {number(value_of(low))} at {where}"
        )
        share = percent(1 - value_of(low) / value_of(peak))
        parts.append(f"{names.engine(engine)} from {figures} (−{share})")
        cells += [peak, low]
    if not parts:
        return []
    sentence = f"Beyond their peak collapse{names.condition(cells[0])}: {'; '.join(parts)}."
    if len(parts) == 1:
        sentence = f"Beyond its peak collapses{names.condition(cells[0])} {parts[0]}."
    return [_finding("collapse", sentence, cells)]
