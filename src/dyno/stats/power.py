"""How many trials it takes to see a difference, and which difference a number of trials can see.

The logarithm of a trial's throughput scatters with standard deviation σ within its block: σ is the
coefficient of variation of repeats, 0.02 for 2 %. The mean of n differences of logarithms then has the error
σ √(2 ÷ n), whether the trials are paired by block or not; pairing only costs degrees of freedom, and removes
what blocks share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import integrate, optimize, stats

from dyno.stats.comparison import SMALLEST_SAMPLE
from dyno.stats.estimate import CONFIDENCE, Estimate, checked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

POWER = 0.8
"""Customary chance of seeing a difference that is there (Cohen 1988)."""

TRIALS_MAX = 1000
"""No more trials than these are looked for."""

EFFECT_MAX = 10.0
"""No larger effect than this is looked for: +1,000 %."""


@dataclass(frozen=True)
class Design:
    """One comparison of two cells as a plan makes it.

    Attributes:
        spread: σ, coefficient of variation of repeats of one cell within a block; above 0.
        paired: Over common blocks (engines in one run), else two sets of blocks (two runs).
        comparisons: Comparisons that are corrected together. Holm's first step tests the smallest p against
            α ÷ this: with it, power is that of being seen whatever the other comparisons show.
        confidence: 1 − α.
    """

    spread: float
    paired: bool = True
    comparisons: int = 1
    confidence: float = CONFIDENCE

    def __post_init__(self) -> None:
        if not self.spread > 0 or not math.isfinite(self.spread):
            raise ValueError(f"the spread must be above 0, not {self.spread}")
        if self.comparisons < 1:
            raise ValueError(f"there must be at least one comparison, not {self.comparisons}")

    @property
    def significance(self) -> float:
        """What p of the single comparison must be below."""
        return (1 - self.confidence) / self.comparisons

    def error(self, trials: int) -> float:
        """Standard error of the mean ln ratio of two cells with so many trials each."""
        return self.spread * math.sqrt(2 / trials)

    def df(self, trials: int) -> int:
        """Its degrees of freedom."""
        return trials - 1 if self.paired else 2 * (trials - 1)


def power(design: Design, effect: float, trials: int) -> float:
    """Chance that a ratio of 1 + effect is called different from 1, by the noncentral t distribution.

    A ratio of 1 ÷ (1 + effect) has the same chance.

    Args:
        design: The comparison.
        effect: The true difference as a share of 1, above 0: 0.02 for 2 %.
        trials: Of each of the two cells.

    Returns:
        0…1; 0 for a single trial, which tests nothing.

    Raises:
        ValueError: The effect is not above 0, or there is no trial.
    """
    _check(effect, trials)
    if trials < SMALLEST_SAMPLE:
        return 0.0
    df = design.df(trials)
    shift = math.log1p(effect) / design.error(trials)
    critical = float(stats.t.isf(design.significance / 2, df))
    # Where the distribution underflows scipy gives nan, and nothing is left in that tail.
    wrong_side = float(np.nan_to_num(stats.nct.cdf(-critical, df, shift)))
    return min(float(stats.nct.sf(critical, df, shift)) + wrong_side, 1.0)


def trials_needed(design: Design, effect: float, *, wanted: float = POWER) -> int | None:
    """Least trials of each cell that see the effect with the wanted chance; None beyond 1,000."""
    return _least(lambda trials: power(design, effect, trials) >= wanted)


def detectable_effect(design: Design, trials: int, *, wanted: float = POWER) -> float | None:
    """Minimum detectable effect: what so many trials see with the wanted chance, as a share of 1.

    Returns:
        The effect; None for a single trial, and where not even a tenfold difference would be seen.
    """
    _check(1.0, trials)
    if power(design, EFFECT_MAX, trials) < wanted:
        return None
    tiny = design.error(trials) * 1e-6
    return float(
        optimize.brentq(lambda effect: power(design, effect, trials) - wanted, tiny, EFFECT_MAX, rtol=1e-9)
    )


def equivalence_power(design: Design, delta: float, trials: int, *, ratio: float = 1.0) -> float:
    """Chance that engines of this true ratio are found to have "no relevant difference".

    That is: the whole interval of 1 − α lies within 1 ÷ (1 + δ) … 1 + δ. No correction for other comparisons,
    because `verdict` asks for none. Exact, by integration over the distribution of the estimated spread, as
    Owen (1965) does for two one-sided tests.

    Raises:
        ValueError: δ or the ratio is not above 0, or there is no trial.
    """
    _check(delta, trials)
    if ratio <= 0:
        raise ValueError(f"a ratio is above 0, not {ratio}")
    if trials < SMALLEST_SAMPLE:
        return 0.0
    return tost_power(
        math.log1p(delta),
        math.log(ratio),
        design.error(trials),
        design.df(trials),
        significance=(1 - design.confidence) / 2,
    )


def equivalence_trials_needed(design: Design, delta: float, *, wanted: float = POWER) -> int | None:
    """Least trials of each cell that find equal engines equivalent with that chance; None beyond 1,000."""
    return _least(lambda trials: equivalence_power(design, delta, trials) >= wanted)


def tost_power(margin: float, centre: float, error: float, df: int, *, significance: float) -> float:
    """Chance that both one-sided t tests reject, for a normal estimate.

    Args:
        margin: Half the width of the band around 0, in the unit of the estimate.
        centre: True value of the estimate.
        error: Its true standard error.
        df: Degrees of freedom of the estimated standard error.
        significance: Of each of the two tests.
    """
    critical = float(stats.t.isf(significance, df))
    widest = margin / (
        critical * error
    )  # an estimated error above this × the true one: the interval never fits

    def given(scale: float) -> float:
        half = margin - critical * error * scale
        inside = stats.norm.cdf((half - centre) / error) - stats.norm.cdf((-half - centre) / error)
        return max(float(inside), 0.0) * float(stats.chi.pdf(scale * math.sqrt(df), df)) * math.sqrt(df)

    # Beyond 10 standard errors of the scale there is nothing to integrate, and quad would miss the rest.
    end = min(widest, 1 + 10 / math.sqrt(2 * df))
    start = max(0.0, 1 - 10 / math.sqrt(2 * df))
    return float(integrate.quad(given, start, end, limit=200)[0]) if end > start else 0.0


def spread_of(
    groups: Sequence[Mapping[str, Mapping[int, float]]], *, confidence: float = CONFIDENCE
) -> Estimate:
    """σ from a pilot: the scatter of ln throughput within cells after what each block does to all of them.

    Two-way residuals (cell + block) of each group, pooled over the groups by their degrees of freedom; a
    group with one cell cannot tell blocks from trials, so blocks stay in its spread, which is then too large.

    Args:
        groups: For each condition: engine → block → value of its trials. Only blocks that all engines of the
            group have are used.
        confidence: Of the interval, by the chi-squared distribution.

    Returns:
        σ as a share of 1 with its interval; n is the degrees of freedom.

    Raises:
        ValueError: No cell was repeated, or a value is not above 0.
    """
    parts = [_residuals(group) for group in groups if group]
    df = sum(part[1] for part in parts)
    if df == 0:
        raise ValueError("no cell has two trials or more in common blocks")
    total = sum(part[0] for part in parts)
    low, high = (
        math.sqrt(total / float(stats.chi2.ppf(q, df))) for q in ((1 + confidence) / 2, (1 - confidence) / 2)
    )
    method = f"residuals of ln throughput, {df} degrees of freedom"
    return Estimate(math.sqrt(total / df), low, high, df, method, confidence)


def _residuals(group: Mapping[str, Mapping[int, float]]) -> tuple[float, int]:
    """Sum of squared residuals of cell + block, and their degrees of freedom."""
    common = sorted(set.intersection(*(set(cell) for cell in group.values())))
    if len(common) < SMALLEST_SAMPLE:
        return 0.0, 0
    table = np.log([checked([cell[block] for block in common], positive=True) for cell in group.values()])
    table -= table.mean(axis=1, keepdims=True)
    cells, blocks = table.shape
    if cells == 1:
        return float((table**2).sum()), blocks - 1
    table -= table.mean(axis=0, keepdims=True)
    return float((table**2).sum()), (cells - 1) * (blocks - 1)


def _least(enough: Callable[[int], bool]) -> int | None:
    """Least number of trials that is enough, by bisection: more trials are never worse."""
    if not enough(TRIALS_MAX):
        return None
    low, high = 1, TRIALS_MAX
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _check(effect: float, trials: int) -> None:
    if effect <= 0:
        raise ValueError(f"an effect to look for is above 0, not {effect}")
    if trials < 1:
        raise ValueError(f"there must be at least one trial, not {trials}")
