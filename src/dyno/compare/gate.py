"""The answer for a gate: pass, slower by more than the threshold, or undecided."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from dyno import stats
from dyno.compare import differences, notes
from dyno.compare.model import Compared, Pair, SecondOpinion, Side
from dyno.compare.sides import Matched, Opened, match_engines, match_runs
from dyno.findings.comparisons import MEASURES, by_block, verdict_of
from dyno.findings.words import percent, plural, ratio_phrase
from dyno.report.model import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dyno.compare.model import Difference, Gate
    from dyno.findings import Names
    from dyno.report.model import Cell

SMALLEST_SAMPLE = 2


def compare_runs(
    before: Opened, after: Opened, *, threshold: float | None = None, engines: Sequence[str] = ()
) -> Compared:
    """The cells of one run against the same cells of an earlier one.

    Args:
        before: The run to compare with.
        after: The run in question.
        threshold: Difference that matters, as a share; by default that of the plan of `before`.
        engines: Only these, by id, label or request.

    Raises:
        DynoError: The runs have no cell in common.
    """
    matched = match_runs(before, after, engines)
    delta = threshold or before.run.manifest.relevant_difference
    pairs = _pairs(matched, delta, after.names, paired=False)
    found = differences.between_runs(before, after, matched)
    said = notes.of_runs(after, found, delta)
    return _compared((_side(before), _side(after)), matched, pairs, delta, found=found, said=said)


def compare_engines(
    opened: Opened, baseline: str, *, threshold: float | None = None, engines: Sequence[str] = ()
) -> Compared:
    """The engines of one run against one of them, paired by block where all blocks are whole.

    Raises:
        DynoError: The run has no such engine, or only one.
    """
    matched = match_engines(opened, baseline, engines)
    delta = threshold or opened.run.manifest.relevant_difference
    pairs = _pairs(matched, delta, opened.names, paired=True)
    after = sorted({pair.after for pair in pairs})
    return _compared(
        (_side(opened, opened.engine(baseline)), _side(opened, after[0] if len(after) == 1 else None)),
        matched,
        pairs,
        delta,
        found=differences.within_run(opened, matched),
        said=notes.of_engines(opened, delta),
    )


def _side(opened: Opened, engine: str | None = None) -> Side:
    found = opened.analysis
    return Side(run=found.run, engine=engine, title=found.title, created=found.created)


def _pairs(matched: Matched, delta: float, names: Names, *, paired: bool) -> list[Pair]:
    """Every pair with its verdict; p-values corrected by Holm over all of them."""
    results = [_tested(x, y, paired=paired) for x, y in matched.pairs]
    corrected = iter(stats.holm([r.p_value for r in results if r and r.p_value is not None]))
    return [
        _pair(
            cells,
            result,
            next(corrected) if result and result.p_value is not None else None,
            delta=delta,
            names=names,
        )
        for cells, result in zip(matched.pairs, results, strict=True)
    ]


def _tested(before: Cell, after: Cell, *, paired: bool) -> stats.Comparison | None:
    """The ratio after ÷ before; None where a side has no good trial.

    Blocks of two runs have nothing in common, so that their trials are no pairs.
    """
    x, y = by_block(before), by_block(after)
    if not x or not y:
        return None
    return stats.compare(y, x) if paired else stats.ratio_unpaired([*y.values()], [*x.values()])


def _pair(
    cells: tuple[Cell, Cell],
    result: stats.Comparison | None,
    p_holm: float | None,
    *,
    delta: float,
    names: Names,
) -> Pair:
    before, after = cells
    pair = Pair(
        before=before.engine,
        after=after.engine,
        settings=after.settings,
        workload=after.workload,
        load=after.load,
        measure=MEASURES[after.loop],
        before_value=_mean(before),
        after_value=_mean(after),
        ratio=None,
        verdict="missing",
        gate="undecided",
        care=[mark.text for cell in cells for mark in cell.marks if mark.severity != "info"],
        sentence="",
    )
    if result is not None:
        pair.ratio = Estimate(**asdict(result.ratio))
        pair.p_value, pair.p_value_holm = result.p_value, p_holm
        pair.verdict = verdict_of(after, result, relevant_difference=delta, p_corrected=p_holm)
        pair.gate = gate_of(pair, delta)
        pair.second_opinion = _second_opinion(before, after)
    pair.sentence = _sentence(pair, names, before, after)
    return pair


def gate_of(pair: Pair, threshold: float) -> Gate:
    """Whether a pair is slower by more than the threshold.

    - "slower": the verdict is slower, and the ratio itself lies beyond the threshold;
    - "pass": the end of the interval on the slow side lies within it (non-inferiority), or it is faster;
    - "undecided": neither, a single trial, or no number.
    """
    ratio, band = pair.ratio, 1 + threshold
    if ratio is None or ratio.low is None or ratio.high is None:
        return "undecided"
    # Less throughput is slower, more response time is slower: both as "times slower".
    value, worst = (1 / ratio.value, 1 / ratio.low if ratio.low > 0 else float("inf"))
    if pair.measure == "p99_us":
        value, worst = ratio.value, ratio.high
    if pair.verdict == "slower" and value > band:
        return "slower"
    return "pass" if worst <= band or pair.verdict == "faster" else "undecided"


def _mean(cell: Cell) -> Estimate | None:
    values = list(by_block(cell).values())
    return Estimate(**asdict(stats.mean_interval(values))) if values else None


def _second_opinion(before: Cell, after: Cell) -> SecondOpinion | None:
    x, y = list(by_block(before).values()), list(by_block(after).values())
    if min(len(x), len(y)) < SMALLEST_SAMPLE:
        return None
    ranks = stats.mann_whitney(y, x)
    ratio = Estimate(**asdict(stats.hodges_lehmann_ratio(y, x)))
    return SecondOpinion(ratio=ratio, p_value=ranks.p_value, method=ranks.method)


def _sentence(pair: Pair, names: Names, before: Cell, after: Cell) -> str:
    place = names.place(after)
    same = pair.before == pair.after
    subject = names.engine(after.engine)
    if pair.ratio is None:
        sides = [side for side, cell in (("before", before), ("after", after)) if not by_block(cell)]
        return f"{subject} {place} has no number {' and '.join(sides)}: nothing to compare."
    what = subject if pair.measure == "throughput_per_s" else f"The p99 response time of {subject}"
    against = "what it was" if same else names.engine(before.engine)
    ns = [len(by_block(cell)) for cell in (before, after)]
    trials = f"{plural(ns[0], 'trial')} each" if ns[0] == ns[1] else f"{ns[0]} and {ns[1]} trials"
    verdict = "untested, one trial says nothing of the spread" if pair.verdict == "untested" else pair.verdict
    return f"{what} {place} is {ratio_phrase(pair.ratio, against)}, {trials}: {verdict}."


def _compared(
    sides: tuple[Side, Side],
    matched: Matched,
    pairs: list[Pair],
    threshold: float,
    *,
    found: list[Difference],
    said: list[str],
) -> Compared:
    gates: list[Gate] = [pair.gate for pair in pairs]
    open_ = "undecided" in gates or bool(matched.lost)
    gate: Gate = "slower" if "slower" in gates else "undecided" if open_ else "pass"
    return Compared(
        before=sides[0],
        after=sides[1],
        threshold=threshold,
        gate=gate,
        sentence=_answer(gates, len(matched.lost), threshold),
        pairs=pairs,
        differences=found,
        lost=matched.lost,
        added=matched.added,
        notes=said,
    )


def _answer(gates: Sequence[Gate], lost: int, threshold: float) -> str:
    slower, undecided = gates.count("slower"), gates.count("undecided")
    whole = plural(len(gates), "comparison")
    if slower:
        return f"Slower by more than {percent(threshold)} in {slower} of {whole}."
    if undecided:
        return f"Undecided: {undecided} of {whole} cannot rule out a slowdown of {percent(threshold)}."
    if lost:
        verb = "is" if lost == 1 else "are"
        return f"Undecided: {plural(lost, 'cell')} of the first run {verb} not in the second."
    return f"No slowdown of {percent(threshold)} in {whole}."
