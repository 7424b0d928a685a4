"""Validity marks: reasons to read a number with care, and the limits from which on they are given."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from dyno.findings.words import joined, percent, plural
from dyno.report.model import Mark
from dyno.stats.generator import KEPT_UP, WORKER_CPU_LIMIT, server_limited

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dyno.findings.names import Names
    from dyno.record.usage import Usage
    from dyno.report.model import Cell, OpenLoop, TrialResult
    from dyno.stats import GeneratorUse

RUN_DELAY_WARN = 0.05
"""Share of the time that a worker of the rig waited for a CPU from which on latencies hold some of it."""

CEILING_SHARE_WARN = 0.50
"""Share of the most that the rig can send on this host from which on it is not clearly out of the way."""

STEAL_LIMIT = 0.02
"""Share of the host's CPU time taken by the hypervisor from which on the host was not ours."""

OTHERS_LIMIT = 0.10
"""Share of the host's CPU time that other processes used from which on the host was not ours."""

RETRY_LIMIT = 0.01
"""Retries for each good transaction from which on throughput is no longer that of the plain workload."""

TRIALS_MIN = 3
"""Trials from which on an interval is more than a formality."""

_NUMBER = re.compile(r"\d[\d,]*(\.\d+)?")

CARE = {
    "client_cpu": "the generator was near its limit",
    "errors": "many transactions were retried",
    "failed": "some trials failed",
    "host": "the host was busy with other work",
    "invalid": "some trials are invalid",
    "missing": "some trials are missing",
    "n": "few trials",
    "settings": "the server did not take every setting",
    "steady": "the measured window was not steady",
    "overload": "the server did not keep up with the offered rate",
    "unfinished": "transactions were cut off",
}
"""What each kind of mark means, short enough to stand behind a sentence."""


def care(cells: list[Cell], names: Names) -> str:
    """What spoils these cells, to stand behind a sentence so that nobody quotes it without; or nothing."""
    everyone = list(dict.fromkeys(names.engine(cell.engine) for cell in cells))
    spoilt: dict[str, list[str]] = {}
    for cell in cells:
        engine = names.engine(cell.engine)
        for kind in dict.fromkeys(mark.kind for mark in cell.marks if mark.severity != "info"):
            engines = spoilt.setdefault(kind, [])
            engines += [engine] if engine not in engines else []
    cautions = [
        CARE[kind] + ("" if len(engines) == len(everyone) else f" ({joined(engines)})")
        for kind, engines in spoilt.items()
    ]
    return f" Read with care: {'; '.join(cautions)}." if cautions else ""


def trial_marks(
    *,
    transactions: int,
    retries: int,
    lost: int,
    errors: Mapping[int, int],
    unfinished: int,
    usage: Usage,
    generator: GeneratorUse,
    open_loop: OpenLoop | None = None,
    ceiling_share: float | None = None,
) -> list[Mark]:
    """Marks of one trial from its own record.

    Args:
        transactions: Good transactions in the measured window.
        retries: How often one of them was tried again.
        lost: Transactions lost with their connection.
        errors: Error code → count in the measured window.
        unfinished: Transactions cut at the end of drain.
        usage: CPU use of rig, server and host.
        generator: What the record shows of the generator.
        open_loop: What was due and done, of an open loop.
        ceiling_share: Queries a second as a share of the most that the rig can send on this host, 0…1; None
            when that was not measured.
    """
    marks = [
        *_generator(generator, ceiling_share),
        *_overload(open_loop),
        *_errors(errors, transactions, retries=retries, lost=lost),
    ]
    if unfinished:
        text = f"{plural(unfinished, 'transaction')} cut off at the end of drain, "
        text += "whose response times are in no percentile" if open_loop else "not counted"
        marks.append(Mark(kind="unfinished", severity="warn", text=text))
    if usage.steal_share > STEAL_LIMIT:
        text = f"the hypervisor took {percent(usage.steal_share)} of the host's CPU time"
        marks.append(Mark(kind="host", severity="warn", text=text))
    if usage.others_share is not None and usage.others_share > OTHERS_LIMIT:
        text = f"other processes used {percent(usage.others_share)} of the host's CPU time"
        marks.append(Mark(kind="host", severity="warn", text=text))
    return marks


def _generator(use: GeneratorUse, ceiling_share: float | None) -> list[Mark]:
    """The generator near its limit; at its limit a trial is invalid, and that says it."""
    marks = []
    if use.worker_share > WORKER_CPU_LIMIT:
        text = f"the rig's busiest worker used {percent(use.worker_share)} of its CPU"
        text += ", and the server was at the limit of its own" if server_limited(use) else ""
        marks.append(Mark(kind="client_cpu", severity="warn", text=text))
    if use.run_delay_share is not None and use.run_delay_share > RUN_DELAY_WARN:
        share = percent(use.run_delay_share)
        text = f"a worker of the rig waited for a CPU {share} of the time, which is in the latencies"
        marks.append(Mark(kind="client_cpu", severity="warn", text=text))
    if ceiling_share is not None and ceiling_share > CEILING_SHARE_WARN:
        text = f"the rig sent {percent(ceiling_share)} of the queries/s that it can on this host (selftest)"
        marks.append(Mark(kind="client_cpu", severity="warn", text=text))
    return marks


