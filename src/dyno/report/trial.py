"""One trial: does it count, and what does it say? Decided from its files alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dyno.errors import DynoError
from dyno.findings import trial_marks
from dyno.record.histogram import Histogram, decode_all, merge, percentile_us
from dyno.record.usage import usage
from dyno.report.model import Mark, OpenLoop, TrialResult
from dyno.report.series import trial_series
from dyno.report.tpcc import TpccTrial
from dyno.report.tpcc import read as read_tpcc
from dyno.report.window import (
    audited,
    law_of,
    measured_intervals,
    stopping_mark,
    stopping_of,
    window_marks,
    window_of,
)
from dyno.stats import generator_limits, generator_reason, generator_use
from dyno.stats.generator import HINT

if TYPE_CHECKING:
    from dyno.record.lines import OpenCount, Summary
    from dyno.record.manifest import Manifest, OrderedTrial, TrialFile
    from dyno.record.run import Run
    from dyno.record.stream import Stream
    from dyno.report.model import Series
    from dyno.stats import GeneratorUse

MICROSECONDS_PER_S = 1_000_000
NANOSECONDS_PER_US = 1000
LAB_KINDS = ("errors", "client_cpu", "settings", "n", "unfinished", "steady", "host")


@dataclass
class TrialData:
    """A trial as the analysis needs it. Histograms are of the measured window, ns, by type.

    Attributes:
        result: What the report shows of it.
        latency: Of transactions: service time in a closed loop, response time in an open one.
        service: Of transactions of an open loop, from their start.
        lag: Of transactions of an open loop, from when they were due to their start.
        statements: Of single statements.
        generator_lag: How late the rig of an open loop was.
        series: Its time series; also of a failed trial, as far as it came.
        server_version: The server's own VERSION(), or None when it was not reached.
        server_cpu_us: CPU time of the server for each transaction, µs, or None when not sampled.
        client_cpu_us: CPU time of the rig for each transaction, µs, or None.
        tpcc: What was counted of a TPC-C-derived load; None for any other.
    """

    result: TrialResult
    latency: dict[str, Histogram] = field(default_factory=dict[str, Histogram])
    service: dict[str, Histogram] = field(default_factory=dict[str, Histogram])
    lag: dict[str, Histogram] = field(default_factory=dict[str, Histogram])
    statements: dict[str, Histogram] = field(default_factory=dict[str, Histogram])
    generator_lag: Histogram = field(default_factory=Histogram)
    series: Series | None = None
    server_version: str | None = None
    server_cpu_us: float | None = None
    client_cpu_us: float | None = None
    tpcc: TpccTrial | None = None


Gone = Literal["failed", "invalid", "missing"]


class _NoNumberError(Exception):
    """Why a trial gives no number."""

    def __init__(self, status: Gone, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.status: Gone = status
        self.reason = reason
        self.hint = hint


def read_trial(run: Run, entry: OrderedTrial) -> TrialData:
    """Read one planned trial. Whatever is wrong with it becomes its status and reason, never an exception."""
    data = TrialData(TrialResult.model_validate({"id": entry.trial, "block": entry.block, "status": "ok"}))
    try:
        _read(run, entry, data)
    except _NoNumberError as gone:
        # Paths within the run: the same folder says the same wherever it lies.
        data.result.reason = gone.reason.replace(f"{run.path}/", "")
        data.result.status, data.result.hint = gone.status, gone.hint
    return data


def _read(run: Run, entry: OrderedTrial, data: TrialData) -> None:
    state = _journal_state(run, entry)
    try:
        file = run.trial_file(entry.trial)
    except DynoError as error:
        raise _NoNumberError("invalid", error.message, error.hint) from None
    if file is None:
        raise _NoNumberError("invalid", "trial.json is missing, though the journal says that the trial ended")
    data.server_version = file.server_version
    stream, problem = _stream(run, entry.trial)
    if stream:
        data.series = _series(entry.trial, stream, data.result)
    if "failed" in {file.status, state}:
        data.result.log_tail = _log_tail(file)
        raise _NoNumberError("failed", *_failure(run, file, stream))
    if stream is None:
        raise problem or _NoNumberError("invalid", "the record cannot be read")
    use = _measure(stream, _checked_summary(stream), data, run.manifest)
    data.result.marks += _lab_marks(file)
    limits = generator_limits(use)
    if limits:
        _invalidate(data.result, generator_reason(limits), HINT)
    elif {file.status, state} != {"ok"}:
        _invalidate(data.result, *_failure(run, file, stream))


def _invalidate(result: TrialResult, reason: str, hint: str | None) -> None:
    """A number that stays visible and counts nowhere."""
    result.status, result.reason, result.hint = "invalid", reason, hint


def _journal_state(run: Run, entry: OrderedTrial) -> str:
    """The trial's last state in the journal; a trial that never ended is missing."""
    line = run.journal.get(entry.trial)
    hint = f"`dyno run --resume {run.manifest.id}` runs it"
    if line is None or line.state == "planned":
        raise _NoNumberError("missing", "not run", hint)
    if line.state == "running":
        raise _NoNumberError("missing", "the run was stopped in the middle of it", hint)
    return line.state


