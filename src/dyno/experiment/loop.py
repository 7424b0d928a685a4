"""The run loop: all data first, then every trial in its order; whatever happens is journalled."""

from __future__ import annotations

import shutil
import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.engines import cache_root
from dyno.errors import DynoError, InterruptedRunError
from dyno.experiment.journal import FINISHED, Journal
from dyno.experiment.progress import Watch
from dyno.experiment.stand import Context, run_work
from dyno.experiment.trial import Attempt, data_of

if TYPE_CHECKING:
    from collections.abc import Generator

    from rich.console import Console

    from dyno.experiment.rig import Rig
    from dyno.experiment.stand import Stand
    from dyno.experiment.trial import Verdict
    from dyno.plan.resolved import ResolvedPlan, ScheduledTrial
    from dyno.record.layout import RunLayout

# Restore, start and stop of a small data set: only a first guess for the ETA, until a trial has been seen.
OVERHEAD_GUESS_S = 4.0

DataKey = tuple[str, str, str]


@dataclass(frozen=True)
class Outcome:
    """What became of a run: its folder and how many trials ended in each state."""

    layout: RunLayout
    ok: int
    failed: int
    invalid: int

    @property
    def clean(self) -> bool:
        """Every trial is a result."""
        return self.failed == self.invalid == 0


class Loop:
    """One execution of a run, new or resumed: does every trial that has no final state yet.

    Args:
        layout: The run's folder, with manifest and resolved plan in it.
        resolved: The resolved plan.
        stands: Every engine by id.
        rig: The rig.
        journal: The open journal.
        console: Where progress goes.
        each_second: Where that is no terminal, say what every second of load showed.
    """

    def __init__(
        self,
        layout: RunLayout,
        resolved: ResolvedPlan,
        *,
        stands: dict[str, Stand],
        rig: Rig,
        journal: Journal,
        console: Console,
        each_second: bool = False,
    ) -> None:
        self._journal = journal
        self._stands = stands
        self._todo = [each for each in resolved.order if journal.states.get(each.trial) not in FINISHED]
        phases = resolved.phases
        load_s = phases.warmup_s + phases.measure_s
        total = len(resolved.order)
        self._watch = watch = Watch(
            console,
            total,
            total - len(self._todo),
            load_s + OVERHEAD_GUESS_S,
            load_s=load_s,
            each_second=each_second,
        )
        self._context = Context(layout, resolved, rig, now=watch.now, say=watch.say, second=watch.second)

    def execute(self) -> Outcome:
        """Build data, run trials, count what became of them.

        Raises:
            InterruptedRunError: Ctrl-C or SIGTERM; the hint says how to go on.
        """
        layout, resolved = self._context.layout, self._context.resolved
        with self._watch, self._orderly_end():
            self._watch.say(f"{layout.path}: {len(self._todo)} trials to do; {resolved.placement.text}")
            lost = self._build()
            for scheduled in self._todo:
                if self._key(scheduled) not in lost:
                    self._run(scheduled)
        counts = Counter(self._journal.states[each.trial] for each in resolved.order)
        return Outcome(layout, counts["ok"], counts["failed"], counts["invalid"])

    def _key(self, scheduled: ScheduledTrial) -> DataKey:
        cell = self._context.resolved.cell(scheduled.cell)
        return cell.engine, cell.settings, cell.workload

    def _build(self) -> set[DataKey]:
        """Have all data ready before the first trial; returns what could not be built, its trials failed."""
        trials: dict[DataKey, list[ScheduledTrial]] = defaultdict(list)
        for scheduled in self._todo:
            trials[self._key(scheduled)].append(scheduled)
        lost: set[DataKey] = set()
        # In the order of the plan, which is how a person reads the progress.
        planned = {(cell.engine, cell.settings, cell.workload): cell for cell in self._context.resolved.cells}
        for key, cell in planned.items():
            if key not in trials:
                continue
            try:
                self._stands[cell.engine].prepare(data_of(self._context, cell), self._context)
            except DynoError as error:
                lost.add(key)
                self._give_up(trials[key], error)
                self._watch.skipped(len(trials[key]), f"{'~'.join(key)}: {error.message}", error.hint)
        return lost

    def _give_up(self, trials: list[ScheduledTrial], error: DynoError) -> None:
        """Fail trials whose data could not be built, each with the reason in its own folder."""
        reason = f"the data could not be built: {error.message}"
        for scheduled in trials:
            attempt = Attempt(scheduled, self._stands[self._key(scheduled)[0]], self._context)
            attempt.verdict.fail(reason, error.hint)
            attempt.write(getattr(error, "log_tail", None))
        self._journal.write_all((each.trial for each in trials), "failed", reason)

    def _run(self, scheduled: ScheduledTrial) -> None:
        stand = self._stands[self._key(scheduled)[0]]
        self._journal.write(scheduled.trial, "running")
        self._watch.begin()
        began = time.monotonic()
        try:
            verdict = Attempt(scheduled, stand, self._context).run()
        except KeyboardInterrupt:
            self._journal.write(scheduled.trial, "planned", "interrupted")
            raise
        self._journal.write(scheduled.trial, verdict.status, verdict.reason)
        self._watch.finished(scheduled.trial, verdict.status, time.monotonic() - began, _detail(verdict))

    @contextmanager
    def _orderly_end(self) -> Generator[None, None, None]:
        """Whatever ends the run, its servers' files go; Ctrl-C becomes a sentence about how to go on."""
        layout = self._context.layout
        try:
            yield
        except KeyboardInterrupt as error:
            raise InterruptedRunError(
                "stopped before the end; every finished trial is kept",
                hint=f"go on with: dyno run --resume {layout.path}",
            ) from error
        finally:
            for stand in self._stands.values():
                stand.finish(self._context)
            shutil.rmtree(run_work(cache_root(), layout), ignore_errors=True)


def _detail(verdict: Verdict) -> str:
    if verdict.throughput_per_s is None:
        return verdict.reason or ""
    marks = f", {len(verdict.marks)} marks" if verdict.marks else ""
    reason = f": {verdict.reason}" if verdict.reason else ""
    return f"{verdict.throughput_per_s:,.0f} transactions/s{marks}{reason}"
