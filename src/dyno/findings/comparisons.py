"""Every engine against the baseline, level by level, with a verdict and a sentence."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

from dyno import stats
from dyno.findings.marks import care
from dyno.findings.words import joined, percent, plural, ratio_interval, ratio_phrase
from dyno.report.model import Comparison, Estimate, Finding

Strength = Literal["measured", "untested", "caution"]
Measure = Literal["throughput_per_s", "p99_us"]

if TYPE_CHECKING:
    from dyno.findings.names import Names
    from dyno.report.model import Cell


MEASURES: dict[str, Measure] = {"closed": "throughput_per_s", "open": "p99_us"}
"""What a loop measures: a closed one capacity, an open one response time."""


def by_block(cell: Cell) -> dict[int, float]:
    """Block → what the cell's loop measures (`MEASURES`), of its good trials."""
    values = {
        trial.block: getattr(trial, MEASURES[cell.loop]) for trial in cell.trials if trial.status == "ok"
    }
    return {block: value for block, value in values.items() if value is not None}


def tested(a: Cell, b: Cell) -> stats.Comparison | None:
    """The ratio a ÷ b of what their loop measures; None where one of them has no good trial."""
    x, y = by_block(a), by_block(b)
    return stats.compare(x, y) if x and y else None


def verdict_of(
    cell: Cell, result: stats.Comparison, *, relevant_difference: float, p_corrected: float | None = None
) -> stats.Verdict:
    """What a ratio says of the cell on top of it: less response time is faster, less throughput is slower."""
    found = stats.verdict(result, relevant_difference=relevant_difference, p_corrected=p_corrected)
    opposite: dict[stats.Verdict, stats.Verdict] = {"faster": "slower", "slower": "faster"}
    return opposite.get(found, found) if cell.loop == "open" else found


def compare_with_baseline(
    cells: list[Cell], baseline: str | None, *, relevant_difference: float, names: Names
) -> list[Comparison]:
    """One comparison for each cell of another engine than the baseline.

    The p-values are corrected by Holm over all comparisons of the run: they are one table.
    """
    base = {(c.settings, c.workload, c.load): c for c in cells if c.engine == baseline}
    pairs = [
        (cell, base[cell.settings, cell.workload, cell.load])
        for cell in cells
        if cell.engine != baseline and (cell.settings, cell.workload, cell.load) in base
    ]
    results = [tested(cell, other) for cell, other in pairs]
    p_values = [result.p_value for result in results if result and result.p_value is not None]
    corrected = iter(stats.holm(p_values))
    comparisons = []
    for (cell, other), result in zip(pairs, results, strict=True):
        p_holm = next(corrected) if result and result.p_value is not None else None
        comparisons.append(
            _comparison(cell, other, result, p_holm=p_holm, delta=relevant_difference, names=names)
        )
    return comparisons


def _comparison(
    cell: Cell,
    base: Cell,
    result: stats.Comparison | None,
    *,
    p_holm: float | None,
    delta: float,
    names: Names,
) -> Comparison:
    comparison = Comparison(
        engine=cell.engine,
        baseline=base.engine,
        settings=cell.settings,
        workload=cell.workload,
        load=cell.load,
        measure=MEASURES[cell.loop],
        ratio=None,
        verdict="missing",
        sentence="",
    )
    if result is None:
        comparison.sentence = _missing_sentence(cell, base, names)
        return comparison
    comparison.ratio = Estimate(**asdict(result.ratio))
    comparison.p_value, comparison.p_value_holm = result.p_value, p_holm
    comparison.verdict = verdict_of(cell, result, relevant_difference=delta, p_corrected=p_holm)
    comparison.sentence = _sentence(comparison, cell, base, delta=delta, names=names)
    return comparison


def _missing_sentence(cell: Cell, base: Cell, names: Names) -> str:
    without = [names.engine(each.engine) for each in (cell, base) if not by_block(each)]
    verb = "has" if len(without) == 1 else "have"
    return f"{joined(without)} {verb} no number {names.place(cell)}: nothing to compare."


