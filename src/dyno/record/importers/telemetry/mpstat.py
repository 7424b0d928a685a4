"""mpstat: all CPUs together and each by itself, as text of every sysstat release or as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dyno.record.importers.telemetry.samples import (
    Clock,
    Telemetry,
    busy_share,
    host_facts,
    number,
    time_of_day_s,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


def parse(lines: Iterable[str]) -> Telemetry:
    """Read reports; their label is the CPU's number, or `all`."""
    reader = _Reader()
    for line in lines:
        reader.line(line.strip())
    return reader.telemetry


class _Reader:
    def __init__(self) -> None:
        self.telemetry = Telemetry()
        self._clock = Clock(self.telemetry)
        self._columns: list[str] = []
        self._stamp: float | None = None

    def line(self, text: str) -> None:
        if text.startswith(('"timestamp"', '{"cpu"')):
            self._json(text)
            return
        if text.startswith("Linux "):
            self.telemetry.host = host_facts(text)
            return
        tokens = text.split()
        stamp = time_of_day_s(text)
        if stamp is None:
            return
        if "CPU" in tokens:
            self._columns = tokens[tokens.index("CPU") :] if "%idle" in tokens else []
            if self._stamp is None:
                # The header carries the time at which the first interval began.
                self._at(stamp)
        elif self._columns and len(tokens) > len(self._columns):
            self._at(stamp)
            cpu, *values = tokens[-len(self._columns) :]
            named = dict(zip(self._columns[1:], map(number, values), strict=True))
            self._add(cpu, named.get("%idle"), named.get("%iowait"), named.get("%steal"))

    def _at(self, stamp: float) -> None:
        if stamp != self._stamp:
            self._stamp = stamp
            self._clock.report(stamp)

    def _json(self, text: str) -> None:
        """The JSON form prints no time of its beginning: its first report is 1 s after it, as a rule."""
        if text.startswith('"timestamp"'):
            if (stamp := time_of_day_s(text)) is not None:
                if self._stamp is None:
                    self._clock.report(stamp - 1)
                self._at(stamp)
            return
        try:
            values = json.loads(text.rstrip(","))
            cpu, idle = str(values["cpu"]), float(values["idle"])
            self._add(cpu, idle, float(values["iowait"]), float(values["steal"]))
        except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
            return

    def _add(self, cpu: str, idle: float | None, iowait: float | None, steal: float | None) -> None:
        if self._clock.now_s is not None and (cpu == "all" or cpu.isdecimal()):
            self.telemetry.add(self._clock.now_s, "cpu_busy", cpu, busy_share(idle, iowait, steal))
