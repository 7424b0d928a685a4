"""A value with its confidence interval, and the interval of a mean of trials."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value and what is known of its precision.

    Attributes:
        value: The point estimate, in the unit of the observations (a ratio has none).
        low: Lower end of the confidence interval, or None where the data cannot give one.
        high: Upper end, or None.
        n: Trials behind it (of the smaller side, for a ratio).
        method: How the interval was made, in words for a reader.
        confidence: Nominal coverage of the interval, 0…1.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    method: str
    confidence: float = CONFIDENCE


def checked(
    values: Sequence[float], *, positive: bool = False
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The values as an array of floats; refuses what no estimate can be made of.

    Raises:
        ValueError: No value, a value that is not finite, or (with `positive`) one that is not above 0.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError("an estimate needs at least one trial")
    if not np.isfinite(array).all():
        raise ValueError(f"a trial's value is not a finite number: {array.tolist()}")
    if positive and (array <= 0).any():
        raise ValueError(f"a ratio needs values above 0: {array.tolist()}")
    return array


def mean_interval(values: Sequence[float], *, confidence: float = CONFIDENCE) -> Estimate:
    """Mean of trials with Student's t interval.

    Args:
        values: One value a trial, any unit.
        confidence: Nominal coverage, 0…1.

    Returns:
        The mean; with a single trial it has no interval, because one value says nothing of its spread.

    Raises:
        ValueError: No value, or one that is not finite.
    """
    array = checked(values)
    mean = float(array.mean())
    if array.size == 1:
        return Estimate(mean, None, None, 1, "single trial, no interval", confidence)
    error = float(array.std(ddof=1)) / math.sqrt(array.size)
    half = float(stats.t.ppf((1 + confidence) / 2, array.size - 1)) * error
    return Estimate(mean, mean - half, mean + half, int(array.size), "t interval of trial means", confidence)