def _stream(run: Run, trial: str) -> tuple[Stream | None, _NoNumberError | None]:
    try:
        return run.stream(trial), None
    except DynoError as error:
        return None, _NoNumberError("invalid", error.message, error.hint)


def _series(trial: str, stream: Stream, result: TrialResult) -> Series | None:
    """The time series; a damaged histogram in an interval costs the series, not the trial's totals."""
    try:
        series = trial_series(trial, stream)
    except DynoError as error:
        result.marks.append(Mark(kind="invalid", severity="warn", text=f"no time series: {error.message}"))
        return None
    result.series = trial
    return series


def _failure(run: Run, file: TrialFile, stream: Stream | None) -> tuple[str, str | None]:
    """Reason and hint of a trial that the lab did not accept, from whoever knows it."""
    line = run.journal.get(file.trial)
    reason, hint = file.reason or (line.reason if line else None), file.hint
    error = stream.summary.error if stream and stream.summary else None
    if error:
        reason, hint = reason or error.message, hint or error.hint
    return reason or "no reason recorded", hint


def _log_tail(file: TrialFile) -> str | None:
    tail = file.engine_log_tail
    return "\n".join(tail) if isinstance(tail, list) else tail


def _checked_summary(stream: Stream) -> Summary:
    """The summary of a stream that is a result: ended well, measured something, without contradiction."""
    summary = stream.summary
    if summary is None:
        raise _NoNumberError(
            "failed", "the record was cut short: it has no summary", "rig.log of the trial says why"
        )
    if summary.outcome != "ok":
        reason = summary.error.message if summary.error else f"the rig ended with {summary.outcome!r}"
        raise _NoNumberError("failed", reason, summary.error.hint if summary.error else None)
    total = sum(each.ok for each in summary.transactions)
    if summary.measure_us <= 0 or total == 0:
        raise _NoNumberError(
            "invalid", "no transaction ended within the measured window", "measure for longer"
        )
    # What was due in measure and ended in drain counts too: only an open loop has intervals of drain.
    counting = [interval for interval in stream.intervals if interval.phase in {"measure", "drain"}]
    by_interval = sum(each.ok for interval in counting for each in interval.transactions)
    if by_interval != total:
        raise _contradiction(
            f"its intervals add up to {by_interval:,} transactions, its summary says {total:,}"
        )
    if summary.open:
        parts = total + summary.lost + summary.open.dropped + summary.unfinished
        if parts != summary.open.due:
            raise _contradiction(f"{summary.open.due:,} transactions were due, {parts:,} are accounted for")
    return summary


def _contradiction(what: str) -> _NoNumberError:
    return _NoNumberError(
        "invalid", f"the record contradicts itself: {what}", "report this with record.ndjson"
    )