def _sentence(comparison: Comparison, cell: Cell, base: Cell, *, delta: float, names: Names) -> str:
    ratio = comparison.ratio
    assert ratio is not None
    subject = f"{names.engine(cell.engine)} is"
    against = f"{names.engine(base.engine)} {names.place(cell)}"
    if cell.loop == "open":
        subject, against = f"The p99 response time of {subject}", f"that of {against}"
    ns = (len(by_block(cell)), len(by_block(base)))
    trials = f"{plural(ns[0], 'trial')} each" if ns[0] == ns[1] else f"{ns[0]} and {ns[1]} trials"
    said = f"{subject} {ratio_phrase(ratio, against)}, {trials}: {_verdict_words(comparison, delta)}."
    return said + care([cell, base], names)


def _verdict_words(comparison: Comparison, delta: float) -> str:
    match comparison.verdict:
        case "no relevant difference":
            return f"no relevant difference (±{percent(delta)})"
        case "untested":
            return "untested, one trial says nothing of the spread"
        case "undecided" if _only_corrected_away(comparison):
            return f"undecided, because of several comparisons (p = {comparison.p_value_holm:.2g} after Holm)"
        case verdict:
            return verdict


def _only_corrected_away(comparison: Comparison) -> bool:
    ratio = comparison.ratio
    return bool(ratio and ratio.low and ratio.high and not ratio.low <= 1 <= ratio.high)


def find_comparisons(comparisons: list[Comparison], cells: list[Cell], names: Names) -> list[Finding]:
    """One sentence for each engine, settings set and workload: what its comparisons say over all levels."""
    groups: dict[tuple[str, str, str, str], list[Comparison]] = {}
    for comparison in comparisons:
        key = (comparison.engine, comparison.settings, comparison.workload, comparison.measure)
        groups.setdefault(key, []).append(comparison)
    findings = []
    for group in groups.values():
        places = {(c.settings, c.workload, c.load) for c in group}
        engines = {group[0].engine, group[0].baseline}
        evidence = [c for c in cells if c.engine in engines and (c.settings, c.workload, c.load) in places]
        findings.append(
            Finding(
                rule="comparison",
                sentence=group[0].sentence if len(group) == 1 else _over_levels(group, evidence, names),
                strength=_strength(group),
                cells=[cell.id for cell in evidence],
                trials=[t.id for cell in evidence for t in cell.trials if t.status == "ok"],
            )
        )
    return findings


def _strength(group: list[Comparison]) -> Strength:
    verdicts = {comparison.verdict for comparison in group}
    if verdicts <= {"missing"}:
        return "caution"
    return "untested" if verdicts <= {"missing", "untested"} else "measured"


def _over_levels(group: list[Comparison], evidence: list[Cell], names: Names) -> str:
    """Verdict by verdict, the levels it holds at and the ratios it rests on."""
    first = group[0]
    parts = []
    for verdict in ("faster", "slower", "no relevant difference", "undecided", "untested", "missing"):
        same = [comparison for comparison in group if comparison.verdict == verdict]
        if same:
            word = "no number" if verdict == "missing" else verdict
            levels = names.levels([comparison.load for comparison in same])
            parts.append(f"{word} at {levels}{_ratios(same)}")
    head = f"{names.engine(first.engine)} against {names.engine(first.baseline)}{names.condition(first)}"
    head += ", p99 response time" if first.measure == "p99_us" else ""
    return f"{head}: {'; '.join(parts)}.{care(evidence, names)}"


def _ratios(comparisons: list[Comparison]) -> str:
    ratios = sorted((c.ratio for c in comparisons if c.ratio), key=lambda ratio: ratio.value)
    if not ratios:
        return ""
    if len(ratios) == 1:
        interval = ratio_interval(ratios[0])
        return f" ({ratio_phrase(ratios[0])})" if interval else f" ({ratio_phrase(ratios[0])}, no interval)"
    low, high = (ratio_phrase(ratio).partition(",")[0] for ratio in (ratios[0], ratios[-1]))
    return f" ({low} to {high})" if low != high else f" ({low})"
