"""Equivalence: against scipy's one-sided tests, the intervals of the ratio, and by its error rate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dyno.stats import equivalence, equivalence_paired, equivalence_unpaired, ratio_paired, ratio_unpaired

near_one = st.floats(min_value=0.9, max_value=1.1)
pairs = st.lists(st.tuples(near_one, near_one), min_size=2, max_size=8)
DELTA = 0.05


@given(pairs)
def test_paired_equals_two_t_tests(both: list[tuple[float, float]]) -> None:
    a, b = [p[0] for p in both], [p[1] for p in both]
    logs = np.log(np.asarray(a) / np.asarray(b))
    if np.ptp(logs) < 1e-6:
        return
    result = equivalence_paired(a, b, delta=DELTA)
    margin = np.log1p(DELTA)
    assert result.p_below == pytest.approx(
        stats.ttest_1samp(logs, -margin, alternative="greater").pvalue, rel=1e-6, abs=1e-12
    )
    assert result.p_above == pytest.approx(
        stats.ttest_1samp(logs, margin, alternative="less").pvalue, rel=1e-6, abs=1e-12
    )


@given(pairs)
def test_shown_exactly_when_the_90_percent_interval_fits(both: list[tuple[float, float]]) -> None:
    a, b = [p[0] for p in both], [p[1] for p in both]
    if np.ptp(a) < 1e-6 or np.ptp(b) < 1e-6 or np.ptp(np.divide(a, b)) < 1e-6:
        return
    for test, ratio in ((equivalence_paired, ratio_paired), (equivalence_unpaired, ratio_unpaired)):
        interval = ratio(a, b, confidence=0.9).ratio
        fits = interval.low is not None and interval.high is not None
        fits = fits and (interval.low or 0) > 1 / (1 + DELTA) and (interval.high or 9) < 1 + DELTA
        result = test(a, b, delta=DELTA)
        assert result.p_value is not None
        if abs(result.p_value - 0.05) > 1e-9:
            assert result.shown() == fits


def test_one_trial_shows_nothing() -> None:
    for result in (
        equivalence({1: 5.0}, {1: 5.0}, delta=DELTA),
        equivalence({1: 5.0}, {2: 5.0}, delta=DELTA),
    ):
        assert result.p_value is None
        assert not result.shown()


def test_pairs_by_blocks_like_compare() -> None:
    assert "by block" in equivalence({1: 5.0, 2: 6.0}, {1: 5.1, 2: 6.1}, delta=DELTA).method
    assert "Welch" in equivalence({1: 5.0, 2: 6.0}, {1: 5.1, 3: 6.1}, delta=DELTA).method


def test_equal_trials_are_equivalent_and_far_ones_are_not() -> None:
    assert equivalence_paired([2.0, 3, 4], [2.0, 3, 4], delta=DELTA).shown()
    assert not equivalence_paired([2.0, 3, 4], [1.0, 1.5, 2], delta=DELTA).shown()


@pytest.mark.parametrize("delta", [0.0, -0.1])
def test_refuses_no_margin(delta: float) -> None:
    with pytest.raises(ValueError, match="matters must be above 0"):
        equivalence_paired([1.0, 2], [1.0, 2], delta=delta)


@pytest.mark.parametrize("paired", [True, False])
def test_error_rate_at_the_margin(paired: bool) -> None:
    """4,000 experiments in which the ratio is just δ: 5 % ± 3.5 standard errors are called equivalent."""
    rng = np.random.default_rng(20261121)
    called = 0
    for _ in range(4000):
        a, b = 1.05 * np.exp(rng.normal(0, 0.01, 5)), np.exp(rng.normal(0, 0.01, 5))
        test = equivalence_paired if paired else equivalence_unpaired
        called += test(a.tolist(), b.tolist(), delta=DELTA).shown()
    assert 0.038 <= called / 4000 <= 0.062
