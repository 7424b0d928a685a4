"""Who is highest, and whether the data can say so: per load level over engines, per engine over levels."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from dyno import stats
from dyno.findings.comparisons import by_block, tested, verdict_of
from dyno.findings.marks import care
from dyno.findings.words import duration, joined, number, percent, plural, ratio_phrase
from dyno.report.model import Estimate, Finding

if TYPE_CHECKING:
    from dyno.findings.names import Names
    from dyno.report.model import Cell, Load


@dataclass(frozen=True)
class Contest:
    """The best cell by its mean, and how it compares with each other one, nearest first.

    Best is the highest throughput in a closed loop, the lowest p99 response time in an open one.
    """

    top: Cell
    rest: list[Cell]
    results: list[stats.Comparison]

    @property
    def p_value(self) -> float | None:
        """The p-value of "it beats all others": the largest of the single ones; None when any is untested."""
        p_values = [result.p_value for result in self.results]
        return max((p for p in p_values if p is not None), default=None) if None not in p_values else None


def contest(cells: list[Cell]) -> Contest | None:
    """The contest between those cells that have a number; None when fewer than two have."""
    ranked = sorted((cell for cell in cells if by_block(cell)), key=_rank)
    if len(ranked) < 2:  # noqa: PLR2004
        return None
    results = [result for other in ranked[1:] if (result := tested(ranked[0], other))]
    return Contest(ranked[0], ranked[1:], results)


def _value(cell: Cell) -> float:
    return fmean(by_block(cell).values())


def _rank(cell: Cell) -> float:
    return _value(cell) if cell.loop == "open" else -_value(cell)


def _verdicts(found: Contest, delta: float) -> list[stats.Verdict]:
    """Verdict of top against each other cell, each for itself."""
    return [verdict_of(found.top, result, relevant_difference=delta) for result in found.results]


def find_leaders(cells: list[Cell], *, relevant_difference: float, names: Names) -> list[Finding]:
    """For each settings set, workload and load level: the leading engine, or that none is decided.

    An engine leads only if it beats each other one there. The p-values are corrected by Holm over the
    levels; within a level none is needed, because every single comparison must hold.
    """
    levels: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        levels.setdefault((cell.settings, cell.workload, cell.load), []).append(cell)
    groups = [group for group in levels.values() if len({cell.engine for cell in group}) > 1]
    contests = [contest(group) for group in groups]
    p_values = [found.p_value for found in contests if found and found.p_value is not None]
    corrected = iter(stats.holm(p_values))
    findings = []
    for group, found in zip(groups, contests, strict=True):
        if found is None:
            findings += _alone(group, names)
            continue
        p = next(corrected) if found.p_value is not None else None
        findings.append(_leader(found, group, p, delta=relevant_difference, names=names))
    return findings


def _alone(group: list[Cell], names: Names) -> list[Finding]:
    """A level where at most one engine has a number."""
    have = [cell for cell in group if by_block(cell)]
    place = names.place(group[0])
    sentence = (
        f"Only {names.engine(have[0].engine)} has a number {place}: there is no leader."
        if have
        else f"No engine has a number {place}."
    )
    return [Finding(rule="leader", sentence=sentence, strength="caution", cells=[cell.id for cell in group])]


def _leader(
    found: Contest, group: list[Cell], p_corrected: float | None, *, delta: float, names: Names
) -> Finding:
    verdicts = _verdicts(found, delta)
    sentence = _leader_sentence(found, verdicts, p_corrected, delta=delta, names=names)
    without = [names.engine(cell.engine) for cell in group if not by_block(cell)]
    sentence += f" Without a number there: {joined(without)}." if without else ""
    sentence += care([found.top, *found.rest], names)
    return Finding(
        rule="leader",
        sentence=sentence,
        strength="untested" if "untested" in verdicts else "measured",
        cells=[cell.id for cell in group],
        trials=_good_trials(group),
    )


def _leader_sentence(
    found: Contest, verdicts: list[stats.Verdict], p_corrected: float | None, *, delta: float, names: Names
) -> str:
    """Leads, is level, is undecided or untested; `p_corrected` is that of "beats all others"."""
    place = names.place(found.top)
    top = f"{names.engine(found.top.engine)} ({_figure(found.top)})"
    opened = found.top.loop == "open"
    best = "the lowest p99 response time is that of" if opened else "the highest mean is"
    following = names.engine(found.rest[0].engine)
    ratio = Estimate(**asdict(found.results[0].ratio))
    close = [cell for cell, verdict in zip(found.rest, verdicts, strict=True) if verdict != "faster"]
    if "untested" in verdicts or p_corrected is None:
        head = "Lowest p99 response time" if opened else "Highest"
        against = f"{ratio_phrase(ratio, following)}; with so few trials untested"
        return f"{head} {place} {'has' if opened else 'is'} {top}, {against}."
    if not close and p_corrected < 1 - ratio.confidence:
        trials = plural(len(by_block(found.top)), "trial")
        return f"{top} leads {place}: {ratio_phrase(ratio, f'the next ({following})')}, {trials}."
    if not close:
        reason = f"because of several levels (p = {p_corrected:.2g} after Holm)"
        head = f"No leader is decided {place}, {reason}"
        return f"{head}: {best} {top}, {ratio_phrase(ratio, following)}."
    if all(verdict in {"faster", "no relevant difference"} for verdict in verdicts):
        others = joined([f"{names.engine(cell.engine)} ({_figure(cell)})" for cell in close])
        first = "lowest" if opened else "highest"
        within = f"no relevant difference (±{percent(delta)})"
        return f"Level {place}: {top} and {others}, {within}; {first} against next: {ratio_phrase(ratio)}."
    others = joined([names.engine(cell.engine) for cell in close])
    apart = f"not told apart from {others} ({ratio_phrase(ratio, following)})"
    return f"No leader is decided {place}: {best} {top}, {apart}."


def _figure(cell: Cell) -> str:
    """The mean of what the cell's loop measures, with its unit."""
    value = _value(cell)
    return f"p99 {duration(value)}" if cell.loop == "open" else f"{number(value)} transactions/s"


