"""What the forms of the studies need of a run: its analysis, its memory tiers, and look-ups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.errors import DynoError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dyno.report.model import Analysis, Cell, Engine, Load

UNTESTED = "*"
"""A cell that was not run, or that has no figure of that kind."""

MISSING = "missing"
"""A cell that was run and gave no number."""

NEW_ORDER = "new_order"
"""Part of the name of the transaction type that TPC-C-derived workloads are counted in."""

SECONDS_A_MINUTE = 60


@dataclass(frozen=True)
class StudiedRun:
    """A run as a study looks at it.

    Attributes:
        analysis: What was computed of the run.
        buffer_pools: Settings id → buffer pool, bytes; without those that do not say.
    """

    analysis: Analysis
    buffer_pools: Mapping[str, int]

    def engines(self) -> list[Engine]:
        """The engines that were run, the baseline last, as what others are divided by."""
        present = [each for each in self.analysis.engines if not each.missing]
        return sorted(present, key=lambda each: each.id == self.analysis.baseline)

    def levels(self) -> list[Load]:
        """The constant levels of closed loops, in rising order."""
        found = [each for each in self.analysis.loads if each.kind == "closed" and each.schedule is None]
        return sorted(found, key=lambda each: each.x)

    def conditions(self) -> Iterator[tuple[str, str, str]]:
        """Workload and settings ids, with a title for both."""
        several = len(self.analysis.settings) > 1
        for workload in self.analysis.workloads:
            for settings in self.analysis.settings:
                title = f"{workload.label} ({settings.label})" if several else workload.label
                yield workload.id, settings.id, title

    def cell(self, engine: str, settings: str, workload: str, load: str) -> Cell | None:
        """The cell of that place, or None where the run has none."""
        place = (engine, settings, workload, load)
        return next(
            (c for c in self.analysis.cells if (c.engine, c.settings, c.workload, c.load) == place), None
        )


def throughput(cell: Cell | None) -> float | None:
    """Mean transactions/s of a cell; None where it has no number."""
    return cell.throughput_per_s.value if cell and cell.throughput_per_s else None


def new_orders_per_min(cell: Cell | None) -> float | None:
    """New orders a minute (NOPM, NOTPM) of a cell; None where it has no number.

    Raises:
        DynoError: Its workload has no such transaction type.
    """
    rate = throughput(cell)
    if cell is None or rate is None:
        return None
    if cell.tpcc is not None:
        return cell.tpcc.nopm.value
    types = [each for each in cell.latency if each.name != "all"]
    orders = [each for each in types if NEW_ORDER in each.name]
    if not orders:
        raise DynoError(
            f"{cell.workload} has no transaction type {NEW_ORDER!r}, so no new orders a minute",
            hint="this form is of TPC-C-derived workloads",
        )
    share = sum(each.count for each in orders) / sum(each.count for each in types)
    return rate * share * SECONDS_A_MINUTE


def shown(value: float | None, cell: Cell | None) -> str:
    """A whole figure with thousands separators; why there is none, where there is none."""
    if value is not None:
        return f"{value:,.0f}"
    return MISSING if cell else UNTESTED


def ratio(value: float | None, base: float | None) -> str:
    """`value` over `base` to two decimals, or `*`."""
    return f"{value / base:.2f}×" if value and base else UNTESTED
