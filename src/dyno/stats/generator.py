"""Was the load generator the bottleneck? Then a trial's number says nothing of the server.

Each limit is a share or a time with a name; docs/METHOD.md says why it is where it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dyno.record.histogram import decode_all, merge, percentile_us

if TYPE_CHECKING:
    from dyno.record.lines import Summary
    from dyno.record.stream import Stream
    from dyno.record.usage import Usage

WORKER_CPU_LIMIT = 0.90
"""CPU share of the busiest worker from which on its sessions wait for the rig rather than for the server."""

SERVER_CPU_LIMIT = 0.90
"""Share of the server's own CPUs from which on the server has a limit of its own beside the rig's."""

RUN_DELAY_LIMIT = 0.25
"""Share of the time that a worker was ready to run but had no CPU: that time is in every latency."""

GENERATOR_LAG_LIMIT_US = 1000.0
"""How late the rig may be at the 99th percentile, whatever the server takes: timers are just timers."""

GENERATOR_LAG_SHARE_LIMIT = 0.10
"""… and above that, which part of the 99th percentile of the response time may be the rig's own lateness."""

HINT = "give the rig more or idle CPUs ([placement] rig_cpus), or ask for less load"

KEPT_UP = 0.99
"""Share of the due transactions that must be done for an offered rate to count as met."""


@dataclass(frozen=True)
class GeneratorUse:
    """What one trial shows of its generator, over the measured window; None where it is not known.

    Attributes:
        loop: Closed or open.
        worker_share: CPU share of the busiest worker, 0…1.
        run_delay_share: Share of its time that the worst worker waited for a CPU, 0…1.
        server_share: The server's CPU time as a share of the CPUs that it may use, 0…1.
        done_share: Open loop: transactions done ÷ due, 0…1.
        dropped: Open loop: due transactions that found the backlog full.
        generator_lag_p99_us: Open loop: how late the rig was, 99th percentile.
        response_p99_us: Open loop: response time, 99th percentile.
    """

    loop: Literal["closed", "open"]
    worker_share: float
    run_delay_share: float | None = None
    server_share: float | None = None
    done_share: float | None = None
    dropped: int = 0
    generator_lag_p99_us: float | None = None
    response_p99_us: float | None = None


def generator_use(stream: Stream, summary: Summary, used: Usage, *, server_cpus: int | None) -> GeneratorUse:
    """What a whole record shows of its generator.

    Args:
        stream: The record.
        summary: Its summary.
        used: CPU use over the measured window.
        server_cpus: CPUs that the server may use, or None when that is not known.

    Raises:
        DynoError: A histogram is damaged.
    """
    server_share = None
    if used.server_cores is not None and server_cpus:
        server_share = used.server_cores / server_cpus
    counted = summary.open
    if counted is None:
        return GeneratorUse("closed", used.worker_share, used.run_delay_share, server_share)
    done = sum(each.ok for each in summary.transactions)
    return GeneratorUse(
        stream.header.loop,
        used.worker_share,
        used.run_delay_share,
        server_share,
        done_share=done / counted.due if counted.due else None,
        dropped=counted.dropped,
        generator_lag_p99_us=percentile_us(decode_all([counted.generator_lag]), 99),
        response_p99_us=percentile_us(merge(decode_all([t.latency]) for t in summary.transactions), 99),
    )


def generator_limits(use: GeneratorUse) -> list[str]:
    """Why the generator, not the server, set this trial's number; empty when it did not.

    A busy worker is no reason where the server has reached a limit of its own, or where an open loop met its
    rate all the same.
    """
    reasons = []
    if use.worker_share > WORKER_CPU_LIMIT and not server_limited(use) and not _met(use):
        text = f"the rig's busiest worker used {_percent(use.worker_share)} of its CPU"
        text += "" if use.server_share is None else f", the server {_percent(use.server_share)} of its own"
        text += f"; {use.dropped:,} due transactions were dropped" if use.dropped else ""
        reasons.append(text)
    if use.run_delay_share is not None and use.run_delay_share > RUN_DELAY_LIMIT:
        share = _percent(use.run_delay_share)
        reasons.append(f"a worker of the rig was ready to run but had no CPU for {share} of the time")
    if _late(use):
        assert use.generator_lag_p99_us is not None
        reasons.append(
            f"the rig itself was {use.generator_lag_p99_us / 1000:.3g} ms late at the 99th percentile"
        )
    return reasons


def generator_reason(limits: list[str]) -> str:
    """Why a trial is invalid, from its `generator_limits`."""
    return f"the generator was the bottleneck: {'; '.join(limits)}"


def server_limited(use: GeneratorUse) -> bool:
    """Whether the server is known to have reached the limit of its own CPUs."""
    return use.server_share is not None and use.server_share > SERVER_CPU_LIMIT


def _met(use: GeneratorUse) -> bool:
    return use.done_share is not None and use.done_share >= KEPT_UP


def _late(use: GeneratorUse) -> bool:
    lag, response = use.generator_lag_p99_us, use.response_p99_us
    if use.loop == "closed" or lag is None or lag <= GENERATOR_LAG_LIMIT_US:
        return False
    return response is None or lag > GENERATOR_LAG_SHARE_LIMIT * response


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
