"""TPC-C-derived loads: the NOPM curve and its peak, both counts of transactions, and what was not valid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.findings.marks import care
from dyno.findings.words import joined, number, percent, plural
from dyno.report.model import Finding

if TYPE_CHECKING:
    from dyno.findings.names import Names
    from dyno.report.model import Cell, Load, TpccFigures

COUNTS_DIFFER = 0.05
"""Difference of the server's count of transactions from the client's from which on it is said."""


def find_tpcc(cells: list[Cell], loads: list[Load], names: Names) -> list[Finding]:
    """For each engine, settings set and workload: the peak of NOPM; then what must be known of the load."""
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        if cell.tpcc is not None:
            groups.setdefault((cell.engine, cell.settings, cell.workload), []).append(cell)
    x = {load.id: load.x for load in loads if load.schedule is None}
    found = [_peak([cell for cell in group if cell.load in x], x, names) for group in groups.values()]
    return [
        *(finding for finding in found if finding is not None),
        *(
            finding
            for group in groups.values()
            for finding in (_counts(group, names), _invalid(group, names))
            if finding
        ),
    ]


def _peak(group: list[Cell], x: dict[str, float], names: Names) -> Finding | None:
    """The level with the highest mean of new orders a minute, and whether the curve has come down again."""
    curve = sorted(
        ((x[cell.load], cell, cell.tpcc) for cell in group if cell.tpcc), key=lambda point: point[0]
    )
    if not curve:
        return None
    _, top, best = max(curve, key=lambda point: point[2].nopm.value)
    engine, levels = names.engine(top.engine), [cell for _, cell, _ in curve]
    if len(curve) == 1:
        sentence = f"{engine} takes {_figures(best)} {names.place(top)}."
    else:
        ends = joined(
            [f"{number(found.nopm.value)} {names.place(cell)}" for _, cell, found in (curve[0], curve[-1])]
        )
        sentence = (
            f"{engine} takes the most new orders {names.place(top)}: {_figures(best)}; the curve runs over"
        )
        sentence += f" {plural(len(curve), 'level')}, {ends}."
        sentence += " The peak is the highest level run: it may lie beyond." if top is levels[-1] else ""
    return Finding(
        rule="nopm",
        sentence=sentence + care([top], names),
        strength="measured" if best.nopm.n > 1 else "untested",
        cells=[cell.id for cell in levels],
        trials=[trial.id for cell in levels for trial in cell.trials if trial.status == "ok"],
    )


def _figures(found: TpccFigures) -> str:
    """NOPM with its interval, TPM, and the load: "12,345 NOPM (3 trials) and 27,000 TPM (…)"."""
    estimate = found.nopm
    behind = plural(estimate.n, "trial")
    if estimate.low is not None and estimate.high is not None:
        interval = f"{percent(estimate.confidence)} CI {number(estimate.low)} to {number(estimate.high)}"
        behind = f"{interval}, {behind}"
    load = f"TPC-C-derived, profile {found.profile}, shape {found.shape}"
    return f"{number(estimate.value)} NOPM ({behind}) and {number(found.tpm.value)} TPM ({load})"


def _counts(group: list[Cell], names: Names) -> Finding | None:
    """Where the server counted other than the client: repeated transactions, or somebody else's."""
    apart = [
        (cell, found.server_tpm.value / found.tpm.value - 1)
        for cell in group
        if (found := cell.tpcc) and found.server_tpm and found.tpm.value
    ]
    apart = [(cell, share) for cell, share in apart if abs(share) > COUNTS_DIFFER]
    if not apart:
        return None
    cell, share = max(apart, key=lambda each: abs(each[1]))
    more = "more" if share > 0 else "fewer"
    engine = names.engine(cell.engine)
    sentence = f"{engine} counted {percent(abs(share))} {more} commits and rollbacks than the client counted"
    sentence += f" transactions {names.place(cell)}. It counts repeated transactions, every commit within a"
    sentence += " procedure, and other clients too; over few seconds the two also begin and end apart."
    return Finding(rule="tpm", sentence=sentence, strength="caution", cells=[each.id for each, _ in apart])


def _invalid(group: list[Cell], names: Names) -> Finding | None:
    """What the specification would not accept of the load as it was."""
    wrong: dict[str, list[str]] = {}
    spoilt: list[Cell] = []
    for cell in group:
        missed = _missed(cell.tpcc) if cell.tpcc else []
        spoilt += [cell] if missed else []
        for what in missed:
            wrong.setdefault(what, []).append(names.loads.get(cell.load, cell.load))
    if not spoilt:
        return None
    parts = [f"{what} (at {joined(levels)})" for what, levels in wrong.items()]
    sentence = (
        f"{names.engine(spoilt[0].engine)}{names.condition(spoilt[0])}: the load misses the specification in"
    )
    return Finding(
        rule="tpcc_validity",
        sentence=f"{sentence} {joined(parts)}.",
        strength="caution",
        cells=[cell.id for cell in spoilt],
    )


def _missed(found: TpccFigures) -> list[str]:
    missed = [f"its share of {share.name}" for share in found.shares if share.verdict == "outside"]
    words = {"share": "the share of", "p90": "the 90th percentile of"}
    return missed + [f"{words[what]} {each.name}" for each in found.types for what in each.missed]
