"""Means of trials: against scipy, a published example, and by coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dyno.stats import mean_interval

finite = st.floats(min_value=1e-3, max_value=1e9)


@given(st.lists(finite, min_size=2, max_size=20), st.sampled_from([0.8, 0.95, 0.99]))
def test_equals_scipy(values: list[float], confidence: float) -> None:
    estimate = mean_interval(values, confidence=confidence)
    if np.ptp(values) < 1e-6 * np.mean(values):
        assert estimate.value == pytest.approx(values[0], rel=1e-5)  # scipy itself warns of cancellation here
        return
    low, high = stats.ttest_1samp(values, 0.0).confidence_interval(confidence)
    assert estimate.value == pytest.approx(np.mean(values))
    # The width decides, not the end: an end near 0 has no relative precision.
    scale = high - low
    assert estimate.low == pytest.approx(low, abs=1e-9 * scale + 1e-9 * estimate.value)
    assert estimate.high == pytest.approx(high, abs=1e-9 * scale + 1e-9 * estimate.value)


def test_nist_heat_flow_meter() -> None:
    """NIST/SEMATECH e-Handbook 1.3.5.2: N = 195, mean 9.261460, s = 0.022789 → (9.258242, 9.264679)."""
    n, mean, spread = 195, 9.261460, 0.022789
    shape = np.linspace(-1, 1, n)
    values = mean + spread * shape / shape.std(ddof=1)
    estimate = mean_interval(values.tolist())
    assert estimate.n == n
    assert estimate.low == pytest.approx(9.258242, abs=1e-6)
    assert estimate.high == pytest.approx(9.264679, abs=1e-6)


def test_one_trial_has_no_interval() -> None:
    estimate = mean_interval([812.5])
    assert (estimate.value, estimate.low, estimate.high, estimate.n) == (812.5, None, None, 1)


@pytest.mark.parametrize("values", [[], [1.0, math.nan], [math.inf]])
def test_refuses_what_is_no_number(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"trial"):
        mean_interval(values)


@pytest.mark.parametrize("n", [3, 5, 10])
def test_coverage(n: int) -> None:
    """4,000 experiments of n normal trials: 95 % ± 1.2 % of the intervals (3.5 σ) hold the true mean."""
    rng = np.random.default_rng(20261120 + n)
    experiments = rng.normal(1000, 10, size=(4000, n))
    intervals = [mean_interval(row.tolist()) for row in experiments]
    covered = np.mean(
        [e.low is not None and e.high is not None and e.low <= 1000 <= e.high for e in intervals]
    )
    assert 0.938 <= covered <= 0.962
