"""Study 000's form: platform against platform with the ratio of both, and one platform by cores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.report.model import Table
from dyno.studies.run import UNTESTED, ratio, throughput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dyno.studies.run import StudiedRun

Row = dict[str, str]

_RATIO = "A ratio: 100% is equal."
_UNTESTED = f"{UNTESTED} not tested."


@dataclass(frozen=True)
class Grid:
    """Transactions/s over threads and columns (platforms, cores, settings sets), and what they are of."""

    number: str
    what: str
    threads: Sequence[str]
    columns: Sequence[str]
    figures: Mapping[tuple[str, str], float | None]

    def rows(self) -> list[list[float | None]]:
        """Figures by threads; None where nothing was tested."""
        return [[self.figures.get((column, n)) for column in self.columns] for n in self.threads]


def of_rows(rows: list[Row]) -> list[Table]:
    """The document's four tables, and the scaling that the fourth shows."""
    made = []
    for table in sorted({row["table"] for row in rows}):
        mine = [row for row in rows if row["table"] == table]
        platforms = list(dict.fromkeys(row["platform"] for row in mine))
        axis = "platform" if len(platforms) > 1 else "cores"
        grid = Grid(
            number=table,
            what=mine[0]["workload"] if len(platforms) > 1 else f"{mine[0]['workload']} on {platforms[0]}",
            threads=sorted({row["sessions"] for row in mine}, key=int),
            columns=platforms if len(platforms) > 1 else sorted({row["cores"] for row in mine}, key=int),
            figures={(row[axis], row["sessions"]): float(row["value"]) for row in mine if row["value"]},
        )
        if len(platforms) > 1:
            made.append(_advantage(grid, " The hosts differ in storage and virtualisation too."))
        else:
            made += [_side_by_side(grid, "cores"), _scaling(grid)]
    return made


def of_run(run: StudiedRun) -> list[Table]:
    """For each workload and settings set the engines side by side, and each engine over the settings sets."""
    levels = [f"{load.x:g}" for load in run.levels()]
    engines = run.engines()
    made: list[Table] = []
    for workload, settings, title in run.conditions():
        figures = {
            (engine.label, level): throughput(run.cell(engine.id, settings, workload, load.id))
            for engine in engines
            for level, load in zip(levels, run.levels(), strict=True)
        }
        labels = [engine.label for engine in engines]
        made.append(_advantage(Grid(str(len(made) + 1), title, levels, labels, figures)))
    return [*made, *_by_settings(run, levels, len(made))]


def _by_settings(run: StudiedRun, levels: list[str], before: int) -> list[Table]:
    """One engine over several settings sets: what the document does for cores."""
    sets = [each.id for each in run.analysis.settings]
    if len(sets) < 2:  # noqa: PLR2004 - one set has nothing beside it
        return []
    made: list[Table] = []
    for workload in run.analysis.workloads:
        for engine in run.engines():
            figures = {
                (settings, level): throughput(run.cell(engine.id, settings, workload.id, load.id))
                for settings in sets
                for level, load in zip(levels, run.levels(), strict=True)
            }
            what = f"{workload.label} on {engine.label}"
            number = str(before + len(made) + 1)
            made.append(_side_by_side(Grid(number, what, levels, sets, figures), "settings"))
    return made


def _advantage(grid: Grid, caution: str = "") -> Table:
    """Each column but the last is divided by the last."""
    *others, base = grid.columns
    rows = []
    for n, values in zip(grid.threads, grid.rows(), strict=True):
        below = values[-1]
        ratios = [f"{round(v / below * 100)}%" if v and below else UNTESTED for v in values[:-1]]
        rows.append([n, *map(_whole, values), *ratios])
    heads = ["Performance Advantage"] if len(others) == 1 else [f"{other} ÷ {base}" for other in others]
    return Table(
        id=grid.number,
        title=f"Table {grid.number}: {grid.what}, transactions/s",
        columns=["Threads", *grid.columns, *heads],
        rows=rows,
        note=f"{_RATIO} {_UNTESTED}{caution}",
    )


def _side_by_side(grid: Grid, axis: str) -> Table:
    rows = [[n, *map(_whole, values)] for n, values in zip(grid.threads, grid.rows(), strict=True)]
    title = f"Table {grid.number}: {grid.what} by {axis}, transactions/s"
    return Table(id=grid.number, title=title, columns=["Threads", *grid.columns], rows=rows, note=_UNTESTED)


def _scaling(grid: Grid) -> Table:
    """The peak of each number of cores, and what it is of the fewest cores' peak."""
    tops = []
    for cores in grid.columns:
        known = [(v, n) for n in grid.threads if (v := grid.figures.get((cores, n))) is not None]
        top, threads = max(known) if known else (None, UNTESTED)
        tops.append((cores, top, threads))
    fewest, base, _ = tops[0]
    rows = []
    for cores, top, threads in tops:
        share = f"{top / base * int(fewest) / int(cores):.0%}" if top and base else UNTESTED
        rows.append([cores, _whole(top), threads, ratio(top, base), share])
    return Table(
        id=f"{grid.number}-scaling",
        title=f"Scaling of table {grid.number}: the peak of each number of cores",
        columns=["Cores", "Peak, transactions/s", "at threads", f"÷ {fewest} cores", "Of linear"],
        rows=rows,
        note="Computed from the table; the document does not print it.",
    )


def _whole(value: float | None) -> str:
    return UNTESTED if value is None else f"{value:.0f}"
