"""`Plan`: the plan file as written. Nothing here looks at a machine, a network or a clock."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from dyno.plan import names
from dyno.plan.connection_schema import ConnectionTable
from dyno.plan.load_schema import LoadTable  # noqa: TC001 (pydantic reads annotations)
from dyno.plan.table import Name, Table
from dyno.plan.units import Cpus, Duration, Share  # noqa: TC001 (pydantic reads annotations)

OptionValue = str | int | float | bool


class About(Table):
    """`[plan]`: what this plan is for. The seed drives the order of trials, the data and the load."""

    name: Name
    title: str | None = None
    question: str | None = None
    seed: int = Field(default=1, ge=0, le=2**63 - 1)

    @field_validator("name")
    @classmethod
    def _names_a_folder(cls, name: str) -> str:
        return names.slug(name)


class EngineEntry(Table):
    """One `[[engines]]`: an engine that Dyno installs and runs, or a server that somebody else runs."""

    engine: str | None = None
    target: str | None = None
    label: str | None = None
    password_env: str | None = None
    password_file: str | None = None

    @field_validator("target")
    @classmethod
    def _is_an_address_without_password(cls, target: str | None) -> str | None:
        if target is None:
            return None
        url = urlsplit(target)
        if url.scheme != "mysql" or not url.hostname:
            raise ValueError("a target is mysql://USER@HOST:PORT/DATABASE")
        if url.password is not None:
            raise ValueError(
                "a password does not belong here: name its place by password_env or password_file"
            )
        return target

    @model_validator(mode="after")
    def _is_one_of_two(self) -> EngineEntry:
        if (self.engine is None) == (self.target is None):
            raise ValueError('an engine has either `engine = "mariadb@10.11"` or `target = "mysql://…"`')
        if self.target is None and (self.password_env or self.password_file):
            raise ValueError("password_env and password_file belong to a target")
        return self


class WorkloadEntry(Table):
    """One `[[workloads]]`; `id` tells two uses of one workload apart.

    `check`: whether the data is checked before and after every trial, which reads all of it.
    """

    name: Name
    id: str | None = None
    options: dict[str, OptionValue] = Field(default_factory=dict[str, OptionValue])
    statement_mode: Literal["prepared", "text"] = "prepared"
    check: bool = False


class Phases(Table):
    """`[phases]`, in seconds once read.

    With `precision`, `measure` is the longest that a trial measures: it ends when its mean is known that well
    (`dyno.stats.stopping`), but not before `measure_min`.
    """

    warmup: Duration = 2.0
    measure: Duration = 5.0
    drain: Duration = 1.0
    precision: Share | None = None
    measure_min: Duration | None = None

    @field_validator("measure")
    @classmethod
    def _measures_something(cls, measure: float) -> float:
        if measure < 1:
            raise ValueError("the measured phase takes at least 1s, the length of one interval")
        return measure


class Trials(Table):
    """`[trials]`: repeats of every cell and their order."""

    count: int = Field(default=3, ge=1, le=1000)
    order: Literal["randomized-blocks", "as-written"] = "randomized-blocks"


class PlacementTable(Table):
    """`[placement]`: which CPUs the server and the rig may use."""

    server_cpus: Cpus = "auto"
    rig_cpus: Cpus = "auto"


class ReportTable(Table):
    """`[report]`: what everything is compared with, and the smallest difference worth a word."""

    baseline: str | None = None
    relevant_difference: Share = 0.05


class Plan(Table):
    """The whole file. `settings` and `tiers` stay as written: each tier is checked as one whole by `sets`."""

    plan: About
    engines: Annotated[list[EngineEntry], Field(min_length=1)]
    settings: dict[str, Any] = Field(default_factory=dict[str, Any])
    tiers: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    workloads: Annotated[list[WorkloadEntry], Field(min_length=1)]
    load: LoadTable
    connection: ConnectionTable = ConnectionTable()
    phases: Phases = Phases()
    trials: Trials = Trials()
    placement: PlacementTable = PlacementTable()
    report: ReportTable = ReportTable()

    @model_validator(mode="after")
    def _deals_sessions_over_one_cluster(self) -> Plan:
        if self.connection.targets and (len(self.engines) != 1 or self.engines[0].target is None):
            raise ValueError("connection.targets are the servers of one engine: that of the only `target`")
        return self
