"""The time series of a trial: the record stream as a tidy table, one row a sample (docs/FORMAT.md, 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from dyno.errors import DynoError
from dyno.record.histogram import Histogram, decode, decode_all, merge, percentile_us
from dyno.record.stream import Stream, read_stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dyno.record.lines import Cpu, Host, Interval, OpenCount, Process, Status

SCHEMA = pa.schema(
    [
        ("t_s", pa.float64()),
        ("phase", pa.string()),
        ("metric", pa.string()),
        ("label", pa.string()),
        ("value", pa.float64()),
    ]
)
Row = tuple[str, str, float]
"""Metric, label, value."""

PERCENTILES = {"latency_p50_us": 50, "latency_p95_us": 95, "latency_p99_us": 99}
MICROSECONDS_PER_S = 1_000_000


@dataclass(frozen=True, slots=True)
class Sample:
    """One row: `value` of `metric` over the interval that ends at `t_us`; `label` may be empty."""

    t_us: int
    phase: str
    metric: str
    label: str
    value: float


def samples(stream: Stream) -> Iterator[Sample]:
    """All samples of a stream, in the metrics of docs/FORMAT.md; samples over no time are left out.

    Raises:
        DynoError: A latency histogram is damaged.
    """
    for interval in stream.intervals:
        if interval.duration_us:
            for metric, label, value in _of_interval(interval):
                yield Sample(interval.t_us, interval.phase, metric, label, value)
    probed: list[tuple[Host | Process | Status, Iterator[Row]]] = []
    probed += [(line, _of_host(line)) for line in stream.hosts]
    probed += [(line, _of_process(line)) for line in stream.processes]
    probed += [(line, _of_status(line)) for line in stream.statuses]
    for line, rows in probed:
        if line.duration_us:
            # A sample belongs to the phase in which most of its time lies.
            phase = stream.phase_at(line.t_us - line.duration_us / 2)
            for metric, label, value in rows:
                yield Sample(line.t_us, phase, metric, label, value)


def write(record_path: Path, parquet_path: Path) -> None:
    """Write the series of `record.ndjson` as Parquet, in one atomic step.

    Raises:
        DynoError: The record is not readable, or the file cannot be written.
    """
    stream = read_stream(record_path)
    rows = list(samples(stream))
    table = pa.table(
        {
            "t_s": [row.t_us / MICROSECONDS_PER_S for row in rows],
            "phase": [row.phase for row in rows],
            "metric": [row.metric for row in rows],
            "label": [row.label for row in rows],
            "value": [row.value for row in rows],
        },
        schema=SCHEMA,
    )
    beside = parquet_path.with_name(f".{parquet_path.name}.part")
    try:
        pq.write_table(table, beside, compression="zstd")
        beside.replace(parquet_path)
    except OSError as error:
        raise DynoError(
            f"cannot write {parquet_path}: {error.strerror or error}", hint="is the disk full?"
        ) from None


def _of_interval(interval: Interval) -> Iterator[Row]:
    """Throughput and latency in all (label "") and, where there are several, by transaction type."""
    seconds = interval.duration_us / MICROSECONDS_PER_S
    histograms = {each.type: decode(each.latency) for each in interval.transactions if each.latency}
    yield "throughput_per_s", "", rate_per_s(interval)
    yield from _latency("", merge(histograms.values()))
    if len(interval.transactions) > 1:
        for each in interval.transactions:
            yield "throughput_per_s", each.type, each.ok / seconds
            if each.type in histograms:
                yield from _latency(each.type, histograms[each.type])
    yield "errors_per_s", "", sum(each.count for each in interval.errors) / seconds
    yield "client_cpu", "", interval.client_cpu_us / interval.duration_us
    yield "sessions", "", interval.sessions
    delays = [use.run_delay_us for use in interval.workers if use.run_delay_us is not None]
    if delays:
        yield "run_delay", "", max(delays) / interval.duration_us
    if interval.open:
        yield from _of_open_loop(interval, interval.open, seconds)


def rate_per_s(interval: Interval) -> float:
    """Transactions a second of one interval, which has a length."""
    return sum(each.ok for each in interval.transactions) / (interval.duration_us / MICROSECONDS_PER_S)


def _of_open_loop(interval: Interval, counted: OpenCount, seconds: float) -> Iterator[Row]:
    """What was offered, what became of it, and where the time of a response went."""
    yield "offered_per_s", "", counted.due / seconds
    yield "dropped_per_s", "", counted.dropped / seconds
    yield "backlog", "", counted.backlog
    for metric, texts in (
        ("service_p99_us", [each.service for each in interval.transactions]),
        ("lag_p99_us", [each.lag for each in interval.transactions]),
        ("generator_lag_p99_us", [counted.generator_lag]),
    ):
        value = percentile_us(decode_all(texts), 99)
        if value is not None:
            yield metric, "", value


def _latency(label: str, histogram: Histogram) -> Iterator[Row]:
    if histogram.total:
        values = histogram.percentiles(PERCENTILES.values())
        for metric, value in zip(PERCENTILES, values, strict=True):
            yield metric, label, value / 1000
        yield "latency_max_us", label, histogram.maximum / 1000


def _of_host(host: Host) -> Iterator[Row]:
    for cpu in host.cpus:
        yield "cpu_busy", str(cpu.cpu), busy_share(cpu)
    seconds = host.duration_us / MICROSECONDS_PER_S
    for disk in host.disks:
        yield "disk_read_bytes_per_s", disk.device, disk.read_bytes / seconds
        yield "disk_written_bytes_per_s", disk.device, disk.written_bytes / seconds
    for network in host.networks:
        yield "net_rx_bytes_per_s", network.interface, network.rx_bytes / seconds
        yield "net_tx_bytes_per_s", network.interface, network.tx_bytes / seconds
    if host.memory:
        yield "memory_available_bytes", "", host.memory.available_bytes
    yield "context_switches_per_s", "", host.context_switches / seconds


def busy_share(cpu: Cpu) -> float:
    """Share of a CPU's time spent working, 0…1; waiting for I/O or for the hypervisor is not work."""
    busy = cpu.user_us + cpu.system_us
    total = busy + cpu.iowait_us + cpu.steal_us + cpu.idle_us
    return busy / total if total else 0.0


def cores(process: Process) -> float:
    """CPU time a process used, in cores."""
    return (process.cpu_user_us + process.cpu_system_us) / process.duration_us if process.duration_us else 0.0


def _of_process(process: Process) -> Iterator[Row]:
    if process.role == "server":
        yield "server_cpu", "", cores(process)
        yield "server_rss_bytes", "", process.rss_bytes


def _of_status(status: Status) -> Iterator[Row]:
    """Counters as rates, and gauges as they stood."""
    seconds = status.duration_us / MICROSECONDS_PER_S
    for name, value in status.counters.items():
        yield f"status/{name}", "", value / seconds
    for name, value in status.gauges.items():
        yield f"status/{name}", "", value
