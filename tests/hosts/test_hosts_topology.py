"""How the CPUs of a host hang together, as the kernel lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.hosts import facts

if TYPE_CHECKING:
    from pathlib import Path


def put(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def two_nodes(root: Path, siblings: str = "core_cpus_list") -> Path:
    """Eight CPUs: pairs are cores, a cache each four CPUs, two NUMA nodes, a third of memory alone."""
    for cpu in range(8):
        folder = f"sys/devices/system/cpu/cpu{cpu}"
        put(root, f"{folder}/topology/{siblings}", f"{cpu // 2 * 2}-{cpu // 2 * 2 + 1}\n")
        for index, (level, shared) in enumerate(
            [(1, f"{cpu}"), (1, f"{cpu}"), (3, f"{cpu // 4 * 4}-{cpu // 4 * 4 + 3}")]
        ):
            put(root, f"{folder}/cache/index{index}/level", f"{level}\n")
            put(root, f"{folder}/cache/index{index}/shared_cpu_list", f"{shared}\n")
    put(root, "sys/devices/system/cpu/cpufreq/boost", "1\n")
    for node, cpus in enumerate(["0-3", "4-7", ""]):
        put(root, f"sys/devices/system/node/node{node}/cpulist", f"{cpus}\n")
    return root


def test_cores_caches_and_nodes(tmp_path: Path) -> None:
    root = two_nodes(tmp_path)
    assert (facts.cpu_cores(root), facts.cpu_caches(root), facts.numa_nodes(root)) == (4, 2, 2)


def test_an_older_kernel_names_siblings_otherwise(tmp_path: Path) -> None:
    assert facts.cpu_cores(two_nodes(tmp_path, "thread_siblings_list")) == 4


def test_a_kernel_that_says_nothing(tmp_path: Path) -> None:
    found = facts.cpu_cores(tmp_path), facts.cpu_caches(tmp_path), facts.numa_nodes(tmp_path)
    assert found == (None, None, None)


def test_an_offline_cpu_has_no_topology(tmp_path: Path) -> None:
    root = two_nodes(tmp_path)
    (root / "sys/devices/system/cpu/cpu8").mkdir()
    assert (facts.cpu_cores(root), facts.cpu_caches(root)) == (4, 2)
