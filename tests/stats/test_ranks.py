"""Mann–Whitney and Hodges–Lehmann: published tables and examples, brute force, exact coverage."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dyno.stats import hodges_lehmann, hodges_lehmann_ratio, mann_whitney
from dyno.stats.ranks import u_distribution

TERM = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
WEEKS_12_TO_26 = [1.15, 0.88, 0.90, 0.74, 1.21]
"""Hollander & Wolfe (1999), table 4.1: permeability of the human chorioamnion; also in R's ?wilcox.test."""


def test_chorioamnion() -> None:
    """Hollander & Wolfe, 4.1–4.4: U = 35, one-sided p 0.1272, shift 0.305, 96 % interval (−0.15, 0.76)."""
    test = mann_whitney(TERM, WEEKS_12_TO_26)
    assert (test.u, test.superiority) == (35, 0.7)
    assert test.p_value == pytest.approx(2 * 0.1272, abs=1e-4)
    shift = hodges_lehmann(TERM, WEEKS_12_TO_26)
    assert (shift.value, shift.low, shift.high) == pytest.approx((0.305, -0.15, 0.76))
    assert "96.0 %" in shift.method


@pytest.mark.parametrize(
    ("n", "m", "critical"), [(4, 4, 0), (5, 5, 2), (10, 10, 23), (20, 20, 127), (3, 5, 0)]
)
def test_critical_values_of_u(n: int, m: int, critical: int) -> None:
    """The usual table, two-sided 5 %: the largest U that is significant."""
    shares = u_distribution(n, m)
    assert shares[critical] <= 0.025 < shares[critical + 1]
    assert shares[-1] == 1


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 4), (5, 2)])
def test_distribution_by_counting(n: int, m: int) -> None:
    us = []
    for first in combinations(range(n + m), n):
        rest = set(range(n + m)) - set(first)
        us.append(sum(x > y for x in first for y in rest))
    expected = [sum(u <= limit for u in us) / math.comb(n + m, n) for limit in range(n * m + 1)]
    assert u_distribution(n, m).tolist() == pytest.approx(expected)


def test_three_trials_can_show_nothing() -> None:
    test = mann_whitney([10.0, 11, 12], [1.0, 2, 3])
    assert test.p_value is None
    assert test.p_smallest == pytest.approx(0.1)
    assert "0.1 at best" in test.method
    assert hodges_lehmann([10.0, 11, 12], [1.0, 2, 3]).low is None


def test_four_and_five_trials_can() -> None:
    assert mann_whitney([5.0, 6, 7, 8], [1.0, 2, 3, 4]).p_value == pytest.approx(0.0286, abs=1e-4)
    assert mann_whitney([6.0, 7, 8, 9, 10], [1.0, 2, 3, 4, 5]).p_value == pytest.approx(0.0079, abs=1e-4)


untied = st.lists(st.integers(-1000, 1000), min_size=8, max_size=16, unique=True)


@given(untied)
def test_agrees_with_scipy_and_the_interval_with_the_test(values: list[int]) -> None:
    a, b = [float(v) for v in values[:4]], [float(v) for v in values[4:]]
    test = mann_whitney(a, b)
    assert test.p_value == pytest.approx(stats.mannwhitneyu(a, b, method="exact").pvalue)
    shift = hodges_lehmann(a, b)
    assert shift.low is not None
    assert shift.high is not None
    assert test.p_value is not None
    if 0 not in (shift.low, shift.high):
        assert (shift.low <= 0 <= shift.high) == (test.p_value > 0.05)


def test_ties_by_trying_every_arrangement() -> None:
    a, b = [1.0, 2, 2, 3], [2.0, 3, 3, 4, 4]
    pool = a + b

    def u_of(first: tuple[int, ...]) -> float:
        x = [pool[i] for i in first]
        y = [pool[i] for i in range(9) if i not in first]
        return sum((p > q) + (p == q) / 2 for p in x for q in y)

    seen = u_of((0, 1, 2, 3))
    every = [u_of(first) for first in combinations(range(9), 4)]
    expected = 2 * min(np.mean([u <= seen for u in every]), np.mean([u >= seen for u in every]))
    test = mann_whitney(a, b)
    assert test.p_value == pytest.approx(expected)
    assert "ties by permutation" in test.method


def test_many_tied_trials_are_approximate() -> None:
    a, b = [float(i // 2) for i in range(20)], [float(i // 2 + 1) for i in range(20)]
    test = mann_whitney(a, b)
    assert test.p_value == pytest.approx(stats.mannwhitneyu(a, b, method="asymptotic").pvalue)
    assert "approximation" in test.method


@given(untied)
def test_ratio_exchange_inverts(values: list[int]) -> None:
    a, b = [math.exp(v / 500) for v in values[:4]], [math.exp(v / 500) for v in values[4:]]
    one, other = hodges_lehmann_ratio(a, b), hodges_lehmann_ratio(b, a)
    assert one.value * other.value == pytest.approx(1)
    assert one.low == pytest.approx(1 / (other.high or math.nan))


@pytest.mark.parametrize(("n", "m"), [(4, 4), (5, 5), (6, 9)])
def test_coverage_is_the_exact_one(n: int, m: int) -> None:
    """3,000 experiments with heavy tails (t with 3 degrees): the stated coverage ± 3.5 standard errors."""
    rng = np.random.default_rng(20261121 + n * m)
    shares = u_distribution(n, m)
    k = int(np.searchsorted(shares, 0.025, side="right"))
    exact = 1 - 2 * shares[k - 1]
    covered = 0
    for _ in range(3000):
        a, b = 5 + rng.standard_t(3, n), rng.standard_t(3, m)
        shift = hodges_lehmann(a.tolist(), b.tolist())
        assert shift.low is not None
        assert shift.high is not None
        covered += shift.low <= 5 <= shift.high
    assert exact >= 0.95
    assert abs(covered / 3000 - exact) <= 3.5 * math.sqrt(exact * (1 - exact) / 3000)
