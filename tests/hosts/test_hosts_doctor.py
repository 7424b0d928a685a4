from pathlib import Path

import pytest

from dyno.hosts import doctor, facts
from dyno.hosts.placement import Placement

SMALL = """MemTotal:       16000000 kB
MemAvailable:   {available} kB
SwapTotal:      {swap} kB
SwapFree:       {free} kB
"""


def put(root, path, text):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def verdicts(checks):
    return {check.check: check.verdict for check in checks}


def test_this_host_can_be_examined_and_every_problem_has_a_hint(tmp_path):
    checks = doctor.examine(tmp_path)
    assert len(verdicts(checks)) == len(checks) == 12
    for check in checks:
        assert check.text
        assert (check.verdict == "ok") == (check.hint is None), check


def test_facts_of_this_host_are_the_kernels_own(tmp_path):
    found = facts.host_facts(tmp_path)
    assert found.memory_bytes == int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    assert found.kernel in Path("/proc/version").read_text()
    assert found.filesystem
    assert found.cpus >= 1


@pytest.mark.parametrize(
    ("sizes", "memory", "swapping"),
    [
        ({"available": 8_000_000, "swap": 0, "free": 0}, "ok", "ok"),
        ({"available": 1_000_000, "swap": 4_000_000, "free": 4_000_000}, "warn", "ok"),
        ({"available": 100_000, "swap": 4_000_000, "free": 3_000_000}, "fail", "warn"),
    ],
)
def test_memory_and_swap(tmp_path, sizes, memory, swapping):
    put(tmp_path, "proc/meminfo", SMALL.format(**sizes))
    assert doctor.check_memory(tmp_path).verdict == memory
    assert doctor.check_swap(tmp_path).verdict == swapping


@pytest.mark.parametrize(
    ("names", "verdict"), [([], "ok"), (["performance"], "ok"), (["performance", "powersave"], "warn")]
)
def test_governor(tmp_path, names, verdict):
    for cpu, name in enumerate(names):
        put(tmp_path, f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor", name + "\n")
    assert doctor.check_governor(tmp_path).verdict == verdict


@pytest.mark.parametrize(
    ("choices", "verdict"),
    [("[always] madvise never", "warn"), ("always [madvise] never", "ok"), (None, "ok")],
)
def test_hugepages(tmp_path, choices, verdict):
    if choices is not None:
        put(tmp_path, "sys/kernel/mm/transparent_hugepage/enabled", choices)
    assert doctor.check_hugepages(tmp_path).verdict == verdict


def test_stolen_time_is_seen(tmp_path):
    put(tmp_path, "proc/stat", "cpu  100 0 0 100 0 0 0 0 0 0\n")

    def a_second_later(_):
        put(tmp_path, "proc/stat", "cpu  150 0 0 140 0 0 0 10 0 0\n")

    check = doctor.check_steal(tmp_path, a_second_later)
    assert check.verdict == "warn"
    assert "10.0%" in check.text


def test_a_busy_host_is_noticed(tmp_path):
    put(tmp_path, "proc/loadavg", "0.00 0.0 0.0 1/1 1\n")
    assert doctor.check_load(tmp_path).verdict == "ok"
    put(tmp_path, "proc/loadavg", "640.00 0.0 0.0 1/1 1\n")
    assert doctor.check_load(tmp_path).verdict == "warn"


@pytest.mark.parametrize(("limit", "verdict"), [(-1, "ok"), (20000, "ok"), (1024, "warn"), (256, "fail")])
def test_open_files(limit, verdict):
    assert doctor.check_nofile(limit).verdict == verdict


def test_shared_cpus_are_a_warning():
    assert doctor.check_cpus(Placement([0], [1], "taskset", "apart")).verdict == "ok"
    assert doctor.check_cpus(Placement([0, 1], [1], "taskset", "…")).verdict == "warn"
    assert doctor.check_cpus(Placement([], [], "none", "…")).verdict == "warn"


def test_the_mount_with_the_longest_point_wins(tmp_path):
    put(
        tmp_path,
        "proc/self/mountinfo",
        "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "21 20 0:30 / /data\\040dir rw - xfs /dev/sdb rw\n"
        "22 20 0:31 / /data rw - tmpfs tmpfs rw\n",
    )
    mount = facts.mount_of(Path("/data dir/cache/none"), tmp_path)
    assert (mount.filesystem, mount.point) == ("xfs", "/data dir")
    assert facts.mount_of(Path("/var"), tmp_path).filesystem == "ext4"


def test_a_partition_has_its_disks_scheduler(tmp_path):
    disk = tmp_path / "sys/devices/sda"
    put(disk, "queue/scheduler", "none mq-deadline [bfq]")
    put(disk, "sda1/partition", "1")
    (tmp_path / "sys/class/block").mkdir(parents=True)
    (tmp_path / "sys/class/block/sda1").symlink_to(disk / "sda1")
    assert facts.io_scheduler("sda1", tmp_path) == "bfq"
