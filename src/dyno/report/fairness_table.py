"""The table of settings that differ between engines: what matters for the workloads, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.findings.conditions import readable
from dyno.findings.words import plural
from dyno.report.model import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dyno.report.model import SettingRow
    from dyno.report.view import View

WORDS = {"matters": "matters", "unknown": "not known"}


def settings_table(view: View) -> Table:
    """One line a variable and settings set; those of several sets with the same values are one line.

    Differences without effect are only counted: the settings of the page and csv/data-settings.csv have them.
    """
    differing = [row for row in view.analysis.setting_rows if row.differs]
    lines: dict[tuple[str, ...], list[str]] = {}
    for row in differing:
        if row.weight in WORDS:
            words = (WORDS[row.weight], row.variable, values(row, view.engines), row.reason or "")
            lines.setdefault(words, []).append(row.settings)
    order = [each.id for each in view.analysis.settings]
    several = len(order) > 1
    cosmetic = len({row.variable for row in differing if row.weight == "cosmetic"})
    return Table(
        id="settings",
        title="Settings that differ between the engines",
        columns=["Weight", "Variable", "Values", "Reason", *(["Settings"] if several else [])],
        rows=[
            [*words, *([", ".join(sorted(sets, key=order.index))] if several else [])]
            for words, sets in lines.items()
        ],
        note=f"{plural(cosmetic, 'other difference')} should have no effect on these workloads."
        if cosmetic
        else None,
    )


def values(row: SettingRow, engines: Mapping[str, str]) -> str:
    """Each value with the engines that have it: "2 GiB: A, B; 4 GiB: C"."""
    having: dict[str, list[str]] = {}
    for engine, value in row.effective.items():
        if value is not None:
            having.setdefault(readable(value), []).append(engines.get(engine, engine))
    return "; ".join(f"{value}: {', '.join(names)}" for value, names in having.items())
