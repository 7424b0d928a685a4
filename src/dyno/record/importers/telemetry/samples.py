"""What all host monitors have in common: numbers as they print them, a clock, series by metric and label."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

ALL = "all"
"""The label of all CPUs, disks or interfaces together."""

KIB, MIB, SECTOR = 1024, 1024**2, 512
SECONDS_PER_DAY = 86_400
_TIME = re.compile(r"(\d{1,2}):([0-5]\d):([0-5]\d)(?:\s*([AaPp])[Mm]\b)?")
_HOST = re.compile(r"Linux (\S{1,100}) \(([^)\s]{1,255})\)\s.*\((\d{1,6}) CPUs?\)")
_NUMBER = re.compile(r"(-?\d{1,18}(?:[.,]\d{1,9})?)([BbKkMmGgTt]?)%?")
_POWERS = {"": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4}


@dataclass(frozen=True)
class HostFacts:
    """What the first line of sysstat's tools says of the host."""

    hostname: str
    kernel: str
    cpus: int


@dataclass
class Telemetry:
    """The series of one file.

    Attributes:
        series: (metric, label) → times in s since the first report, and values.
        reports: How many reports the file holds, the one since boot left out.
        host: Where it was recorded, if the file says it.
        stamped: Whether times come from stamps; without any, reports are taken as 1 s apart.
    """

    series: dict[tuple[str, str], tuple[list[float], list[float]]] = field(
        default_factory=dict[tuple[str, str], tuple[list[float], list[float]]]
    )
    host: HostFacts | None = None
    reports: int = 0
    stamped: bool = False

    def add(self, t_s: float, metric: str, label: str, value: float | None) -> None:
        """One sample; what is no number, or below zero, is left out."""
        if value is not None and math.isfinite(value) and value >= 0:
            times, values = self.series.setdefault((metric, label), ([], []))
            times.append(t_s)
            values.append(value)

    def stretch(self, seconds: float) -> None:
        """Let reports without stamps be `seconds` apart."""
        for times, _ in self.series.values():
            times[:] = [t * seconds for t in times]


@dataclass
class Clock:
    """The time of each report: from its stamp, else from its number.

    A monitor's first report is what happened since boot: it begins the clock and is no sample itself.
    """

    telemetry: Telemetry
    now_s: float | None = None
    _begun: bool = False
    _begin: float = 0.0
    _last: float | None = None
    _midnights: int = 0

    def report(self, stamp: float | None) -> None:
        """A report begins; `stamp` is its time of day, s, or None. `now_s` is None for the first."""
        first, self._begun = not self._begun, True
        if stamp is None:
            self.now_s = None if first else (self.now_s or 0.0) + 1
        else:
            self.telemetry.stamped = True
            if self._last is not None and stamp < self._last - SECONDS_PER_DAY / 2:
                self._midnights += 1
            self._last = stamp
            absolute = stamp + self._midnights * SECONDS_PER_DAY
            self._begin = absolute if first else self._begin
            self.now_s = None if first else max(absolute - self._begin, 0.0)
        self.telemetry.reports += self.now_s is not None


def host_facts(text: str) -> HostFacts | None:
    """The host of a line such as `Linux 6.1.0 (db1)  03/24/2026  _x86_64_  (80 CPU)`; None for any other."""
    found = _HOST.match(text)
    return HostFacts(hostname=found[2], kernel=found[1], cpus=int(found[3])) if found else None


def time_of_day_s(text: str) -> float | None:
    """Seconds since midnight of the first time of day in a text, in 24 or 12 hours; None without one."""
    found = _TIME.search(text)
    if found is None:
        return None
    hours, minutes, seconds = int(found[1]), int(found[2]), int(found[3])
    if found[4]:
        hours = hours % 12 + (12 if found[4] in "Pp" else 0)
    return float(hours * 3600 + minutes * 60 + seconds) if hours < 24 else None  # noqa: PLR2004


def number(text: str, *, base: int = KIB) -> float | None:
    """A printed number with either decimal mark and perhaps a unit (`5.3M`, `0,25`); None if it is none."""
    found = _NUMBER.fullmatch(text)
    return float(found[1].replace(",", ".")) * base ** _POWERS[found[2].lower()] if found else None


def has_unit(text: str) -> bool:
    """Whether a printed number carries its own unit."""
    found = _NUMBER.fullmatch(text)
    return bool(found and found[2])


def busy_share(idle: float | None, *not_working: float | None) -> float | None:
    """Share of CPU time spent working, 0…1, from percentages; waiting is not work."""
    if idle is None:
        return None
    return min(max(100 - idle - sum(each or 0.0 for each in not_working), 0.0), 100.0) / 100
