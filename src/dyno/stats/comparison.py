"""The ratio of two engines' trial means, and what may be said of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import stats

from dyno.stats.estimate import CONFIDENCE, Estimate, checked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Verdict = Literal["faster", "slower", "no relevant difference", "undecided", "untested"]

SMALLEST_SAMPLE = 2
"""Trials a side below which nothing is tested."""


@dataclass(frozen=True)
class Comparison:
    """The ratio a ÷ b with the p-value of "the ratio is 1"; `p_value` is None where nothing was tested."""

    ratio: Estimate
    p_value: float | None


def _p_of_t(t: float, df: float) -> float:
    """Two-sided p of a t statistic; an infinite t (no spread at all) has p = 0, an undefined one p = 1."""
    return 1.0 if math.isnan(t) else float(2 * stats.t.sf(abs(t), df))


def _over(numerator: float, denominator: float) -> float:
    """Quotient with 0 ÷ 0 undefined and x ÷ 0 infinite, as a t statistic without any spread needs it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.float64(numerator) / np.float64(denominator))


def ratio_paired(a: Sequence[float], b: Sequence[float], *, confidence: float = CONFIDENCE) -> Comparison:
    """Ratio a ÷ b over blocks: t interval on ln(a_i ÷ b_i), exponentiated.

    What a whole block shares (the hour, the host's mood) cancels inside each pair. The value is the
    geometric mean of the ratios, so exchanging a and b gives exactly the inverse.

    Args:
        a: One positive value a block.
        b: The same blocks in the same order.
        confidence: Nominal coverage, 0…1.

    Raises:
        ValueError: Lengths differ, nothing to compare, or a value that is not above 0.
    """
    x, y = checked(a, positive=True), checked(b, positive=True)
    if x.size != y.size:
        raise ValueError(f"pairs need equal lengths, not {x.size} and {y.size}")
    logs = np.log(x / y)
    n = int(logs.size)
    centre = float(logs.mean())
    if n < SMALLEST_SAMPLE:
        return Comparison(
            Estimate(math.exp(centre), None, None, n, "single trial, untested", confidence), None
        )
    error = float(logs.std(ddof=1)) / math.sqrt(n)
    half = float(stats.t.ppf((1 + confidence) / 2, n - 1)) * error
    method = f"paired by block: t interval of ln ratio, {n - 1} degrees of freedom"
    ratio = Estimate(
        math.exp(centre), math.exp(centre - half), math.exp(centre + half), n, method, confidence
    )
    return Comparison(ratio, _p_of_t(_over(centre, error), n - 1))


def ratio_unpaired(a: Sequence[float], b: Sequence[float], *, confidence: float = CONFIDENCE) -> Comparison:
    """Ratio of means a ÷ b by Fieller's theorem with unequal variances, for trials without common blocks.

    The degrees of freedom are Welch's, so that the interval leaves out 1 exactly when Welch's t test
    gives p < 1 − confidence. Where b's mean is not clearly above 0 the interval is unbounded: None.

    Raises:
        ValueError: Nothing to compare, or a value that is not above 0.
    """
    x, y = checked(a, positive=True), checked(b, positive=True)
    n = int(min(x.size, y.size))
    value = float(x.mean() / y.mean())
    if n < SMALLEST_SAMPLE:
        return Comparison(Estimate(value, None, None, n, "single trial, untested", confidence), None)
    var_x, var_y = float(x.var(ddof=1)) / x.size, float(y.var(ddof=1)) / y.size
    spread = var_x + var_y
    df = welch_df(var_x, var_y, int(x.size), int(y.size))
    low, high = _fieller(
        float(x.mean()), float(y.mean()), var_x, var_y, quantile=float(stats.t.ppf((1 + confidence) / 2, df))
    )
    method = f"unpaired: Fieller interval of the ratio of means, {df:.1f} degrees of freedom (Welch)"
    p_value = _p_of_t(_over(float(x.mean() - y.mean()), math.sqrt(spread)), df)
    return Comparison(Estimate(value, low, high, n, method, confidence), p_value)


def welch_df(var_x: float, var_y: float, n_x: int, n_y: int) -> float:
    """Welch's degrees of freedom from the variances of two *means* and the numbers of trials behind them."""
    spread = var_x + var_y
    # By the share of the variance, so that tiny variances do not underflow.
    share = var_x / spread if spread > 0 else 0.5
    return 1 / (share**2 / (n_x - 1) + (1 - share) ** 2 / (n_y - 1))


def _fieller(
    mean_x: float, mean_y: float, var_x: float, var_y: float, *, quantile: float
) -> tuple[float | None, float | None]:
    """Roots ρ ≥ 0 of (x̄ − ρȳ)² = t²(s²x + ρ²s²y); None, None when they do not bound an interval."""
    quadratic = mean_y**2 - quantile**2 * var_y
    if quadratic <= 0:
        return None, None
    constant = mean_x**2 - quantile**2 * var_x
    root = math.sqrt(max((mean_x * mean_y) ** 2 - quadratic * constant, 0.0))
    return max((mean_x * mean_y - root) / quadratic, 0.0), (mean_x * mean_y + root) / quadratic


def compare(a: Mapping[int, float], b: Mapping[int, float], *, confidence: float = CONFIDENCE) -> Comparison:
    """Ratio a ÷ b of two cells given as block → trial value.

    Paired when both sides have exactly the same blocks, else unpaired: the rule is fixed here, before any
    data are seen, and does not look at which of the two would please more.
    """
    if a.keys() == b.keys():
        blocks = sorted(a)
        return ratio_paired([a[i] for i in blocks], [b[i] for i in blocks], confidence=confidence)
    return ratio_unpaired(list(a.values()), list(b.values()), confidence=confidence)


def verdict(
    comparison: Comparison, *, relevant_difference: float, p_corrected: float | None = None
) -> Verdict:
    """What the interval allows to say of a ratio.

    - "no relevant difference": the whole interval lies within 1 ÷ (1 + δ) … 1 + δ, even if it leaves out 1;
    - "faster" or "slower": the interval leaves out 1 and the corrected p is below 1 − confidence;
    - "undecided": neither; "untested": no interval could be made from so few trials.

    The band is symmetric in the logarithm, so that exchanging the two sides exchanges faster and slower.

    Args:
        comparison: From `compare`.
        relevant_difference: δ, for example 0.05 for 5 %.
        p_corrected: The p-value corrected for the other comparisons of the table; default: uncorrected.

    Raises:
        ValueError: δ is not above 0.
    """
    if relevant_difference <= 0:
        raise ValueError(f"the relevant difference must be above 0, not {relevant_difference}")
    ratio = comparison.ratio
    if comparison.p_value is None:
        return "untested"
    if ratio.low is None or ratio.high is None:
        return "undecided"
    band = 1 + relevant_difference
    if ratio.low >= 1 / band and ratio.high <= band:
        return "no relevant difference"
    p = comparison.p_value if p_corrected is None else p_corrected
    if ratio.low <= 1 <= ratio.high or p >= 1 - ratio.confidence:
        return "undecided"
    return "faster" if ratio.low > 1 else "slower"
