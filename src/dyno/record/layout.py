"""Where everything lies in `runs/<id>/` (docs/FORMAT.md, 1), written so that a crash loses nothing."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from dyno.errors import DynoError

if TYPE_CHECKING:
    from pathlib import Path

TRIAL_NAME = re.compile(r"\d{4,}-.+~.+~.+~.+-b\d+")


@dataclass(frozen=True)
class TrialLayout:
    """The folder of one trial."""

    path: Path

    @property
    def trial(self) -> Path:
        """Status, reason, marks; written last, so that its presence means a finished trial."""
        return self.path / "trial.json"

    @property
    def spec(self) -> Path:
        """What the rig was given."""
        return self.path / "spec.json"

    @property
    def record(self) -> Path:
        """The rig's record stream."""
        return self.path / "record.ndjson"

    @property
    def rig_log(self) -> Path:
        """The rig's stderr."""
        return self.path / "rig.log"

    @property
    def engine_log(self) -> Path:
        """The server's error log during this trial."""
        return self.path / "engine.log"

    @property
    def variables(self) -> Path:
        """SHOW GLOBAL VARIABLES at the start."""
        return self.path / "variables.json"

    def check(self, when: str, kind: str) -> Path:
        """A file of the check `before` or `after` the load; `kind` is `json`, `log` or `spec.json`."""
        return self.path / f"check-{when}.{kind}"

    @property
    def series(self) -> Path:
        """The record stream as a tidy table."""
        return self.path / "series.parquet"


@dataclass(frozen=True)
class RunLayout:
    """The folder of one run."""

    path: Path

    @property
    def id(self) -> str:
        """The run's id, which is the folder's name."""
        return self.path.name

    @property
    def manifest(self) -> Path:
        """What was compared, on what, in what order."""
        return self.path / "manifest.json"

    @property
    def plan(self) -> Path:
        """The plan as written."""
        return self.path / "plan.toml"

    @property
    def resolved(self) -> Path:
        """The ResolvedPlan."""
        return self.path / "resolved.json"

    @property
    def journal(self) -> Path:
        """The states of all trials."""
        return self.path / "journal.ndjson"

    @property
    def trials(self) -> Path:
        """The folder of all trials."""
        return self.path / "trials"

    def trial(self, trial: str) -> TrialLayout:
        """The folder of one trial.

        Raises:
            ValueError: The id is not one of a trial (it names a folder that gets emptied).
        """
        if TRIAL_NAME.fullmatch(trial) is None or "/" in trial:
            raise ValueError(f"{trial!r} is not a trial id")
        return TrialLayout(self.trials / trial)

    def settings(self, engine: str, settings: str) -> Path:
        """Requested and effective settings of one engine."""
        return self.path / "settings" / f"{engine}--{settings}.json"

    def prepare(self, engine: str, settings: str, workload: str, kind: str) -> Path:
        """A file of one data build; `kind` is `log` or `ndjson`."""
        return self.path / "engines" / f"{engine}--{settings}--{workload}.prepare.{kind}"


def new_run(runs: Path, name: str, now: datetime | None = None) -> RunLayout:
    """Make the folder of a new run, `<time>-<name>`; two in one second get `-2`, `-3`, ….

    Raises:
        DynoError: The folder cannot be made.
    """
    moment = (now or datetime.now(UTC)).strftime("%Y%m%d-%H%M%S")
    try:
        runs.mkdir(parents=True, exist_ok=True)
        for attempt in range(1, 1000):
            path = runs / (f"{moment}-{name}" + (f"-{attempt}" if attempt > 1 else ""))
            try:
                path.mkdir()
            except FileExistsError:
                continue
            for part in ("trials", "settings", "engines"):
                (path / part).mkdir()
            return RunLayout(path)
    except OSError as error:
        raise DynoError(
            f"cannot make a run folder in {runs}: {error.strerror}", hint="name another place by --runs-dir"
        ) from error
    raise DynoError(f"{runs} has a thousand runs of this second", hint="name another place by --runs-dir")


def write_json(path: Path, value: Any) -> None:
    """Write indented JSON in one atomic step: a crash leaves the old file or the whole new one."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file in one atomic step (a sibling file, fsync, rename, fsync of the folder).

    Raises:
        DynoError: The file cannot be written, for example because the disk is full.
    """
    beside = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise DynoError(
            f"cannot write {path}: {error.strerror}", hint="is the disk full? `dyno run --resume` continues"
        ) from error


def sync_folder(path: Path) -> None:
    """Make a rename in this folder survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def timestamp() -> str:
    """Now, in UTC to the millisecond: `2026-11-20T19:30:05.123Z`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
