"""HammerDB's TPROC-C timed runs: NOPM and TPM, the transaction counter, the time profile (xtprof)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dyno.record.importers.logs import Interval, Log, TypeFigures, stop

if TYPE_CHECKING:
    from collections.abc import Iterable

NAME = "hammerdb"
SECONDS_PER_MINUTE = 60
_MINUTES_MAX = 100_000
_COUNT = r"([\d,]{1,15})"
_NUMBER = r"([\d,]{1,15}(?:\.\d{1,9})?)"
_VUSER = re.compile(r"(?:hammerdb>)?\s*(?:Vuser (\d{1,6}):)?\s*(.*)")
_VERSION = re.compile(r"HammerDB\s+(?:CLI\s+)?v(\d+\.\d+(?:\.\d+)?)\b")
_RESULT = re.compile(rf"TEST RESULT : System achieved {_COUNT} NOPM from {_COUNT} \D+ TPM")
_RESULT_OLD = re.compile(rf"TEST RESULT : System achieved {_COUNT} \D+ TPM at {_COUNT} NOPM")
_ACTIVE = re.compile(r"(\d{1,6}) Active Virtual Users configured")
_CREATED = re.compile(r"(\d{1,6}) Virtual Users Created with Monitor VU")
_FIRST_USER = re.compile(r"\bVuser 1 created\b")
_TEST_RESULT = "TEST RESULT : "
_RAMPUP = re.compile(r"Beginning rampup time of (\d{1,6}) minutes?")
_PERIOD = re.compile(r"Timing test period of (\d{1,6}) in minutes")
_COUNTER = re.compile(rf"{_COUNT} \S+(?: Server)? tpm")
_ERROR = re.compile(r"Error in Virtual User \d+: (.*)")
_SUMMARY = re.compile(r">{3,} SUMMARY OF (\d{1,6}) ACTIVE VIRTUAL USERS")
_ONE_USER = re.compile(r">{3,} VIRTUAL USER \d+ ")
_PROC = re.compile(r">{3,} PROC: (\w{1,40})")
_PROFILE = re.compile(rf"\b(CALLS|MIN|AVG|MAX|P99|P95|P50): {_NUMBER}(?:ms)?")


def parse(lines: Iterable[str]) -> Log:
    """Read a log of one timed run; throughput is TPM ÷ 60: commits and rollbacks a second."""
    reader = _Reader()
    for line in lines:
        reader.line(line)
    return reader.finish()


def split(lines: Iterable[str]) -> list[int]:
    """Where the runs of a sequence begin: indices of lines; a log without several results begins at 0.

    A sequence (autopilot, or a script over virtual users) writes one log; each of its runs begins with the
    creation of its virtual users. One that was stopped has no result and is a run all the same.
    """
    begins: list[int] = []
    results = 0
    for place, line in enumerate(lines):
        if _FIRST_USER.search(line):
            begins.append(place)
        results += _TEST_RESULT in line
    return begins if results > 1 and begins else [0]


def parse_profile(lines: Iterable[str]) -> list[TypeFigures]:
    """Read a time profile that lies in a file of its own (`hdbxtprofile.log`): procedures over all users."""
    profile = _Profile()
    for line in lines:
        profile.line(line.strip())
    return profile.types()


class _Reader:
    def __init__(self) -> None:
        self.log = Log(tool="HammerDB")
        self._profile = _Profile()
        self._counted: list[int] | None = None
        self._failed: set[str] = set()
        self._error: str | None = None
        self._minutes: int | None = None
        self._tpm: int | None = None

    def line(self, line: str) -> None:
        text = line.strip()
        if not text:
            return
        self.log.lines += 1
        found = _VUSER.match(text)
        user, text = (found[1], found[2]) if found else (None, text)
        if self._profile.line(text) or self._head(text) or self._result(text):
            return
        if counter := _COUNTER.fullmatch(text):
            if self._counted is not None:
                self._counted.append(_whole(counter[1]))
        elif error := _ERROR.match(text):
            self._error = self._error or error[1]
        elif text.startswith("FINISHED FAILED"):
            self._failed.add(user or "?")

    def _head(self, text: str) -> bool:
        """What the log says of the run before its result."""
        if found := _VERSION.match(text):
            self.log.version = found[1]
        elif found := _CREATED.match(text):
            self.log.threads = max(int(found[1]) - 1, 0)
        elif found := _ACTIVE.match(text):
            self.log.threads = int(found[1])
        elif found := _RAMPUP.match(text):
            self.log.warmup_s = float(int(found[1]) * SECONDS_PER_MINUTE)
        elif found := _PERIOD.match(text):
            self._minutes = int(found[1])
            self._counted = []
        elif text.startswith("Test complete"):
            self._end_counting()
        return found is not None

    def _result(self, text: str) -> bool:
        found = _RESULT.match(text)
        nopm, tpm = (found[1], found[2]) if found else ("", "")
        if found is None and (found := _RESULT_OLD.match(text)):
            tpm, nopm = found[1], found[2]
        if found is None:
            return False
        self.log.results += 1
        self.log.new_orders_per_min, self._tpm = float(_whole(nopm)), _whole(tpm)
        return True

    def _end_counting(self) -> None:
        """The transaction counter's values, spread evenly over the timed minutes: it prints no times."""
        seconds = (self._minutes or 0) * SECONDS_PER_MINUTE
        counted, self._counted = self._counted or [], None
        step = seconds / len(counted) if counted else 0.0
        self.log.intervals += [
            Interval(round((place + 1) * step, 3), self.log.threads or 0, tpm / SECONDS_PER_MINUTE)
            for place, tpm in enumerate(counted)
        ]

    def finish(self) -> Log:
        log = self.log
        log.transaction_types = self._profile.types()
        if self._failed:
            why = f": {self._error}" if self._error else ""
            stop(log, f"{len(self._failed)} virtual users ended with an error{why}")
        if self._tpm is None:
            log.fault = "the log has no test result: it is cut short, or it is of no timed run"
        elif self._minutes is None:
            log.fault = "the log does not say how long the timed test was"
        else:
            log.throughput_per_s = self._tpm / SECONDS_PER_MINUTE
            log.total_time_s = float(min(self._minutes, _MINUTES_MAX) * SECONDS_PER_MINUTE)
            log.transactions = round(log.throughput_per_s * log.total_time_s)
        return log


