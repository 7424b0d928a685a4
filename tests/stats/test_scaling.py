"""Scaling laws: known curves, an independent fit, published data, coverage, and every refusal."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from dyno.stats.scaling import ScalingFit, ScalingRefusal, fit_scaling

LEVELS = np.asarray([1.0, 4, 16, 32, 64, 128, 256, 512])
SDM91 = {1: 64.9, 18: 995.9, 36: 1652.4, 72: 1853.2, 108: 1828.9, 144: 1775.0, 216: 1702.2}
"""SPEC SDM91 on a SPARCcenter 2000, scripts/h by users: Gunther (2007); `specsdm91` of R's package usl."""


def usl(n: np.ndarray, gamma: float, alpha: float, beta: float) -> np.ndarray:
    return np.asarray(gamma * n / (1 + alpha * (n - 1) + beta * n * (n - 1)))


def once(sessions: Sequence[float], values: Sequence[float]) -> dict[float, list[float]]:
    return {n: [x] for n, x in zip(sessions, values, strict=True)}


def fitted(levels: Mapping[float, Sequence[float]]) -> ScalingFit:
    fit = fit_scaling(levels)
    assert isinstance(fit, ScalingFit), fit
    return fit


def refused(levels: Mapping[float, Sequence[float]]) -> ScalingRefusal:
    fit = fit_scaling(levels)
    assert isinstance(fit, ScalingRefusal), fit
    return fit


@settings(max_examples=25)
@given(
    st.floats(min_value=1, max_value=1e6),
    st.floats(min_value=0.001, max_value=0.3),
    st.floats(min_value=1e-5, max_value=1e-3),
)
def test_an_exact_curve_gives_its_parameters(gamma: float, alpha: float, beta: float) -> None:
    fit = fitted(once(LEVELS.tolist(), usl(LEVELS, gamma, alpha, beta).tolist()))
    assert fit.law == "usl"
    assert fit.beta is not None
    assert fit.peak_sessions is not None
    assert (fit.gamma.value, fit.alpha.value, fit.beta.value) == pytest.approx((gamma, alpha, beta), rel=1e-3)
    assert fit.peak_sessions.value == pytest.approx(math.sqrt((1 - alpha) / beta), rel=1e-3)
    assert max(abs(r) for r in fit.residuals) < 1e-4


def test_unit_of_throughput_does_not_matter() -> None:
    minutes = fitted(once(list(SDM91), [60 * x for x in SDM91.values()]))
    seconds = fitted(once(list(SDM91), list(SDM91.values())))
    assert minutes.gamma.value == pytest.approx(60 * seconds.gamma.value, rel=1e-4)
    assert minutes.alpha.low == pytest.approx(seconds.alpha.low, rel=1e-3)


def test_sdm91() -> None:
    """Gunther (2007) and R's usl, by absolute residuals: the peak at 96 users, 1,884 scripts/h."""
    fit = fitted(once(list(SDM91), list(SDM91.values())))
    assert fit.peak_sessions is not None
    assert fit.peak_throughput is not None
    assert fit.peak_sessions.value == pytest.approx(96.5, rel=0.06)
    assert fit.peak_sessions.low <= 96.5 <= fit.peak_sessions.high
    assert fit.peak_throughput.value == pytest.approx(1884, rel=0.06)
    assert not fit.extrapolated


def test_equals_a_plain_fit_of_logarithms() -> None:
    """Scipy's curve_fit of three parameters at once finds the same as ours of two with γ projected out."""
    n, x = np.asarray(list(SDM91), dtype=float), np.asarray(list(SDM91.values()))
    found, _ = optimize.curve_fit(
        lambda n, g, a, b: g + np.log(n) - np.log1p((n - 1) * (a + b * n)), n, np.log(x), p0=(4, 0.01, 1e-4)
    )
    fit = fitted(once(n.tolist(), x.tolist()))
    assert fit.beta is not None
    assert (math.log(fit.gamma.value), fit.alpha.value, fit.beta.value) == pytest.approx(found, rel=1e-3)


def test_the_interval_is_that_of_the_profile() -> None:
    """At either end of α's interval the best fit with that α is worse by just F(1, 4) × s²."""
    n, x = np.asarray(list(SDM91), dtype=float), np.asarray(list(SDM91.values()))
    fit = fitted(once(n.tolist(), x.tolist()))

    def squares(alpha: float, beta: float) -> float:
        found = np.log(x / n) + np.log1p((n - 1) * (alpha + beta * n))
        return float(((found - found.mean()) ** 2).sum())

    assert fit.beta is not None
    least = squares(fit.alpha.value, fit.beta.value)
    limit = least * (1 + 7.708647 / 4)  # F(0.95; 1, 4), from the usual table
    for end in (fit.alpha.low, fit.alpha.high):
        assert end is not None
        profile = optimize.minimize_scalar(
            lambda beta, a=end: squares(a, beta), bounds=(0, 1e-3), method="bounded"
        )
        assert float(profile.fun) == pytest.approx(limit, rel=0.01)


