"""One trial: restore, start, verify, drive, stop, judge. Whatever happens, it ends with a `trial.json`."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from dyno.engines import describe, require_verified
from dyno.errors import DynoError
from dyno.experiment.check import HINT, Checker, complaint, contradictions, require_consistent
from dyno.experiment.rig import said_in_log
from dyno.experiment.spec import INTERVAL_S, trial_spec
from dyno.experiment.stand import Context, Data, Live, Stand
from dyno.record.follow import Follower
from dyno.record.layout import timestamp, write_json
from dyno.record.series import write as write_series
from dyno.record.stream import read_stream
from dyno.record.usage import usage

if TYPE_CHECKING:
    from dyno.plan.resolved import ResolvedCell, ResolvedPhases, ScheduledTrial
    from dyno.record.checked import Checked
    from dyno.record.layout import TrialLayout
    from dyno.record.lines import Failure, Summary
    from dyno.record.stream import Stream
    from dyno.stats.stopping import Stopper

# Connecting is not a phase of planned length; a server that is slow to authenticate gets this much.
CONNECT_S = 60.0
CONNECT_S_PER_SESSION = 0.05
RIG_OK = 0


@dataclass
class Verdict:
    """How a trial ended, growing while it runs."""

    status: Literal["ok", "failed", "invalid"] = "ok"
    reason: str | None = None
    hint: str | None = None
    marks: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    rig_exit_code: int | None = None
    server_version: str | None = None
    server_pid: int | None = None
    throughput_per_s: float | None = None

    def fail(self, reason: str, hint: str | None = None) -> None:
        """Failed; the first reason stays, because the later ones follow from it."""
        if self.status != "failed":
            self.status, self.reason, self.hint = "failed", reason, hint

    def invalidate(self, reason: str, hint: str | None = None) -> None:
        """It ran to its end, but what it measured is not what was asked for."""
        self.status, self.reason, self.hint = "invalid", reason, hint

    def mark(self, kind: str, text: str) -> None:
        """A reason to read this trial's numbers with care."""
        self.marks.append({"kind": kind, "text": text})


