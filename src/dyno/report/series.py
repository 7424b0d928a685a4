"""The time series of a trial for the viewer: all metrics on one clock, the ends of the rig's intervals."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Literal

from dyno.record.series import samples
from dyno.report.model import Metric, Series

if TYPE_CHECKING:
    from dyno.record.stream import Stream

Unit = Literal["1/s", "us", "cores", "share", "bytes", "bytes/s", "count"]

UNITS: dict[str, Unit] = {
    "throughput_per_s": "1/s",
    "offered_per_s": "1/s",
    "sessions": "count",
    "backlog": "count",
    "dropped_per_s": "1/s",
    "latency_p50_us": "us",
    "latency_p95_us": "us",
    "latency_p99_us": "us",
    "latency_max_us": "us",
    "service_p99_us": "us",
    "lag_p99_us": "us",
    "generator_lag_p99_us": "us",
    "run_delay": "share",
    "errors_per_s": "1/s",
    "client_cpu": "cores",
    "server_cpu": "cores",
    "server_rss_bytes": "bytes",
    "cpu_busy": "share",
    "disk_read_bytes_per_s": "bytes/s",
    "disk_written_bytes_per_s": "bytes/s",
    "net_rx_bytes_per_s": "bytes/s",
    "net_tx_bytes_per_s": "bytes/s",
    "memory_available_bytes": "bytes",
    "context_switches_per_s": "1/s",
    "status/Questions": "1/s",
    "status/Com_commit": "1/s",
    "status/Handler_commit": "1/s",
    "status/Innodb_rows_read": "1/s",
    "status/Innodb_buffer_pool_reads": "1/s",
    "status/Innodb_data_fsyncs": "1/s",
    "status/Innodb_os_log_written": "bytes/s",
    "status/Innodb_row_lock_waits": "1/s",
}
"""The metrics of a report, in this order; series.parquet of the trial has all others."""


def trial_series(trial: str, stream: Stream) -> Series:
    """The series of one trial, 1 s samples as they are.

    A sample of host, process or status stands at the interval end nearest to it; where none does, there is
    a gap (None). Lines that are zero throughout (idle disks, unused interfaces) are left out, if labelled.

    Raises:
        DynoError: A latency histogram of an interval is damaged.
    """
    grid = sorted({interval.t_us for interval in stream.intervals})
    lines: dict[tuple[str, str], list[float | None]] = {}
    for sample in samples(stream):
        if grid and sample.metric in UNITS:
            line = lines.setdefault((sample.metric, sample.label), [None] * len(grid))
            line[_nearest(grid, sample.t_us)] = sample.value
    order = list(UNITS)
    kept = sorted(
        (key for key in lines if not key[1] or any(lines[key])), key=lambda key: order.index(key[0])
    )
    return Series(
        trial=trial,
        t_s=[t_us / 1e6 for t_us in grid],
        phases=[(span.phase, span.start_us / 1e6, span.end_us / 1e6) for span in stream.spans],
        metrics=[Metric(metric=m, label=label, unit=UNITS[m], values=lines[m, label]) for m, label in kept],
    )


def _nearest(grid: list[int], t_us: int) -> int:
    """Index of the grid time nearest to `t_us`."""
    after = bisect_left(grid, t_us)
    if after == 0:
        return 0
    if after == len(grid):
        return after - 1
    return after if grid[after] - t_us < t_us - grid[after - 1] else after - 1
