"""The stopping rule: its interval against its definition, its behaviour on series with a known answer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dyno.stats.stopping import BATCHES, DRIFT_WEIGHT, StoppingRule, reach, stopped_at

RULE = StoppingRule(precision=0.03, samples_min=120, samples_max=900)


def test_reach_is_its_definition() -> None:
    values = np.random.default_rng(1).normal(100, 10, 200)
    of_mean = stats.sem(values.reshape(BATCHES, 10).mean(axis=1)) * stats.t.ppf(0.975, BATCHES - 1)
    found = reach(values.tolist(), RULE)
    assert found.scatter == pytest.approx(of_mean / values.mean() * math.sqrt(1 - 200 / 900))
    tail = abs(values[-30:].mean() / values.mean() - 1)
    assert found.drift == pytest.approx(DRIFT_WEIGHT * tail * math.log(900 / 200))
    assert found.half_width == pytest.approx(math.hypot(found.scatter, found.drift))


def test_scatter_covers_the_mean_of_the_longest_window() -> None:
    # Independent samples: 95 % of the intervals hold the mean of all 900, of which the first 300 are known.
    random = np.random.default_rng(2)
    held = 0
    for _ in range(2000):
        values = random.normal(100, 20, 900)
        seen = values[:300]
        held += abs(values.mean() / seen.mean() - 1) <= reach(seen.tolist(), RULE).scatter
    # A binomial of 2,000 at 95 % lies within 0.932 and 0.968 but once in 5,000 times.
    assert 0.932 <= held / 2000 <= 0.968


def test_drift_foretells_where_a_level_that_settles_is_going() -> None:
    t = np.arange(1, 901)
    values = 1000 + 40 * np.log(t)
    for n in (150, 300, 600):
        still = values.mean() / values[:n].mean() - 1
        assert still <= reach(values[:n].tolist(), RULE).drift <= 2 * still


def test_nothing_is_left_open_when_the_longest_window_is_full() -> None:
    values = np.random.default_rng(3).normal(100, 30, 900).tolist()
    assert reach(values, RULE).half_width == 0


def test_a_quiet_series_ends_at_the_shortest_window() -> None:
    values = np.random.default_rng(4).normal(100, 3, 900).tolist()
    assert stopped_at(values, RULE) == RULE.samples_min


def test_a_series_that_goes_on_rising_is_measured_to_its_end() -> None:
    values = np.linspace(50, 150, 900).tolist()
    assert stopped_at(values, RULE) > 800


def test_a_wilder_series_takes_longer_and_a_looser_target_does_not() -> None:
    noise = np.random.default_rng(5).normal(0, 1, 900)
    at = [stopped_at((100 + spread * noise).tolist(), RULE) for spread in (5, 20, 60)]
    assert at == sorted(at)
    assert at[0] < at[-1]
    loose = StoppingRule(0.10, 120, 900)
    assert stopped_at((100 + 60 * noise).tolist(), loose) <= at[-1]


def test_a_window_that_stood_still_is_never_enough() -> None:
    assert stopped_at([0.0] * 900, RULE) == 900


def test_a_short_plan_has_a_short_memory() -> None:
    rule = StoppingRule(0.2, 20, 60)
    assert (rule.settle, rule.tail_min) == (6, 5)
    assert (RULE.settle, RULE.tail_min) == (40, 30)
    assert stopped_at(np.random.default_rng(6).normal(100, 1, 60).tolist(), rule) == 25


@pytest.mark.parametrize(("precision", "least", "most"), [(0, 120, 900), (0.03, 19, 900), (0.03, 120, 119)])
def test_what_cannot_be_judged_is_refused(precision: float, least: int, most: int) -> None:
    with pytest.raises(ValueError, match=r"lies between|at least 20"):
        StoppingRule(precision, least, most)


@settings(max_examples=50)
@given(
    st.lists(st.floats(0, 1e6), min_size=BATCHES, max_size=120),
    st.floats(0.01, 0.5),
    st.floats(0.1, 1000),
)
def test_it_stops_within_its_bounds_and_does_not_depend_on_the_unit(
    values: list[float], precision: float, unit: float
) -> None:
    rule = StoppingRule(precision, BATCHES, 100)
    at = stopped_at(values, rule)
    assert BATCHES <= at <= min(len(values), 100)
    found = reach(values, rule)
    scaled = reach([value * unit for value in values], rule)
    assert scaled.half_width == pytest.approx(found.half_width, rel=1e-6, abs=1e-9)
