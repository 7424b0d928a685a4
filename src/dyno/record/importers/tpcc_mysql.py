"""tpcc-mysql's output: lines of 10 s in the old form and the new, raw results, TpmC."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dyno.record.importers.logs import Interval, Log, Sample, TypeFigures, stop

if TYPE_CHECKING:
    from collections.abc import Iterable

US_PER_MS = 1000
SECONDS_PER_MINUTE = 60
TYPES = ("new_order", "payment", "order_status", "delivery", "stock_level")
_N = r"(\d{1,12}(?:\.\d{1,9})?)"
_COUNT = r"(\d{1,12})"
_LINE = re.compile(
    rf"{_COUNT}, trx: {_COUNT}, 95%: {_N}, 99%: {_N}, max_rt: {_N}"
    rf", {_COUNT}\|{_N}, {_COUNT}\|{_N}, {_COUNT}\|{_N}, {_COUNT}\|{_N}"
)
# The first releases: count(late):90th percentile in s|longest in s, for each of the five types.
_LINE_OLD = re.compile(rf"{_COUNT}, " + ", ".join([rf"{_COUNT}\({_COUNT}\):{_N}\|{_N}"] * 5))
_PARAMETER = re.compile(r"\[(connection|rampup)\]: (\d{1,9})")
_RAW = re.compile(
    rf"\[([0-4])\]\s*sc:{_COUNT}\s+lt:{_COUNT}\s+rt:{_COUNT}\s+fl:{_COUNT}(?:\s+avg_rt: {_N})?.*"
)
_SECONDS = re.compile(rf"in {_N} sec\.")
_TPMC = re.compile(rf"{_N} TpmC")


def parse(lines: Iterable[str]) -> Log:
    """Read a log; percentiles in its lines are of New-Order alone and become series of that type."""
    reader = _Reader()
    for line in lines:
        text = line.strip()
        if text:
            reader.log.lines += 1
            reader.line(text)
    return reader.finish()


class _Reader:
    def __init__(self) -> None:
        self.log = Log(tool="tpcc-mysql")
        self._section = ""
        self._raw: dict[int, TypeFigures] = {}
        self._retries = 0
        self._last_s = 0.0

    def line(self, text: str) -> None:
        if text[0] == "<":
            self._section = text
        elif found := _PARAMETER.match(text):
            if found[1] == "connection":
                self.log.threads = int(found[2])
            else:
                self.log.warmup_s = float(found[2])
        elif found := _LINE.match(text):
            self._interval(found)
        elif found := _LINE_OLD.match(text):
            self._old_interval(found)
        elif self._section in {"", "<Parameters>"}:
            if "error" in text.lower() and not self.log.intervals:
                stop(self.log, text)
        else:
            self._result(text)

    def _result(self, text: str) -> None:
        """A line of the sections after the run; the second block of raw results repeats the first."""
        if self._section == "<Raw Results>" and (found := _RAW.match(text)):
            self._raw_result(found)
        elif self._section == "<Raw Results>" and (found := _SECONDS.match(text)):
            self.log.total_time_s = float(found[1])
        elif self._section == "<TpmC>" and (found := _TPMC.match(text)):
            self.log.new_orders_per_min = float(found[1])
            self.log.results += 1

    def _interval(self, found: re.Match[str]) -> None:
        numbers = [float(text) for text in found.groups()]
        t_s, seconds = self._step(numbers[0])
        counts = [numbers[1], *numbers[5::2]]
        self._add(t_s, seconds, counts)
        name = TYPES[0]
        for metric, value_ms in (("latency_p95_us", numbers[2]), ("latency_p99_us", numbers[3])):
            self.log.samples.append(Sample(t_s, metric, name, value_ms * US_PER_MS))
        longest_ms = [numbers[4], *numbers[6::2]]
        self.log.samples += [
            Sample(t_s, "latency_max_us", name, value * US_PER_MS)
            for name, value in zip(TYPES, longest_ms, strict=True)
        ]

    def _old_interval(self, found: re.Match[str]) -> None:
        numbers = [float(text) for text in found.groups()]
        t_s, seconds = self._step(numbers[0])
        self._add(t_s, seconds, numbers[1::4])

    def _step(self, t_s: float) -> tuple[float, float]:
        """The end of an interval and its length."""
        seconds, self._last_s = t_s - self._last_s, t_s
        return t_s, seconds

    def _add(self, t_s: float, seconds: float, counts: list[float]) -> None:
        if seconds <= 0:
            self.log.fault = "its intervals are not in the order of time"
            return
        self.log.intervals.append(Interval(t_s, self.log.threads or 0, sum(counts) / seconds))
        self.log.samples += [
            Sample(t_s, "throughput_per_s", name, count / seconds)
            for name, count in zip(TYPES, counts, strict=True)
        ]

    def _raw_result(self, found: re.Match[str]) -> None:
        """Transactions in time, late, retried and failed; late ones ended too."""
        place, done, late, retries, failed = (int(found[n]) for n in range(1, 6))
        mean_ms = float(found[6]) if found[6] else None
        self._raw[place] = TypeFigures(TYPES[place], done + late, errors=failed + retries, mean_ms=mean_ms)

    def finish(self) -> Log:
        log = self.log
        log.transaction_types = [self._raw[place] for place in sorted(self._raw)]
        if len(self._raw) < len(TYPES) or not log.total_time_s or log.new_orders_per_min is None:
            return log
        log.transactions = sum(each.count for each in log.transaction_types)
        log.ignored_errors = sum(each.errors for each in log.transaction_types)
        log.throughput_per_s = log.transactions / log.total_time_s
        counted = self._raw[0].count / log.total_time_s * SECONDS_PER_MINUTE
        if abs(counted - log.new_orders_per_min) > 0.01 * counted + 0.005:
            log.fault = (
                f"the summary contradicts itself: {self._raw[0].count:,} new orders in"
                f" {log.total_time_s:g} s are {counted:.1f} per minute,"
                f" it prints {log.new_orders_per_min:.1f}"
            )
        return log
