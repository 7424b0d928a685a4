"""Periodic swings: found where they were put, rarely where there is only noise that wanders."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno.stats.sawtooth import SAMPLES_MIN, sawtooth
from dyno.stats.steady import audit


def red_noise(random: np.random.Generator, n: int, lag1: float) -> np.ndarray:
    """An AR(1) series of variance 1."""
    values = np.empty(n)
    values[0] = random.normal()
    for i, each in enumerate(random.normal(0, math.sqrt(1 - lag1**2), n - 1), start=1):
        values[i] = lag1 * values[i - 1] + each
    return values


@pytest.mark.parametrize("period", [5, 12, 22, 35, 60])
def test_a_sine_in_noise_has_its_period_and_depth(period: int) -> None:
    random = np.random.default_rng(period)
    t = np.arange(900)
    values = 1000 + 200 * np.sin(2 * np.pi * t / period) + random.normal(0, 100, t.size)
    found = sawtooth(values.tolist())
    assert found is not None
    assert found.period == pytest.approx(period, rel=0.1)
    # 200 up and 200 down are 40 % of the mean.
    assert found.depth == pytest.approx(0.40, rel=0.15)
    assert found.share > 0.5


def test_a_saw_tooth_whose_teeth_differ_is_found() -> None:
    random = np.random.default_rng(1)
    teeth = [np.linspace(1.0, 0.3, length) for length in random.integers(18, 26, 60)]
    values = 500 * np.concatenate(teeth)[:900] + random.normal(0, 30, 900)
    found = sawtooth(values.tolist())
    assert found is not None
    assert found.period == pytest.approx(21.5, rel=0.15)
    verdict = audit(values.tolist())
    assert verdict.state == "oscillating"
    assert any("saw-tooth" in reason for reason in verdict.reasons)


def test_noise_that_wanders_rarely_has_a_period() -> None:
    random = np.random.default_rng(2)
    false = sum(
        sawtooth(100 + red_noise(random, 900, lag1)) is not None
        for lag1 in (0.0, 0.3, 0.6, 0.9)
        for _ in range(75)
    )
    # The nominal 1 % is about 3 %, for the noise's own parameters are estimated: 300 tests, fewer than 7 %.
    assert false <= 20


@pytest.mark.parametrize("values", [[], [0.0] * 500, [3.0] * 500, [1.0, 2.0] * (SAMPLES_MIN // 2 - 1)])
def test_what_has_no_swing_or_is_too_short_has_none(values: list[float]) -> None:
    assert sawtooth(values) is None


@settings(max_examples=50)
@given(st.lists(st.floats(0, 1e6), min_size=SAMPLES_MIN, max_size=300))
def test_any_series_gives_an_answer_in_range(values: list[float]) -> None:
    found = sawtooth(values)
    if found is not None:
        assert 4 / 1.4 <= found.period <= len(values)
        assert found.depth >= 0
        assert 0 <= found.share <= 1 + 1e-9
        assert 0 <= found.p <= 0.01
