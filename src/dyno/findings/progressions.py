"""Versions of one family against its oldest: the relevant changes, and whether the trials support them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dyno import stats
from dyno.findings.comparisons import by_block, tested, verdict_of
from dyno.findings.results import good_trials
from dyno.findings.words import percent, plural
from dyno.report.model import Finding

if TYPE_CHECKING:
    from dyno.findings.names import Names
    from dyno.findings.results import Results
    from dyno.report.model import Cell, Engine

Strength = Literal["measured", "untested", "contradicted"]


@dataclass(frozen=True)
class Step:
    """One load level of a progression: newer against oldest.

    Attributes:
        cell: Of the newer version.
        base: Of the oldest one.
        result: Their ratio.
        verdict: What the trials allow to say of it.
    """

    cell: Cell
    base: Cell
    result: stats.Comparison
    verdict: stats.Verdict

    @property
    def change(self) -> float:
        """Change of throughput as a share: 0.05 is +5 %."""
        return self.result.ratio.value - 1


def version_key(version: str) -> tuple[int, ...]:
    """Numbers of a version, so that 5.7 comes before 10.11."""
    return tuple(int(part) for part in re.findall(r"\d+", version.split("-", maxsplit=1)[0]))


def find_progressions(results: Results, *, relevant_difference: float) -> list[Finding]:
    """For each family with several versions, settings set and workload: a sentence for each newer version.

    The p-values of all progressions of the run are corrected together by Holm.
    """
    groups = [
        (newer, oldest, pairs)
        for settings, workload in results.conditions()
        for versions in _families(results.engines)
        for oldest in versions[:1]
        for newer in versions[1:]
        if (pairs := _pairs(results, newer, oldest, settings, workload))
    ]
    tests = [
        [(cell, base, result) for cell, base in pairs if (result := tested(cell, base))]
        for *_, pairs in groups
    ]
    p_values = [r.p_value for group in tests for _, _, r in group if r.p_value is not None]
    corrected = iter(stats.holm(p_values))
    findings = []
    for (newer, oldest, pairs), group in zip(groups, tests, strict=True):
        steps = []
        for cell, base, result in group:
            p = next(corrected) if result.p_value is not None else None
            verdict = verdict_of(cell, result, relevant_difference=relevant_difference, p_corrected=p)
            steps.append(Step(cell, base, result, verdict))
        missing = [cell for cell, base in pairs if not by_block(cell) or not by_block(base)]
        if steps:
            findings.append(
                _progression(steps, missing, (newer, oldest), delta=relevant_difference, results=results)
            )
    return findings


def _families(engines: list[Engine]) -> list[list[Engine]]:
    """The engines of each family with several versions, oldest first."""
    families: dict[str, list[Engine]] = {}
    for engine in engines:
        if not engine.missing:
            families.setdefault(engine.family, []).append(engine)
    return [
        sorted(each, key=lambda engine: version_key(engine.version))
        for each in families.values()
        if len({version_key(engine.version) for engine in each}) > 1
    ]


def _pairs(
    results: Results, newer: Engine, oldest: Engine, settings: str, workload: str
) -> list[tuple[Cell, Cell]]:
    x = results.x
    here = [c for c in results.cells if (c.settings, c.workload) == (settings, workload) and c.load in x]
    base = {cell.load: cell for cell in here if cell.engine == oldest.id}
    mine = sorted((cell for cell in here if cell.engine == newer.id), key=lambda cell: x[cell.load])
    return [(cell, base[cell.load]) for cell in mine if cell.load in base]


def _progression(
    steps: list[Step], missing: list[Cell], pair: tuple[Engine, Engine], *, delta: float, results: Results
) -> Finding:
    names = results.names
    newer, oldest = (names.engine(engine.id) for engine in pair)

    marked = [step for step in steps if abs(step.change) >= delta]
    within = [step for step in steps if abs(step.change) < delta]
    parts = []
    if marked:
        heads = [f"{signed_percent(step.change)} at " for step in marked]
        parts.append(f"{names.levels([s.cell.load for s in marked], heads)} ({percent(delta)} or more)")
    if within:
        parts.append(f"less than ±{percent(delta)} at {names.levels([s.cell.load for s in within])}")
    if missing:
        parts.append(f"no number at {names.levels([cell.load for cell in missing])}")
    head = f"{newer} against {oldest}{names.condition(steps[0].cell)}"
    cells = [cell for step in steps for cell in (step.cell, step.base)]
    return Finding(
        rule="progression",
        sentence=f"{head}: {'; '.join(parts)}. {_support(steps, marked, names)}",
        strength=_strength(steps, marked),
        cells=[cell.id for cell in cells],
        trials=good_trials(cells),
    )


def _support(steps: list[Step], marked: list[Step], names: Names) -> str:
    """Whether the trials can carry the marked changes."""
    if not marked:
        return "No change is marked."
    untested = [step for step in marked if step.verdict == "untested"]
    if untested:
        n = plural(min(len(by_block(cell)) for s in steps for cell in (s.cell, s.base)), "trial")
        return f"With {n} a cell the data cannot tell these changes from the spread between runs."
    carried = [step for step in marked if step.verdict in {"faster", "slower"}]
    open_ones = [step for step in marked if step not in carried]
    said = f"The trials support {len(carried)} of {plural(len(marked), 'marked change')}"
    if open_ones:
        said += f", not those at {names.levels([step.cell.load for step in open_ones])}"
    return f"{said}."


def _strength(steps: list[Step], marked: list[Step]) -> Strength:
    """Contradicted: relevantly better at one level and relevantly worse at another."""
    if {step.change > 0 for step in marked} == {True, False}:
        return "contradicted"
    return "untested" if any(step.verdict == "untested" for step in steps) else "measured"


def signed_percent(share: float) -> str:
    """A change with its sign and one decimal: "−20.2 %"."""
    return f"{share * 100:+.1f} %".replace("-", "−")
