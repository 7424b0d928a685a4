"""Open loop: up to which offered rate an engine keeps up, and how long its users wait there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.findings.marks import care
from dyno.findings.words import duration, number
from dyno.report.model import Finding
from dyno.stats.generator import KEPT_UP

if TYPE_CHECKING:
    from dyno.findings.names import Names
    from dyno.report.model import Cell, Load


def find_limits(cells: list[Cell], loads: list[Load], names: Names) -> list[Finding]:
    """For each engine, settings set and workload under constant offered rates: the highest that it met."""
    x = {load.id: load.x for load in loads if load.kind == "open" and load.schedule is None}
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        if cell.load in x and cell.open:
            groups.setdefault((cell.engine, cell.settings, cell.workload), []).append(cell)
    return [_limit(sorted(group, key=lambda cell: x[cell.load]), names) for group in groups.values()]


def kept_up(cell: Cell) -> bool:
    """Whether what was offered was done: next to nothing dropped, cut off or left waiting."""
    return cell.open is not None and not cell.open.dropped and cell.open.done >= KEPT_UP * cell.open.due


def _limit(group: list[Cell], names: Names) -> Finding:
    """One engine; `group` is in rising order of offered rates."""
    met = []
    for cell in group:
        if not kept_up(cell):
            break
        met.append(cell)
    over = group[len(met)] if len(met) < len(group) else None
    engine = names.engine(group[0].engine)
    condition = names.condition(group[0])
    if over is None:
        sentence = f"{engine} met every offered rate, up to {_waits(met[-1], names)}{condition}."
    elif met:
        head = f"{engine} kept up with {_waits(met[-1], names)}{condition}"
        sentence = f"{head}, but not with {_done(over, names)}."
    else:
        sentence = f"{engine} did not keep up with the lowest offered rate, {_done(over, names)}{condition}."
    shown = [cell for cell in (met[-1] if met else None, over) if cell is not None]
    return Finding(
        rule="offered",
        sentence=sentence + care(shown, names),
        strength="measured",
        cells=[cell.id for cell in group],
        trials=[trial.id for cell in group for trial in cell.trials if trial.status == "ok"],
    )


def _waits(cell: Cell, names: Names) -> str:
    label = names.loads.get(cell.load, cell.load)
    if not cell.latency:
        return label
    whole = cell.latency[0]
    return f"{label} (response time p50 {duration(whole.p50_us)}, p99 {duration(whole.p99_us)})"


def _done(cell: Cell, names: Names) -> str:
    done = cell.throughput_per_s.value if cell.throughput_per_s else 0.0
    return f"{names.loads.get(cell.load, cell.load)}, of which {number(done)} were done"
