"""Which CPUs the server gets and which the rig gets, so that one does not run on the other's."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.errors import DynoError
from dyno.hosts.facts import ROOT, read_text

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Placement:
    """CPU numbers of each side; empty lists and method `none` when nothing is pinned."""

    server_cpus: list[int]
    rig_cpus: list[int]
    method: str
    text: str


def allowed_cpus() -> list[int]:
    """The CPUs that this process may use (a container may allow fewer than the host has)."""
    return sorted(os.sched_getaffinity(0))


def place(
    server: str | list[int] = "auto",
    rig: str | list[int] = "auto",
    *,
    allowed: list[int] | None = None,
    root: Path = ROOT,
) -> Placement:
    """Decide the placement.

    `auto` gives the server the first half of the allowed CPUs and the rig the rest, splitting between cores
    rather than between the hardware threads of one. `none` leaves a side unpinned.

    Args:
        server: `auto`, `none` or CPU numbers for the server.
        rig: The same for the rig.
        allowed: CPUs to choose from; None asks the kernel.
        root: Root of the file tree that holds /sys.

    Raises:
        DynoError: A CPU was asked for that this process may not use.
    """
    usable = allowed if allowed is not None else allowed_cpus()
    server_half, rig_half = _halves(usable, root)
    server_cpus = _side("placement.server_cpus", server, server_half, rig, usable)
    rig_cpus = _side("placement.rig_cpus", rig, rig_half, server, usable)
    if not server_cpus and not rig_cpus:
        return Placement([], [], "none", _unpinned_text(usable))
    return Placement(server_cpus, rig_cpus, "taskset", _text(server_cpus, rig_cpus, root))


def format_cpus(cpus: list[int]) -> str:
    """`[0, 1, 2, 5]` as `0-2,5`, the form of taskset and of the kernel."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][-1] + 1:
            runs[-1].append(cpu)
        else:
            runs.append([cpu])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def siblings(cpus: list[int], root: Path = ROOT) -> list[list[int]]:
    """The CPUs by core: hardware threads of one core together, cores in the order of their first CPU."""
    cores: dict[tuple[str, str], list[int]] = defaultdict(list)
    for cpu in sorted(cpus):
        topology = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
        package = read_text(topology / "physical_package_id") or "0"
        core = read_text(topology / "core_id") or f"cpu{cpu}"
        cores[package, core].append(cpu)
    return sorted(cores.values())


def _halves(usable: list[int], root: Path) -> tuple[list[int], list[int]]:
    if len(usable) < 2:  # noqa: PLR2004
        return [], []
    units = siblings(usable, root)
    if len(units) < 2:  # noqa: PLR2004
        units = [[cpu] for cpu in sorted(usable)]
    middle = (len(units) + 1) // 2
    return (
        sorted(cpu for unit in units[:middle] for cpu in unit),
        sorted(cpu for unit in units[middle:] for cpu in unit),
    )


def _side(
    key: str, wanted: str | list[int], half: list[int], other: str | list[int], usable: list[int]
) -> list[int]:
    if wanted == "none":
        return []
    if isinstance(wanted, str):
        # What the other side names is not ours to take; without a choice left, stay on all but that.
        taken = set(other) if isinstance(other, list) else set()
        if not taken:
            return half
        return [cpu for cpu in usable if cpu not in taken]
    foreign = sorted(set(wanted) - set(usable))
    if foreign:
        raise DynoError(
            f"{key}: CPU {format_cpus(foreign)} is not one that this process may use",
            hint=f"it may use {format_cpus(usable)}",
        )
    return sorted(wanted)


def _unpinned_text(usable: list[int]) -> str:
    if len(usable) == 1:
        return f"server and rig share CPU {usable[0]}, the only one: each slows the other"
    return f"nothing is pinned: server and rig share CPUs {format_cpus(usable)}"


def _text(server_cpus: list[int], rig_cpus: list[int], root: Path) -> str:
    text = f"server on {_named(server_cpus)}, rig on {_named(rig_cpus)}"
    both = sorted(set(server_cpus) & set(rig_cpus))
    if both:
        return f"{text}: they share {_named(both)}"
    for core in siblings(sorted({*server_cpus, *rig_cpus}), root):
        if set(core) & set(server_cpus) and set(core) & set(rig_cpus):
            return f"{text}: CPUs {format_cpus(core)} are hardware threads of one core"
    return text


def _named(cpus: list[int]) -> str:
    if not cpus:
        return "any CPU"
    return f"CPU{'s' if len(cpus) > 1 else ''} {format_cpus(cpus)}"
