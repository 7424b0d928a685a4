"""sysbench logs of every dialect: 0.4.12, both 0.5, 1.0, 1.1; intervals as text, CSV or JSON."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from dyno.record.importers.logs import Interval, Log, stop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Widths are bounded so that a hostile line of digits stays a finite number.
_N = r"(\d{1,15}(?:\.\d{1,9})?)"
_I = r"(\d{1,9})"
_INTERVAL_1 = re.compile(
    rf"\[\s*{_N}s ?\] thds: {_I} (?:tps|eps): {_N}(?: qps: {_N} \(r/w/o: {_N}/{_N}/{_N}\))?"
    rf" lat \(ms,{_I}%\): {_N}(?: err/s:? {_N} reconn/s: {_N})?\s*"
)
_INTERVAL_05 = re.compile(
    rf"\[\s*{_N}s\] threads: {_I}, tps: {_N}, reads(?:/s)?: {_N}, writes(?:/s)?: {_N},"
    rf" response time: {_N}ms \({_I}%\)(?:, errors: {_N}, reconnects:\s+{_N})?\s*"
)
_CSV = re.compile(rf"{_N},{_I},{_N},{_N},{_N},{_N},{_N},{_N},{_N},{_N}\s*")
_RATE = re.compile(rf"(\d{{1,15}})\s+\({_N} per sec\.\)")
_VERSION = re.compile(r"sysbench v?(\d+\.\d+(?:\.\d+)?)\b")
_PERCENTILE = re.compile(rf"(?:approx\.\s+)?{_I}(?:th)? percentile")
_SECONDS = re.compile(rf"{_N}s")
_MILLISECONDS = re.compile(rf"{_N}(?:ms)?")
_HISTOGRAM = re.compile(rf"{_N}\s+\|\**\s+(\d{{1,15}})")
_VALUE_END = 1e15
"""No figure of an interval is as large; JSON knows numbers without end, and some that are none."""
_JSON_LINES_MAX = 64
"""A JSON interval is 17 lines; one that never closes is not read on for ever."""


def parse(lines: Iterable[str]) -> Log:
    """Read a log line by line; memory grows with its intervals only."""
    reader = _Reader()
    for line in lines:
        reader.line(line)
    return reader.log


class _Reader:
    """What must be remembered between lines: a checkpoint's block, an open JSON object."""

    def __init__(self) -> None:
        self.log = Log()
        self._warming = False
        self._checkpoint = False
        self._json: list[str] = []
        self._depth = 0

    def line(self, line: str) -> None:
        if line.startswith("["):
            self._bracket(line)
            return
        text = line.strip()
        if not text:
            return
        self.log.lines += 1
        if self._depth or text.startswith("{"):
            self._json_line(text)
        elif text[0].isdigit() and self._digits(text):
            pass
        elif text.startswith("FATAL"):
            stop(self.log, text.partition(":")[2] or text)
        elif text.startswith("Warming up"):
            self._warming = True
        elif text.startswith("Threads started"):
            self._warming = False
        elif text.startswith("sysbench "):
            found = _VERSION.match(text)
            self.log.version = found[1] if found else self.log.version
        elif ":" in text:
            self._named(*(part.strip() for part in text.split(":", 1)))

    def _bracket(self, line: str) -> None:
        self.log.lines += 1
        found = _INTERVAL_1.fullmatch(line)
        if found:
            t, threads, tps, qps, _, _, _, percentile, latency, errors, reconnects = found.groups()
            self.log.percentile = int(percentile)
            self._add(
                Interval(
                    float(t),
                    int(threads),
                    float(tps),
                    _number(qps),
                    float(latency),
                    _number(errors),
                    _number(reconnects),
                )
            )
        elif found := _INTERVAL_05.fullmatch(line):
            t, threads, tps, _, _, latency, percentile, errors, reconnects = found.groups()
            self.log.percentile = int(percentile)
            # 0.5 prints no total: its reads and writes leave out BEGIN and COMMIT, so no qps is made of them.
            self._add(
                Interval(
                    float(t),
                    int(threads),
                    float(tps),
                    None,
                    float(latency),
                    _number(errors),
                    _number(reconnects),
                )
            )
        elif "Checkpoint report" in line:
            self._checkpoint = True

    def _digits(self, text: str) -> bool:
        """A CSV interval, or a row of the histogram."""
        if found := _HISTOGRAM.fullmatch(text):
            if not self._checkpoint:
                self.log.histogram.append((float(found[1]), int(found[2])))
            return True
        if found := _CSV.fullmatch(text):
            t, threads, tps, qps, _, _, _, latency, errors, reconnects = found.groups()
            self._add(
                Interval(
                    float(t),
                    int(threads),
                    float(tps),
                    float(qps),
                    float(latency),
                    float(errors),
                    float(reconnects),
                )
            )
        return found is not None

    def _json_line(self, text: str) -> None:
        self._depth += text.count("{") - text.count("}")
        self._json.append(text)
        if self._depth <= 0 or len(self._json) > _JSON_LINES_MAX:
            whole, self._json, self._depth = "".join(self._json), [], 0
            interval = _of_json(whole.rstrip(",]"))
            if interval:
                self._add(interval)

    def _add(self, interval: Interval) -> None:
        (self.log.warmup if self._warming else self.log.intervals).append(interval)

    def _named(self, name: str, value: str) -> None:
        """A `name: value` line of the head or of a summary."""
        if self._checkpoint:
            # A checkpoint repeats the whole block; only the last block, at the end, is the summary.
            self._checkpoint = not name.startswith("execution time")
            return
        if name == "transactions":
            self.log.results += 1
        action = _NAMED.get(name)
        if action:
            action(self.log, value)
        elif (percentile := _PERCENTILE.fullmatch(name)) and (found := _MILLISECONDS.fullmatch(value)):
            self.log.percentile, self.log.latency_percentile_ms = int(percentile[1]), float(found[1])


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


