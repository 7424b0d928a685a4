"""go-tpc's TPC-C output, in its three styles: plain lines, table, JSON."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dyno.record.importers.logs import RATE_TOLERANCE, Interval, Log, Sample, TypeFigures, stop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SECONDS_PER_MINUTE = 60
US_PER_MS = 1000
_PLAIN = re.compile(r"\[(Current|Summary)\]\s+(\w{1,40})\s+- (Takes\(s\): .*)")
_CELL = re.compile(r"\s*[|│]\s*")
_PERCENTILE = re.compile(r"([\d.]{1,6})th\(ms\)")
_TPMC = re.compile(r"tpmC: ([\d.]{1,15})")
_SERIES = {50.0: "latency_p50_us", 95.0: "latency_p95_us", 99.0: "latency_p99_us"}


@dataclass(frozen=True)
class _Row:
    """One operation of one report, its numbers by the names of the columns, in lower case."""

    summary: bool
    operation: str
    numbers: dict[str, float]

    @property
    def failed(self) -> bool:
        return self.operation.endswith("_ERR")


@dataclass
class _Tables:
    """The header of the table that is being read."""

    columns: list[str] = field(default_factory=list[str])


def parse(lines: Iterable[str]) -> Log:
    """Read a log; the number of sessions is not in it."""
    log = Log(tool="go-tpc")
    current: list[_Row] = []
    summary: list[_Row] = []
    tables = _Tables()
    for line in lines:
        text = line.strip().lstrip("> ")
        if not text:
            continue
        log.lines += 1
        if text.startswith("panic:"):
            stop(log, text.removeprefix("panic:"))
        elif found := _TPMC.match(text):
            log.new_orders_per_min = _float(found[1])
        for row in _rows(text, tables):
            if row.summary:
                summary.append(row)
                continue
            if any(row.operation == before.operation for before in current):
                _interval(log, current)
                current = []
            current.append(row)
    _interval(log, current)
    _summarize(log, summary)
    return log


def _rows(text: str, tables: _Tables) -> Iterator[_Row]:
    """The operations that a line reports, in whichever style."""
    if found := _PLAIN.match(text):
        pairs = (part.partition(": ") for part in found[3].split(", "))
        yield _row(found[1], found[2], {name: value for name, _, value in pairs})
    elif text[0] in "|│":
        cells = _CELL.split(text.strip("|│ "))
        lowered = [cell.lower() for cell in cells]
        if "operation" in lowered or "tpmc" in lowered:
            tables.columns = lowered
        elif len(cells) == len(tables.columns):
            yield from _named(dict(zip(tables.columns, cells, strict=True)))
    elif text.startswith("[{"):
        for each in _objects(text):
            yield from _named({str(name).lower(): str(value) for name, value in each.items()})


def _objects(text: str) -> list[dict[Any, Any]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [each for each in found if isinstance(each, dict)]


def _named(cells: dict[str, str]) -> Iterator[_Row]:
    prefix = cells.get("prefix", "").strip(" []")
    if prefix in {"Current", "Summary"}:
        yield _row(prefix, cells.get("operation", ""), cells)
    elif "tpmc" in cells:
        yield _Row(summary=True, operation="", numbers={"tpmc": _float(cells["tpmc"])})


def _row(prefix: str, operation: str, cells: dict[str, str]) -> _Row:
    numbers = {name.lower(): _float(value) for name, value in cells.items()}
    return _Row(summary=prefix == "Summary", operation=operation.strip(), numbers=numbers)


def _interval(log: Log, rows: list[_Row]) -> None:
    """One interval of all operations; it ends when the time that its operations took has passed."""
    took_s = max((row.numbers.get("takes(s)", 0.0) for row in rows), default=0.0)
    if took_s <= 0:
        return
    t_s = round((log.intervals[-1].t_s if log.intervals else 0.0) + took_s, 3)
    done = sum(row.numbers.get("count", 0.0) for row in rows if not row.failed)
    failed = sum(row.numbers.get("count", 0.0) for row in rows if row.failed)
    log.intervals.append(Interval(t_s, 0, done / took_s, errors_per_s=failed / took_s))
    for row in rows:
        if row.failed:
            continue
        name = row.operation.lower()
        log.samples.append(Sample(t_s, "throughput_per_s", name, row.numbers.get("count", 0.0) / took_s))
        log.samples += [
            Sample(t_s, _SERIES[percentile], name, value * US_PER_MS)
            for percentile, value in _percentiles(row).items()
            if percentile in _SERIES
        ]


def _summarize(log: Log, rows: list[_Row]) -> None:
    operations = [row for row in rows if row.operation]
    log.results = max(
        (sum(row.operation == name.operation for row in rows) for name in operations), default=0
    )
    for row in rows:
        log.new_orders_per_min = row.numbers.get("tpmc", log.new_orders_per_min)
    errors = {row.operation.removesuffix("_ERR"): row for row in operations if row.failed}
    done = [row for row in operations if not row.failed and row.numbers.get("takes(s)", 0.0) > 0]
    if not done:
        return
    for row in done:
        failed = errors.get(row.operation)
        log.transaction_types.append(
            TypeFigures(
                name=row.operation.lower(),
                count=int(row.numbers.get("count", 0.0)),
                errors=int(failed.numbers.get("count", 0.0)) if failed else 0,
                mean_ms=row.numbers.get("avg(ms)"),
                max_ms=row.numbers.get("max(ms)"),
                percentiles_ms=_percentiles(row),
            )
        )
    _check_tpmc(log, next((row for row in done if row.operation == "NEW_ORDER"), None))
    log.transactions = sum(each.count for each in log.transaction_types)
    log.ignored_errors = sum(int(row.numbers.get("count", 0.0)) for row in errors.values())
    log.total_time_s = max(row.numbers["takes(s)"] for row in done)
    # Each type's own time ends with its last transaction: the run is as long as the longest of them.
    log.throughput_per_s = log.transactions / log.total_time_s


def _check_tpmc(log: Log, new_orders: _Row | None) -> None:
    """The last thing printed is tpmC, the rate of new orders: without it the summary may be cut short."""
    tpmc, tpm = log.new_orders_per_min, new_orders.numbers.get("tpm") if new_orders else None
    if tpmc is None or tpm is None:
        log.fault = "the log is cut short: its summary does not end in the rate of new orders"
    elif abs(tpmc - tpm) > RATE_TOLERANCE * tpm + 0.05:
        log.fault = (
            f"the summary contradicts itself: NEW_ORDER has {tpm:g} per minute, its last line {tpmc:g}"
        )


def _percentiles(row: _Row) -> dict[float, float]:
    found = {name: _PERCENTILE.fullmatch(name) for name in row.numbers}
    return {_float(match[1]): row.numbers[name] for name, match in found.items() if match}


def _float(text: str) -> float:
    """A printed number; what is none counts as 0, which no result can be made of."""
    cleaned = text.strip().rstrip("%")
    return float(cleaned) if re.fullmatch(r"\d{1,15}(\.\d{1,9})?", cleaned) else 0.0
