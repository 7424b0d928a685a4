"""Knees at the host's borders: seen where there is one, and not where there is none."""

import math

import numpy as np
import pytest

from dyno.stats.knees import Border, find_knees

LEVELS = np.asarray([1.0, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 256])
BORDERS = [Border(8, "one cache"), Border(48, "one NUMA node"), Border(96, "all CPUs")]


def levels(exponent: float, rng: np.random.Generator, spread: float = 0.02) -> dict[float, list[float]]:
    law = 1000 * LEVELS / (1 + 0.01 * (LEVELS - 1) + 2e-5 * LEVELS * (LEVELS - 1))
    bent = law * np.maximum(LEVELS / 48, 1) ** exponent * np.exp(rng.normal(0, spread, LEVELS.size))
    return {n: [x] for n, x in zip(LEVELS.tolist(), bent.tolist(), strict=True)}


def test_a_clear_knee_is_found_where_it_is() -> None:
    rng = np.random.default_rng(1)
    knees = find_knees(levels(-0.5, rng, 0.005), BORDERS)
    strongest = min(knees, key=lambda knee: knee.p_holm)
    assert strongest.border.name == "one NUMA node"
    assert strongest.found
    assert strongest.exponent == pytest.approx(-0.5, abs=0.1)


def test_false_knees_are_rare() -> None:
    """60 smooth curves: as many with any knee as 5 % + 3.5 standard errors allow."""
    rng = np.random.default_rng(20261121)
    found = sum(any(knee.found for knee in find_knees(levels(0, rng), BORDERS)) for _ in range(60))
    assert found / 60 <= 0.05 + 3.5 * math.sqrt(0.05 * 0.95 / 60)


def test_p_values_are_uniform_without_a_knee() -> None:
    """The median p of one border over 60 smooth curves is 0.5 ± 3.5 standard errors."""
    rng = np.random.default_rng(7)
    p_values = [find_knees(levels(0, rng), BORDERS[1:2])[0].p_value for _ in range(60)]
    assert abs(np.mean(np.asarray(p_values) < 0.5) - 0.5) <= 3.5 * math.sqrt(0.25 / 60)


def test_a_border_needs_levels_on_both_sides() -> None:
    rng = np.random.default_rng(2)
    tried = find_knees(levels(0, rng), [Border(1, "a"), Border(48, "b"), Border(200, "c"), Border(256, "d")])
    assert [knee.border.name for knee in tried] == ["b"]


def test_few_levels_are_not_tested() -> None:
    rng = np.random.default_rng(2)
    few = {n: x for n, x in levels(0, rng).items() if n in {1, 4, 16, 48, 96, 256}}
    assert find_knees(few, BORDERS) == []


def test_a_perfect_law_has_no_knee() -> None:
    exact = {n: [1000 * n] for n in LEVELS.tolist()}
    assert not any(knee.found for knee in find_knees(exact, BORDERS))
