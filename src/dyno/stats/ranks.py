"""Rank methods: what can be said of two engines without taking trials to scatter normally."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from dyno.stats.estimate import CONFIDENCE, Estimate, checked

if TYPE_CHECKING:
    from collections.abc import Sequence

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

PERMUTED_MAX = 20_000
"""With ties: most arrangements of the trials that are all tried (8 against 8); above it p is approximate."""


@dataclass(frozen=True)
class RankTest:
    """Mann–Whitney's test of two engines.

    Attributes:
        u: Mann–Whitney's U of the first side: the pairs in which it is above the second, ties as halves.
        p_value: Two-sided; None where so few trials could never reach 1 − confidence.
        p_smallest: The least p that these numbers of trials can give at all.
        superiority: U as a share of all pairs, 0…1: the chance that a trial of the first side is above one of
            the second.
        method: In words for a reader.
    """

    u: float
    p_value: float | None
    p_smallest: float
    superiority: float
    method: str


def mann_whitney(a: Sequence[float], b: Sequence[float], *, confidence: float = CONFIDENCE) -> RankTest:
    """Two-sided Mann–Whitney U test (Mann & Whitney 1947), exact where it can be, ties included.

    Three against three trials can give p = 0.10 at best: nothing is tested then, because no outcome whatever
    could show a difference.

    Args:
        a: One value a trial, any unit.
        b: The other side.
        confidence: 1 − the error that is accepted.

    Raises:
        ValueError: A side has no value, or one that is not finite.
    """
    x, y = checked(a), checked(b)
    ways = math.comb(int(x.size + y.size), int(x.size))
    smallest = min(2 / ways, 1.0)
    pairs = int(x.size * y.size)
    u = float((x[:, None] > y[None, :]).sum() + (x[:, None] == y[None, :]).sum() / 2)
    if smallest >= 1 - confidence:
        few = f"{x.size} against {y.size} trials can show nothing: p is {smallest:.2g} at best"
        return RankTest(u, None, smallest, u / pairs, few)
    p_value, how = _p_two_sided(x, y, ways)
    method = f"Mann–Whitney, {how}, {x.size} against {y.size} trials"
    return RankTest(u, min(p_value, 1.0), smallest, u / pairs, method)


def _p_two_sided(x: Floats, y: Floats, ways: int) -> tuple[float, str]:
    """The p of U, and how it was had: tables of U hold without ties, a permutation test also with them."""
    if np.unique(np.concatenate([x, y])).size == x.size + y.size:
        return float(stats.mannwhitneyu(x, y, method="exact").pvalue), "exact"
    if ways <= PERMUTED_MAX:
        everything = stats.PermutationMethod(n_resamples=ways)
        return float(stats.mannwhitneyu(x, y, method=everything).pvalue), "exact with ties by permutation"
    return float(stats.mannwhitneyu(x, y, method="asymptotic").pvalue), "normal approximation with ties"


def hodges_lehmann(a: Sequence[float], b: Sequence[float], *, confidence: float = CONFIDENCE) -> Estimate:
    """Hodges–Lehmann shift a − b: the median of all differences a_i − b_j, with Moses' interval.

    The interval's ends are order statistics of the differences, chosen by the exact distribution of
    Mann–Whitney's U (Hollander & Wolfe 1999, 4.2–4.3), so that it leaves out 0 exactly when that test
    without ties rejects. It covers at least `confidence`; `method` says how much it really covers.

    Returns:
        The shift in the unit of the values, without an interval where so few trials cannot give one.

    Raises:
        ValueError: A side has no value, or one that is not finite.
    """
    x, y = checked(a), checked(b)
    differences = np.sort((x[:, None] - y[None, :]).ravel())
    value, n = float(np.median(differences)), int(min(x.size, y.size))
    cumulative = u_distribution(int(x.size), int(y.size))
    # The k-th smallest and k-th largest difference: 2 P(U < k) is the error.
    k = int(np.searchsorted(cumulative, (1 - confidence) / 2, side="right"))
    if k == 0:
        few = f"Hodges–Lehmann: {x.size} against {y.size} trials give no interval"
        return Estimate(value, None, None, n, few, confidence)
    covered = 1 - 2 * float(cumulative[k - 1])
    method = f"Hodges–Lehmann, interval by ranks, covers {100 * covered:.1f} %"
    return Estimate(value, float(differences[k - 1]), float(differences[-k]), n, method, confidence)


def hodges_lehmann_ratio(
    a: Sequence[float], b: Sequence[float], *, confidence: float = CONFIDENCE
) -> Estimate:
    """Hodges–Lehmann ratio a ÷ b: the median of all ratios a_i ÷ b_j, with its interval.

    Raises:
        ValueError: A side has no value, or one that is not above 0.
    """
    x, y = checked(a, positive=True), checked(b, positive=True)
    shift = hodges_lehmann(np.log(x).tolist(), np.log(y).tolist(), confidence=confidence)
    low, high = (None if end is None else math.exp(end) for end in (shift.low, shift.high))
    return Estimate(math.exp(shift.value), low, high, shift.n, f"ratio by {shift.method}", confidence)


@lru_cache(maxsize=64)
def u_distribution(n: int, m: int) -> Floats:
    """P(U ≤ u) for u = 0…nm under no difference and no ties.

    The counts are the coefficients of the Gaussian binomial ∏ᵢ (1 − q^(m+i)) ÷ (1 − q^i), i = 1…n; whole
    numbers of any size, because they cancel.
    """
    size = n * m + 1
    counts = [1] + [0] * (size - 1)
    for i in range(1, n + 1):
        for u in range(size - 1, m + i - 1, -1):
            counts[u] -= counts[u - m - i]
        for u in range(i, size):
            counts[u] += counts[u - i]
    total = sum(counts)
    running, shares = 0, []
    for count in counts:
        running += count
        shares.append(running / total)
    return np.asarray(shares, dtype=np.float64)