class Attempt:
    """One trial being run, in its own folder, which is emptied first.

    Args:
        scheduled: Which trial.
        stand: Its engine.
        context: The run.
    """

    def __init__(self, scheduled: ScheduledTrial, stand: Stand, context: Context) -> None:
        self.verdict = Verdict()
        self._scheduled = scheduled
        self._cell = context.resolved.cell(scheduled.cell)
        self._stand = stand
        self._context = context
        self._started = timestamp()
        self._spent_s: dict[str, float] = {}
        self._checked: dict[str, Checked] = {}
        self._files = context.layout.trial(scheduled.trial)
        self._follower = Follower(self._files.record)
        self._stopper = stopper_of(context.resolved.phases)
        if self._files.path.exists():
            shutil.rmtree(self._files.path)
        self._files.path.mkdir(parents=True)

    def run(self) -> Verdict:
        """Run the trial. Nothing that an engine, its data or the rig does raises: it makes the trial fail."""
        verdict = self.verdict
        data = data_of(self._context, self._cell)
        try:
            self._context.now(f"{self._scheduled.trial}: restore and start")
            live = self._stand.open(data, self._files, self._context, self._spent_s)
            verdict.server_version, verdict.server_pid = live.version, live.pid
            self._verify(live, data)
            self._check("before", live)
            if verdict.status == "ok":
                self._drive(live)
            self._check("after", live)
        except DynoError as error:
            verdict.fail(error.message, error.hint)
        finally:
            began = time.monotonic()
            complaint = self._stand.close(self._files, healthy=verdict.status == "ok")
            self._spent_s["stop"] = time.monotonic() - began
        if complaint is not None:
            verdict.fail(complaint)
        if verdict.status == "ok":
            self._judge_record()
        self.write(self._stand.log_tail(self._files) if verdict.status == "failed" else None)
        return verdict

    def write(self, engine_log_tail: str | None) -> None:
        """Write `trial.json`, the last file of a trial: its presence says that the trial is finished."""
        verdict = self.verdict
        write_json(
            self._files.trial,
            {
                "format": "dyno-trial/1",
                "trial": self._scheduled.trial,
                "cell": self._scheduled.cell,
                "block": self._scheduled.block,
                "status": verdict.status,
                "reason": verdict.reason,
                "hint": verdict.hint,
                "started": self._started,
                "ended": timestamp(),
                "server_version": verdict.server_version,
                "server_pid": verdict.server_pid,
                "marks": verdict.marks,
                "phase_s": {phase: round(seconds, 3) for phase, seconds in self._spent_s.items()},
                "rig_exit_code": verdict.rig_exit_code,
                "engine_log_tail": engine_log_tail,
            },
        )

    def _verify(self, live: Live, data: Data) -> None:
        """Compare what the server reports with what it was asked for, and keep both."""
        write_json(self._files.variables, live.variables)
        path = self._context.layout.settings(self._stand.engine.id, data.settings.id)
        if not path.exists():
            write_json(path, _settings_file(live, data, self._stand.engine.id))
        for check in live.checks:
            if check.verdict != "equal":
                accepted = ", accepted by the plan" if check.accepted else ""
                self.verdict.mark("settings", describe(check) + accepted)
        for text in live.marks:
            self.verdict.mark("host", text)
        try:
            require_verified(live.checks)
        except DynoError as error:
            self.verdict.fail(error.message, error.hint)

    def _drive(self, live: Live) -> None:
        """Put the load on and wait for its end; how the rig ended decides first."""
        resolved, files, verdict = self._context.resolved, self._files, self.verdict
        write_json(files.spec, trial_spec(resolved, self._cell, live.target, live.pid))
        phases = resolved.phases
        planned_s = phases.warmup_s + phases.measure_s + phases.drain_s
        limit_s = planned_s + CONNECT_S + CONNECT_S_PER_SESSION * resolved.load(self._cell.load).sessions_max
        self._context.now(f"{self._scheduled.trial}: {planned_s:.0f} s of load")
        began = time.monotonic()
        ended = self._context.rig.drive(
            files.spec,
            files.record,
            files.rig_log,
            cpus=resolved.placement.rig_cpus,
            limit_s=limit_s,
            server_gone=live.gone,
            look=self._look,
        )
        self._spent_s["drive"] = time.monotonic() - began
        verdict.rig_exit_code = ended.code
        if ended.complaint is not None:
            verdict.fail(ended.complaint, "trial.json keeps the end of the server's log")
        elif ended.code != RIG_OK:
            message, hint = said_in_log(files.rig_log.read_text(encoding="utf-8", errors="replace"))
            error = _recorded_error(files)
            if error is not None:
                message, hint = message or error.message, hint or error.hint
            verdict.fail(message or f"the rig ended with exit code {ended.code}", hint)

    def _check(self, when: Literal["before", "after"], live: Live) -> None:
        """Check the data where the plan asks for that: nothing is measured on data that is not consistent."""
        workload = self._context.resolved.workload(self._cell.workload)
        if not workload.check or self.verdict.status != "ok":
            return
        self._context.now(f"{self._scheduled.trial}: check the data {when} the load")
        resolved = self._context.resolved
        checker = Checker(self._context.rig, workload, resolved.connection, resolved.seed)
        checked = self._checked[when] = checker.check(when, live.target, self._files)
        self._spent_s[f"check_{when}"] = checked.total_seconds
        if when == "before":
            require_consistent(checked)
        elif (wrong := complaint(checked, "after the load")) is not None:
            self.verdict.invalidate(wrong, HINT)

    def _judge_commits(self, stream: Stream) -> None:
        """What the rig counted must be in the data, where that was checked."""
        counts = [checked.counts for checked in self._checked.values() if checked.counts is not None]
        if len(counts) != len(("before", "after")):
            return
        wrong = contradictions(stream, *counts)
        if wrong:
            self.verdict.invalidate("; ".join(wrong), HINT)

    def _look(self) -> bool:
        """Let a person see the newest second, when there is one; whether enough is measured."""
        second = self._follower.latest()
        if second is not None:
            self._context.second(second)
        enough = False
        for rate_per_s in self._follower.measured():
            enough = (self._stopper is not None and self._stopper.feed(rate_per_s)) or enough
        return enough

    def _judge_record(self) -> None:
        """A trial is a result only if its stream is whole, says so itself, and has something in it."""
        try:
            stream = read_stream(self._files.record)
            if stream.summary is None:
                self.verdict.fail("the record stream has no summary: it was cut short")
                return
            judge_summary(stream.summary, self.verdict)
            if self.verdict.status == "ok":
                self._judge_generator(stream, stream.summary)
            if self.verdict.status == "ok":
                self._judge_commits(stream)
            write_series(self._files.record, self._files.series)
        except DynoError as error:
            self.verdict.fail(error.message, error.hint)

    def _judge_generator(self, stream: Stream, summary: Summary) -> None:
        """A number that the generator set says nothing of the server."""
        # scipy comes with it: loaded when the load is over, not beside it.
        from dyno.stats import generator  # noqa: PLC0415

        placement = self._context.resolved.placement
        used = usage(stream, rig_cpus=len(placement.rig_cpus))
        server_cpus = len(placement.server_cpus) or os.cpu_count()
        use = generator.generator_use(stream, summary, used, server_cpus=server_cpus)
        limits = generator.generator_limits(use)
        if limits:
            self.verdict.invalidate(generator.generator_reason(limits), generator.HINT)


