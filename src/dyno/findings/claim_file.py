"""The claims file: sentences that somebody made of numbers, in a form to check (docs/CLAIMS.md)."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

if TYPE_CHECKING:
    from dyno.report.model import Cell

AXES = ("engine", "settings", "workload", "load")

NEXT_BEST = "next best"
"""In `against.engine`: the best of the other engines at the same place."""


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


class Part(BaseModel):
    """Base: no unknown fields, so that a misspelt one is an error and not a claim about everything."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Scope(Part):
    """Which cells: ids with the wildcards of the shell; a load may be a number of sessions."""

    engine: Annotated[list[str], BeforeValidator(_listed)] = ["*"]
    settings: Annotated[list[str], BeforeValidator(_listed)] = ["*"]
    workload: Annotated[list[str], BeforeValidator(_listed)] = ["*"]
    load: Annotated[list[int | str], BeforeValidator(_listed)] = ["*"]

    def patterns(self, axis: str) -> list[str]:
        """The patterns of one axis; a number of sessions as the id of its load."""
        values: list[int | str] = getattr(self, axis)
        return [f"s{value}" if isinstance(value, int) else value for value in values]

    def holds(self, cell: Cell, *, without: str | None = None) -> bool:
        """Whether a cell is meant; `without` leaves one axis out of the question."""
        return all(
            axis == without or any(fnmatchcase(getattr(cell, axis), name) for name in self.patterns(axis))
            for axis in AXES
        )


class Against(Part):
    """What each figure is divided by: the one of the same place but for the ids named here."""

    engine: str | None = None
    settings: str | None = None
    workload: str | None = None
    load: int | str | None = None

    def changed(self) -> dict[str, str]:
        """Axis → the id that stands there instead."""
        found: dict[str, int | str | None] = {axis: getattr(self, axis) for axis in AXES}
        return {
            axis: f"s{value}" if isinstance(value, int) else value
            for axis, value in found.items()
            if value is not None
        }


class Exclusion(Scope):
    """Cells whose numbers are not to be used, and why."""

    reason: str


class Claim(Part):
    """One sentence and what must be so for it to be true of every figure in its scope."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    text: str
    metric: Literal["throughput_per_s", "p99_us"] = "throughput_per_s"
    figure: Literal["value", "peak", "peak_sessions"] = "value"
    scope: Scope = Scope()
    against: Against | None = None
    unit: Literal["ratio", "change_percent"] = "ratio"
    comparator: Literal["=", "<", "<=", ">", ">=", "within", "spans", "best", "only"] | None = None
    value: float | tuple[float, float] | None = None
    tolerance: float = Field(default=0, ge=0)
    vague: str | None = Field(default=None, description="why the sentence says nothing that can be checked")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.vague is not None:
            if self.comparator is not None:
                raise ValueError("a vague claim has no comparator")
            return self
        if self.comparator is None:
            raise ValueError("comparator is missing (or `vague`, with the reason why there can be none)")
        wanted = {"within": 2, "spans": 2, "best": 0}.get(self.comparator, 1)
        given = 0 if self.value is None else 2 if isinstance(self.value, tuple) else 1
        if given != wanted:
            words = ("no value", "one number as value", "two numbers as value: [low, high]")[wanted]
            raise ValueError(f"comparator {self.comparator!r} takes {words}")
        if isinstance(self.value, tuple) and self.value[0] > self.value[1]:
            raise ValueError(f"value [{self.value[0]:g}, {self.value[1]:g}] ends before it begins")
        if self.against is not None and self.figure == "peak_sessions":
            raise ValueError("figure 'peak_sessions' is not divided by anything: leave out `against`")
        if self.comparator in {"best", "only"} and self.against is not None:
            raise ValueError(f"comparator {self.comparator!r} already compares engines: leave out `against`")
        return self


class ClaimFile(Part):
    """A whole claims file."""

    format: Literal["dyno-claims/1"]
    title: str
    source: str
    without: list[Exclusion] = []
    claim: list[Claim] = Field(min_length=1)

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        ids = [claim.id for claim in self.claim]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            raise ValueError(f"two claims are called {', '.join(twice)}")
        return self
