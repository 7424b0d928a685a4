"""Change points of a series by E-divisive means (Matteson & James 2014), with a permutation test."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
    Indices = np.ndarray[tuple[int], np.dtype[np.intp]]

SIGNIFICANCE = 0.01
PERMUTATIONS = 199
SEGMENT_MIN = 5


def change_points(
    values: Sequence[float],
    *,
    significance: float = SIGNIFICANCE,
    permutations: int = PERMUTATIONS,
    segment_min: int = SEGMENT_MIN,
    seed: int = 0,
) -> list[int]:
    """Indices at which a new level begins, ascending.

    The best split of each segment has the largest energy distance between its two sides; it is kept when at
    most `significance` of the permuted segments have as large a distance. The test takes the values as
    exchangeable within a segment: give batch means, not autocorrelated seconds.

    Args:
        values: The series in order, any unit.
        significance: Largest p that counts as a change.
        permutations: How many permutations make the p-value; p is never below 1 ÷ (permutations + 1).
        segment_min: Least number of values on each side of a change.
        seed: Of the permutations, so that the same series always gives the same answer.

    Raises:
        ValueError: A value that is not finite, or `segment_min` below 2.
    """
    series = np.asarray(values, dtype=np.float64)
    if not np.isfinite(series).all():
        raise ValueError("a value of the series is not finite")
    if segment_min < 2:  # noqa: PLR2004 - a side needs a pair to have a spread
        raise ValueError(f"a segment needs at least 2 values, not {segment_min}")
    random = np.random.default_rng(seed)
    found: list[int] = []
    open_segments = [(0, int(series.size))]
    while open_segments:
        start, end = open_segments.pop()
        part = series[start:end]
        if part.size < 2 * segment_min:
            continue
        at, distance = best_split(part, segment_min)
        beaten = sum(
            best_split(random.permutation(part), segment_min)[1] >= distance for _ in range(permutations)
        )
        if (beaten + 1) / (permutations + 1) <= significance and distance > 0:
            found.append(start + at)
            open_segments += [(start, start + at), (start + at, end)]
    return sorted(found)


def best_split(values: Floats, segment_min: int = SEGMENT_MIN) -> tuple[int, float]:
    """The split with the largest energy distance Q̂ between its sides, and Q̂.

    The left side is [0, k), the right one [k, e): the largest over both k and e, because a level that rises
    and falls again hides a change from a right side that must reach to the end.

    Q̂ = mn ÷ (m + n) · (2 · mean |x − y| − mean |x − x'| − mean |y − y'|), pairs within a side taken once.

    Returns:
        k, the index of the right side's first value, and Q̂.
    """
    n = int(values.size)
    summed = np.zeros((n + 1, n + 1))
    summed[1:, 1:] = np.abs(values[:, None] - values[None, :]).cumsum(axis=0).cumsum(axis=1)
    inside = np.diagonal(summed) / 2  # [k]: pairs among the first k
    k, end = _splits(n, segment_min)
    m, r = k.astype(np.float64), (end - k).astype(np.float64)
    left = inside[k]
    right = inside[end] + inside[k] - summed[k, end]
    between = inside[end] - left - right
    q = m * r / (m + r) * (2 * between / (m * r) - 2 * left / (m * (m - 1)) - 2 * right / (r * (r - 1)))
    best = int(np.argmax(q))
    return int(k[best]), float(q[best])


@lru_cache(maxsize=64)
def _splits(n: int, segment_min: int) -> tuple[Indices, Indices]:
    """All (k, e) of `n` values: the same for every permutation, and half of the time of each."""
    k, end = np.triu_indices(n + 1, segment_min)
    enough = k >= segment_min
    return k[enough], end[enough]
