"""What kind of machine this is: the `host` part of a manifest, read from /proc and /sys.

Every reader takes the root of the file tree, so that a test can show it another machine.
"""

from __future__ import annotations

import os
import platform
import resource
import shutil
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path("/")


@dataclass(frozen=True)
class Mount:
    """The filesystem that holds a path; `device` is a block device's name (`vda`) or None."""

    point: str
    filesystem: str
    source: str
    device: str | None


@dataclass(frozen=True)
class HostFacts:
    """Facts that a reader needs to judge numbers from this host; None where the kernel does not say."""

    hostname: str
    cpu_model: str | None
    cpus: int
    cpu_cores: int | None
    cpu_caches: int | None
    numa_nodes: int | None
    memory_bytes: int
    kernel: str
    os: str | None
    virtualization: str | None
    filesystem: str | None
    block_device: str | None
    io_scheduler: str | None
    governor: str | None
    transparent_hugepages: str | None
    swap_bytes: int
    nofile: int

    def as_dict(self) -> dict[str, Any]:
        """The form of docs/FORMAT.md."""
        return asdict(self)


def host_facts(data_path: Path, root: Path = ROOT) -> HostFacts:
    """The facts of this host; `data_path` is where the engines' data will lie."""
    mount = mount_of(data_path, root)
    memory = meminfo(root)
    return HostFacts(
        hostname=platform.node(),
        cpu_model=cpu_model(root),
        cpus=os.cpu_count() or 1,
        cpu_cores=cpu_cores(root),
        cpu_caches=cpu_caches(root),
        numa_nodes=numa_nodes(root),
        memory_bytes=memory.get("MemTotal", 0),
        kernel=platform.release(),
        os=os_name(root),
        virtualization=virtualization(),
        filesystem=mount.filesystem if mount else None,
        block_device=mount.device if mount else None,
        io_scheduler=io_scheduler(mount.device, root) if mount and mount.device else None,
        governor=governor(root),
        transparent_hugepages=transparent_hugepages(root),
        swap_bytes=memory.get("SwapTotal", 0),
        nofile=resource.getrlimit(resource.RLIMIT_NOFILE)[1],
    )


def read_text(path: Path) -> str | None:
    """A small file's text, stripped, or None when the kernel has no such file."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def meminfo(root: Path = ROOT) -> dict[str, int]:
    """/proc/meminfo in bytes."""
    sizes: dict[str, int] = {}
    for line in (read_text(root / "proc/meminfo") or "").splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            sizes[name] = int(words[0]) * (1024 if words[-1] == "kB" else 1)
    return sizes


def cpu_model(root: Path = ROOT) -> str | None:
    """The processor's name, from whichever of its usual lines this architecture has."""
    lines = (read_text(root / "proc/cpuinfo") or "").splitlines()
    found = {key.strip().lower(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    return found.get("model name") or found.get("cpu") or found.get("hardware") or platform.machine() or None


def cpu_cores(root: Path = ROOT) -> int | None:
    """How many physical cores the online CPUs are, or None where the kernel does not say."""
    folders = [cpu / "topology" for cpu in _cpus(root)]
    # The second is the first one's older name.
    siblings = [read_text(f / "core_cpus_list") or read_text(f / "thread_siblings_list") for f in folders]
    return len(set(siblings) - {None}) or None


def cpu_caches(root: Path = ROOT) -> int | None:
    """How many last-level caches the online CPUs share, or None where the kernel does not say."""
    shared: set[str | None] = set()
    for cpu in _cpus(root):
        levels = {
            int(level): read_text(index / "shared_cpu_list")
            for index in (cpu / "cache").glob("index[0-9]*")
            if (level := read_text(index / "level") or "").isdigit()
        }
        shared.add(levels[max(levels)] if levels else None)
    return len(shared - {None}) or None


def numa_nodes(root: Path = ROOT) -> int | None:
    """How many NUMA nodes have CPUs of their own, or None where the kernel does not say."""
    nodes = (root / "sys/devices/system/node").glob("node[0-9]*")
    return sum(bool(read_text(node / "cpulist")) for node in nodes) or None


def _cpus(root: Path) -> list[Path]:
    return sorted((root / "sys/devices/system/cpu").glob("cpu[0-9]*"))


def os_name(root: Path = ROOT) -> str | None:
    """The distribution's own name for itself."""
    for line in (read_text(root / "etc/os-release") or "").splitlines():
        key, _, value = line.partition("=")
        if key == "PRETTY_NAME":
            return value.strip('"')
    return None


def virtualization() -> str | None:
    """`kvm`, `docker`, …, `none` on bare metal, or None where nothing can tell."""
    tool = shutil.which("systemd-detect-virt")
    if tool is None:
        return None
    done = subprocess.run([tool], capture_output=True, text=True, check=False, timeout=10)
    return done.stdout.strip() or None


def governor(root: Path = ROOT) -> str | None:
    """The CPUs' frequency governor; several, joined by `, `, when they differ; None where there is none."""
    pattern = "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"
    found = {read_text(path) for path in root.glob(pattern)} - {None}
    return ", ".join(sorted(str(name) for name in found)) or None


def transparent_hugepages(root: Path = ROOT) -> str | None:
    """`always`, `madvise` or `never`."""
    return selected(read_text(root / "sys/kernel/mm/transparent_hugepage/enabled"))


def io_scheduler(device: str, root: Path = ROOT) -> str | None:
    """The I/O scheduler of a block device; a partition has its disk's."""
    block = root / "sys/class/block" / device
    for folder in (block, block.resolve().parent):
        choice = selected(read_text(folder / "queue/scheduler"))
        if choice is not None:
            return choice
    return None


def selected(choices: str | None) -> str | None:
    """The bracketed word of a kernel's list of choices: `never [madvise] always` → `madvise`."""
    if choices is None:
        return None
    for word in choices.split():
        if word.startswith("[") and word.endswith("]"):
            return word[1:-1]
    return choices or None


def mount_of(path: Path, root: Path = ROOT) -> Mount | None:
    """The mount that holds `path` (which need not exist yet), by the longest mount point above it."""
    wanted = path.resolve()
    best: Mount | None = None
    for line in (read_text(root / "proc/self/mountinfo") or "").splitlines():
        left, _, right = line.partition(" - ")
        fields, tail = left.split(), right.split()
        if len(fields) < 5 or len(tail) < 2:  # noqa: PLR2004
            continue
        point = fields[4].encode().decode("unicode_escape")
        if not wanted.is_relative_to(point):
            continue
        if best is None or len(point) >= len(best.point):
            best = Mount(point, tail[0], tail[1], _block_device(fields[2], root))
    return best


def _block_device(numbers: str, root: Path) -> str | None:
    link = root / "sys/dev/block" / numbers
    return link.resolve().name if link.exists() else None
