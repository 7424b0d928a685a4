"""The A/A test: right numbers, a floor that holds the interval, and as many false alarms as it promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno import stats
from dyno.stats.noise import aa_test

SIDE = st.lists(st.floats(900, 1100), min_size=2, max_size=8)


def blocks(values: list[float]) -> dict[int, float]:
    return dict(enumerate(values, start=1))


def test_it_is_the_comparison_of_two_engines() -> None:
    a, b = blocks([100.0, 102.0, 97.0, 101.0]), blocks([99.0, 103.0, 98.0, 100.0])
    test, compared = aa_test(a, b), stats.compare(a, b)
    assert (test.ratio, test.p_value) == (compared.ratio, compared.p_value)
    assert test.ratio.low
    assert test.ratio.high
    assert test.floor == pytest.approx(max(test.ratio.high, 1 / test.ratio.low) - 1)
    assert not test.false_alarm


def test_the_spread_is_that_within_the_sides() -> None:
    a, b = np.exp([0.01, -0.01]), np.exp([0.52, 0.50, 0.48])
    test = aa_test(blocks(a.tolist()), blocks(b.tolist()))
    # Sums of squares 0.0002 and 0.0008 over 1 + 2 degrees of freedom; how far apart the sides are: no spread.
    assert test.spread == pytest.approx((0.001 / 3) ** 0.5)
    assert test.false_alarm


@given(a=SIDE, b=SIDE)
def test_the_floor_holds_the_whole_interval_and_does_not_care_which_side_is_a(
    a: list[float], b: list[float]
) -> None:
    # Pairs always have a bounded interval.
    b = (b * len(a))[: len(a)]
    test, swapped = aa_test(blocks(a), blocks(b)), aa_test(blocks(b), blocks(a))
    low, high = test.ratio.low, test.ratio.high
    assert low is not None
    assert high is not None
    band = 1 + test.floor
    assert 1 / band <= low * (1 + 1e-9)
    assert high <= band * (1 + 1e-9)
    assert test.false_alarm == (low > 1 or high < 1)
    assert swapped.floor == pytest.approx(test.floor)


def test_false_alarms_are_as_rare_as_promised() -> None:
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(2000):
        mood = rng.lognormal(0, 0.05, 6)
        a, b = (mood * rng.lognormal(0, 0.01, 6) for _ in range(2))
        alarms += aa_test(blocks(a.tolist()), blocks(b.tolist())).false_alarm
    assert 0.035 < alarms / 2000 < 0.065


@pytest.mark.parametrize(
    ("a", "b"), [([100.0], [100.0, 101.0]), ([100.0, 101.0], []), ([100.0, 101.0], [1.0, 1000.0, 5.0])]
)
def test_what_shows_nothing_is_refused(a: list[float], b: list[float]) -> None:
    with pytest.raises(ValueError, match=r"two good trials|scatter too much"):
        aa_test(blocks(a), blocks(b))
