"""`ResolvedPlan`: what will really be done. Every default is explicit, versions are exact, hashes taken."""

from __future__ import annotations

import hashlib
import math
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from dyno.plan.connection_schema import (  # noqa: TC001 (pydantic reads annotations)
    Compression,
    Isolation,
    Reconnect,
    Tls,
)
from dyno.plan.schema import OptionValue  # noqa: TC001 (pydantic reads annotations)


class Part(BaseModel):
    """Base: unknown fields are errors, so that a resolved plan of another Dyno is not half understood."""

    model_config = ConfigDict(extra="forbid")


class Package(Part):
    """One package that an engine's prefix was made from."""

    name: str
    version: str
    sha256: str


class ResolvedEngine(Part):
    """An engine that was installed, or a target that answered."""

    id: str
    label: str
    request: str = Field(description="as in the plan: mariadb@10.11, or mysql://user@host:port/database")
    kind: Literal["installed", "target"]
    family: str
    version: str
    server_version: str | None = Field(description="the server's own words, where known before a start")
    source: str
    content_sha256: str | None
    packages: list[Package] = []
    password_env: str | None = None
    password_file: str | None = None


class MissingEngine(Part):
    """An engine of the plan that could not be had, and why."""

    id: str
    label: str
    reason: str
    hint: str | None


class ResolvedSettings(Part):
    """One settings set, all defaults filled in. `asked` are the keys that the plan itself names."""

    id: str
    requested: dict[str, Any]
    asked: list[str]


class ResolvedWorkload(Part):
    """One workload with all its options, and the version of its definition."""

    id: str
    name: str
    version: int
    options: dict[str, OptionValue]
    statement_mode: Literal["prepared", "text"]
    check: bool = Field(default=False, description="check the data before and after every trial")


class ResolvedStage(Part):
    """One part of a schedule, from the target before it to its own; 0 s is a step."""

    duration_s: float
    target: float


class ResolvedLoad(Part):
    """One load level: constant, or a schedule (then it has `stages`).

    `sessions` are those of a constant closed loop, or the connections that serve an open one.
    """

    id: str
    kind: Literal["closed", "open"]
    sessions: int | None = None
    rate_per_s: float | None = None
    arrivals: Literal["poisson", "constant"] | None = None
    backlog_max: int | None = None
    start: float | None = None
    warmup_stages: list[ResolvedStage] = []
    stages: list[ResolvedStage] = []

    @property
    def sessions_max(self) -> int:
        """How many connections a trial of it opens."""
        if self.sessions is not None:
            return self.sessions
        targets = [stage.target for stage in [*self.warmup_stages, *self.stages]]
        return max(1, math.ceil(max([self.start or 0.0, *targets])))


class ResolvedConnection(Part):
    """How sessions connect, in the words of the rig's spec (docs/FORMAT.md §4); times in seconds."""

    tls: Tls = "off"
    tls_ca: str | None = None
    compression: Compression = "off"
    connect_timeout_s: float = 10.0
    io_timeout_s: float | None = 60.0
    init: list[str] = []
    isolation: Isolation | None = None
    reconnect: Reconnect = "fail"
    per_transaction: bool = False
    targets: list[dict[str, str | int | None]] = []
    stagger_s: float = 0.0


class ResolvedStopping(Part):
    """When a trial ends before its longest window, fixed before the run; docs/METHOD.md, 4b.

    Attributes:
        rule: Name and version of the rule.
        precision: Target of the interval of the mean, ± this share of it.
        measure_min_s: No trial measures for less.
    """

    rule: Literal["dyno-stopping/1"]
    precision: float
    measure_min_s: float


class ResolvedPhases(Part):
    """The phases of a trial, in seconds; with `stopping`, `measure_s` is the longest that it measures."""

    warmup_s: float
    measure_s: float
    drain_s: float
    stopping: ResolvedStopping | None = None


class ResolvedPlacement(Part):
    """Which CPUs each side may use (empty: not pinned), how, and the sentence for the report."""

    server_cpus: list[int]
    rig_cpus: list[int]
    method: Literal["taskset", "none"]
    text: str


class ResolvedCell(Part):
    """Engine × settings × workload × load, by their ids."""

    id: str
    engine: str
    settings: str
    workload: str
    load: str


class ScheduledTrial(Part):
    """One entry of the order: trial id, its cell and its block (from 1)."""

    trial: str
    cell: str
    block: int


class ResolvedPlan(Part):
    """The whole of `resolved.json`; also all that a resumed run goes by."""

    format: Literal["dyno-resolved/1"] = "dyno-resolved/1"
    name: str
    title: str
    question: str | None
    seed: int
    plan_sha256: str
    engines: list[ResolvedEngine]
    engines_missing: list[MissingEngine]
    settings: list[ResolvedSettings]
    accept: list[str]
    workloads: list[ResolvedWorkload]
    loads: list[ResolvedLoad]
    connection: ResolvedConnection = ResolvedConnection()
    phases: ResolvedPhases
    trials_per_cell: int
    order_method: Literal["randomized-blocks", "as-written"]
    placement: ResolvedPlacement
    baseline: str | None
    relevant_difference: float
    keep_data: bool = Field(default=False, description="leave on a target the data that this run built there")
    cells: list[ResolvedCell]
    order: list[ScheduledTrial]

    def engine(self, engine_id: str) -> ResolvedEngine:
        """The engine of this id."""
        return next(engine for engine in self.engines if engine.id == engine_id)

    def settings_set(self, settings_id: str) -> ResolvedSettings:
        """The settings set of this id."""
        return next(each for each in self.settings if each.id == settings_id)

    def workload(self, workload_id: str) -> ResolvedWorkload:
        """The workload of this id."""
        return next(workload for workload in self.workloads if workload.id == workload_id)

    def load(self, load_id: str) -> ResolvedLoad:
        """The load level of this id."""
        return next(load for load in self.loads if load.id == load_id)

    def cell(self, cell_id: str) -> ResolvedCell:
        """The cell of this id."""
        return next(cell for cell in self.cells if cell.id == cell_id)


def sha256_of(text: str) -> str:
    """The SHA-256 of a text's UTF-8 bytes, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
