"""One log and what lies beside it → one trial's files. Runs in many processes at once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from hdrh.histogram import HdrHistogram

from dyno.errors import DynoError
from dyno.record.imported import FILE, Imported, ImportedFile, ImportedType
from dyno.record.importers import hammerdb
from dyno.record.importers.formats import LOG_PARSERS, TELEMETRY_PARSERS
from dyno.record.importers.layouts import readable
from dyno.record.importers.logs import Log
from dyno.record.importers.series import table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dyno.record.importers.collect import Beside, Source
    from dyno.record.importers.logs import TypeFigures
    from dyno.record.importers.telemetry import Telemetry
    from dyno.record.importers.telemetry.samples import HostFacts

US_PER_MS = 1000
NS_PER_MS = 1_000_000
LOG_BYTES_MAX = 256 * 2**20
"""No tool writes a log of this size in a benchmark: such a file is something else and is not read."""
_HISTOGRAM_HIGHEST_NS = 3600 * 10**9


@dataclass(frozen=True)
class Task:
    """What one process is given: a log, and the folder to make of it."""

    source: Source
    folder: Path


@dataclass(frozen=True)
class Outcome:
    """What the rest of the import must know of a trial.

    Attributes:
        sessions: As the path or else the log says; None where neither does.
        problem: Why it is no result, or None.
        host: Where its monitors ran, if they say it.
        left_out: Names of files beside it that hold nothing.
    """

    sessions: int | None
    problem: str | None
    measure_s: float | None
    host: HostFacts | None = None
    left_out: tuple[str, ...] = ()


def import_trial(task: Task) -> Outcome:
    """Read a log and all beside it, and write `imported.json` and `series.parquet`.

    Raises:
        DynoError: A file cannot be read or written.
    """
    source = task.source
    try:
        log = _read_log(source)
        telemetry = _read_telemetry(source, log)
        imported = _imported(log, source, _sessions(source), [name for name, _ in telemetry])
        task.folder.mkdir(parents=True)
        # Not synced one by one: an import can be repeated, and the manifest is written last.
        (task.folder / FILE).write_text(imported.model_dump_json() + "\n", encoding="utf-8")
        rows = table(log, [series for _, series in telemetry])
        if rows.num_rows:
            pq.write_table(rows, task.folder / "series.parquet", compression="zstd")
    except OSError as error:
        raise DynoError(
            f"cannot import {source.path}: {error.strerror or error}",
            hint="may you read it, is the disk full?",
        ) from None
    empty = tuple(each.path.name for each in _monitors(source) if each.path.name not in dict(telemetry))
    host = next((each.host for _, each in telemetry if each.host), None)
    return Outcome(_sessions(source) or log.threads, imported.problem, log.total_time_s, host, empty)


def _sessions(source: Source) -> int | None:
    return int(source.fields["sessions"]) if "sessions" in source.fields else None


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", errors="replace") as file:
        yield from file


def _read_log(source: Source) -> Log:
    size = source.path.stat().st_size
    if size > LOG_BYTES_MAX:
        return Log(lines=1, fault=f"the file has {size:,} bytes: it is no log")
    if source.format is None:
        return Log(lines=size and 1, fault="no known format: `dyno import --formats` lists them")
    log = LOG_PARSERS[source.format](islice(_lines(source.path), *source.lines))
    if profiles := [each for each in source.beside if each.format.role == "profile"]:
        log.transaction_types = log.transaction_types or hammerdb.parse_profile(_lines(profiles[0].path))
    return log


def _monitors(source: Source) -> list[Beside]:
    """The monitors' files, those first that are believed first."""
    order = list(TELEMETRY_PARSERS)
    found = [each for each in source.beside if each.format.role == "telemetry"]
    return sorted(found, key=lambda each: order.index(each.format.name))


def _read_telemetry(source: Source, log: Log) -> list[tuple[str, Telemetry]]:
    """File name → its series, without what a monitor before it has already said."""
    found: list[tuple[str, Telemetry]] = []
    known: set[str] = set()
    for each in _monitors(source):
        if each.path.stat().st_size > LOG_BYTES_MAX:
            continue
        telemetry = TELEMETRY_PARSERS[each.format.name](_lines(each.path))
        if not telemetry.reports:
            continue
        if not telemetry.stamped and log.total_time_s:
            telemetry.stretch(max(round(log.total_time_s / telemetry.reports), 1))
        metrics = {metric for metric, _ in telemetry.series}
        telemetry.series = {key: value for key, value in telemetry.series.items() if key[0] not in known}
        known |= metrics
        found.append((each.path.name, telemetry))
    return found


def _imported(log: Log, source: Source, named: int | None, telemetry: list[str]) -> Imported:
    problem = log.problem
    if problem is None and named is not None and log.threads is not None and named != log.threads:
        problem = f"the path says {named} sessions, the log {log.threads}"
    used = [each for each in source.beside if each.format.role != "telemetry" or each.path.name in telemetry]
    return Imported(
        tool=log.tool if source.format else "unknown",
        tool_version=log.version,
        source=readable(source.path.name),
        source_sha256=_digest(source.path),
        threads=log.threads,
        problem=problem,
        transactions=log.transactions,
        throughput_per_s=log.throughput_per_s,
        new_orders_per_min=log.new_orders_per_min,
        rate_per_s=log.rate_per_s,
        measure_s=log.total_time_s,
        errors=log.ignored_errors,
        latency_mean_us=_us(log.latency_mean_ms),
        latency_max_us=_us(log.latency_max_ms),
        latency_percentile=log.percentile,
        latency_percentile_us=_us(log.latency_percentile_ms),
        latency=_histogram(log) if problem is None else None,
        transaction_types=[_type(each) for each in log.transaction_types],
        beside=[ImportedFile(name=readable(each.path.name), format=each.format.name) for each in used],
    )


def _type(figures: TypeFigures) -> ImportedType:
    return ImportedType(
        name=figures.name,
        count=figures.count,
        errors=figures.errors,
        latency_mean_us=_us(figures.mean_ms),
        latency_max_us=_us(figures.max_ms),
        latency_percentiles_us={key: value * US_PER_MS for key, value in figures.percentiles_ms.items()},
    )


def _us(ms: float | None) -> float | None:
    return None if ms is None else ms * US_PER_MS


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _histogram(log: Log) -> str | None:
    """The printed latency histogram in the encoding of the record stream (docs/FORMAT.md, 2), or None."""
    if not log.histogram:
        return None
    histogram = HdrHistogram(1, _HISTOGRAM_HIGHEST_NS, 3)
    for value_ms, count in log.histogram:
        histogram.record_value(min(max(round(value_ms * NS_PER_MS), 1), _HISTOGRAM_HIGHEST_NS), count)
    return str(histogram.encode(), "ascii")
