"""What a check of the data found: the one line of JSON that `dyno-rig check` prints, kept beside a trial."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

SHOWN_CELLS_MAX = 8


class Part(BaseModel):
    """Base: immutable, tolerant of fields from a newer rig."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Condition(Part):
    """One condition: whether it holds (None: the server took too long to say), and rows that break it.

    `database` and `tables` say where it was asked, when there are several databases or numbered sets of
    tables. `deviation` says why the profile itself breaks it, when it does: then it says nothing against
    the data.
    """

    name: str
    database: str | None = None
    tables: int | None = None
    text: str
    holds: bool | None
    deviation: str | None = None
    columns: list[str] = []
    rows: list[list[str | None]] = []
    more: bool = False
    seconds: float = Field(ge=0)

    @property
    def met(self) -> bool:
        """Whether it holds, or the profile is to blame that it does not."""
        return self.holds is True or (self.holds is False and self.deviation is not None)

    def complaint(self) -> str:
        """Why it does not hold, with the first row that breaks it."""
        if self.holds is None:
            return f"{self.name} is not known: the server took longer than the limit"
        if not self.rows:
            return f"{self.name} does not hold"
        cells = zip(self.columns[:SHOWN_CELLS_MAX], self.rows[0], strict=False)
        shown = ", ".join(f"{column} = {'NULL' if value is None else value}" for column, value in cells)
        others = len(self.rows) - 1
        most = f"{'more than ' if self.more else ''}{others} other{'' if others == 1 else 's'}"
        rest = f" and {most}" if others else ""
        return f"{self.name}: {shown}{rest}"


class Counts(Part):
    """What the data holds of the work done on it: orders entered, payments, orders that wait for delivery."""

    orders: int
    payments: int
    undelivered: int


class NotDefined(Part):
    """A condition that says nothing about a profile, and what the profile leaves out."""

    name: str
    reason: str


class Checked(Part):
    """Every condition, and what the data holds."""

    workload: str
    profile: str = "standard"
    consistent: bool
    counts: Counts | None = None
    conditions: list[Condition]
    not_defined: list[NotDefined] = []
    total_seconds: float = Field(ge=0)

    @property
    def broken(self) -> list[Condition]:
        """The conditions that do not hold, or are not known to, and that the profile should meet."""
        return [condition for condition in self.conditions if not condition.met]
