"""The figures that a claim speaks of: cells or peaks in its scope, alone or divided by others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dyno import stats
from dyno.findings.claim_file import NEXT_BEST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dyno.findings.claim_file import Claim, ClaimFile
    from dyno.findings.results import Results
    from dyno.report.model import Cell

PERCENT = 100


@dataclass(frozen=True)
class Figure:
    """One number with its interval, and the cells it rests on; `low` and `high` are None for single runs."""

    place: str
    cells: tuple[Cell, ...]
    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Figures:
    """All figures of a claim, places that should have one and have none, and peaks of incomplete curves."""

    found: list[Figure] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Lookup:
    """Where a claim looks.

    Attributes:
        results: The cells.
        metric: Field of a trial.
        excluded: Id of a cell whose number is not to be used → why.
    """

    results: Results
    metric: str
    excluded: Mapping[str, str]

    def by_block(self, cell: Cell) -> Mapping[int, float]:
        """Block → the metric of the good trials; empty for an excluded cell."""
        if cell.id in self.excluded:
            return {}
        values = {t.block: getattr(t, self.metric) for t in cell.trials if t.status == "ok"}
        return {block: value for block, value in values.items() if value is not None}

    def mean(self, cell: Cell) -> float:
        """Mean of the metric; the cell must have one."""
        values = self.by_block(cell).values()
        return sum(values) / len(values)

    def better(self, a: Cell, b: Cell) -> bool:
        """Whether a's mean is better than b's: more throughput, or less response time."""
        return (
            self.mean(a) > self.mean(b) if self.metric == "throughput_per_s" else self.mean(a) < self.mean(b)
        )

    def best(self, cells: list[Cell]) -> Cell:
        """The cell with the best mean; the first of equals."""
        top = cells[0]
        for cell in cells[1:]:
            top = cell if self.better(cell, top) else top
        return top

    def place(self, cell: Cell) -> str:
        """The cell in words, with all that tells it from others."""
        return self.results.names.cell(cell)

    def lack(self, cell: Cell) -> str:
        """Why a cell has no number."""
        reason = self.excluded.get(cell.id)
        return f"{self.place(cell)} is not used ({reason})" if reason else f"{self.place(cell)} has no number"


def lookup_of(file: ClaimFile, claim: Claim, results: Results) -> Lookup:
    """Where a claim of this file looks."""
    excluded = {c.id: each.reason for each in file.without for c in results.cells if each.holds(c)}
    return Lookup(results, claim.metric, excluded)


def figures_of(claim: Claim, where: Lookup) -> Figures:
    """The figures in the claim's scope."""
    cells = [cell for cell in where.results.cells if claim.scope.holds(cell)]
    if claim.figure == "value":
        units = [[cell] for cell in cells]
    else:
        x = where.results.x
        groups: dict[tuple[str, str, str], list[Cell]] = {}
        for cell in sorted(cells, key=lambda cell: x.get(cell.load, 0)):
            if cell.load in x:
                groups.setdefault((cell.engine, cell.settings, cell.workload), []).append(cell)
        units = list(groups.values())
    figures = Figures()
    for unit in units:
        found = _figure(claim, unit, where)
        if isinstance(found, Figure):
            figures.found.append(found)
            sides = [*unit, *_counterparts(claim, unit, where)] if claim.figure != "value" else []
            lacking = [where.lack(cell) for cell in sides if not where.by_block(cell)]
            if lacking:
                figures.partial.append(f"{'; '.join(lacking)}: the peak is that of the other levels")
        else:
            figures.gaps.append(found)
    return figures


def _figure(claim: Claim, unit: list[Cell], where: Lookup) -> Figure | str:
    """One figure, or the place that has none: a cell, or the levels of which the peak is wanted."""
    known = [cell for cell in unit if where.by_block(cell)]
    if not known:
        return where.lack(unit[0])
    top = where.best(known)
    if claim.figure == "peak_sessions":
        sessions = where.results.x[top.load]
        return Figure(where.place(top), tuple(unit), sessions, None, None, len(where.by_block(top)))
    if claim.against is None:
        mean = stats.mean_interval(list(where.by_block(top).values()))
        return Figure(where.place(top), (top,), mean.value, mean.low, mean.high, mean.n)
    others = _counterparts(claim, unit, where)
    usable = [cell for cell in others if where.by_block(cell)]
    if not usable:
        changed = ", ".join(f"{axis} {name}" for axis, name in claim.against.changed().items())
        why = where.lack(others[0]) if others else f"there is no cell of {changed}"
        return f"{where.place(top)} has nothing to be divided by: {why}"
    other = where.best(usable)
    ratio = stats.compare(where.by_block(top), where.by_block(other)).ratio
    place = f"{where.place(top)} against {where.place(other)}"
    return _in_unit(Figure(place, (top, other), ratio.value, ratio.low, ratio.high, ratio.n), claim)


def _in_unit(figure: Figure, claim: Claim) -> Figure:
    if claim.unit == "ratio":
        return figure
    low, high = (None if end is None else (end - 1) * PERCENT for end in (figure.low, figure.high))
    return replace(figure, value=(figure.value - 1) * PERCENT, low=low, high=high)


def _counterparts(claim: Claim, unit: list[Cell], where: Lookup) -> list[Cell]:
    """The cells, with a number or not, whose best one the unit's figure is divided by."""
    if claim.against is None:
        return []
    changed = claim.against.changed()
    cells = where.results.cells
    first = unit[0]
    loads = {cell.load for cell in unit} if claim.figure == "value" else set(where.results.x)

    def same(cell: Cell) -> bool:
        engine = changed.get("engine", first.engine)
        fits = cell.engine != first.engine if engine == NEXT_BEST else cell.engine == engine
        return (
            fits
            and cell.settings == changed.get("settings", first.settings)
            and cell.workload == changed.get("workload", first.workload)
            and cell.load in ({changed["load"]} if "load" in changed else loads)
        )

    return [cell for cell in cells if same(cell)]
