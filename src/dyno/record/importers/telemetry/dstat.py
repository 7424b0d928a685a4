"""dstat and pcp-dstat: what they print on a terminal, and dstat's CSV file."""

from __future__ import annotations

import csv
import re
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
    from collections.abc import Iterable, Sequence

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_CPU = re.compile(r"(?:total[- ](?:cpu[- ])?|cpu(\d{1,5})[- ])usage")
_DECIMAL = 1000
COLUMNS: dict[tuple[str, str], str] = {
    ("dsk", "read"): "disk_read_bytes_per_s",
    ("dsk", "writ"): "disk_written_bytes_per_s",
    ("net", "recv"): "net_rx_bytes_per_s",
    ("net", "send"): "net_tx_bytes_per_s",
}
"""(group, column) → metric; the label is what follows the group's slash."""


def parse(lines: Iterable[str]) -> Telemetry:
    """Read reports, a line each."""
    reader = _Reader()
    for line in lines:
        reader.line(_ESCAPE.sub("", line).rstrip("\r\n"))
    return reader.telemetry


class _Reader:
    def __init__(self) -> None:
        self.telemetry = Telemetry()
        self._clock = Clock(self.telemetry)
        self._groups: list[str] = []
        self._columns: list[list[str]] = []

    def line(self, text: str) -> None:
        if text.startswith('"') or "," in text:
            self._csv(text)
        elif text.lstrip().startswith("-") and text.rstrip().endswith("-"):
            self._groups = [name for token in text.split() if (name := token.strip("-"))]
            self._columns = []
        elif self._groups and not self._columns:
            columns = [part.split() for part in text.split("|")]
            self._columns = columns if len(columns) == len(self._groups) else []
        elif self._columns:
            self._values([part.split() for part in text.split("|")], text)

    def _csv(self, text: str) -> None:
        try:
            cells = next(csv.reader([text]), [])
        except csv.Error:
            return
        if any(_CPU.fullmatch(cell) or cell.startswith(("dsk/", "net/")) for cell in cells):
            self._groups, self._columns = [], []
            widths = [place for place, cell in enumerate(cells) if cell]
            for begin, end in zip(widths, [*widths[1:], len(cells)], strict=True):
                self._groups.append(cells[begin])
                self._columns.append([""] * (end - begin))
        elif self._columns and not any(map(any, self._columns)):
            self._columns = _cut(cells, self._columns)
        elif self._columns:
            self._values(_cut(cells, self._columns), cells[0])

    def _values(self, groups: list[list[str]], text: str) -> None:
        if len(groups) != len(self._columns):
            return
        self._clock.report(time_of_day_s(text))
        for group, columns, cells in zip(self._groups, self._columns, groups, strict=True):
            if self._clock.now_s is not None and len(columns) == len(cells):
                self._group(self._clock.now_s, group, dict(zip(columns, cells, strict=True)))

    def _group(self, t_s: float, group: str, cells: dict[str, str]) -> None:
        name, _, device = group.partition("/")
        if found := _CPU.fullmatch(group):
            values = {column: number(cell) for column, cell in cells.items()}
            share = busy_share(values.get("idl"), values.get("wai"), values.get("stl"))
            self.telemetry.add(t_s, "cpu_busy", found[1] or ALL, share)
        elif name in {"dsk", "net"}:
            for column, cell in cells.items():
                if metric := COLUMNS.get((name, column)):
                    self.telemetry.add(t_s, metric, _label(device), number(cell, base=KIB))
        elif "csw" in cells:
            self.telemetry.add(t_s, "context_switches_per_s", "", number(cells["csw"], base=_DECIMAL))


def _label(device: str) -> str:
    return ALL if device in {"", "total"} else device


def _cut(cells: list[str], like: Sequence[Sequence[str]]) -> list[list[str]]:
    """A flat row in groups as wide as those of `like`."""
    groups, at = [], 0
    for group in like:
        groups.append(cells[at : at + len(group)])
        at += len(group)
    return groups
