"""`csv/`: each table as it is shown, and the numbers behind them, unrounded, as `data-*.csv`."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dyno.report.model import Analysis, Estimate

Value = str | float | int | None
PLACE = ["engine", "settings", "workload", "load"]
LATENCIES = ["mean_us", "p50_us", "p95_us", "p99_us", "p999_us", "p9999_us", "max_us"]
OPEN = [
    "offered_per_s",
    "due",
    "done",
    "dropped",
    "unfinished",
    "backlog",
    "service_p99_us",
    "lag_p99_us",
    "generator_lag_p50_us",
    "generator_lag_p99_us",
]


def files(analysis: Analysis) -> dict[str, str]:
    """File name → content. Empty fields are values that there are none of."""
    shown = {f"{table.id}.csv": _csv(table.columns, table.rows) for table in analysis.tables}
    return {
        **shown,
        "data-cells.csv": _cells(analysis),
        "data-trials.csv": _trials(analysis),
        "data-latency.csv": _latency(analysis),
        "data-open-loop.csv": _open_loop(analysis),
        "data-comparisons.csv": _comparisons(analysis),
        "data-settings.csv": _settings(analysis),
    }


def _csv(columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _estimate(estimate: Estimate | None) -> list[Value]:
    return [estimate.value, estimate.low, estimate.high, estimate.n] if estimate else [None] * 4


def _estimate_columns(name: str) -> list[str]:
    return [name, f"{name}_low", f"{name}_high", f"{name}_n"]


def _cells(analysis: Analysis) -> str:
    estimates = ["throughput_per_s", "server_cpu_us_per_transaction", "client_cpu_us_per_transaction"]
    columns = ["cell", *PLACE, "status", *(c for name in estimates for c in _estimate_columns(name)), "marks"]
    rows = [
        [
            *(cell.id, cell.engine, cell.settings, cell.workload, cell.load, cell.status),
            *_estimate(cell.throughput_per_s),
            *_estimate(cell.server_cpu_us_per_transaction),
            *_estimate(cell.client_cpu_us_per_transaction),
            "; ".join(mark.text for mark in cell.marks),
        ]
        for cell in analysis.cells
    ]
    return _csv(columns, rows)


def _trials(analysis: Analysis) -> str:
    measures = ["throughput_per_s", "p99_us", "server_cpu_cores", "client_cpu_share", "retries", "reason"]
    rows = [
        [
            *(trial.id, cell.id, trial.block, trial.status, trial.throughput_per_s, trial.p99_us),
            *(trial.server_cpu_cores, trial.client_cpu_share, trial.retries, trial.reason),
        ]
        for cell in analysis.cells
        for trial in cell.trials
    ]
    return _csv(["trial", "cell", "block", "status", *measures], rows)


def _latency(analysis: Analysis) -> str:
    """`time` is what was measured: response, service or lag; `of` whether of transactions or statements."""
    rows = [
        [cell.id, of, time, line.name, line.count, *(getattr(line, name) for name in LATENCIES)]
        for cell in analysis.cells
        for of, time, lines in (
            ("transaction", "response" if cell.loop == "open" else "service", cell.latency),
            ("transaction", "service", cell.service),
            ("transaction", "lag", cell.lag),
            ("statement", "service", cell.statements),
        )
        for line in lines
    ]
    return _csv(["cell", "of", "time", "name", "count", *LATENCIES], rows)


def _open_loop(analysis: Analysis) -> str:
    """One line a trial of an open loop that has numbers."""
    rows = [
        [trial.id, cell.id, trial.block, trial.status, *(getattr(trial.open, name) for name in OPEN)]
        for cell in analysis.cells
        for trial in cell.trials
        if trial.open
    ]
    return _csv(["trial", "cell", "block", "status", *OPEN], rows)


def _comparisons(analysis: Analysis) -> str:
    columns = [
        *PLACE,
        "baseline",
        "measure",
        *_estimate_columns("ratio"),
        "p_value",
        "p_value_holm",
        "verdict",
        "sentence",
    ]
    rows = [
        [
            *(c.engine, c.settings, c.workload, c.load, c.baseline, c.measure),
            *_estimate(c.ratio),
            *(c.p_value, c.p_value_holm, c.verdict, c.sentence),
        ]
        for c in analysis.comparisons
    ]
    return _csv(columns, rows)


def _settings(analysis: Analysis) -> str:
    """One line a variable and engine: long, so that it can be filtered."""
    rows = [
        [
            *(row.settings, row.variable, row.logical, engine, row.requested.get(engine), effective),
            *("yes" if row.differs else "no", "yes" if engine in row.ignored else "no"),
            *(row.weight, row.reason),
        ]
        for row in analysis.setting_rows
        for engine, effective in row.effective.items()
    ]
    columns = ["settings", "variable", "logical", "engine", "requested", "effective", "differs", "ignored"]
    columns += ["weight", "reason"]
    return _csv(columns, rows)