def _of_json(text: str) -> Interval | None:
    """An interval of the JSON form; None for an object that is something else."""
    try:
        value: Any = json.loads(text)
        interval = Interval(
            float(value["time"]),
            int(value["threads"]),
            float(value["tps"]),
            float(value["qps"]["total"]),
            float(value["latency"]),
            float(value["errors"]),
            float(value["reconnects"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None
    return interval if all(0 <= (each or 0) < _VALUE_END for each in interval) else None


def _rate(count: str, rate: str | None = None) -> Callable[[Log, str], None]:
    def take(log: Log, value: str) -> None:
        found = _RATE.fullmatch(value)
        if found:
            setattr(log, count, int(found[1]))
            if rate:
                setattr(log, rate, float(found[2]))

    return take


def _take(name: str, pattern: re.Pattern[str], kind: Callable[[str], float]) -> Callable[[Log, str], None]:
    def take(log: Log, value: str) -> None:
        found = pattern.fullmatch(value)
        if found:
            setattr(log, name, kind(found[1]))

    return take


_WHOLE = re.compile(r"(\d{1,9})(?:s|/sec)?")
_NAMED: dict[str, Callable[[Log, str], None]] = {
    "Number of threads": _take("threads", _WHOLE, int),
    "Warmup time": _take("warmup_s", _WHOLE, int),
    "Target transaction rate": _take("rate_per_s", _WHOLE, int),
    "transactions": _rate("transactions", "throughput_per_s"),
    "queries": _rate("queries"),
    "ignored errors": _rate("ignored_errors"),
    "deadlocks": _rate("ignored_errors"),
    "reconnects": _rate("reconnects"),
    "total time": _take("total_time_s", _SECONDS, float),
    "time elapsed": _take("total_time_s", _SECONDS, float),
    "min": _take("latency_min_ms", _MILLISECONDS, float),
    "avg": _take("latency_mean_ms", _MILLISECONDS, float),
    "max": _take("latency_max_ms", _MILLISECONDS, float),
}
"""Lines of head and summary: by their name, in every dialect."""
