"""What the numbers of a run do not show, and why: failed, missing, disturbed, few, configured otherwise."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from dyno.findings.comparisons import by_block
from dyno.findings.conditions import find_hosts, find_settings
from dyno.findings.marks import said_once
from dyno.findings.words import percent, plural
from dyno.report.model import Finding

if TYPE_CHECKING:
    from dyno.findings.names import Names
    from dyno.report.model import Cell, Comparison, Engine, Mark, SettingRow, TrialResult

RANK_TEST_TRIALS_MIN = 4
"""Trials a side below which no rank test can reach p < 0.05 (two-sided Mann–Whitney, 4 v 4: 0.029)."""

SHOWN_MAX = 3
"""Items named in one sentence; the tables have them all."""


def find_cautions(
    cells: list[Cell],
    comparisons: list[Comparison],
    engines: list[Engine],
    setting_rows: list[SettingRow],
    *,
    doctor: list[Mark],
    run: str,
    names: Names,
) -> list[Finding]:
    """All cautions, the gravest first."""
    return [
        *_engines_missing(engines),
        *_unfinished(cells, run),
        *_without_number(cells, names),
        *_marked(cells, "client_cpu", "The generator was near its limit", names),
        *_marked(cells, "overload", "Servers did not keep up with the offered rate", names),
        *_marked(cells, "errors", "Transactions were retried", names),
        *_marked(cells, "unfinished", "Transactions were cut off at the end of drain", names),
        *_marked(cells, "host", "The host was not ours alone", names),
        *_doctor(doctor),
        *find_settings(setting_rows, names),
        *find_hosts(setting_rows, names),
        *_few_trials(cells, comparisons),
    ]


def _caution(rule: str, sentence: str, cells: list[Cell], *statuses: str) -> Finding:
    """A caution with its evidence: the cells, and their trials of the given statuses."""
    trials = [trial.id for cell in cells for trial in cell.trials if trial.status in statuses]
    return Finding(
        rule=rule, sentence=sentence, strength="caution", cells=[c.id for c in cells], trials=trials
    )


def _engines_missing(engines: list[Engine]) -> list[Finding]:
    return [
        _caution("engine_missing", f"{engine.label} could not be had and was not run: {engine.missing}.", [])
        for engine in engines
        if engine.missing
    ]


def _unfinished(cells: list[Cell], run: str) -> list[Finding]:
    """Trials that were never run: the run was stopped."""
    planned = sum(len(cell.trials) for cell in cells)
    open_cells = [cell for cell in cells if any(_is_open(trial) for trial in cell.trials)]
    missing = sum(_is_open(trial) for cell in cells for trial in cell.trials)
    if not missing:
        return []
    sentence = f"The run is not finished: {missing} of {plural(planned, 'trial')} were not run."
    sentence += f" `dyno run --resume {run}` continues it."
    return [_caution("unfinished", sentence, open_cells, "missing")]


def _is_open(trial: TrialResult) -> bool:
    """Whether a trial can still be run: it has a hint; the empty log of an imported one has none."""
    return trial.status == "missing" and trial.hint is not None


def _without_number(cells: list[Cell], names: Names) -> list[Finding]:
    """Cells with failed or invalid trials, each with its reasons."""
    findings = []
    for cell in cells:
        bad = [trial for trial in cell.trials if trial.status != "ok" and not _is_open(trial)]
        if bad:
            reasons = said_once(trial.reason or "no reason recorded" for trial in bad)
            verb = "is" if len(bad) == 1 else "are"
            gone = f"{len(bad)} of {plural(len(cell.trials), 'trial')} {verb} no result"
            left = "" if by_block(cell) else ", so the cell has none"
            sentence = f"{names.cell(cell)}: {gone}{left} ({'; '.join(reasons)})."
            findings.append(_caution("failed", sentence, [cell], "failed", "invalid", "missing"))
    return findings


def _marked(cells: list[Cell], kind: str, head: str, names: Names) -> list[Finding]:
    """One sentence for all cells that carry a mark of this kind."""
    found = [
        (cell, mark) for cell in cells for mark in cell.marks if mark.kind == kind and mark.severity != "info"
    ]
    if not found:
        return []
    parts = [f"{names.cell(cell)}: {mark.text}" for cell, mark in found]
    cells_found = list({cell.id: cell for cell, _ in found}.values())
    share = f"{len(cells_found)} of {plural(len(cells), 'cell')}"
    return [_caution(kind, f"{head} ({share}). {_shown(parts)}.", cells_found, "ok")]


def _doctor(marks: list[Mark]) -> list[Finding]:
    """What the host check before the run objected to."""
    if not marks:
        return []
    return [
        _caution(
            "doctor", f"Before the run the host was found wanting: {'; '.join(m.text for m in marks)}.", []
        )
    ]


def _shown(items: list[str]) -> str:
    rest = len(items) - SHOWN_MAX
    return "; ".join(items[:SHOWN_MAX]) + (f"; and {rest} more" if rest > 0 else "")


def _few_trials(cells: list[Cell], comparisons: list[Comparison]) -> list[Finding]:
    """What the number of trials allows to see, from the widths that the intervals really have."""
    counts = [len(by_block(cell)) for cell in cells if by_block(cell)]
    if not counts:
        return []
    if max(counts) == 1:
        sentence = "One trial a cell: values are shown, nothing is tested, and no difference is claimed."
        return [_caution("n", sentence, cells, "ok")]
    # An interval of a ratio reaches from value ÷ factor to value × factor (about, where it is unpaired).
    factors = [
        math.sqrt(c.ratio.high / c.ratio.low) - 1
        for c in comparisons
        if c.ratio and c.ratio.low and c.ratio.high
    ]
    parts = []
    if factors:
        parts.append(
            f"With {_range(counts)} the intervals of the ratios reach ±{percent(statistics.median(factors))}"
            f" at the median and ±{percent(max(factors))} at the widest: smaller differences cannot be seen"
        )
    if comparisons and max(counts) < RANK_TEST_TRIALS_MIN:
        parts.append(
            f"{_range(counts)} are too few for any rank test to reach p < 0.05, so all verdicts rest on the"
            " assumption that ln throughput scatters normally from trial to trial"
        )
    return [_caution("n", f"{'. '.join(p[0].upper() + p[1:] for p in parts)}.", cells, "ok")] if parts else []


def _range(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{plural(low, 'trial')} a cell" if low == high else f"{low} to {high} trials a cell"
