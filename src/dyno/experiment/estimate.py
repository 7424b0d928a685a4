"""What a plan will cost, before it is run: time and disk, roughly, and which engines are here already."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from dyno.plan.schedule import schedule

if TYPE_CHECKING:
    from dyno.plan.resolved import ResolvedPlan, ResolvedWorkload

# Rough figures of a two-core machine with a local disk; an estimate, shown as one.
INSTALL_S = 20.0
BUILD_START_S = 8.0
BUILD_ROWS_PER_S = 60_000.0
COPY_BYTES_PER_S = 400e6
TRIAL_OVERHEAD_S = 2.5
ROW_BYTES = 280
# Of the TPC-C-derived tables: items, and what belongs to a warehouse (stock, customers, orders, lines).
ITEM_ROWS = 100_000
WAREHOUSE_ROWS = 499_000
DATADIR_BYTES = 150e6
PREFIX_BYTES = 350e6


@dataclass(frozen=True)
class Estimate:
    """Seconds and bytes that a run will take, and its size in trials."""

    cells: int
    trials: int
    builds: int
    installs: int
    time_s: float
    disk_bytes: int

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


def rows_of(workload: ResolvedWorkload) -> int:
    """Rows of a workload's data, by the options that say so; 0 when none does."""
    if "warehouses" in workload.options:
        return ITEM_ROWS + int(workload.options["warehouses"]) * WAREHOUSE_ROWS
    tables, size = (workload.options.get(name, 0) for name in ("tables", "table_size"))
    return int(tables) * int(size)


def estimate(resolved: ResolvedPlan, installs: int) -> Estimate:
    """What a resolved plan will take when nothing but the installed engines is cached.

    Args:
        resolved: The plan.
        installs: Engines that must be fetched first.
    """
    own = {engine.id for engine in resolved.engines if engine.kind == "installed"}
    data: dict[tuple[str, str, str], float] = {}
    rows = 0
    for cell in resolved.cells:
        key = (cell.engine, cell.settings, cell.workload)
        if cell.engine in own and key not in data:
            count = rows_of(resolved.workload(cell.workload))
            rows += count
            redo = int(resolved.settings_set(cell.settings).requested.get("redo", 0))
            data[key] = count * ROW_BYTES + redo + DATADIR_BYTES
    phases = resolved.phases
    trials_s = 0.0
    by_id = {cell.id: cell for cell in resolved.cells}
    for scheduled in resolved.order:
        cell = by_id[scheduled.cell]
        copied = data.get((cell.engine, cell.settings, cell.workload), 0.0)
        trials_s += phases.warmup_s + phases.measure_s + TRIAL_OVERHEAD_S + copied / COPY_BYTES_PER_S
    built_s = len(data) * BUILD_START_S + rows / BUILD_ROWS_PER_S
    disk = sum(data.values()) + max(data.values(), default=0.0) + installs * PREFIX_BYTES
    return Estimate(
        cells=len(resolved.cells),
        trials=len(resolved.order),
        builds=len(data),
        installs=installs,
        time_s=round(installs * INSTALL_S + built_s + trials_s, 1),
        disk_bytes=int(disk),
    )


def time_with(resolved: ResolvedPlan, installs: int, trials_per_cell: int) -> float:
    """Seconds that the plan would take with another number of trials of each cell."""
    order = schedule(resolved.cells, trials_per_cell, resolved.seed, shuffled=False)
    changed = resolved.model_copy(update={"trials_per_cell": trials_per_cell, "order": order})
    return estimate(changed, installs).time_s
