"""A comparison as tables for the terminal, and as Markdown for a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.findings.words import duration, number, percent, plural, ratio_interval, ratio_value
from dyno.report.markdown import escape
from dyno.report.model import Table
from dyno.report.tables import NO_NUMBER, p_value
from dyno.report.view import CARE_SIGN

if TYPE_CHECKING:
    from collections.abc import Callable

    from dyno.compare.model import Compared, Difference, Pair
    from dyno.report.model import Estimate

    Words = Callable[[float], str]

DIFFERENCES_SHOWN = 20
TITLES = {"pass": "no slowdown", "slower": "slower", "undecided": "undecided"}


def tables(compared: Compared) -> list[Table]:
    """The comparisons, and in what the sides differ beside their numbers."""
    found = [_pairs(compared)]
    if compared.differences:
        found.append(_differences(compared.differences))
    return found


def _pairs(compared: Compared) -> Table:
    pairs = compared.pairs
    columns = ["Engine", "Workload", "Settings", "Load", "Before", "After", "Ratio", "95 % CI", "p (Holm)"]
    return Table(
        id="compare",
        title=_title(compared),
        columns=[*columns, "Ranks", "Verdict", "Gate"],
        rows=[_row(pair) for pair in pairs],
        note="Ratio: after ÷ before, of throughput or (open loop) of the p99 response time. Gate: slower by"
        f" more than {percent(compared.threshold)}? p-values are corrected by Holm over this table. Ranks:"
        " the same by Hodges–Lehmann, with Mann–Whitney's p where n can show something."
        f" {CARE_SIGN} a cell has marks: `dyno show` lists them.",
    )


def _title(compared: Compared) -> str:
    before, after = compared.before, compared.after
    if before.run == after.run and before.engine:
        return f"{after.engine or 'Engines'} against {before.engine} in {after.run}"
    return f"{after.run} against {before.run}"


def _row(pair: Pair) -> list[str]:
    engine = pair.after if pair.after == pair.before else f"{pair.after} ÷ {pair.before}"
    words = number if pair.measure == "throughput_per_s" else duration
    return [
        engine,
        pair.workload,
        pair.settings,
        pair.load,
        _value(pair.before_value, words),
        _value(pair.after_value, words),
        ratio_value(pair.ratio) + CARE_SIGN * bool(pair.care) if pair.ratio else NO_NUMBER,
        (pair.ratio and ratio_interval(pair.ratio)) or NO_NUMBER,
        NO_NUMBER if pair.p_value_holm is None else p_value(pair.p_value_holm),
        _ranks(pair),
        pair.verdict,
        pair.gate,
    ]


def _value(estimate: Estimate | None, words: Words) -> str:
    return NO_NUMBER if estimate is None else f"{words(estimate.value)} (n = {estimate.n})"


def _ranks(pair: Pair) -> str:
    second = pair.second_opinion
    if second is None:
        return NO_NUMBER
    p = "n too small" if second.p_value is None else f"p = {p_value(second.p_value)}"
    return f"{ratio_value(second.ratio)}, {p}"


def _differences(found: list[Difference]) -> Table:
    hidden = len(found) - DIFFERENCES_SHOWN
    return Table(
        id="differences",
        title="What differs beside the numbers",
        columns=["Kind", "What", "Before", "After"],
        rows=[
            [each.kind, each.what, each.before or NO_NUMBER, each.after or NO_NUMBER]
            for each in found[:DIFFERENCES_SHOWN]
        ],
        note=f"… and {hidden} more; --json lists all." if hidden > 0 else None,
    )


def markdown(compared: Compared) -> str:
    """The answer for a pull request: one line, the table, the rest folded away."""
    parts = [
        f"### Dyno: {TITLES[compared.gate]}",
        escape(compared.sentence),
        _grid(_pairs(compared)),
        "\n".join(f"- {escape(pair.sentence)}" for pair in compared.pairs if pair.gate != "pass"),
    ]
    folded = [_grid(_differences(compared.differences))] if compared.differences else []
    folded += ["\n".join(f"- {escape(text)}" for text in notes(compared))]
    inner = "\n\n".join(part for part in folded if part)
    if inner:
        count = plural(len(compared.differences), "difference")
        summary = f"{count} beside the numbers" if compared.differences else "Notes"
        parts.append(f"<details><summary>{summary}</summary>\n\n{inner}\n\n</details>")
    parts.append(escape(_pairs(compared).note or ""))
    return "\n\n".join(part for part in parts if part) + "\n"


def notes(compared: Compared) -> list[str]:
    """What must be known to read the comparison, a sentence each."""
    lost = [f"Only in {compared.before.run}, and so not compared: {cell}." for cell in compared.lost]
    return [*lost, *(f"New in {compared.after.run}: {cell}." for cell in compared.added), *compared.notes]


def _grid(table: Table) -> str:
    lines = [table.columns, ["---"] * len(table.columns)]
    lines += [[escape(cell) for cell in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
