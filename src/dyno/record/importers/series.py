"""Intervals of a log and series of the host → the rows of series.parquet (docs/FORMAT.md, 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dyno.record.series import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dyno.record.importers.logs import Interval, Log
    from dyno.record.importers.telemetry import Telemetry

Arrow = Any
"""An Arrow table or array: pyarrow brings no types."""
US_PER_MS = 1000
WARMUP, MEASURE = "warmup", "measure"
_PERCENTILE_METRICS = {50: "latency_p50_us", 95: "latency_p95_us", 99: "latency_p99_us"}


class _Columns:
    """The tidy table while it grows: one block a metric and label."""

    def __init__(self) -> None:
        self._blocks: list[list[Arrow]] = []

    def add(
        self, phase: str, metric: str, label: str, times: Sequence[float], values: Sequence[float | None]
    ) -> None:
        texts = [pa.repeat(pa.scalar(text), len(times)) for text in (phase, metric, label)]
        if any(value is not None for value in values):
            self._blocks.append([pa.array(times, pa.float64()), *texts, pa.array(values, pa.float64())])

    def table(self) -> Arrow:
        """All blocks below each other; samples that were not printed are left out."""
        tables = [pa.table(block, schema=SCHEMA) for block in self._blocks]
        joined = pa.concat_tables(tables) if tables else SCHEMA.empty_table()
        return joined.filter(joined["value"].is_valid()) if joined["value"].null_count else joined


def table(log: Log, telemetry: Sequence[Telemetry]) -> Arrow:
    """All series of one trial; t = 0 is where the log's measured time begins.

    A log has no wall clock: host monitors are taken to have started with it.
    """
    columns = _Columns()
    warmup_s = log.warmup[-1].t_s if log.warmup else 0.0
    # Some versions count on through the warm-up, others begin again.
    counts_on = bool(log.warmup and log.intervals and log.intervals[0].t_s > warmup_s)
    _intervals(columns, log, log.warmup, WARMUP, warmup_s)
    _intervals(columns, log, log.intervals, MEASURE, warmup_s if counts_on else 0.0)
    by_key: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
    for sample in log.samples:
        times, values = by_key.setdefault((sample.metric, sample.label), ([], []))
        times.append(sample.t_s)
        values.append(sample.value)
    for (metric, label), (times, values) in by_key.items():
        columns.add(MEASURE, metric, label, times, values)
    for each in telemetry:
        for (metric, label), (times, values) in each.series.items():
            columns.add(MEASURE, metric, label, times, values)
    return columns.table()


def _intervals(columns: _Columns, log: Log, rows: list[Interval], phase: str, shift_s: float) -> None:
    times = [row.t_s - shift_s for row in rows]
    if not times:
        return
    columns.add(phase, "throughput_per_s", "", times, [row.tps for row in rows])
    if metric := _PERCENTILE_METRICS.get(log.percentile or 0):
        latencies = [None if row.latency_ms is None else row.latency_ms * US_PER_MS for row in rows]
        columns.add(phase, metric, "", times, latencies)
    columns.add(phase, "errors_per_s", "", times, [row.errors_per_s for row in rows])