def data_of(context: Context, cell: ResolvedCell) -> Data:
    """The data set that a cell runs on."""
    resolved = context.resolved
    return Data(resolved.settings_set(cell.settings), resolved.workload(cell.workload))


def stopper_of(phases: ResolvedPhases) -> Stopper | None:
    """What watches a trial that may end early: a sample is an interval of the record."""
    if phases.stopping is None:
        return None
    # scipy comes with it: loaded before there is load, and only where it is asked for.
    from dyno.stats.stopping import Stopper, StoppingRule  # noqa: PLC0415

    rule = phases.stopping
    shortest, longest = round(rule.measure_min_s / INTERVAL_S), round(phases.measure_s / INTERVAL_S)
    return Stopper(StoppingRule(rule.precision, shortest, longest))


def _recorded_error(files: TrialLayout) -> Failure | None:
    """The error in the rig's closing record, where it came to write one."""
    try:
        summary = read_stream(files.record).summary
    except DynoError:
        return None
    return summary.error if summary is not None else None


def judge_summary(summary: Summary, verdict: Verdict) -> None:
    """What the rig's closing record makes of a trial that looked well so far."""
    if summary.outcome != "ok":
        error = summary.error
        said = error.message if error is not None else "no reason given"
        verdict.fail(f"the rig's summary says {summary.outcome}: {said}", error.hint if error else None)
        return
    transactions = sum(each.ok for each in summary.transactions)
    if transactions == 0 or summary.measure_us <= 0:
        hint = "measure for longer, or look at the server: it may be stalled"
        verdict.invalidate("no transaction ended in the measured phase", hint)
        return
    verdict.throughput_per_s = transactions / (summary.measure_us / 1e6)


def _settings_file(live: Live, data: Data, engine: str) -> dict[str, Any]:
    return {
        "format": "dyno-settings/1",
        "engine": engine,
        "settings": data.settings.id,
        "requested": data.settings.requested,
        "arguments": live.arguments,
        "checks": [check.as_dict() for check in live.checks],
        "effective": live.variables,
    }
