"""What all tables of a report share: labels, leading columns, and the sign of a number that needs care."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dyno.report.model import Analysis, Cell, Comparison, Mark

CARE_SIGN = "*"
"""Behind a number that has a mark worth reading."""


class View:
    """Labels of an analysis, and the leading columns that its cells need to be told apart."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.engines = {each.id: each.label for each in analysis.engines}
        self.loads = {each.id: each.label for each in analysis.loads}
        self.several_workloads = len(analysis.workloads) > 1
        self.several_settings = len(analysis.settings) > 1

    @property
    def condition_columns(self) -> list[str]:
        """Columns for workload and settings, where the run has several."""
        return ["Workload"] * self.several_workloads + ["Settings"] * self.several_settings

    def condition(self, item: Cell | Comparison) -> list[str]:
        """The values of `condition_columns`."""
        return [item.workload] * self.several_workloads + [item.settings] * self.several_settings

    def by_load(self) -> list[Cell]:
        """The cells with those of one load level beside each other."""
        order = {load.id: i for i, load in enumerate(self.analysis.loads)}
        return sorted(self.analysis.cells, key=lambda c: (c.workload, c.settings, order[c.load]))


def signed(text: str, marks: list[Mark]) -> str:
    """The text, with a sign where a mark says that it must be read with care."""
    return text + CARE_SIGN if any(mark.severity != "info" for mark in marks) else text
