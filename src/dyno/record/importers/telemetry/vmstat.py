"""vmstat: run queue, memory, block I/O, context switches and CPU, with or without `-t` and `-w`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.record.importers.telemetry.samples import (
    ALL,
    KIB,
    Clock,
    Telemetry,
    busy_share,
    number,
    time_of_day_s,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

COLUMNS: dict[str, tuple[str, str, float]] = {
    "r": ("processes_running", "", 1),
    "b": ("processes_blocked", "", 1),
    "free": ("memory_free_bytes", "", KIB),
    "bi": ("disk_read_bytes_per_s", ALL, KIB),
    "bo": ("disk_written_bytes_per_s", ALL, KIB),
    "cs": ("context_switches_per_s", "", 1),
}
"""Column → metric, label, factor. Memory is taken in KiB, vmstat's unit unless `-S` asked for another."""


def parse(lines: Iterable[str]) -> Telemetry:
    """Read reports, a line each."""
    telemetry = Telemetry()
    clock = Clock(telemetry)
    columns: list[str] = []
    for line in lines:
        tokens = line.split()
        if "swpd" in tokens or {"r", "b", "us", "id"} <= set(tokens):
            columns = tokens
        elif columns and len(tokens) >= _numbers(columns) and number(tokens[0]) is not None:
            clock.report(time_of_day_s(line))
            if clock.now_s is not None:
                named = dict(zip(columns, map(number, tokens), strict=False))
                _add(telemetry, clock.now_s, named)
    return telemetry


def _numbers(columns: list[str]) -> int:
    """How many columns hold numbers; a time zone's name may head the stamps."""
    return sum(name.islower() for name in columns)


def _add(telemetry: Telemetry, t_s: float, values: dict[str, float | None]) -> None:
    for column, (metric, label, factor) in COLUMNS.items():
        value = values.get(column)
        telemetry.add(t_s, metric, label, None if value is None else value * factor)
    telemetry.add(t_s, "cpu_busy", ALL, busy_share(values.get("id"), values.get("wa"), values.get("st")))
