"""Following a record stream while the rig writes it: the last second, cheaply.

Only the newest interval's histograms are decoded: the lab runs beside what it measures.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from dyno.errors import DynoError
from dyno.record.histogram import decode_all, percentile_us
from dyno.record.lines import Interval, Process
from dyno.record.series import cores, rate_per_s

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.record.lines import PhaseName

MICROSECONDS_PER_S = 1_000_000
BYTES_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Second:
    """What one interval of a running trial shows; None where it is not known.

    Attributes:
        t_s: Its end, seconds since warm-up began.
        phase: Its phase.
        throughput_per_s: Transactions done.
        p50_us: Median latency: service time in a closed loop, response time in an open one.
        p99_us: 99th percentile of the same.
        errors: Errors met.
        retries: Transactions repeated.
        sessions: Sessions at work.
        client_cores: CPU time of the rig, in cores.
        server_cores: CPU time of the server over its last sample, in cores.
        offered_per_s: Open loop: transactions that became due.
        backlog: Open loop: due transactions that waited for a session at its end.
        dropped: Open loop: due transactions that found the backlog full.
    """

    t_s: float
    phase: PhaseName
    throughput_per_s: float
    p50_us: float | None
    p99_us: float | None
    errors: int
    retries: int
    sessions: int
    client_cores: float
    server_cores: float | None
    offered_per_s: float | None = None
    backlog: int = 0
    dropped: int = 0


class Follower:
    """Reads what a record file has gained since the last look.

    Args:
        path: The record; it need not be there yet. Lines that are not understood are passed over: whoever
            judges the trial reads the whole stream again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._torn = b""
        self._server_cores: float | None = None
        self._measured: list[float] = []

    def measured(self) -> list[float]:
        """Transactions a second of the measured intervals that `latest` has passed since the last call."""
        rates, self._measured = self._measured, []
        return rates

    def latest(self) -> Second | None:
        """The newest interval since the last call, or None when there is none."""
        newest: Interval | None = None
        for raw in self._new_lines():
            line = _understood(raw)
            if isinstance(line, Interval):
                newest = line
                if line.phase == "measure" and line.duration_us:
                    self._measured.append(rate_per_s(line))
            elif line is not None and line.role == "server":
                self._server_cores = cores(line)
        try:
            return None if newest is None or not newest.duration_us else self._second(newest)
        except DynoError:
            return None

    def _new_lines(self) -> list[bytes]:
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                gained = file.read(BYTES_AT_ONCE)
        except OSError:
            return []
        self._offset += len(gained)
        *lines, self._torn = (self._torn + gained).split(b"\n")
        return lines

    def _second(self, interval: Interval) -> Second:
        seconds = interval.duration_us / MICROSECONDS_PER_S
        latency = decode_all(each.latency for each in interval.transactions)
        counted = interval.open
        return Second(
            t_s=interval.t_us / MICROSECONDS_PER_S,
            phase=interval.phase,
            throughput_per_s=rate_per_s(interval),
            p50_us=percentile_us(latency, 50),
            p99_us=percentile_us(latency, 99),
            errors=sum(each.count for each in interval.errors),
            retries=sum(each.retries for each in interval.transactions),
            sessions=interval.sessions,
            client_cores=interval.client_cpu_us / interval.duration_us,
            server_cores=self._server_cores,
            offered_per_s=counted.due / seconds if counted else None,
            backlog=counted.backlog if counted else 0,
            dropped=counted.dropped if counted else 0,
        )


def _understood(raw: bytes) -> Interval | Process | None:
    try:
        value = json.loads(raw)
        if value["record"] == "interval":
            return Interval.model_validate(value)
        if value["record"] == "process":
            return Process.model_validate(value)
    except (ValueError, KeyError, TypeError, ValidationError, RecursionError):
        pass
    return None
