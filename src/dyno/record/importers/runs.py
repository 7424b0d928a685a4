"""Logs → a run folder: one cell for each engine, tier, workload and number of sessions; one trial a log."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.errors import DynoError
from dyno.record.importers import manifest
from dyno.record.importers.archives import unpacked
from dyno.record.importers.collect import collect
from dyno.record.importers.layouts import readable
from dyno.record.importers.manifest import Entry
from dyno.record.importers.server_files import write_settings, write_trial_files
from dyno.record.importers.trial import Task, import_trial
from dyno.record.layout import RunLayout, timestamp, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from dyno.record.importers.collect import Beside, Source
    from dyno.record.importers.layouts import Layout
    from dyno.record.importers.trial import Outcome

    Progress = Callable[[int, int], None]

PROCESSES_FROM = 24
"""Logs from which on a second process pays for its start."""


@dataclass(frozen=True)
class ImportResult:
    """What an import made.

    Attributes:
        path: The run's folder.
        trials: How many logs became trials.
        failed: How many of them are no result.
        left_out: Names of files that nothing could be made of.
    """

    path: Path
    trials: int
    failed: int
    left_out: tuple[str, ...]


def import_logs(
    paths: Sequence[Path],
    layout: Layout,
    output: Path,
    *,
    command: list[str],
    log_format: str | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> ImportResult:
    """Turn logs and what lies beside them into the run folder `output`.

    The folder appears when it is whole: whatever stops an import, nothing is left of it.

    Args:
        paths: Log files, folders of them, tar archives of folders.
        layout: What paths say of engine, tier, sessions and mode.
        output: The folder to make.
        command: The command line, for the manifest.
        log_format: Name of the format of all logs; None: each log's content decides.
        jobs: Processes at most; None: one a CPU.
        progress: Called with the number of logs read, and of all.

    Raises:
        DynoError: No logs, two logs of one trial, or `output` cannot be made or is there already.
    """
    hint = "name a folder that does not exist yet by -o"
    if output.exists():
        raise DynoError(f"{output} is there already", hint=hint)
    part = output.with_name(f".{output.name}.part-{os.getpid()}")
    with unpacked(paths) as folders:
        found = collect(folders, layout, log_format)
        try:
            part.mkdir(parents=True)
            result = _Import(RunLayout(part), output.name, command).run(found.logs, jobs, progress)
            part.rename(output)
        except OSError as error:
            raise DynoError(f"cannot make {output}: {error.strerror}", hint=hint) from None
        finally:
            shutil.rmtree(part, ignore_errors=True)
    left_out = (*(path.name for path in found.left_out), *result.left_out)
    return ImportResult(output, result.trials, result.failed, tuple(map(readable, left_out)))


@dataclass(frozen=True)
class _Import:
    """One import into a folder that is not yet in its place."""

    run_layout: RunLayout
    name: str
    command: list[str]

    def run(self, logs: list[Source], jobs: int | None, progress: Progress | None) -> ImportResult:
        folders = [self.run_layout.trials / f".{number}" for number in range(len(logs))]
        tasks = [Task(source, folder) for source, folder in zip(logs, folders, strict=True)]
        outcomes: list[Outcome] = []
        for outcome in _outcomes(tasks, jobs):
            outcomes.append(outcome)
            if progress:
                progress(len(outcomes), len(tasks))
        left_out = [name for outcome in outcomes for name in outcome.left_out]
        entries, kept = self._entries(logs, outcomes, folders, left_out)
        _refuse_claims(entries)
        for number, (entry, folder) in enumerate(zip(entries, kept, strict=True), start=1):
            self._place(entry, entry.trial(number), folder)
        left_out += [path.name for path in self._settings(entries)]
        self._journal(entries)
        # Last: a folder with a manifest is a run.
        write_json(self.run_layout.manifest, manifest.build(self.name, entries, self.command))
        failed = sum(entry.outcome.problem is not None for entry in entries)
        return ImportResult(self.run_layout.path, len(entries), failed, tuple(left_out))

    def _entries(
        self, logs: list[Source], outcomes: list[Outcome], folders: list[Path], left_out: list[str]
    ) -> tuple[list[Entry], list[Path]]:
        """The trials whose number of sessions is known, and their folders."""
        ids = manifest.engine_ids(logs)
        entries: list[Entry] = []
        kept: list[Path] = []
        for source, outcome, folder in zip(logs, outcomes, folders, strict=True):
            if outcome.sessions is None and outcome.problem is None:
                raise DynoError(
                    f"{source.path} does not say with how many sessions it ran",
                    hint="put {sessions} into --layout, or say --sessions",
                )
            if not outcome.sessions:
                left_out.append(source.path.name)
                shutil.rmtree(folder)
                continue
            engine = ids[source.fields["family"], source.fields["version"]]
            entries.append(Entry(source, outcome, engine, outcome.sessions))
            kept.append(folder)
        if not entries:
            raise DynoError(
                f"none of {len(logs)} logs gives a result or says with how many sessions it ran",
                hint=f"the first, {logs[0].path.name}: {outcomes[0].problem}",
            )
        return entries, kept

    def _place(self, entry: Entry, trial: str, folder: Path) -> None:
        layout = self.run_layout.trial(trial)
        folder.rename(layout.path)
        write_trial_files(layout.path, entry.source.beside)
        ended = {
            "format": "dyno-trial/1",
            "trial": trial,
            "cell": entry.cell,
            "block": entry.block,
            "status": "failed" if entry.outcome.problem else "ok",
            "reason": entry.outcome.problem,
            "server_version": entry.source.fields["version"],
            "marks": [],
        }
        layout.trial.write_text(json.dumps(ended, indent=1) + "\n", encoding="utf-8")

    def _settings(self, entries: list[Entry]) -> list[Path]:
        """Write the settings of every engine and tier; returns files that say the same things once more."""
        beside: dict[tuple[str, str], list[Beside]] = {}
        for entry in entries:
            beside.setdefault((entry.engine, entry.cell.split("~")[1]), []).extend(entry.source.beside)
        return [
            path for key, files in beside.items() for path in write_settings(self.run_layout, *key, files)
        ]

    def _journal(self, entries: list[Entry]) -> None:
        now = timestamp()
        lines = [
            {
                "t": now,
                "trial": entry.trial(number),
                "state": "failed" if entry.outcome.problem else "ok",
                "reason": entry.outcome.problem,
            }
            for number, entry in enumerate(entries, start=1)
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        self.run_layout.journal.write_text(text, encoding="utf-8")


def _outcomes(tasks: list[Task], jobs: int | None) -> Iterator[Outcome]:
    """The outcomes in the order of the tasks, from as many processes as pay."""
    workers = min(jobs or len(os.sched_getaffinity(0)), len(tasks))
    if workers == 1 or len(tasks) < PROCESSES_FROM:
        yield from map(import_trial, tasks)
        return
    # Not forked: the Arrow library has threads of its own by now.
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            yield from pool.map(import_trial, tasks, chunksize=8)
    except BrokenProcessPool:
        raise DynoError(
            "a process of the import was ended from outside", hint="is memory short? try --jobs 1"
        ) from None


def _refuse_claims(entries: list[Entry]) -> None:
    """Two logs of one trial: one of them would be forgotten."""
    claimed: dict[tuple[str, int], Source] = {}
    for entry in entries:
        key = (entry.cell, entry.block)
        if other := claimed.get(key):
            raise DynoError(
                f"{other.path} and {entry.source.path} are both block {entry.block} of {entry.cell}",
                hint="tell repeats apart by {block} in --layout, other runs by {workload}, {mode} or {tier}",
            )
        claimed[key] = entry.source
