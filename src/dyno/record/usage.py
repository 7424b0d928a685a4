"""What a trial used over its measured window: the rig's CPUs, the server's, the host's."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dyno.record.lines import Interval
    from dyno.record.stream import Stream


@dataclass(frozen=True)
class Usage:
    """CPU use over the measured window; None where it was not sampled.

    Attributes:
        client_cores: CPU time of the rig's workers, in cores.
        client_share: The same as a share of the CPUs that they run on, 0…1.
        worker_share: CPU share of the busiest worker, 0…1.
        run_delay_share: Share of the time in which the worst worker was ready to run but had no CPU, 0…1.
        server_cores: CPU time of the server, in cores.
        steal_share: Share of the host's CPU time that the hypervisor took, 0…1.
        others_share: Share of the host's CPU time that neither server nor rig used, 0…1.
    """

    client_cores: float
    client_share: float
    worker_share: float
    run_delay_share: float | None
    server_cores: float | None
    steal_share: float
    others_share: float | None


def usage(stream: Stream, *, rig_cpus: int) -> Usage:
    """The use of CPUs over the measured window.

    Args:
        stream: A whole record stream.
        rig_cpus: CPUs that the plan gave the rig, for a stream that does not name its workers.
    """
    measured = [interval for interval in stream.intervals if interval.phase == "measure"]
    client_cores = over(sum(i.client_cpu_us for i in measured), sum(i.duration_us for i in measured))
    client_share = client_cores / _rig_cpus(stream, rig_cpus)
    busy, delay = _workers(measured)
    return Usage(
        client_cores=client_cores,
        client_share=client_share,
        worker_share=max(busy, default=client_share),
        run_delay_share=max(delay, default=None),
        server_cores=_server_cores(stream),
        steal_share=_steal(stream),
        others_share=_others(stream),
    )


def over(part: float, whole: float) -> float:
    """Quotient; 0 of nothing."""
    return part / whole if whole else 0.0


def _workers(measured: Iterable[Interval]) -> tuple[list[float], list[float]]:
    """CPU share of each worker, and share of its time that it waited for a CPU where the kernel tells."""
    cpu_us: dict[int, float] = defaultdict(float)
    delay_us: dict[int, float] = defaultdict(float)
    span_us: dict[int, float] = defaultdict(float)
    for interval in measured:
        for use in interval.workers:
            span_us[use.worker] += interval.duration_us
            cpu_us[use.worker] += use.cpu_us
            if use.run_delay_us is not None:
                delay_us[use.worker] += use.run_delay_us
    return (
        [over(value, span_us[worker]) for worker, value in cpu_us.items()],
        [over(value, span_us[worker]) for worker, value in delay_us.items()],
    )


def _rig_cpus(stream: Stream, planned: int) -> int:
    """How many CPUs the rig's workers could use: the distinct ones they are pinned to, or one each."""
    pinned = {worker.cpu for worker in stream.header.workers if worker.cpu is not None}
    return len(pinned) or len(stream.header.workers) or planned or 1


def _server_cores(stream: Stream) -> float | None:
    """CPU time of the server, in cores; None when it was not sampled in the window."""
    used = [
        process
        for process in stream.processes
        if process.role == "server" and stream.phase_at(process.t_us - process.duration_us / 2) == "measure"
    ]
    if not used:
        return None
    return over(sum(p.cpu_user_us + p.cpu_system_us for p in used), sum(p.duration_us for p in used))


def _steal(stream: Stream) -> float:
    cpus = [
        cpu
        for host in stream.hosts
        if stream.phase_at(host.t_us - host.duration_us / 2) == "measure"
        for cpu in host.cpus
    ]
    total = sum(c.user_us + c.system_us + c.iowait_us + c.steal_us + c.idle_us for c in cpus)
    return over(sum(c.steal_us for c in cpus), total)


def _others(stream: Stream) -> float | None:
    """Share of all CPUs' time that neither server nor rig used; None if one of them was not sampled."""
    hosts = [host for host in stream.hosts if stream.phase_at(host.t_us - host.duration_us / 2) == "measure"]
    roles = {process.role for process in stream.processes}
    if not hosts or roles != {"server", "rig"}:
        return None
    span = range(hosts[0].t_us - hosts[0].duration_us, hosts[-1].t_us + 1)
    ours = sum(
        p.cpu_user_us + p.cpu_system_us for p in stream.processes if p.t_us - p.duration_us // 2 in span
    )
    busy = sum(c.user_us + c.system_us for host in hosts for c in host.cpus)
    return max(0.0, over(busy - ours, sum(host.duration_us * len(host.cpus) for host in hosts)))
