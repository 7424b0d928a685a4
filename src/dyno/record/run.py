"""Opening a run folder for analysis: everything is read, nothing is written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from dyno.errors import DynoError
from dyno.record.layout import RunLayout, TrialLayout
from dyno.record.manifest import JournalLine, Manifest, Part, SettingsFile, TrialFile
from dyno.record.stream import Stream, explain, read_stream

Model = TypeVar("Model", bound=Part)

LATEST = "latest"
RUNS = Path("runs")


@dataclass(frozen=True)
class Run:
    """A run folder. Small files are read at once, record streams one by one when asked for.

    Attributes:
        layout: Where its files are.
        manifest: What was planned.
        journal: Trial id → its last line in the journal; a trial without one was never reached.
        settings: What each engine was asked for and runs with.
    """

    layout: RunLayout
    manifest: Manifest
    journal: dict[str, JournalLine]
    settings: list[SettingsFile]

    @property
    def path(self) -> Path:
        """The folder."""
        return self.layout.path

    @property
    def plan_toml(self) -> str:
        """The plan as written; empty when the file is not there."""
        return _read_text(self.layout.plan) if self.layout.plan.exists() else ""

    def trial_file(self, trial: str) -> TrialFile | None:
        """`trial.json`, or None for a trial that never ended.

        Raises:
            DynoError: It is damaged.
        """
        path = self._trial(trial).trial
        return _read_model(path, TrialFile) if path.exists() else None

    def stream(self, trial: str) -> Stream:
        """The record stream of a trial, read now and not kept.

        Raises:
            DynoError: As `read_stream`.
        """
        return read_stream(self._trial(trial).record)

    def _trial(self, trial: str) -> TrialLayout:
        try:
            return self.layout.trial(trial)
        except ValueError:
            raise DynoError(
                f"{self.layout.manifest}: {trial!r} is not a trial id",
                hint="trial ids look like 0001-<engine>~<settings>~<workload>~<load>-b1",
            ) from None


def open_run(path: Path) -> Run:
    """Open a run folder.

    Raises:
        DynoError: It is no run folder, or one of its files is damaged; the message names file and value.
    """
    layout = RunLayout(path.resolve())
    if not layout.manifest.is_file():
        raise DynoError(
            f"{path} is not a run: it has no manifest.json",
            hint="name a folder that `dyno run` or `dyno bench` made, its id under runs/, or `latest`",
        )
    manifest = _read_model(layout.manifest, Manifest)
    _check_references(manifest, layout.manifest)
    settings = [_read_model(file, SettingsFile) for file in sorted((layout.path / "settings").glob("*.json"))]
    return Run(layout, manifest, _read_journal(layout.journal), settings)


def find_run(name: str, runs: Path = RUNS) -> Path:
    """The folder of a run given as a path, as an id under `runs`, or as `latest`.

    Raises:
        DynoError: There is none; the hint lists the newest ids.
    """
    found = sorted((each.parent for each in runs.glob("*/manifest.json")), key=_created)
    if name == LATEST and found:
        return found[-1]
    for path in (runs / name, Path(name)):
        if (path / "manifest.json").is_file():
            return path
    newest = ", ".join(each.name for each in found[-3:])
    where = f"under {runs}/ there are: {newest}" if found else f"there are no runs under {runs}/ yet"
    raise DynoError(f"there is no run {name!r}", hint=f"{where}; `dyno run plans/quickstart.toml` makes one")


def _created(path: Path) -> tuple[str, str]:
    """Sort key of runs: when they were made. A damaged manifest sorts first and is reported when opened."""
    try:
        return (str(json.loads((path / "manifest.json").read_bytes())["created"]), path.name)
    except (OSError, ValueError, KeyError, TypeError):
        return ("", path.name)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise DynoError(f"cannot read {path}: {error.strerror}", hint="is the run folder whole?") from None
    except UnicodeDecodeError:
        raise DynoError(f"{path} is not UTF-8 text", hint="the file is damaged: restore it") from None


def _read_model(path: Path, model: type[Model]) -> Model:
    text = _read_text(path)
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise DynoError(
            f"{path}: {explain(error)}",
            hint="the file is damaged or of another version of Dyno; docs/FORMAT.md describes it",
        ) from None


def _read_journal(path: Path) -> dict[str, JournalLine]:
    """The last line of each trial; a torn last line of the file is left out."""
    try:
        whole = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise DynoError(f"cannot read {path}: {error.strerror}", hint="is the run folder whole?") from None
    lines: dict[str, JournalLine] = {}
    for number, text in enumerate(whole, start=1):
        try:
            line = JournalLine.model_validate_json(text)
        except ValidationError as error:
            raise DynoError(
                f"{path}, line {number}: {explain(error)}", hint="the journal is damaged: restore the file"
            ) from None
        lines[line.trial] = line
    return lines


def _check_references(manifest: Manifest, path: Path) -> None:
    """Every id that a cell or a trial uses must be one that the manifest defines, once."""
    defined = {
        "engine": [each.id for each in manifest.engines],
        "settings": [each.id for each in manifest.settings],
        "workload": [each.id for each in manifest.workloads],
        "load": [each.id for each in manifest.loads],
        "cell": [each.id for each in manifest.cells],
    }
    used = [(kind, getattr(cell, kind)) for cell in manifest.cells for kind in list(defined)[:4]]
    used += [("cell", trial.cell) for trial in manifest.order]
    for kind, value in used:
        if defined[kind].count(value) != 1:
            raise DynoError(
                f"{path}: the {kind} {value!r} is used but defined {defined[kind].count(value)} times",
                hint="the manifest is damaged: restore the file",
            )
