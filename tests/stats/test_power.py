"""Power: against R, PowerTOST and Cohen's tables, and by simulating the whole test."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.stats import (
    Design,
    detectable_effect,
    equivalence_power,
    equivalence_trials_needed,
    power,
    ratio_paired,
    ratio_unpaired,
    spread_of,
    trials_needed,
    verdict,
)
from dyno.stats.power import tost_power

UNIT = math.expm1(1.0)
"""An effect of 1 on the scale of the logarithm."""


def test_r_power_t_test() -> None:
    """R: power.t.test(n = 20, delta = 1, sd = 1) → 0.8689528; for power = .90, n = 22.02110."""
    design = Design(1.0, paired=False)
    assert power(design, UNIT, 20) == pytest.approx(0.8689528, abs=1e-6)
    assert trials_needed(design, UNIT, wanted=0.9) == 23


def test_cohen_paired() -> None:
    """d_z = 0.5, two-sided 5 %: 34 pairs for 80 % (G*Power 3: n = 34, power 0.8077775)."""
    design = Design(1 / math.sqrt(2))
    effect = math.expm1(0.5)
    assert power(design, effect, 34) == pytest.approx(0.8077775, abs=1e-6)
    assert trials_needed(design, effect) == 34


@pytest.mark.parametrize(("cv", "n", "expected"), [(0.30, 40, 0.815845), (0.20, 20, 0.834680)])
def test_power_tost(cv: float, n: int, expected: float) -> None:
    """R's PowerTOST: sampleN.TOST(CV, theta0 = 0.95), the usual crossover with limits 0.8…1.25."""
    within = math.sqrt(math.log1p(cv**2))
    error = within * math.sqrt(2 / n)
    found = tost_power(math.log(1.25), math.log(0.95), error, n - 2, significance=0.05)
    assert found == pytest.approx(expected, abs=1e-6)


spreads = st.floats(min_value=1e-4, max_value=1.0)


@given(spreads, st.integers(2, 60), st.booleans(), st.integers(1, 50))
def test_detectable_effect_is_seen_with_the_wanted_power(spread: float, n: int, paired: bool, k: int) -> None:
    design = Design(spread, paired=paired, comparisons=k)
    effect = detectable_effect(design, n)
    if effect is None:
        assert power(design, 10.0, n) < 0.8
    else:
        assert power(design, effect, n) == pytest.approx(0.8, abs=1e-4)


@given(spreads, st.floats(min_value=0.005, max_value=0.5), st.integers(1, 50))
def test_trials_needed_are_just_enough(spread: float, effect: float, k: int) -> None:
    design = Design(spread, comparisons=k)
    n = trials_needed(design, effect)
    if n is None:
        assert power(design, effect, 1000) < 0.8
    else:
        assert power(design, effect, n) >= 0.8
        assert n == 1 or power(design, effect, n - 1) < 0.8


def test_one_trial_sees_nothing() -> None:
    design = Design(0.01)
    assert power(design, 0.5, 1) == 0
    assert detectable_effect(design, 1) is None
    assert equivalence_power(design, 0.5, 1) == 0


def test_more_comparisons_need_more_trials() -> None:
    alone, many = trials_needed(Design(0.015), 0.02), trials_needed(Design(0.015, comparisons=24), 0.02)
    assert alone is not None
    assert many is not None
    assert alone < many


@pytest.mark.parametrize("paired", [True, False])
def test_power_by_simulation(paired: bool) -> None:
    """4,000 experiments of the two ratios find the effect as often as computed, ± 3.5 standard errors.

    Fieller's interval divides means, not logarithms, which at 2 % of spread is the same to 0.1 %; Welch's
    degrees of freedom are a little fewer than the design's, hence the room below.
    """
    design, effect, n = Design(0.02, paired=paired), 0.04, 6
    expected = power(design, effect, n)
    rng = np.random.default_rng(20261121)
    ratio = ratio_paired if paired else ratio_unpaired
    seen = 0
    for _ in range(4000):
        a, b = (1 + effect) * np.exp(rng.normal(0, 0.02, n)), np.exp(rng.normal(0, 0.02, n))
        p = ratio(a.tolist(), b.tolist()).p_value
        seen += p is not None and p < 0.05
    error = math.sqrt(expected * (1 - expected) / 4000)
    assert -3.5 * error - (0 if paired else 0.02) <= seen / 4000 - expected <= 3.5 * error


def test_equivalence_power_by_simulation() -> None:
    """4,000 experiments: "no relevant difference" is said as often as computed, ± 3.5 standard errors."""
    design, n = Design(0.02), 6
    expected = equivalence_power(design, 0.05, n)
    rng = np.random.default_rng(20261121)
    seen = 0
    for _ in range(4000):
        a, b = np.exp(rng.normal(0, 0.02, n)), np.exp(rng.normal(0, 0.02, n))
        seen += (
            verdict(ratio_paired(a.tolist(), b.tolist()), relevant_difference=0.05)
            == "no relevant difference"
        )
    assert abs(seen / 4000 - expected) <= 3.5 * math.sqrt(expected * (1 - expected) / 4000)
    needed = equivalence_trials_needed(design, 0.05)
    assert needed is not None
    assert equivalence_power(design, 0.05, needed) >= 0.8 > equivalence_power(design, 0.05, needed - 1)


def test_spread_of_a_pilot_without_its_blocks() -> None:
    """The interval of σ holds the truth in 95 % ± 3 % of 1,000 pilots with large block effects."""
    rng = np.random.default_rng(20261121)
    covered, estimates = 0, []
    for _ in range(1000):
        groups = []
        for _ in range(3):
            block = rng.normal(0, 0.2, 4)
            groups.append(
                {
                    engine: dict(enumerate(np.exp(block + rng.normal(0, 0.015, 4)).tolist()))
                    for engine in ("a", "b", "c")
                }
            )
        found = spread_of(groups)
        assert found.n == 3 * 2 * 3
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.015 <= found.high
        estimates.append(found.value**2)
    assert 0.926 <= covered / 1000 <= 0.974
    assert math.sqrt(np.mean(estimates)) == pytest.approx(0.015, rel=0.03)


def test_spread_of_one_engine_is_that_of_its_logarithms() -> None:
    values = [100.0, 103, 98, 101]
    found = spread_of([{"a": dict(enumerate(values))}])
    assert found.value == pytest.approx(np.log(values).std(ddof=1))
    assert found.n == 3


def test_spread_needs_repeats() -> None:
    with pytest.raises(ValueError, match="two trials or more"):
        spread_of([{"a": {1: 5.0}, "b": {1: 6.0}}])


@pytest.mark.parametrize("spread", [0.0, -1.0, math.nan, math.inf])
def test_refuses_no_spread(spread: float) -> None:
    with pytest.raises(ValueError, match="spread must be above 0"):
        Design(spread)


def test_refuses_no_effect_and_no_trial() -> None:
    with pytest.raises(ValueError, match="above 0, not 0"):
        power(Design(0.01), 0, 3)
    with pytest.raises(ValueError, match="at least one trial"):
        detectable_effect(Design(0.01), 0)
