"""`[load]`: how much work is put on the server, as a plan writes it.

A closed loop keeps a number of sessions busy and finds capacity; an open loop offers transactions at a rate
of its own and finds response time. Either can follow a schedule instead of staying at one level.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from dyno.plan import names
from dyno.plan.table import Name, Table
from dyno.plan.units import Duration  # noqa: TC001 (pydantic reads annotations)

SESSIONS_MAX = 100_000
Sessions = Annotated[int, Field(ge=1, le=SESSIONS_MAX)]
Rate = Annotated[float, Field(ge=0.001, le=1e8)]
Level = Annotated[float, Field(ge=0, le=1e8)]
Kind = Literal["closed", "open"]
Arrivals = Literal["poisson", "constant"]
BACKLOG_MAX = 100_000
CONNECTIONS = 64


class Stage(Table):
    """One part of a schedule: from the target before it to its own on a straight line; 0s is a step."""

    duration: Duration
    target: Level


class Schedule(Table):
    """One `[[load.schedules]]`: sessions (closed) or transactions a second (open) that change with time."""

    name: Name
    kind: Kind
    start: Level | None = None
    warmup_stages: list[Stage] = Field(default_factory=list[Stage])
    stages: Annotated[list[Stage], Field(min_length=1)]

    @field_validator("name")
    @classmethod
    def _names_a_folder(cls, name: str) -> str:
        return names.slug(name)

    @model_validator(mode="after")
    def _does_something(self) -> Schedule:
        targets = [stage.target for stage in self.stages]
        if max(targets) <= 0:
            raise ValueError("every target of its stages is 0: there would be nothing to measure")
        if self.kind == "closed":
            for level in self.levels:
                if level != int(level) or level > SESSIONS_MAX:
                    raise ValueError(f"{level:g} sessions: a whole number up to {SESSIONS_MAX} is needed")
        return self

    @property
    def levels(self) -> list[float]:
        """Every level that it passes through at the end of a stage, and the one it starts from."""
        stages = [stage.target for stage in [*self.warmup_stages, *self.stages]]
        return [self.start if self.start is not None else stages[0], *stages]


class LoadTable(Table):
    """`[load]`: the load levels of both loops, and the schedules."""

    sessions: Annotated[list[Sessions], Field(min_length=1)] | None = None
    rate_per_s: Annotated[list[Rate], Field(min_length=1)] | None = None
    schedules: list[Schedule] = Field(default_factory=list[Schedule])
    arrivals: Arrivals = "poisson"
    connections: Sessions = CONNECTIONS
    backlog_max: int = Field(default=BACKLOG_MAX, ge=0, le=100_000_000)

    @model_validator(mode="after")
    def _has_levels(self) -> LoadTable:
        ids = self.ids
        if not ids:
            raise ValueError("name sessions = [1, 16], rate_per_s = [500, 2000], or [[load.schedules]]")
        twice = [one for one in ids if ids.count(one) > 1]
        if twice:
            raise ValueError(f"a load level is named twice: {twice[0]}")
        only_open = self.model_fields_set & {"arrivals", "connections", "backlog_max"}
        if only_open and not self.has_open:
            raise ValueError(f"{', '.join(sorted(only_open))}: only an open loop has it, and there is none")
        return self

    @property
    def has_open(self) -> bool:
        """Whether any level is of an open loop."""
        return bool(self.rate_per_s) or any(schedule.kind == "open" for schedule in self.schedules)

    @property
    def ids(self) -> list[str]:
        """The ids of all levels, in the order in which they are run."""
        closed = [names.sessions_id(count) for count in self.sessions or []]
        opened = [names.rate_id(rate) for rate in self.rate_per_s or []]
        return [*closed, *opened, *(schedule.name for schedule in self.schedules)]
