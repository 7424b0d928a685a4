"""Equivalence: evidence that two engines do *not* differ by as much as matters (two one-sided tests)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from dyno.stats.comparison import SMALLEST_SAMPLE, welch_df
from dyno.stats.estimate import CONFIDENCE, checked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Equivalence:
    """The two one-sided tests of a ratio against 1 ÷ (1 + δ) and 1 + δ.

    Attributes:
        delta: δ, the smallest difference that matters, as a share of 1.
        p_below: p of "the ratio is at most 1 ÷ (1 + δ)"; None where nothing was tested.
        p_above: p of "the ratio is at least 1 + δ".
        n: Trials of the smaller side.
        method: In words for a reader.
    """

    delta: float
    p_below: float | None
    p_above: float | None
    n: int
    method: str

    @property
    def p_value(self) -> float | None:
        """The p of "they differ by δ or more": the larger one, as both must be rejected (Berger 1982)."""
        if self.p_below is None or self.p_above is None:
            return None
        return max(self.p_below, self.p_above)

    def shown(self, *, confidence: float = CONFIDENCE) -> bool:
        """Whether the data show that the difference is smaller than δ; False is never "they differ"."""
        return self.p_value is not None and self.p_value < 1 - confidence


def equivalence_paired(a: Sequence[float], b: Sequence[float], *, delta: float) -> Equivalence:
    """TOST (Schuirmann 1987) of the ratio a ÷ b over blocks, on ln(a_i ÷ b_i) against ±ln(1 + δ).

    It holds at 5 % exactly when the 90 % interval of `ratio_paired` lies within 1 ÷ (1 + δ) … 1 + δ.

    Args:
        a: One positive value a block.
        b: The same blocks in the same order.
        delta: δ, stated before the data are seen: 0.05 for 5 %.

    Raises:
        ValueError: Lengths differ, nothing to compare, a value or δ that is not above 0.
    """
    x, y = checked(a, positive=True), checked(b, positive=True)
    margin = _margin(delta)
    if x.size != y.size:
        raise ValueError(f"pairs need equal lengths, not {x.size} and {y.size}")
    logs = np.log(x / y)
    n = int(logs.size)
    if n < SMALLEST_SAMPLE:
        return Equivalence(delta, None, None, n, "single trial, untested")
    error = float(logs.std(ddof=1)) / math.sqrt(n)
    centre = float(logs.mean())
    method = f"two one-sided t tests of ln ratio by block, {n - 1} degrees of freedom"
    return Equivalence(
        delta, _upper_p(centre + margin, error, n - 1), _upper_p(margin - centre, error, n - 1), n, method
    )


def equivalence_unpaired(a: Sequence[float], b: Sequence[float], *, delta: float) -> Equivalence:
    """TOST of the ratio of means a ÷ b without common blocks, by Sasabuchi's statistics x̄ − θȳ.

    θ is 1 ÷ (1 + δ) and 1 + δ (Hauschke, Steinijans & Pigeot 2007), the variances are unequal and the degrees
    of freedom Welch's, so that it holds at 5 % exactly when the 90 % interval of `ratio_unpaired` lies in the
    band.

    Raises:
        ValueError: Nothing to compare, a value or δ that is not above 0.
    """
    x, y = checked(a, positive=True), checked(b, positive=True)
    _margin(delta)
    n = int(min(x.size, y.size))
    if n < SMALLEST_SAMPLE:
        return Equivalence(delta, None, None, n, "single trial, untested")
    var_x, var_y = float(x.var(ddof=1)) / x.size, float(y.var(ddof=1)) / y.size
    df = welch_df(var_x, var_y, int(x.size), int(y.size))
    low, high = 1 / (1 + delta), 1 + delta
    above_low = _upper_p(float(x.mean() - low * y.mean()), math.sqrt(var_x + low**2 * var_y), df)
    below_high = _upper_p(float(high * y.mean() - x.mean()), math.sqrt(var_x + high**2 * var_y), df)
    method = f"two one-sided t tests of the ratio of means, {df:.1f} degrees of freedom (Welch)"
    return Equivalence(delta, above_low, below_high, n, method)


def equivalence(a: Mapping[int, float], b: Mapping[int, float], *, delta: float) -> Equivalence:
    """TOST of two cells given as block → trial value: paired by the same rule as `compare`."""
    if a.keys() == b.keys():
        blocks = sorted(a)
        return equivalence_paired([a[i] for i in blocks], [b[i] for i in blocks], delta=delta)
    return equivalence_unpaired(list(a.values()), list(b.values()), delta=delta)


def _margin(delta: float) -> float:
    if delta <= 0:
        raise ValueError(f"the smallest difference that matters must be above 0, not {delta}")
    return math.log1p(delta)


def _upper_p(distance: float, error: float, df: float) -> float:
    """The p of "the distance is 0 or less"; without any spread it is certain, or certainly not."""
    if error == 0:
        return 0.0 if distance > 0 else 1.0
    return float(stats.t.sf(distance / error, df))
