"""Steady state inside one trial: against its definition, and on series with a known answer."""

from __future__ import annotations

import numpy as np
import pytest

from dyno.stats.changepoints import best_split, change_points
from dyno.stats.steady import audit, batch_means, effective_sample_size, mser5, slope


def ar1(
    random: np.random.Generator, n: int, *, rho: float, mean: float = 0.0, sd: float = 1.0
) -> list[float]:
    """Autocorrelated series with a known effective sample size: n (1 − ρ) ÷ (1 + ρ)."""
    noise = random.normal(0, sd * np.sqrt(1 - rho**2), n)
    values = [random.normal(0, sd)]
    for each in noise[1:]:
        values.append(rho * values[-1] + each)
    return [mean + value for value in values]


def energy(x: list[float], y: list[float]) -> float:
    """Q̂ of its definition, pair by pair."""
    m, n = len(x), len(y)
    between = sum(abs(a - b) for a in x for b in y)
    left = sum(abs(x[i] - x[j]) for i in range(m) for j in range(i))
    right = sum(abs(y[i] - y[j]) for i in range(n) for j in range(i))
    return m * n / (m + n) * (2 * between / (m * n) - 2 * left / (m * (m - 1)) - 2 * right / (n * (n - 1)))


def test_best_split_is_the_maximum_of_the_definition() -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        values = random.normal(0, 1, 17)
        slow = {
            (k, end): energy(list(values[:k]), list(values[k:end]))
            for k in range(3, 15)
            for end in range(k + 3, 18)
        }
        at, q = best_split(values, 3)
        assert q == pytest.approx(max(slow.values()))
        assert q == pytest.approx(max(value for (k, _), value in slow.items() if k == at))


def test_change_points_are_found_where_they_were_put() -> None:
    random = np.random.default_rng(2)
    values = [*random.normal(10, 1, 30), *random.normal(20, 1, 40), *random.normal(12, 1, 30)]
    assert change_points(values) == pytest.approx([30, 70], abs=1)


def test_change_points_are_rarely_found_where_there_are_none() -> None:
    random = np.random.default_rng(3)
    false = sum(
        bool(change_points(random.normal(0, 1, 30).tolist(), significance=0.05, permutations=99))
        for _ in range(200)
    )
    # 200 tests at 5 %: more than 20 has a chance below 0.1 %.
    assert false <= 20


@pytest.mark.parametrize("bad", [[1.0, float("nan")] * 10, [float("inf")] * 20])
def test_values_that_are_no_numbers_are_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        change_points(bad)


def test_mser5_cuts_a_ramp_and_gives_up_on_a_drift() -> None:
    random = np.random.default_rng(4)
    flat = random.normal(100, 1, 400)
    ramp = [*np.linspace(0, 100, 50), *flat]
    cut = mser5(ramp)
    assert cut is not None
    assert 40 <= cut <= 60
    assert mser5(list(np.linspace(0, 100, 400))) is None
    assert mser5([1.0]) is None


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_effective_sample_size_of_an_autoregressive_series(rho: float) -> None:
    random = np.random.default_rng(5)
    n = 4000
    sizes = [effective_sample_size(ar1(random, n, rho=rho)) for _ in range(100)]
    assert np.median(sizes) == pytest.approx(n * (1 - rho) / (1 + rho), rel=0.15)


def test_the_slope_test_keeps_its_level_on_autocorrelated_seconds() -> None:
    random = np.random.default_rng(6)
    found = sum(slope(ar1(random, 900, rho=0.7))[1] < 0.05 for _ in range(400))
    # 5 % of 400 is 20; a test that took the seconds as independent finds about 40 % (160).
    assert found <= 44
    change, p = slope([100 + 0.05 * i + noise for i, noise in enumerate(ar1(random, 900, rho=0.7))])
    assert change == pytest.approx(0.05 * 899, rel=0.1)
    assert p < 1e-6


def test_batch_means_leave_the_rest_out_at_the_start() -> None:
    assert batch_means([99, 1, 2, 3, 4], 2).tolist() == [1.5, 3.5]
    with pytest.raises(ValueError, match="batches"):
        batch_means([1.0], 2)


def test_verdicts() -> None:
    random = np.random.default_rng(7)
    steady = ar1(random, 900, rho=0.5, mean=1000, sd=20)
    assert audit(steady).state == "steady"
    assert audit([v * (1 + i / 900) for i, v in enumerate(steady)]).state == "drifting"
    half = [v * (1.3 if 300 <= i < 600 else 1.0) for i, v in enumerate(steady)]
    stepped = audit(half)
    assert stepped.state == "stepped"
    assert stepped.changes == pytest.approx((300, 600), abs=30)
    saw = [v * (0.2 + 1.6 * (i % 10) / 9) for i, v in enumerate(steady)]
    assert audit(saw).state == "oscillating"
    stalled = audit([0.0 if i in {100, 500} else v for i, v in enumerate(steady)])
    assert (stalled.state, stalled.stalls) == ("oscillating", 2)
    assert audit(steady[:30]).state == "too short"
    assert audit([0.0] * 100).state == "steady"


def test_a_steady_window_is_rarely_called_anything_else() -> None:
    random = np.random.default_rng(8)
    wrong = sum(audit(ar1(random, 600, rho=0.5, mean=1000, sd=50)).state != "steady" for _ in range(100))
    assert wrong <= 2
