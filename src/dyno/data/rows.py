"""The rows of every table but the series, from an analysis: pure, nothing is computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from dyno.record.manifest import Manifest
    from dyno.report.model import Analysis, Cell, Comparison, Estimate, Latency, Mark

Row = dict[str, Any]

_PERCENTILES = ("count", "mean_us", "p50_us", "p95_us", "p99_us", "p999_us", "p9999_us", "max_us")


def trials(analysis: Analysis, plan: Manifest) -> Iterator[Row]:
    """One row a planned trial, in the order of the run."""
    places = {entry.trial: place for place, entry in enumerate(plan.order, start=1)}
    rows: list[Row] = [
        {
            "trial": trial.id,
            **_cell(cell, plan),
            "order_in_run": places[trial.id],
            "block": trial.block,
            "status": trial.status,
            "reason": trial.reason,
            "throughput_per_s": trial.throughput_per_s,
            "p99_us": trial.p99_us,
            "server_cpu_cores": trial.server_cpu_cores,
            "client_cpu_share": trial.client_cpu_share,
            "retries": trial.retries,
            "steadiness": trial.window and trial.window.state,
            "effective_n": trial.window and trial.window.effective_n,
            "half_width_share": trial.window and trial.window.half_width,
            "marks": _marks(trial.marks),
        }
        for cell in analysis.cells
        for trial in cell.trials
    ]
    yield from sorted(rows, key=lambda row: row["order_in_run"])


def cells(analysis: Analysis, plan: Manifest) -> Iterator[Row]:
    """One row a cell."""
    for cell in analysis.cells:
        yield {
            **_cell(cell, plan),
            "status": cell.status,
            **_estimate("throughput_per_s", cell.throughput_per_s),
            **_estimate("server_cpu_us_per_transaction", cell.server_cpu_us_per_transaction),
            **_estimate("client_cpu_us_per_transaction", cell.client_cpu_us_per_transaction),
            "marks": _marks(cell.marks),
        }


def latency(analysis: Analysis, plan: Manifest) -> Iterator[Row]:
    """One row a cell, kind of time and type of transaction or statement."""
    del plan
    for cell in analysis.cells:
        whole = "response" if cell.loop == "open" else "service"
        yield from _latencies(cell, "transaction", whole, cell.latency)
        yield from _latencies(cell, "transaction", "service", cell.service)
        yield from _latencies(cell, "transaction", "lag", cell.lag)
        yield from _latencies(cell, "statement", "service", cell.statements)


def comparisons(analysis: Analysis, plan: Manifest) -> Iterator[Row]:
    """One row a comparison with the baseline."""
    del plan
    for each in analysis.comparisons:
        yield {
            **_place(each),
            "baseline": each.baseline,
            "measure": each.measure,
            **_estimate("ratio", each.ratio),
            "p_value": each.p_value,
            "p_value_holm": each.p_value_holm,
            "verdict": each.verdict,
            "sentence": each.sentence,
        }


def settings(analysis: Analysis, plan: Manifest) -> Iterator[Row]:
    """One row a settings set, variable and engine."""
    del plan
    for row in analysis.setting_rows:
        for engine, effective in row.effective.items():
            yield {
                "settings": row.settings,
                "engine": engine,
                "variable": row.variable,
                "logical": row.logical,
                "requested": row.requested.get(engine),
                "effective": effective,
                "differs": row.differs,
                "ignored": engine in row.ignored,
            }


def findings(analysis: Analysis, plan: Manifest) -> Iterator[Row]:
    """One row a sentence."""
    del plan
    for each in analysis.findings:
        yield {
            "rule": each.rule,
            "strength": each.strength,
            "sentence": each.sentence,
            "cells": " ".join(each.cells),
            "trials": " ".join(each.trials),
        }


ROWS: dict[str, Callable[[Analysis, Manifest], Iterator[Row]]] = {
    "trials": trials,
    "cells": cells,
    "latency": latency,
    "comparisons": comparisons,
    "settings": settings,
    "findings": findings,
}


def _place(item: Cell | Comparison) -> Row:
    return {name: getattr(item, name) for name in ("engine", "settings", "workload", "load")}


def _cell(cell: Cell, plan: Manifest) -> Row:
    load = next(each for each in plan.loads if each.id == cell.load)
    return {
        "cell": cell.id,
        **_place(cell),
        "loop": cell.loop,
        "sessions": load.sessions,
        "offered_per_s": load.rate_per_s,
    }


def _latencies(cell: Cell, of: str, time: str, lines: Iterable[Latency]) -> Iterator[Row]:
    for line in lines:
        figures = {name: getattr(line, name) for name in _PERCENTILES}
        yield {"cell": cell.id, **_place(cell), "of": of, "time": time, "name": line.name, **figures}


def _estimate(name: str, estimate: Estimate | None) -> Row:
    found = estimate or None
    return {
        name: found and found.value,
        f"{name}_low": found and found.low,
        f"{name}_high": found and found.high,
        f"{name}_n": found and found.n,
    }


def _marks(marks: list[Mark]) -> str:
    return "; ".join(mark.text for mark in marks)