def test_amdahl_where_no_peak_shows() -> None:
    rng = np.random.default_rng(20261121)
    values = usl(LEVELS, 500, 0.05, 0) * np.exp(rng.normal(0, 0.02, LEVELS.size))
    fit = fitted(once(LEVELS.tolist(), values.tolist()))
    assert fit.law == "amdahl"
    assert fit.beta is None
    assert fit.peak_sessions is None
    assert fit.limit is not None
    assert fit.limit.low is not None
    assert fit.limit.high is not None
    assert fit.limit.low <= 500 / 0.05 <= fit.limit.high


def test_a_peak_beyond_the_levels_is_marked_or_left_out() -> None:
    near = fitted(once(LEVELS.tolist(), usl(LEVELS, 100, 0.001, 2e-6).tolist()))
    assert near.extrapolated
    assert near.peak_note is not None
    assert "extrapolated" in near.peak_note
    far = fitted(once(LEVELS.tolist(), usl(LEVELS, 100, 0.001, 5e-7).tolist()))
    assert far.peak_sessions is None
    assert far.peak_note is not None
    assert "beyond twice" in far.peak_note


def test_trials_of_a_level_are_one_observation() -> None:
    values = usl(LEVELS, 100, 0.03, 5e-5) * np.exp(np.resize([0.02, -0.02], 8))
    alone = fitted(once(LEVELS.tolist(), values.tolist()))
    many = fitted({n: [x / 1.1, x, x * 1.1] for n, x in zip(LEVELS.tolist(), values.tolist(), strict=True)})
    assert many.alpha.low == pytest.approx(alone.alpha.low, rel=1e-6)
    assert (alone.alpha.n, many.alpha.n) == (8, 24)


def test_the_curve_has_its_band() -> None:
    fit = fitted(once(list(SDM91), list(SDM91.values())))
    assert (fit.curve[0].sessions, fit.curve[-1].sessions) == pytest.approx((1, 216))
    assert all(point.low < point.value < point.high for point in fit.curve)


@pytest.mark.parametrize(
    ("code", "reason", "values"),
    [
        ("few levels", "5 load levels have a number, a law needs 6", usl(LEVELS, 100, 0.03, 5e-5)[:5]),
        ("few levels", "0 load levels", np.asarray([])),
        ("past the peak", "highest at the lowest level, 1 session:", 100 / LEVELS**0.3),
        ("no curvature", "proportional to the sessions up to 512", 100 * LEVELS * np.resize([1.01, 0.99], 8)),
        (
            "bad fit",
            "the level of 256 is off by +50%",
            usl(LEVELS, 100, 0.03, 0) * np.asarray([1, 1, 1, 1, 1, 1, 1, 0.3]),
        ),
    ],
)
def test_refusals(code: str, reason: str, values: np.ndarray) -> None:
    refusal = refused(once(LEVELS[: values.size].tolist(), values.tolist()))
    assert refusal.code == code
    assert reason in refusal.reason


def test_refuses_what_is_no_load_and_no_number() -> None:
    with pytest.raises(ValueError, match="0 sessions"):
        fit_scaling(once([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]))
    with pytest.raises(ValueError, match="above 0"):
        fit_scaling(once([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 0]))


@pytest.mark.parametrize(("alpha", "beta"), [(0.03, 5e-5), (0.1, 0.0)])
def test_coverage(alpha: float, beta: float) -> None:
    """200 experiments with 4 % of scatter: 95 % ± 3.5 standard errors of the intervals hold the truth."""
    rng = np.random.default_rng(20261121)
    truth = usl(LEVELS, 1000, alpha, beta)
    at = 30
    held: dict[str, list[bool]] = {}
    for _ in range(200):
        fit = fit_scaling(once(LEVELS.tolist(), (truth * np.exp(rng.normal(0, 0.04, 8))).tolist()))
        if isinstance(fit, ScalingRefusal):
            continue
        pairs = [("gamma", fit.gamma, 1000.0), ("alpha", fit.alpha, alpha)]
        if beta and fit.beta and fit.peak_sessions and fit.peak_throughput:
            peak = math.sqrt((1 - alpha) / beta)
            pairs += [("beta", fit.beta, beta), ("peak", fit.peak_sessions, peak)]
            pairs += [("top", fit.peak_throughput, float(usl(np.asarray(peak), 1000, alpha, beta)))]
        if fit.limit and not beta:
            pairs += [("limit", fit.limit, 1000 / alpha)]
        point = fit.curve[at]
        curve = float(usl(np.asarray(point.sessions), 1000, alpha, beta))
        held.setdefault("curve", []).append(point.low <= curve <= point.high)
        for name, estimate, value in pairs:
            assert estimate.low is not None
            assert estimate.high is not None
            held.setdefault(name, []).append(estimate.low <= value <= estimate.high)
    assert set(held) == {"gamma", "alpha", "curve"} | ({"beta", "peak", "top"} if beta else {"limit"})
    for name, hits in held.items():
        assert len(hits) >= 180, name
        assert np.mean(hits) >= 0.95 - 3.5 * math.sqrt(0.95 * 0.05 / len(hits)), (name, np.mean(hits))
