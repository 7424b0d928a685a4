"""The JSON files of a run folder as the analysis reads them (docs/FORMAT.md, 1).

Like `lines`: only what is used is required, and unknown fields are no error.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Scalar = str | int | float | bool | None
TrialStatus = Literal["ok", "failed", "invalid"]


class Part(BaseModel):
    """Base: immutable, tolerant of fields from a newer Dyno."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class DoctorCheck(Part):
    """One check of the host before the run."""

    check: str
    verdict: Literal["ok", "warn", "fail"]
    text: str
    hint: str | None = None


class Ceiling(Part):
    """What the rig could do at most on the host of the run, as `dyno selftest` had measured it."""

    measured: str = ""
    queries_per_s_max: float = Field(gt=0)
    rate_per_s_max: float | None = None


class NoiseFloor(Part):
    """What an A/A test on the host of the run had shown before it, as `dyno selftest --aa` keeps it."""

    measured: str
    engine: str
    workload: str
    sessions: int
    trials: int
    measure_s: float
    ratio: float
    ratio_low: float
    ratio_high: float
    floor: float
    spread: float
    false_alarm: bool


class Placement(Part):
    """Which CPUs each side had."""

    server_cpus: list[int] = []
    rig_cpus: list[int] = []
    method: str = "none"
    text: str = "not pinned"


class Package(Part):
    """A package that an engine was unpacked from."""

    name: str
    version: str
    sha256: str | None = None


class Engine(Part):
    """An engine of the run."""

    id: str
    label: str | None = None
    family: str
    version: str
    server_version: str | None = None
    source: str = ""
    content_sha256: str | None = None
    packages: list[Package] = []


class MissingEngine(Part):
    """An engine that the plan names and that could not be had."""

    id: str
    label: str | None = None
    reason: str
    hint: str | None = None


class Settings(Part):
    """One logical configuration."""

    id: str
    requested: dict[str, Any] = {}


class Workload(Part):
    """One workload with its options and the version of its definition."""

    id: str
    name: str
    version: int = 1
    options: dict[str, Any] = {}
    statement_mode: str | None = None


class Stage(Part):
    """One part of a schedule: from the target before it to its own."""

    duration_s: float
    target: float


class Load(Part):
    """One load level: sessions of a closed loop, transactions/s of an open one, or a schedule of either."""

    id: str
    kind: Literal["closed", "open"]
    sessions: int | None = None
    rate_per_s: float | None = None
    arrivals: str | None = None
    backlog_max: int | None = None
    start: float | None = None
    warmup_stages: list[Stage] = []
    stages: list[Stage] = []


class Cell(Part):
    """Engine × settings × workload × load, by their ids."""

    id: str
    engine: str
    settings: str
    workload: str
    load: str


class OrderedTrial(Part):
    """One planned trial."""

    trial: str
    cell: str
    block: int


class Stopping(Part):
    """The rule by which a trial could end before its longest window, fixed before the run."""

    rule: str
    precision: float = Field(gt=0, lt=1)
    measure_min_s: float


class Phases(Part):
    """Planned lengths of the phases, seconds; with `stopping`, `measure_s` is the most that was measured."""

    warmup_s: float = 0
    measure_s: float = 0
    drain_s: float = 0
    stopping: Stopping | None = None


class Manifest(Part):
    """`manifest.json`: what was compared, on what, in what order."""

    format: Literal["dyno-run/1"]
    id: str
    name: str
    title: str
    question: str | None = None
    created: str
    dyno_version: str = ""
    rig_version: str = ""
    command: list[str] = []
    plan_sha256: str = ""
    seed: int = 0
    baseline: str | None = None
    relevant_difference: float = Field(0.05, gt=0, lt=1)
    trials_per_cell: int = Field(ge=1)
    phases: Phases = Phases()
    host: dict[str, Scalar] = {}
    doctor: list[DoctorCheck] = []
    ceiling: Ceiling | None = None
    noise_floor: NoiseFloor | None = None
    placement: Placement = Placement()
    engines: list[Engine]
    engines_missing: list[MissingEngine] = []
    settings: list[Settings]
    workloads: list[Workload]
    loads: list[Load]
    cells: list[Cell]
    order: list[OrderedTrial]


class TrialMark(Part):
    """A reason for care that the lab noticed while it ran a trial."""

    kind: str
    text: str


class TrialFile(Part):
    """`trial.json`: how one trial ended, in the words of the lab."""

    format: Literal["dyno-trial/1"]
    trial: str
    status: TrialStatus
    reason: str | None = None
    hint: str | None = None
    server_version: str | None = None
    marks: list[TrialMark] = []
    engine_log_tail: str | list[str] | None = None


class SettingCheck(Part):
    """One variable: what was asked and what the server reports."""

    variable: str
    logical: str | None = None
    requested: Scalar
    effective: Scalar
    verdict: Literal["equal", "adjusted", "ignored", "unknown"]
    accepted: bool = False


class SettingsFile(Part):
    """`settings/<engine>--<settings>.json`: what one server was asked for and what it runs with."""

    format: Literal["dyno-settings/1"]
    engine: str
    settings: str
    checks: list[SettingCheck] = []
    effective: dict[str, Scalar] = {}


class JournalLine(Part):
    """One line of `journal.ndjson`."""

    trial: str
    state: Literal["planned", "running", "ok", "failed", "invalid"]
    reason: str | None = None