def _good_trials(cells: list[Cell]) -> list[str]:
    return [trial.id for cell in cells for trial in cell.trials if trial.status == "ok"]


def find_peaks(
    cells: list[Cell], loads: list[Load], *, relevant_difference: float, names: Names
) -> list[Finding]:
    """For each engine, settings set and workload with several levels of a closed loop: the highest one.

    An open loop has no peak: its throughput is what was offered. Nor has a schedule, whose level changes.
    """
    x = {load.id: load.x for load in loads if load.kind == "closed" and load.schedule is None}
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        if cell.load not in x:
            continue
        groups.setdefault((cell.engine, cell.settings, cell.workload), []).append(cell)
    findings = []
    for group in groups.values():
        found = contest(group)
        if found:
            verdicts = _verdicts(found, relevant_difference)
            last = max(group, key=lambda cell: x[cell.load])
            findings.append(_peak(found, verdicts, group, is_last=found.top is last, names=names))
    return findings


def _peak(
    found: Contest, verdicts: list[stats.Verdict], group: list[Cell], *, is_last: bool, names: Names
) -> Finding:
    estimate = found.top.throughput_per_s
    assert estimate is not None
    interval = f"{plural(estimate.n, 'trial')}, no interval"
    if estimate.low is not None and estimate.high is not None:
        bounds = f"{percent(estimate.confidence)} CI {number(estimate.low)} to {number(estimate.high)}"
        interval = f"{bounds}, {plural(estimate.n, 'trial')}"
    engine = names.engine(found.top.engine)
    sentence = f"{engine} is highest {names.place(found.top)}: {_figure(found.top)} ({interval})"
    untested = "untested" in verdicts
    close = [cell for cell, verdict in zip(found.rest, verdicts, strict=True) if verdict != "faster"]
    if untested:
        sentence += ", untested"
    elif close:
        sentence += (
            f", not told apart from {joined([names.loads.get(cell.load, cell.load) for cell in close])}"
        )
    sentence += "; that is the highest level run, so its peak may lie beyond." if is_last else "."
    without = [names.loads.get(cell.load, cell.load) for cell in group if not by_block(cell)]
    sentence += f" Without a number: {joined(without)}." if without else ""
    sentence += care([found.top], names)
    return Finding(
        rule="peak",
        sentence=sentence,
        strength="untested" if untested else "measured",
        cells=[cell.id for cell in group],
        trials=_good_trials(group),
    )