class _Profile:
    """The time profiler's report: one user after the other, then a summary of all, which alone counts."""

    def __init__(self) -> None:
        self._in_summary = False
        self._name: str | None = None
        self._figures: dict[str, dict[str, float]] = {}

    def line(self, text: str) -> bool:
        """Take a line, if it belongs to a profile."""
        if _SUMMARY.match(text):
            self._in_summary, self._name = True, None
            self._figures = {}
        elif _ONE_USER.match(text):
            self._in_summary = False
        elif found := _PROC.match(text):
            self._name = found[1] if self._in_summary else None
        else:
            figures = _PROFILE.findall(text)
            if self._name and figures:
                of_type = self._figures.setdefault(self._name, {})
                of_type.update({name: _float(value) for name, value in figures})
            return bool(figures)
        return True

    def types(self) -> list[TypeFigures]:
        """The procedures of the summary."""
        return [
            TypeFigures(
                name=name.lower(),
                count=int(figures["CALLS"]),
                mean_ms=figures.get("AVG"),
                max_ms=figures.get("MAX"),
                percentiles_ms={
                    float(key[1:]): figures[key] for key in ("P50", "P95", "P99") if key in figures
                },
            )
            for name, figures in self._figures.items()
            if "CALLS" in figures
        ]


def _whole(text: str) -> int:
    return int(text.replace(",", "") or 0)


def _float(text: str) -> float:
    digits = text.replace(",", "")
    return float(digits) if digits.strip(".") else 0.0
