"""What `dyno compare --json` prints."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dyno.report.model import Estimate, Model

Gate = Literal["pass", "slower", "undecided"]


class SecondOpinion(Model):
    """The same trials without taking them to scatter normally: ranks."""

    ratio: Estimate = Field(description="Hodges–Lehmann ratio, with its interval where there can be one")
    p_value: float | None = Field(description="Mann–Whitney, two-sided; None where n can show nothing")
    method: str


class Pair(Model):
    """One cell after against one before. Of an open loop the 99th percentile of response time is compared."""

    before: str = Field(description="engine of the first side")
    after: str = Field(description="engine of the second side")
    settings: str
    workload: str
    load: str
    measure: Literal["throughput_per_s", "p99_us"]
    before_value: Estimate | None = Field(description="mean over trials, in the measure's unit")
    after_value: Estimate | None
    ratio: Estimate | None = Field(description="after ÷ before; None where a side has no good trial")
    p_value: float | None = None
    p_value_holm: float | None = None
    second_opinion: SecondOpinion | None = Field(
        default=None, description="None where a side has a single trial"
    )
    verdict: Literal["faster", "slower", "no relevant difference", "undecided", "untested", "missing"]
    gate: Gate = Field(description="slower: shown, and by more than the threshold; pass: shown not to be")
    care: list[str] = Field(default=[], description="marks of either cell that are worth reading")
    sentence: str


class Difference(Model):
    """Something beside the numbers in which the two sides differ."""

    kind: Literal["host", "engine", "settings", "workload", "load", "phases", "placement", "software", "plan"]
    what: str
    before: str | None
    after: str | None


class Side(Model):
    """One side: a run, or one engine of it (`engine` is None for all)."""

    run: str
    engine: str | None
    title: str
    created: str


class Compared(Model):
    """The whole answer."""

    format: Literal["dyno-compare/1"] = "dyno-compare/1"
    before: Side
    after: Side
    threshold: float = Field(description="share of 1 from which on a difference matters")
    gate: Gate
    sentence: str
    pairs: list[Pair]
    differences: list[Difference]
    lost: list[str] = Field(description="cells that only the first side has: nothing is known of them after")
    added: list[str] = Field(description="cells that only the second side has")
    notes: list[str]
