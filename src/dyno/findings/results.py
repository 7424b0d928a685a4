"""The numbers that findings and claims speak of, by their place: of a run, or of published figures."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from dyno.findings.comparisons import by_block
from dyno.findings.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dyno.report.model import Analysis, Cell, Engine, Load

Curve = list["Cell"]
"""The cells of one engine, settings set and workload that have a number, in rising order of load."""


@dataclass(frozen=True)
class Results:
    """Cells with what is known of their axes.

    Attributes:
        cells: All cells, also those without a number.
        loads: Their load levels.
        engines: Their engines, with family and version.
        buffer_pools: Settings id → buffer pool, bytes; without those that do not say.
        names: What all of them are called in sentences.
    """

    cells: list[Cell]
    loads: list[Load]
    engines: list[Engine]
    buffer_pools: Mapping[str, int]
    names: Names

    @property
    def x(self) -> dict[str, float]:
        """Load id → sessions, of the constant levels of closed loops."""
        return {load.id: load.x for load in self.loads if load.kind == "closed" and load.schedule is None}

    @property
    def settings(self) -> list[str]:
        """Settings ids in the order of the cells."""
        return list(dict.fromkeys(cell.settings for cell in self.cells))

    @property
    def workloads(self) -> list[str]:
        """Workload ids in the order of the cells."""
        return list(dict.fromkeys(cell.workload for cell in self.cells))

    def conditions(self) -> Iterator[tuple[str, str]]:
        """Settings and workload ids that have closed-loop cells, in the order of the cells."""
        x = self.x
        yield from dict.fromkeys((cell.settings, cell.workload) for cell in self.cells if cell.load in x)

    def curves(self, settings: str, workload: str) -> dict[str, Curve]:
        """Engine → its curve; engines without any number there are left out."""
        x = self.x
        found: dict[str, Curve] = {}
        for cell in sorted(self.cells, key=lambda cell: x.get(cell.load, 0)):
            if (cell.settings, cell.workload) == (settings, workload) and cell.load in x and by_block(cell):
                found.setdefault(cell.engine, []).append(cell)
        order = [engine.id for engine in self.engines]
        return {engine: found[engine] for engine in order if engine in found}


def results_of(analysis: Analysis, buffer_pools: Mapping[str, int]) -> Results:
    """The results of an analysed run.

    Args:
        analysis: The run's analysis.
        buffer_pools: Settings id → buffer pool, bytes.
    """
    names = Names(
        engines={each.id: each.label for each in analysis.engines},
        settings={each.id: each.label for each in analysis.settings},
        workloads={each.id: each.label for each in analysis.workloads},
        loads={each.id: each.label for each in analysis.loads},
    )
    return Results(analysis.cells, analysis.loads, analysis.engines, buffer_pools, names)


def value_of(cell: Cell) -> float:
    """Mean over the good trials of what the cell's loop measures; the cell must have one."""
    return fmean(by_block(cell).values())


def peak_of(curve: Curve) -> Cell:
    """The cell of a curve with the highest throughput."""
    return max(curve, key=value_of)


def good_trials(cells: list[Cell]) -> list[str]:
    """Ids of the trials whose numbers are used."""
    return [trial.id for cell in cells for trial in cell.trials if trial.status == "ok"]


def single_runs(cells: list[Cell]) -> bool:
    """Whether a cell among them rests on one trial, so that nothing about it is tested."""
    return any(len(by_block(cell)) == 1 for cell in cells)
