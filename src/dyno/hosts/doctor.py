"""What in this host would spoil a measurement: one verdict a check, each with what to do about it.

`warn` says that numbers will be noisier or less like a server's; `fail` says that a run will break or mean
little. Thresholds are constants beside their check.
"""

from __future__ import annotations

import os
import resource
import shutil
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from dyno.hosts import facts
from dyno.hosts.facts import ROOT
from dyno.hosts.placement import Placement, allowed_cpus, place

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dyno.hosts.ceiling import Ceiling

GIB = 1024**3
FREE_DISK_WARN_BYTES = 20 * GIB
FREE_DISK_FAIL_BYTES = 3 * GIB
FREE_MEMORY_WARN_BYTES = 2 * GIB
FREE_MEMORY_FAIL_BYTES = GIB // 2
NOFILE_WARN = 4096
NOFILE_FAIL = 512
LOAD_WARN_PER_CPU = 0.2
STEAL_WARN_SHARE = 0.01
STEAL_SECONDS = 0.5
SWAP_USED_WARN_BYTES = 16 * 1024**2


@dataclass(frozen=True)
class Check:
    """One verdict in words."""

    check: str
    verdict: Literal["ok", "warn", "fail"]
    text: str
    hint: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The form of docs/FORMAT.md."""
        return asdict(self)


def examine(
    data_path: Path,
    placement: Placement | None = None,
    root: Path = ROOT,
    ceiling: Ceiling | None = None,
) -> list[Check]:
    """Every check, in the order in which a reader should care.

    Args:
        data_path: Where the engines' data will lie (its filesystem is judged).
        placement: Which CPUs each side gets; None stands for the automatic one.
        ceiling: What the rig can do here at most, where that was measured.
        root: Root of the file tree that holds /proc and /sys.
    """
    checks: list[Callable[[], Check]] = [
        lambda: check_cpus(placement or place(root=root)),
        lambda: check_ceiling(ceiling),
        lambda: check_load(root),
        lambda: check_steal(root),
        lambda: check_governor(root),
        lambda: check_memory(root),
        lambda: check_swap(root),
        lambda: check_disk(data_path),
        lambda: check_io_scheduler(data_path, root),
        lambda: check_hugepages(root),
        lambda: check_nofile(resource.getrlimit(resource.RLIMIT_NOFILE)[1]),
        lambda: check_virtualization(facts.virtualization()),
    ]
    return [check() for check in checks]


def check_ceiling(ceiling: Ceiling | None) -> Check:
    """Whether it is known how much load the generator can make."""
    if ceiling is None:
        text = "how much load the rig can make on this host is not known"
        return Check("selftest", "warn", text, "`dyno selftest` measures it, in 20 s on an idle host")
    rate = ceiling.rate_per_s_max
    opened = f", {rate:,.0f} transactions/s on time" if rate else ""
    text = f"the rig can send {ceiling.queries_per_s_max:,.0f} queries/s{opened} ({ceiling.measured[:10]})"
    return Check("selftest", "ok", text)


def check_cpus(placement: Placement) -> Check:
    """Server and rig should not share a CPU."""
    apart = (
        placement.server_cpus
        and placement.rig_cpus
        and not set(placement.server_cpus) & set(placement.rig_cpus)
    )
    count = len(allowed_cpus())
    text = f"{count} CPU{'s' if count > 1 else ''} to use; {placement.text}"
    if apart and "threads of one core" not in placement.text:
        return Check("cpus", "ok", text)
    if apart:
        return Check("cpus", "warn", text, "disable SMT, or give each side whole cores in [placement]")
    return Check("cpus", "warn", text, "use a host with at least two CPUs, or leave [placement] on auto")


def check_load(root: Path = ROOT) -> Check:
    """Nothing else should be running."""
    load = float((facts.read_text(root / "proc/loadavg") or "0").split()[0])
    count = os.cpu_count() or 1
    text = f"load average {load:.2f} over the last minute, on {count} CPUs"
    if load <= LOAD_WARN_PER_CPU * count:
        return Check("load", "ok", text)
    return Check("load", "warn", text, "wait until the machine is idle: `top` shows who works")


def check_steal(root: Path = ROOT, sleep: Callable[[float], None] = time.sleep) -> Check:
    """The hypervisor should not give our CPUs to a neighbour; looked at for half a second."""
    before = _cpu_times(root)
    sleep(STEAL_SECONDS)
    after = _cpu_times(root)
    if before is None or after is None:
        return Check("steal", "ok", "this kernel does not count stolen CPU time")
    total = sum(after) - sum(before)
    share = (after[7] - before[7]) / total if total > 0 else 0.0
    text = f"{share:.1%} of the CPU time was stolen by the hypervisor just now"
    if share <= STEAL_WARN_SHARE:
        return Check("steal", "ok", text)
    return Check("steal", "warn", text, "noisy neighbours: use a dedicated host, or more trials")


def check_governor(root: Path = ROOT) -> Check:
    """The CPUs' clock should not follow the load."""
    name = facts.governor(root)
    if name is None:
        return Check("governor", "ok", "no frequency governor to see (usual in a virtual machine)")
    if name == "performance":
        return Check("governor", "ok", "performance")
    return Check(
        "governor",
        "warn",
        f"{name}: the clock follows the load",
        "as root: cpupower frequency-set -g performance",
    )