def _overload(open_loop: OpenLoop | None) -> list[Mark]:
    """An offered rate that was not met: response times then grow for as long as the trial lasts."""
    if open_loop is None or (not open_loop.dropped and open_loop.done >= KEPT_UP * open_loop.due):
        return []
    missed = f"{open_loop.due - open_loop.done:,} of {plural(open_loop.due, 'due transaction')} not done"
    why = f"{open_loop.dropped:,} dropped, {open_loop.backlog:,} waiting when measure ended"
    text = f"{missed} ({why}): response times depend on how long the trial lasts"
    return [Mark(kind="overload", severity="warn", text=text)]


def _errors(errors: Mapping[int, int], transactions: int, *, retries: int, lost: int) -> list[Mark]:
    if not errors and not retries and not lost:
        return []
    codes = ", ".join(f"{code} × {count:,}" for code, count in sorted(errors.items()))
    share = retries / transactions
    text = f"{plural(retries, 'retry', 'retries')} ({percent(share)} of the transactions)"
    text += f", {plural(lost, 'transaction')} lost with their connection" if lost else ""
    text += f"; error codes: {codes}" if codes else ""
    severity: Literal["warn", "info"] = "warn" if lost or share > RETRY_LIMIT else "info"
    return [Mark(kind="errors", severity=severity, text=text)]


def cell_marks(trials: list[TrialResult], settings: Iterable[str]) -> list[Mark]:
    """Marks of a cell: its trials' marks gathered, what is missing, and settings that were not taken.

    Args:
        trials: All planned trials of the cell.
        settings: What the server did not take as asked, a sentence each.
    """
    marks = [*_gone(trials), *_few(trials), *_gathered(trials)]
    known = {mark.text for mark in marks if mark.kind == "settings"}
    marks += [Mark(kind="settings", severity="warn", text=text) for text in settings if text not in known]
    return marks


def _gone(trials: list[TrialResult]) -> list[Mark]:
    """Trials without a number, by status, with their reasons."""
    marks = []
    words: dict[Literal["failed", "invalid", "missing"], str] = {
        "failed": "failed",
        "invalid": "invalid",
        "missing": "not run",
    }
    for status, word in words.items():
        gone = [trial for trial in trials if trial.status == status]
        if gone:
            reasons = said_once(trial.reason for trial in gone if trial.reason)
            text = f"{len(gone)} of {plural(len(trials), 'trial')} {word}"
            text += f": {'; '.join(reasons)}" if reasons else ""
            severity: Literal["bad", "warn"] = "bad" if len(gone) == len(trials) else "warn"
            marks.append(Mark(kind=status, severity=severity, text=text))
    return marks


def said_once(texts: Iterable[str]) -> list[str]:
    """The texts without repetition: of those that differ only in numbers, the one with the largest first."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(_NUMBER.sub("#", text), []).append(text)
    return [max(group, key=_first_number) for group in groups.values()]


def _few(trials: list[TrialResult]) -> list[Mark]:
    n = sum(trial.status == "ok" for trial in trials)
    if not 0 < n < TRIALS_MIN:
        return []
    text = "1 trial: no interval, nothing is tested" if n == 1 else f"{n} trials: the interval is very wide"
    return [Mark(kind="n", severity="warn", text=text)]


def _gathered(trials: list[TrialResult]) -> list[Mark]:
    """The good trials' own marks; one text with different numbers is said once, with the worst of them."""
    good = [trial for trial in trials if trial.status == "ok"]
    groups: dict[tuple[str, str, str], list[Mark]] = {}
    for trial in good:
        for mark in trial.marks:
            key = (mark.kind, mark.severity, _NUMBER.sub("#", mark.text))
            groups.setdefault(key, []).append(mark)
    return [_worst(marks, len(good)) for marks in groups.values()]


def _worst(marks: list[Mark], trials: int) -> Mark:
    """One mark for the same mark of several trials: of each kind, a larger first number is worse."""
    worst = max(marks, key=lambda mark: _first_number(mark.text))
    if len(marks) == trials and len({mark.text for mark in marks}) == 1:
        return worst
    at_worst = ", at worst" if len(marks) > 1 else ""
    prefix = f"in {len(marks)} of {plural(trials, 'trial')}{at_worst}: "
    return worst.model_copy(update={"text": prefix + worst.text})


def _first_number(text: str) -> float:
    found = _NUMBER.search(text)
    return float(found.group().replace(",", "")) if found else 0.0
