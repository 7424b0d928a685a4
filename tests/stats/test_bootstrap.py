"""Bootstrap intervals: reproducible, equal to scipy's, and how often they hold the truth."""

import numpy as np
import pytest
from scipy import stats

from dyno.stats import mean_bootstrap, ratio_bootstrap, ratio_paired_bootstrap

SLEEP_A = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
LAW_SCHOOL = [576, 635, 558, 578, 666, 580, 555, 661, 651, 605, 653, 575, 545, 572, 594]
"""Efron & Tibshirani (1993), table 3.1: LSAT of 15 law schools."""


def test_same_trials_same_interval() -> None:
    assert mean_bootstrap(SLEEP_A) == mean_bootstrap(SLEEP_A)
    assert mean_bootstrap(SLEEP_A, seed=1) != mean_bootstrap(SLEEP_A, seed=2)


def test_law_school_mean_agrees_with_its_standard_error() -> None:
    """Efron & Tibshirani (1993): mean 600.27, bootstrap standard error 10.4 → about ±1.96 standard errors."""
    estimate = mean_bootstrap([float(v) for v in LAW_SCHOOL])
    assert estimate.value == pytest.approx(600.27, abs=0.01)
    assert estimate.low == pytest.approx(600.27 - 1.96 * 10.4, abs=3)
    assert estimate.high == pytest.approx(600.27 + 1.96 * 10.4, abs=3)


def test_ratio_of_means_equals_scipy() -> None:
    a, b = [10.0, 11, 12, 9, 10.5, 13], [5.0, 6, 5.5, 4.8, 6.2]
    estimate = ratio_bootstrap(a, b, resamples=1999, seed=7)
    reference = stats.bootstrap(
        (a, b),
        lambda x, y, axis=-1: np.mean(x, axis=axis) / np.mean(y, axis=axis),
        n_resamples=1999,
        method="BCa",
        rng=np.random.default_rng(7),
    ).confidence_interval
    assert (estimate.low, estimate.high) == (reference.low, reference.high)
    assert estimate.n == 5


def test_paired_ratio_is_the_geometric_mean_of_the_pairs() -> None:
    a, b = [10.0, 22, 27, 40, 55], [5.0, 10, 15, 20, 25]
    estimate = ratio_paired_bootstrap(a, b)
    assert estimate.value == pytest.approx(stats.gmean([2, 2.2, 1.8, 2, 2.2]))
    assert estimate.low is not None
    assert estimate.high is not None
    assert 1.8 <= estimate.low < estimate.value < estimate.high <= 2.2


@pytest.mark.parametrize("n", [1, 4])
def test_too_few_trials_have_no_interval(n: int) -> None:
    estimate = mean_bootstrap([float(i + 1) for i in range(n)])
    assert (estimate.low, estimate.high, estimate.n) == (None, None, n)
    assert "no interval below 5 trials" in estimate.method


def test_trials_without_spread_have_no_width() -> None:
    estimate = mean_bootstrap([3.0] * 6)
    assert (estimate.low, estimate.value, estimate.high) == (3, 3, 3)


def test_refuses_what_cannot_be_paired_or_divided() -> None:
    with pytest.raises(ValueError, match="equal lengths, not 2 and 1"):
        ratio_paired_bootstrap([1.0, 2], [1.0])
    with pytest.raises(ValueError, match="above 0"):
        ratio_bootstrap([1.0, 2], [0.0, 1])


@pytest.mark.parametrize(("n", "least", "most"), [(5, 0.80, 0.90), (30, 0.92, 0.96)])
def test_coverage(n: int, least: float, most: float) -> None:
    """600 experiments: of five trials too few intervals hold the truth (docs/METHOD.md), of 30 nearly all.

    The bounds are 3 standard errors of 600 experiments around 0.85 and 0.94.
    """
    rng = np.random.default_rng(20261121 + n)
    experiments = rng.lognormal(0, 0.1, size=(600, n))
    truth = np.exp(0.1**2 / 2)
    intervals = [mean_bootstrap(row.tolist(), resamples=999) for row in experiments]
    covered = np.mean(
        [e.low is not None and e.high is not None and e.low <= truth <= e.high for e in intervals]
    )
    assert least <= covered <= most
