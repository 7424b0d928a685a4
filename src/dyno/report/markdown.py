"""`report.md`: the report as text, for a repository, a ticket or a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dyno.findings.words import joined, percent, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dyno.report.model import Analysis, Finding, SettingRow, Table

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#&~])")

STRENGTHS = {
    "measured": "",
    "untested": " *(untested)*",
    "contradicted": " *(contradicted)*",
    "caution": " *(caution)*",
}


def escape(text: str) -> str:
    """Text that Markdown shows as it is, on one line: names and log lines can hold anything."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def render(analysis: Analysis) -> str:
    """The whole report as Markdown."""
    parts = [
        _head(analysis),
        "## Findings\n\n" + _bullets(_finding(finding) for finding in analysis.findings),
        *(_table(table) for table in analysis.tables if table.rows),
        _settings(analysis),
        "## How it was measured\n\n" + _bullets(_conditions(analysis)),
        _reproduction(analysis),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(analysis: Analysis) -> str:
    lines = [f"# {escape(analysis.title)}"]
    if analysis.question:
        lines.append(escape(analysis.question))
    engines = joined([engine.label for engine in analysis.engines if not engine.missing])
    lines.append(
        f"{escape(engines)}; {analysis.trials_ok} of {plural(analysis.trials_planned, 'trial')} good;"
        f" run {escape(analysis.run)}, {escape(analysis.created)}."
    )
    lines.append(escape(analysis.loop))
    return "\n\n".join(lines)


def _finding(finding: Finding) -> str:
    return escape(finding.sentence) + STRENGTHS[finding.strength]


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _grid(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *([escape(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _table(table: Table) -> str:
    note = f"\n\n{escape(table.note)}" if table.note else ""
    return f"## {escape(table.title)}\n\n{_grid([escape(c) for c in table.columns], table.rows)}{note}"


def _settings(analysis: Analysis) -> str:
    """The settings of the plan, as each server reports them; all variables are in csv/data-settings.csv."""
    rows = [row for row in analysis.setting_rows if row.logical]
    if not rows:
        return ""
    engines = [engine for engine in analysis.engines if not engine.missing]
    columns = ["Settings", "Variable", *(escape(engine.label) for engine in engines), "Note"]
    grid = _grid(
        columns,
        [
            [row.settings, row.variable, *(row.effective.get(e.id) or "–" for e in engines), _note(row)]
            for row in rows
        ],
    )
    return f"## Settings as the servers report them\n\n{grid}"


def _note(row: SettingRow) -> str:
    notes = [f"not taken by {joined(row.ignored)}"] if row.ignored else []
    notes += ["differs"] if row.differs else []
    return ", ".join([*notes, *([f"no matter: {row.idle}"] if row.idle else [])])


def _conditions(analysis: Analysis) -> list[str]:
    """Host, placement, phases and the doctor's objections."""
    phases = ", ".join(f"{name} {length}" for name, length in analysis.phases)
    items = [f"Phases: {escape(phases)}.", f"Placement: {escape(analysis.placement)}."]
    items.append(f"Relevant difference: ±{percent(analysis.relevant_difference)}.")
    items += [f"{escape(label)}: {escape(value)}" for label, value in analysis.host]
    items += [escape(analysis.noise_floor.sentence)] if analysis.noise_floor else []
    items += [f"Doctor: {escape(mark.text)}" for mark in analysis.doctor]
    return items


def _reproduction(analysis: Analysis) -> str:
    known = analysis.reproduction
    if known is None:
        return ""
    command = f"    {' '.join(known.command)}\n\n" if known.command else ""
    return f"## How to repeat it\n\n{command}Seed {known.seed}, plan SHA-256 {escape(known.plan_sha256)}."
