"""What a log of a load generator says, whichever program wrote it.

A parser never raises on what a log says: whatever is missing or contradicts itself becomes `Log.problem`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

RATE_TOLERANCE = 0.01
"""Relative difference of printed rate and count ÷ time from which on a summary contradicts itself."""
REASON_MAX = 500
"""Characters of a log's own words that become a reason."""
EMPTY = "the log is empty"


class Interval(NamedTuple):
    """One interval report: rates per second, latency percentile in ms as printed; None: not printed."""

    t_s: float
    threads: int
    tps: float
    qps: float | None = None
    latency_ms: float | None = None
    errors_per_s: float | None = None
    reconnects_per_s: float | None = None


class Sample(NamedTuple):
    """A value of one transaction type at the end of an interval, in the metrics of docs/FORMAT.md, 3."""

    t_s: float
    metric: str
    label: str
    value: float


@dataclass(frozen=True, slots=True)
class TypeFigures:
    """One transaction type over the whole measured time; latencies in ms as printed, None: not printed.

    Attributes:
        percentiles_ms: Percentile (95.0) → latency in ms.
    """

    name: str
    count: int
    errors: int = 0
    mean_ms: float | None = None
    max_ms: float | None = None
    percentiles_ms: dict[float, float] = field(default_factory=dict[float, float])


@dataclass
class Log:
    """What one log says. Everything is None until the log has said it.

    Attributes:
        tool: The program that wrote it.
        warmup: Intervals before the measured time.
        samples: What intervals say of single transaction types.
        percentile: The one that intervals and summary print.
        histogram: Rows of a printed latency histogram: value in ms, count.
        new_orders_per_min: NOPM, where the workload is derived from TPC-C.
        results: How many results the log holds: one log is one trial.
        fatal: The program's own words when it gave up.
        fault: Why a log without such words is no result all the same.
        lines: Lines with anything on them.
    """

    tool: str = "sysbench"
    version: str | None = None
    threads: int | None = None
    warmup_s: float | None = None
    rate_per_s: int | None = None
    warmup: list[Interval] = field(default_factory=list[Interval])
    intervals: list[Interval] = field(default_factory=list[Interval])
    samples: list[Sample] = field(default_factory=list[Sample])
    transaction_types: list[TypeFigures] = field(default_factory=list[TypeFigures])
    percentile: int | None = None
    transactions: int | None = None
    throughput_per_s: float | None = None
    new_orders_per_min: float | None = None
    queries: int | None = None
    ignored_errors: int | None = None
    reconnects: int | None = None
    total_time_s: float | None = None
    latency_min_ms: float | None = None
    latency_mean_ms: float | None = None
    latency_max_ms: float | None = None
    latency_percentile_ms: float | None = None
    histogram: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])
    results: int = 0
    fatal: str | None = None
    fault: str | None = None
    lines: int = 0

    @property
    def problem(self) -> str | None:
        """Why this log is no result, or None where it is one."""
        if self.lines == 0:
            return EMPTY
        if self.fatal:
            return f"{self.tool} stopped: {self.fatal}"
        if self.results > 1:
            return f"the log holds {self.results} results: one log is one trial, split the file"
        return self.fault or self._incomplete() or self._contradiction()

    def _incomplete(self) -> str | None:
        if self.throughput_per_s is None or self.transactions is None or self.total_time_s is None:
            last = f"no summary after {self.intervals[-1].t_s:g} s" if self.intervals else None
            return f"the log is cut short: {last}" if last else "the log has neither intervals nor a summary"
        if self.transactions <= 0 or self.total_time_s <= 0 or self.throughput_per_s <= 0:
            return "no transaction ended"
        return None

    def _contradiction(self) -> str | None:
        """Why its figures cannot all be true; called where a summary is whole."""
        count, seconds, printed = (
            self.transactions or 0,
            self.total_time_s or 0.0,
            self.throughput_per_s or 0.0,
        )
        rate = count / seconds
        # Half a unit of the last printed digit, for rates near zero.
        if abs(rate - printed) > RATE_TOLERANCE * rate + 0.005:
            return (
                f"the summary contradicts itself: {count:,} transactions in"
                f" {seconds:g} s are {rate:.2f} per second, it prints {printed:.2f}"
            )
        times = [each.t_s for each in self.intervals]
        if any(after < before for before, after in pairwise(times)):
            return "its intervals are not in the order of time"
        return None


def stop(log: Log, words: str) -> None:
    """Note the first reason that the program itself gave for stopping."""
    log.fatal = log.fatal or words.strip()[:REASON_MAX] or "it does not say why"
