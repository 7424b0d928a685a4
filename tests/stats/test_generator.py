"""When the generator, not the server, set a trial's number."""

from __future__ import annotations

import pytest

from dyno.stats import GeneratorUse, generator_limits, generator_reason


def reasons(**known: object) -> list[str]:
    whole: dict[str, object] = {"loop": "closed", "worker_share": 0.5, **known}
    return generator_limits(GeneratorUse(**whole))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("worker", "server", "limited"),
    [
        (0.90, 0.5, False),
        (0.91, 0.5, True),
        (0.99, 0.90, True),
        (0.99, 0.91, False),  # the server is at its own limit: it is what was measured
        (0.99, None, True),  # nobody saw the server: it cannot be shown to have been the limit
    ],
)
def test_closed_loop_cpu(worker: float, server: float | None, limited: bool) -> None:
    found = reasons(worker_share=worker, server_share=server)
    assert bool(found) == limited
    assert all("busiest worker used 9" in reason for reason in found)


@pytest.mark.parametrize(("done", "limited"), [(0.98, True), (0.99, False), (1.0, False)])
def test_a_busy_rig_that_met_its_rate_was_no_limit(done: float, limited: bool) -> None:
    found = reasons(loop="open", worker_share=0.95, server_share=0.3, done_share=done, dropped=7)
    assert bool(found) == limited
    assert all("7 due transactions were dropped" in reason for reason in found)


@pytest.mark.parametrize(("delay", "limited"), [(None, False), (0.25, False), (0.26, True)])
def test_waiting_for_a_cpu(delay: float | None, limited: bool) -> None:
    assert bool(reasons(run_delay_share=delay)) == limited


@pytest.mark.parametrize(
    ("lag_us", "response_us", "limited"),
    [
        (None, 5000, False),
        (999, 1000, False),  # timers are just timers
        (1100, 50_000, False),  # late, but little of what users waited
        (1100, 5000, True),
        (1100, None, True),
    ],
)
def test_lateness_of_the_rig(lag_us: float | None, response_us: float | None, limited: bool) -> None:
    known = {"generator_lag_p99_us": lag_us, "response_p99_us": response_us, "done_share": 1.0}
    assert bool(reasons(loop="open", **known)) == limited
    assert not reasons(loop="closed", **known)


def test_every_reason_is_named() -> None:
    found = reasons(worker_share=0.95, run_delay_share=0.5)
    assert len(found) == 2
    assert generator_reason(found).startswith("the generator was the bottleneck: the rig's busiest worker")
    assert "50 % of the time" in generator_reason(found)