def check_memory(root: Path = ROOT) -> Check:
    """Buffer pools and the page cache need room."""
    free = facts.meminfo(root).get("MemAvailable", 0)
    text = f"{free / GIB:.1f} GiB of memory are free"
    if free < FREE_MEMORY_FAIL_BYTES:
        return Check("memory", "fail", text, "end other programs, or use a larger host")
    if free < FREE_MEMORY_WARN_BYTES:
        return Check("memory", "warn", text, "keep buffer_pool well below what is free")
    return Check("memory", "ok", text)


def check_swap(root: Path = ROOT) -> Check:
    """A server that swaps measures the swap device."""
    memory = facts.meminfo(root)
    total = memory.get("SwapTotal", 0)
    used = total - memory.get("SwapFree", 0)
    if total == 0:
        return Check("swap", "ok", "no swap")
    text = f"{used / GIB:.2f} GiB of {total / GIB:.1f} GiB swap are in use"
    if used <= SWAP_USED_WARN_BYTES:
        return Check("swap", "ok", text)
    return Check("swap", "warn", text, "as root: swapoff -a, when memory suffices; or vm.swappiness=1")


def check_disk(data_path: Path) -> Check:
    """Data, its snapshot and its copy must fit."""
    existing = next(parent for parent in (data_path, *data_path.parents) if parent.exists())
    free = shutil.disk_usage(existing).free
    text = f"{free / GIB:.1f} GiB are free for data in {data_path}"
    if free < FREE_DISK_FAIL_BYTES:
        return Check("disk", "fail", text, "free some space, or set DYNO_CACHE to a larger filesystem")
    if free < FREE_DISK_WARN_BYTES:
        return Check("disk", "warn", text, "large tables may not fit: DYNO_CACHE moves the data elsewhere")
    return Check("disk", "ok", text)


def check_io_scheduler(data_path: Path, root: Path = ROOT) -> Check:
    """A fast device needs no reordering of requests."""
    mount = facts.mount_of(data_path, root)
    if mount is None:
        return Check("io_scheduler", "ok", f"the filesystem of {data_path} is not listed by the kernel")
    if mount.filesystem in ("tmpfs", "ramfs", "overlay"):
        hint = "set DYNO_CACHE to a real filesystem: the data is not on the disk you think of"
        return Check("io_scheduler", "warn", f"data lies on {mount.filesystem}", hint)
    if mount.device is None:
        return Check("io_scheduler", "ok", f"data lies on {mount.filesystem} of {mount.source}")
    scheduler = facts.io_scheduler(mount.device, root)
    text = f"{mount.filesystem} on {mount.device}, I/O scheduler {scheduler or 'unknown'}"
    if scheduler in (None, "none", "mq-deadline", "noop", "deadline"):
        return Check("io_scheduler", "ok", text)
    hint = f"as root: echo none > /sys/block/{mount.device}/queue/scheduler"
    return Check("io_scheduler", "warn", text, hint)


def check_hugepages(root: Path = ROOT) -> Check:
    """Transparent huge pages stall servers while they are collected."""
    mode = facts.transparent_hugepages(root)
    if mode != "always":
        return Check("hugepages", "ok", f"transparent huge pages: {mode or 'not in this kernel'}")
    hint = "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
    return Check("hugepages", "warn", "transparent huge pages: always", hint)


def check_nofile(hard_limit: int) -> Check:
    """Every session is a file to the rig and to the server, every table another."""
    text = f"{'unlimited' if hard_limit < 0 else hard_limit} open files a process at most"
    hint = "raise it: ulimit -Hn, or LimitNOFILE= of the service that starts Dyno"
    if 0 <= hard_limit < NOFILE_FAIL:
        return Check("nofile", "fail", text, hint)
    if 0 <= hard_limit < NOFILE_WARN:
        return Check("nofile", "warn", text, hint)
    return Check("nofile", "ok", text)


def check_virtualization(kind: str | None) -> Check:
    """A virtual machine shares its host with others."""
    if kind in (None, "none"):
        return Check("virtualization", "ok", "bare metal" if kind else "not known")
    hint = "compare only runs from this same machine, and trust intervals more than single trials"
    return Check("virtualization", "warn", f"{kind}: CPU, memory and disk are shared with others", hint)


def _cpu_times(root: Path) -> list[int] | None:
    """user, nice, system, idle, iowait, irq, softirq, steal of all CPUs, in ticks; None when not counted."""
    line = (facts.read_text(root / "proc/stat") or "").partition("\n")[0]
    ticks = [int(word) for word in line.split()[1:9]]
    return ticks if len(ticks) == 8 else None  # noqa: PLR2004
