"""iostat: basic and extended reports of every sysstat release, wide and human-readable, and JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dyno.record.importers.telemetry.samples import (
    ALL,
    KIB,
    MIB,
    SECTOR,
    Clock,
    Telemetry,
    busy_share,
    has_unit,
    host_facts,
    number,
    time_of_day_s,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

US_PER_MS = 1000
PERCENT = 0.01
_RATES = {"kB": KIB, "MB": MIB, "sec": SECTOR, "Blk": SECTOR}
COLUMNS: dict[str, tuple[str, float]] = {
    "r/s": ("disk_reads_per_s", 1),
    "w/s": ("disk_writes_per_s", 1),
    **{f"r{unit}/s": ("disk_read_bytes_per_s", size) for unit, size in _RATES.items()},
    **{f"w{unit}/s": ("disk_written_bytes_per_s", size) for unit, size in _RATES.items()},
    **{f"{unit}_read/s": ("disk_read_bytes_per_s", size) for unit, size in _RATES.items()},
    **{f"{unit}_wrtn/s": ("disk_written_bytes_per_s", size) for unit, size in _RATES.items()},
    "await": ("disk_await_us", US_PER_MS),
    "r_await": ("disk_read_await_us", US_PER_MS),
    "w_await": ("disk_write_await_us", US_PER_MS),
    "aqu-sz": ("disk_queue", 1),
    "avgqu-sz": ("disk_queue", 1),
    "%util": ("disk_busy", PERCENT),
    "util": ("disk_busy", PERCENT),
}
"""Column → metric, and the factor to its unit. Releases differ in their columns: read by name."""


def parse(lines: Iterable[str]) -> Telemetry:
    """Read reports; their label is the device."""
    reader = _Reader()
    for line in lines:
        reader.line(line.strip())
    return reader.telemetry


class _Reader:
    def __init__(self) -> None:
        self.telemetry = Telemetry()
        self._clock = Clock(self.telemetry)
        self._columns: list[str] = []
        self._first: tuple[str, ...] = ()
        self._stamp: float | None = None

    def line(self, text: str) -> None:
        tokens = text.split()
        if not tokens:
            return
        if text.startswith("Linux "):
            self.telemetry.host = host_facts(text)
        elif text.startswith(('"', "{")):
            self._json(text)
        elif tokens[0] == "avg-cpu:" or tokens[0].rstrip(":") == "Device" or tokens[-1] == "Device":
            self._header([token.rstrip(":") for token in tokens])
        elif self._columns[:1] == ["avg-cpu"]:
            self._cpu(dict(zip(self._columns[1:], map(number, tokens), strict=False)))
            self._columns = []
        elif len(tokens) == len(self._columns):
            self._device(tokens)
        elif (stamp := time_of_day_s(text)) is not None:
            self._stamp = stamp

    def _header(self, columns: list[str]) -> None:
        """A report is one or several tables: the one that came first in the file begins each."""
        self._first = self._first or tuple(columns)
        if tuple(columns) == self._first:
            self._clock.report(self._stamp)
            self._stamp = None
        self._columns = columns

    def _cpu(self, values: dict[str, float | None]) -> None:
        named = {name.lstrip("%"): value for name, value in values.items()}
        share = busy_share(named.get("idle"), named.get("iowait"), named.get("steal"))
        self._add("cpu_busy", ALL, share)

    def _device(self, tokens: list[str]) -> None:
        place = 0 if self._columns[0] == "Device" else -1
        for column, token in zip(self._columns, tokens, strict=True):
            known = COLUMNS.get(column)
            value = number(token) if known else None
            if known and value is not None:
                # With a unit of its own the number is in bytes, whatever the column is called.
                self._add(known[0], tokens[place], value if has_unit(token) else value * known[1])

    def _json(self, text: str) -> None:
        """One line of the JSON form: read so, a file that was cut short is readable up to there."""
        name, _, content = text.partition(":") if text.startswith('"') else ("", "", text)
        if name == '"timestamp"':
            self._stamp = time_of_day_s(content)
        elif name == '"avg-cpu"':
            self._header(["avg-cpu"])
            self._columns = []
            self._cpu({key: _float(value) for key, value in _object(content).items()})
        elif name == '"disk"':
            if self._first in {(), ("disk",)}:
                self._header(["disk"])
            self._columns = []
        elif '"disk_device"' in text:
            values = _object(text)
            device = str(values.get("disk_device"))
            for key, (metric, factor) in COLUMNS.items():
                if (value := _float(values.get(key))) is not None:
                    self._add(metric, device, value * factor)

    def _add(self, metric: str, label: str, value: float | None) -> None:
        if self._clock.now_s is not None:
            self.telemetry.add(self._clock.now_s, metric, label, value)


def _object(text: str) -> dict[str, object]:
    try:
        found = json.loads(text.strip().rstrip(","))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e18 else None  # noqa: PLR2004
