"""Bootstrap intervals of trial values: for means and ratios whose scatter is not normal.

They ask for more trials than Student's t: five values have only 126 different resamples, and their spread is
too small by √((n − 1) ÷ n). docs/METHOD.md gives the coverage that a simulation found.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from dyno.stats.estimate import CONFIDENCE, Estimate, checked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

SMALLEST_SAMPLE = 5
"""Trials a side below which resampling says nothing: there is no interval."""

RESAMPLES = 9999
"""Resamples of one interval: its ends move by about 1 % of its width from seed to seed."""


def mean_bootstrap(
    values: Sequence[float],
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """Mean of trials with the bias-corrected and accelerated bootstrap interval (BCa, Efron 1987).

    Args:
        values: One value a trial, any unit.
        confidence: Nominal coverage, 0…1.
        resamples: How many resamples make the interval.
        seed: Of the resampling, so that the same trials always give the same interval.

    Returns:
        The mean; below five trials without an interval.

    Raises:
        ValueError: No value, or one that is not finite.
    """
    array = checked(values)
    return _bca(
        (array,), np.mean, "trial means", confidence=confidence, resamples=resamples, random=_random(seed)
    )


def ratio_bootstrap(
    a: Sequence[float],
    b: Sequence[float],
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """Ratio of means a ÷ b with a BCa interval: each side is resampled for itself (no common blocks).

    The alternative to Fieller's interval that Kalibera & Jones (2013) recommend.

    Raises:
        ValueError: Nothing to compare, or a value that is not above 0.
    """
    sides = checked(a, positive=True), checked(b, positive=True)
    return _bca(
        sides,
        _ratio_of_means,
        "ratio of means",
        confidence=confidence,
        resamples=resamples,
        random=_random(seed),
    )


def ratio_paired_bootstrap(
    a: Sequence[float],
    b: Sequence[float],
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """Geometric mean of the ratios a_i ÷ b_i with a BCa interval: whole blocks are resampled.

    Raises:
        ValueError: Lengths differ, nothing to compare, or a value that is not above 0.
    """
    x, y = checked(a, positive=True), checked(b, positive=True)
    if x.size != y.size:
        raise ValueError(f"pairs need equal lengths, not {x.size} and {y.size}")
    ratios = (x / y,)
    return _bca(
        ratios,
        stats.gmean,
        "ratios by block",
        confidence=confidence,
        resamples=resamples,
        random=_random(seed),
    )


def _random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _ratio_of_means(x: Floats, y: Floats, axis: int = -1) -> Floats:
    return np.asarray(np.mean(x, axis=axis) / np.mean(y, axis=axis))


def _bca(
    samples: tuple[Floats, ...],
    statistic: Callable[..., Any],
    of: str,
    *,
    confidence: float,
    resamples: int,
    random: np.random.Generator,
) -> Estimate:
    """The statistic of the samples with its BCa interval, where there are enough trials for one."""
    n = min(int(sample.size) for sample in samples)
    value = float(np.asarray(statistic(*samples, axis=-1)))
    if n < SMALLEST_SAMPLE:
        few = f"bootstrap of {of}: no interval below {SMALLEST_SAMPLE} trials"
        return Estimate(value, None, None, n, few, confidence)
    method = f"BCa bootstrap of {of}, {resamples:,} resamples"
    if all(np.ptp(sample) == 0 for sample in samples):
        return Estimate(value, value, value, n, method, confidence)
    interval = stats.bootstrap(
        list(samples),
        statistic,
        n_resamples=resamples,
        confidence_level=confidence,
        method="BCa",
        rng=random,
    ).confidence_interval
    low, high = float(interval.low), float(interval.high)
    bounded = math.isfinite(low) and math.isfinite(high)
    return Estimate(value, low if bounded else None, high if bounded else None, n, method, confidence)
