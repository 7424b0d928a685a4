"""Little's law on a simulated closed loop, and its refusals."""

from __future__ import annotations

import numpy as np
import pytest

from dyno.stats.littles_law import littles_law


def test_it_holds_for_sessions_that_do_nothing_but_work_and_think() -> None:
    random = np.random.default_rng(1)
    window_s, sessions, done, busy_s = 500.0, 8, 0, 0.0
    for _ in range(sessions):
        work, think = random.exponential(0.05, 40_000), random.exponential(0.02, 40_000)
        ends = np.cumsum(work + think) - think
        inside = ends <= window_s
        done += int(inside.sum())
        busy_s += float(work[inside].sum())
    found = littles_law(
        sessions=sessions,
        throughput_per_s=done / window_s,
        response_mean_us=busy_s / done * 1e6,
        window_s=window_s,
        think_mean_us=20_000,
    )
    assert found is not None
    assert found.holds
    assert found.ratio == pytest.approx(1, abs=0.02)
    without = littles_law(
        sessions=sessions,
        throughput_per_s=done / window_s,
        response_mean_us=busy_s / done * 1e6,
        window_s=window_s,
    )
    assert without is not None
    assert not without.holds
    assert without.ratio == pytest.approx(5 / 7, abs=0.02)


def test_a_window_of_a_few_transactions_says_nothing() -> None:
    assert littles_law(sessions=1, throughput_per_s=1, response_mean_us=1e6, window_s=30) is None


@pytest.mark.parametrize("wrong", [{"sessions": 0}, {"window_s": 0}, {"throughput_per_s": -1}])
def test_what_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    given = {"sessions": 1, "throughput_per_s": 1, "response_mean_us": 1, "window_s": 30} | wrong
    with pytest.raises(ValueError, match="below 0, or the first or last is 0"):
        littles_law(**given)
