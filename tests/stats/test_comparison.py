"""Ratios of engines: against scipy, a published example, by symmetry and by coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dyno.stats import Comparison, Estimate, compare, ratio_paired, ratio_unpaired, verdict

positive = st.floats(min_value=0.5, max_value=1e6)
samples = st.lists(positive, min_size=2, max_size=8)
pairs = st.lists(st.tuples(positive, positive), min_size=2, max_size=8)


def spread(values: list[float]) -> float:
    return float(np.ptp(values) / np.mean(values))


@given(pairs)
def test_paired_equals_scipy_on_logs(both: list[tuple[float, float]]) -> None:
    a, b = [p[0] for p in both], [p[1] for p in both]
    logs = np.log(np.asarray(a) / np.asarray(b))
    if np.ptp(logs) < 1e-9:
        return
    result = ratio_paired(a, b)
    reference = stats.ttest_1samp(logs, 0.0)
    low, high = reference.confidence_interval(0.95)
    assert result.ratio.value == pytest.approx(stats.gmean(a) / stats.gmean(b))
    assert result.p_value == pytest.approx(reference.pvalue, rel=1e-6, abs=1e-12)
    assert math.log(result.ratio.low or math.nan) == pytest.approx(low, rel=1e-6, abs=1e-9)
    assert math.log(result.ratio.high or math.nan) == pytest.approx(high, rel=1e-6, abs=1e-9)


@given(pairs)
def test_paired_exchange_inverts(both: list[tuple[float, float]]) -> None:
    a, b = [p[0] for p in both], [p[1] for p in both]
    one, other = ratio_paired(a, b), ratio_paired(b, a)
    assert one.ratio.value * other.ratio.value == pytest.approx(1)
    assert one.ratio.low == pytest.approx(1 / (other.ratio.high or math.nan))
    assert one.p_value == pytest.approx(other.p_value)


@given(pairs, st.floats(min_value=0.1, max_value=10))
def test_a_factor_common_to_a_block_cancels(both: list[tuple[float, float]], factor: float) -> None:
    a, b = [p[0] for p in both], [p[1] for p in both]
    slow = [factor if i % 2 else 1.0 for i in range(len(both))]
    plain = ratio_paired(a, b)
    drifted = ratio_paired(
        [x * f for x, f in zip(a, slow, strict=True)], [y * f for y, f in zip(b, slow, strict=True)]
    )
    assert plain.ratio.value == pytest.approx(drifted.ratio.value)
    assert plain.ratio.low == pytest.approx(drifted.ratio.low, rel=1e-6)


@given(samples, samples)
def test_unpaired_agrees_with_welch(a: list[float], b: list[float]) -> None:
    if spread(a) < 1e-6 or spread(b) < 1e-6:
        return
    result = ratio_unpaired(a, b)
    reference = stats.ttest_ind(a, b, equal_var=False)
    assert result.p_value == pytest.approx(reference.pvalue, rel=1e-6, abs=1e-12)
    if result.ratio.low is None or result.ratio.high is None or abs(reference.pvalue - 0.05) < 1e-6:
        return
    assert (result.ratio.low <= 1 <= result.ratio.high) == (reference.pvalue > 0.05)


@given(samples, samples)
def test_unpaired_exchange_inverts(a: list[float], b: list[float]) -> None:
    one, other = ratio_unpaired(a, b), ratio_unpaired(b, a)
    assert one.ratio.value == pytest.approx(1 / other.ratio.value)
    assert one.p_value == pytest.approx(other.p_value)
    if one.ratio.low and one.ratio.high and other.ratio.low and other.ratio.high:
        assert one.ratio.low == pytest.approx(1 / other.ratio.high, rel=1e-6)


def test_fieller_is_its_own_definition() -> None:
    """At either end of the interval the t statistic of x̄ − ρȳ is exactly the quantile."""
    a, b = [102.0, 98.0, 105.0, 99.0], [80.0, 84.0, 79.0]
    result = ratio_unpaired(a, b)
    va, vb = np.var(a, ddof=1) / 4, np.var(b, ddof=1) / 3
    df = (va + vb) ** 2 / (va**2 / 3 + vb**2 / 2)
    for end in (result.ratio.low, result.ratio.high):
        assert end is not None
        t = (np.mean(a) - end * np.mean(b)) / math.sqrt(va + end**2 * vb)
        assert abs(t) == pytest.approx(stats.t.ppf(0.975, df))


def test_fieller_unbounded_when_the_divisor_may_be_zero() -> None:
    result = ratio_unpaired([100.0, 101.0], [1.0, 900.0])
    assert result.ratio.low is None
    assert result.ratio.high is None
    assert verdict(result, relevant_difference=0.05) == "undecided"


def test_sleep_data_of_student() -> None:
    """Student 1908 (R: sleep): paired t = −4.0621, df = 9, p = 0.002833; the logs carry the differences."""
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    result = ratio_paired([math.exp(x) for x in first], [math.exp(x) for x in second])
    assert result.p_value == pytest.approx(0.002833, abs=5e-7)
    assert math.log(result.ratio.value) == pytest.approx(-1.58)
    assert math.log(result.ratio.low or 0) == pytest.approx(-2.4598858, abs=1e-6)
    assert math.log(result.ratio.high or 0) == pytest.approx(-0.7001142, abs=1e-6)


def test_pairs_only_when_the_blocks_are_the_same() -> None:
    same = compare({1: 10.0, 2: 11.0, 3: 12.0}, {3: 12.5, 1: 10.5, 2: 11.6})
    assert "paired by block" in same.ratio.method
    assert same.ratio.value == pytest.approx(stats.gmean([10 / 10.5, 11 / 11.6, 12 / 12.5]))
    torn = compare({1: 10.0, 2: 11.0}, {1: 10.5, 2: 11.6, 3: 12.5})
    assert "Fieller" in torn.ratio.method
    assert torn.ratio.n == 2


def test_one_trial_tests_nothing() -> None:
    for comparison in (compare({1: 10.0}, {1: 20.0}), compare({1: 10.0}, {1: 20.0, 2: 21.0})):
        assert comparison.p_value is None
        assert comparison.ratio.low is None
        assert verdict(comparison, relevant_difference=0.05) == "untested"


@pytest.mark.parametrize(
    ("low", "high", "p", "expected"),
    [
        (1.02, 1.20, 0.01, "faster"),
        (0.80, 0.98, 0.01, "slower"),
        (0.97, 1.04, 0.60, "no relevant difference"),
        (1.01, 1.04, 0.01, "no relevant difference"),
        (0.90, 1.04, 0.30, "undecided"),
        (1.02, 1.20, 0.08, "undecided"),  # the correction for many comparisons took it back
        (0.90, 1.00, 0.05, "undecided"),
    ],
)
def test_verdict(low: float, high: float, p: float, expected: str) -> None:
    comparison = Comparison(Estimate(math.sqrt(low * high), low, high, 5, "given"), p / 2)
    assert verdict(comparison, relevant_difference=0.05, p_corrected=p) == expected


@given(pairs, st.floats(min_value=0.01, max_value=0.5))
def test_verdict_exchanges(both: list[tuple[float, float]], delta: float) -> None:
    a, b = [p[0] for p in both], [p[1] for p in both]
    mirror = {"faster": "slower", "slower": "faster"}
    one = verdict(ratio_paired(a, b), relevant_difference=delta)
    other = verdict(ratio_paired(b, a), relevant_difference=delta)
    assert mirror.get(one, one) == other


def test_refuses_zero_and_unequal_lengths() -> None:
    with pytest.raises(ValueError, match="above 0"):
        ratio_paired([0.0, 1.0], [1.0, 1.0])
    with pytest.raises(ValueError, match="equal lengths"):
        ratio_paired([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="above 0"):
        verdict(compare({1: 1.0}, {1: 1.0}), relevant_difference=0)


@pytest.mark.parametrize("n", [3, 6])
def test_coverage_paired(n: int) -> None:
    """True ratio 1.10, 3 % spread of blocks, 1 % of trials: 95 % ± 1.2 % of 4,000 intervals hold it."""
    rng = np.random.default_rng(n)
    block = rng.lognormal(0, 0.03, size=(4000, n))
    a = 1100 * block * rng.lognormal(0, 0.01, size=(4000, n))
    b = 1000 * block * rng.lognormal(0, 0.01, size=(4000, n))
    results = [ratio_paired(x.tolist(), y.tolist()).ratio for x, y in zip(a, b, strict=True)]
    covered = np.mean([(r.low or 0) <= 1.10 <= (r.high or 0) for r in results])
    assert 0.938 <= covered <= 0.962


@pytest.mark.parametrize(("n_a", "n_b"), [(5, 4), (6, 3)])
def test_coverage_unpaired(n_a: int, n_b: int) -> None:
    """Unequal spreads, unequal n: Welch's approximation may miss 95 % by a little more."""
    rng = np.random.default_rng(n_a)
    a = rng.normal(1100, 22, size=(4000, n_a))
    b = rng.normal(1000, 10, size=(4000, n_b))
    results = [ratio_unpaired(x.tolist(), y.tolist()).ratio for x, y in zip(a, b, strict=True)]
    covered = np.mean([(r.low or 0) <= 1.10 <= (r.high or 0) for r in results])
    assert 0.93 <= covered <= 0.98


def test_identical_engines_seldom_differ() -> None:
    """A/A: 4,000 comparisons of an engine with itself, n = 5, 1 % spread: a direction in about 5 %, not more.

    The band of ±1 % is inside the noise, so that "no relevant difference" hides nothing here.
    """
    rng = np.random.default_rng(11)
    values = rng.lognormal(7, 0.01, size=(4000, 2, 5))
    verdicts = [verdict(ratio_paired(x.tolist(), y.tolist()), relevant_difference=0.01) for x, y in values]
    directions = np.mean([v in {"faster", "slower"} for v in verdicts])
    assert 0.03 <= directions <= 0.062