def _measure(stream: Stream, summary: Summary, data: TrialData, plan: Manifest) -> GeneratorUse:
    """Fill in the numbers of a trial that has any; returns what they show of the generator."""
    _decode(summary, data)
    data.tpcc = read_tpcc(stream, summary)
    result = data.result
    total = sum(each.ok for each in summary.transactions)
    result.throughput_per_s = total / summary.measure_us * MICROSECONDS_PER_S
    result.retries = sum(each.retries for each in summary.transactions)
    merged = merge(data.latency.values())
    result.p99_us = percentile_us(merged, 99)
    _judge_window(stream, summary, merged.mean / NANOSECONDS_PER_US, result, plan)
    if summary.open:
        result.open = _open_loop(summary, summary.open, data)
    used = usage(stream, rig_cpus=len(plan.placement.rig_cpus))
    result.client_cpu_share = used.client_share
    data.client_cpu_us = used.client_cores * MICROSECONDS_PER_S / result.throughput_per_s
    result.server_cpu_cores = used.server_cores
    if used.server_cores is not None:
        data.server_cpu_us = used.server_cores * MICROSECONDS_PER_S / result.throughput_per_s
    generator = generator_use(stream, summary, used, server_cpus=_server_cpus(plan))
    result.marks += trial_marks(
        transactions=total,
        retries=result.retries,
        lost=summary.lost,
        errors={each.code: each.count for each in summary.errors},
        unfinished=summary.unfinished,
        usage=used,
        generator=generator,
        open_loop=result.open,
        ceiling_share=_ceiling_share(summary, plan),
    )
    return generator


def _judge_window(
    stream: Stream, summary: Summary, response_mean_us: float, result: TrialResult, plan: Manifest
) -> None:
    """Was it steady, do its counts agree, did it end early?"""
    verdict = audited(stream)
    if verdict is not None:
        law = law_of(stream, summary, response_mean_us)
        result.window = window_of(verdict, law, len(measured_intervals(stream)))
        result.marks += window_marks(verdict, law)
    result.stopping = stopping_of(plan.phases, stream, summary)
    if result.stopping is not None:
        result.marks.append(stopping_mark(result.stopping, verdict))


def _ceiling_share(summary: Summary, plan: Manifest) -> float | None:
    """Queries sent a second as a share of the most that the rig can send, where that was measured."""
    if plan.ceiling is None:
        return None
    queries = sum(each.count for each in summary.statements)
    return queries / summary.measure_us * MICROSECONDS_PER_S / plan.ceiling.queries_per_s_max


def _decode(summary: Summary, data: TrialData) -> None:
    try:
        for each in summary.transactions:
            data.latency[each.type] = decode_all([each.latency])
            data.service[each.type] = decode_all([each.service])
            data.lag[each.type] = decode_all([each.lag])
        data.statements = {each.type: decode_all([each.latency]) for each in summary.statements}
        if summary.open:
            data.generator_lag = decode_all([summary.open.generator_lag])
    except DynoError as error:
        raise _NoNumberError("invalid", error.message, error.hint) from None


def _open_loop(summary: Summary, counted: OpenCount, data: TrialData) -> OpenLoop:
    return OpenLoop(
        offered_per_s=counted.due / summary.measure_us * MICROSECONDS_PER_S,
        due=counted.due,
        done=sum(each.ok for each in summary.transactions),
        dropped=counted.dropped,
        unfinished=summary.unfinished,
        backlog=counted.backlog,
        service_p99_us=percentile_us(merge(data.service.values()), 99),
        lag_p99_us=percentile_us(merge(data.lag.values()), 99),
        generator_lag_p50_us=percentile_us(data.generator_lag, 50),
        generator_lag_p99_us=percentile_us(data.generator_lag, 99),
    )


def _server_cpus(plan: Manifest) -> int | None:
    """How many CPUs the server could use: those it was pinned to, else all of the host."""
    cpus = plan.host.get("cpus")
    return len(plan.placement.server_cpus) or (cpus if isinstance(cpus, int) else None)


def _lab_marks(file: TrialFile) -> list[Mark]:
    """What the lab noticed while it ran the trial; a kind this version does not know is about the host."""
    marks = []
    for mark in file.marks:
        kind = next((known for known in LAB_KINDS if known == mark.kind), "host")
        marks.append(Mark.model_validate({"kind": kind, "severity": "warn", "text": mark.text}))
    return marks
