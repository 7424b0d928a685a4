"""When has a trial measured enough? One rule, fixed before the run. `bench/replay_stopping.py` replays it.

The question is how far the mean of what is measured so far may lie from the mean of the longest window that
the plan allows. Two things move it: scatter, which averages out, and drift, which does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scipy import stats

from dyno.stats.steady import batch_means

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCHES = 20
"""Batches of the window: their means depend on each other far less than neighbouring seconds do."""
CONFIDENCE = 0.95
T_QUANTILE = float(stats.t.ppf((1 + CONFIDENCE) / 2, BATCHES - 1))
TAIL_SHARE = 8
"""The end of the window that is held against its whole: one part in so many …"""
TAIL_MIN = 30
"""… but at least so many samples, …"""
SETTLE = 40
"""… and for so many samples in a row the interval must have been inside the target."""
MEASURE_MIN = 120
"""Samples below which the defaults stop no trial."""
DRIFT_WEIGHT = 1.25
"""How much further a window may drift than its end shows."""


@dataclass(frozen=True)
class StoppingRule:
    """When a trial may end; its constants are those above, scaled down for windows of less than two minutes.

    Attributes:
        precision: Largest half-width of the interval of the mean, as a share of the mean.
        samples_min: Samples before which no trial ends, at least `BATCHES`.
        samples_max: Samples of the longest window.
    """

    precision: float
    samples_min: int
    samples_max: int

    def __post_init__(self) -> None:
        """Refuse what cannot be judged.

        Raises:
            ValueError: No precision, fewer samples than batches, or a longest window below the shortest.
        """
        if not 0 < self.precision < 1:
            raise ValueError(f"a precision lies between 0 and 1, not {self.precision}")
        if not BATCHES <= self.samples_min <= self.samples_max:
            raise ValueError(
                f"a window of {self.samples_min} to {self.samples_max} samples: at least {BATCHES}, and "
                "the longest is not below the shortest"
            )

    @property
    def settle(self) -> int:
        """Samples in a row for which the interval must be inside the target."""
        return max(1, min(SETTLE, self.samples_min // 3))

    @property
    def tail_min(self) -> int:
        """Least samples of the end that is held against the whole."""
        return max(1, min(TAIL_MIN, self.samples_min // 4))


@dataclass(frozen=True)
class Reach:
    """How far the mean of a window may lie from that of the longest one; shares of its own mean.

    Attributes:
        scatter: Half-width of the 95 % t interval by batch means, narrowed by what is already measured.
        drift: What is left to come if the end of the window shows a level that goes on changing.
    """

    scatter: float
    drift: float

    @property
    def half_width(self) -> float:
        """Both, as independent of each other."""
        return math.hypot(self.scatter, self.drift)


def reach(values: Sequence[float], rule: StoppingRule) -> Reach:
    """How well the mean of a window is known.

    Scatter: t · s ÷ √k of k = 20 batch means, times √(1 − n ÷ N), the finite population correction, since n
    of the N samples of the longest window are known. Drift: levels that settle (a cache that fills, a purge
    that catches up) move like the logarithm of time; then the mean of the whole differs from that so far
    by the distance of its end from its mean, times ln(N ÷ n), up to a factor near 1.

    Args:
        values: Samples at equal distances, oldest first, not fewer than `BATCHES`.
        rule: Whose longest window is meant.

    Raises:
        ValueError: Fewer samples than batches.
    """
    means = batch_means(values, BATCHES)
    n = len(values)
    mean = math.fsum(values) / n
    if mean <= 0:
        return Reach(math.inf, math.inf)
    left = max(1 - n / rule.samples_max, 0.0)
    scatter = T_QUANTILE * float(means.std(ddof=1)) / math.sqrt(BATCHES) / mean * math.sqrt(left)
    tail = values[n - min(n, max(n // TAIL_SHARE, rule.tail_min)) :]
    ahead = math.log(max(rule.samples_max / n, 1.0))
    drift = DRIFT_WEIGHT * abs(math.fsum(tail) / len(tail) / mean - 1) * ahead
    return Reach(scatter, drift)


@dataclass
class Stopper:
    """Watches one trial, sample by sample.

    Attributes:
        rule: When it may end.
        reach: What the newest sample makes of the mean; None before there are enough.
    """

    rule: StoppingRule
    reach: Reach | None = None
    _values: list[float] = field(default_factory=list)
    _inside: int = 0

    @property
    def samples(self) -> int:
        """How many samples it has seen."""
        return len(self._values)

    def feed(self, value: float) -> bool:
        """Take one more sample; whether enough is measured."""
        self._values.append(value)
        if len(self._values) < BATCHES:
            return False
        self.reach = reach(self._values, self.rule)
        self._inside = self._inside + 1 if self.reach.half_width <= self.rule.precision else 0
        return self._inside >= self.rule.settle and len(self._values) >= self.rule.samples_min


def stopped_at(values: Sequence[float], rule: StoppingRule) -> int:
    """After how many samples the rule ends a trial: those of its longest window, if it never does."""
    stopper = Stopper(rule)
    for count, value in enumerate(values[: rule.samples_max], start=1):
        if stopper.feed(value):
            return count
    return min(len(values), rule.samples_max)
