import pytest

from dyno.errors import DynoError
from dyno.hosts.placement import format_cpus, place


def host(root, cores):
    """A file tree with a topology: `cores` maps a CPU to its core."""
    for cpu, core in cores.items():
        folder = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "core_id").write_text(f"{core}\n")
        (folder / "physical_package_id").write_text("0\n")
    return root


def test_two_cpus_one_each(tmp_path):
    placed = place(allowed=[0, 1], root=host(tmp_path, {0: 0, 1: 1}))
    assert (placed.server_cpus, placed.rig_cpus, placed.method) == ([0], [1], "taskset")
    assert placed.text == "server on CPU 0, rig on CPU 1"


def test_one_cpu_is_shared_and_says_so(tmp_path):
    placed = place(allowed=[3], root=host(tmp_path, {3: 0}))
    assert (placed.server_cpus, placed.rig_cpus, placed.method) == ([], [], "none")
    assert "share CPU 3" in placed.text


def test_halves_do_not_split_a_core(tmp_path):
    cores = {0: 0, 1: 1, 2: 2, 3: 3, 4: 0, 5: 1, 6: 2, 7: 3}
    placed = place(allowed=list(cores), root=host(tmp_path, cores))
    assert placed.server_cpus == [0, 1, 4, 5]
    assert placed.rig_cpus == [2, 3, 6, 7]
    assert placed.text == "server on CPUs 0-1,4-5, rig on CPUs 2-3,6-7"


def test_threads_of_one_core_are_named(tmp_path):
    placed = place(allowed=[0, 1], root=host(tmp_path, {0: 0, 1: 0}))
    assert (placed.server_cpus, placed.rig_cpus) == ([0], [1])
    assert "CPUs 0-1 are hardware threads of one core" in placed.text


def test_an_odd_number_gives_the_server_more(tmp_path):
    placed = place(allowed=[0, 1, 2], root=host(tmp_path, {0: 0, 1: 1, 2: 2}))
    assert (placed.server_cpus, placed.rig_cpus) == ([0, 1], [2])


def test_what_is_asked_for_is_taken_and_the_other_side_gets_the_rest(tmp_path):
    placed = place([0, 1, 2], "auto", allowed=[0, 1, 2, 3], root=host(tmp_path, {i: i for i in range(4)}))
    assert (placed.server_cpus, placed.rig_cpus) == ([0, 1, 2], [3])


def test_sharing_that_was_asked_for_is_named(tmp_path):
    placed = place([0, 1], [1], allowed=[0, 1], root=host(tmp_path, {0: 0, 1: 1}))
    assert placed.text.endswith("they share CPU 1")


def test_none_leaves_unpinned(tmp_path):
    placed = place("none", "none", allowed=[0, 1], root=host(tmp_path, {0: 0, 1: 1}))
    assert placed.method == "none"
    assert "nothing is pinned" in placed.text


def test_a_cpu_that_is_not_ours(tmp_path):
    with pytest.raises(DynoError, match=r"placement.server_cpus: CPU 7"):
        place([7], "auto", allowed=[0, 1], root=host(tmp_path, {0: 0, 1: 1}))


def test_spelling():
    assert format_cpus([5, 0, 1, 2]) == "0-2,5"
    assert format_cpus([]) == ""
