import fcntl
import os
import subprocess
import sys

import pytest

from dyno.engines import snapshots
from dyno.errors import DynoError

HOLE = 64 * 2**20


@pytest.fixture
def datadir(tmp_path):
    root = tmp_path / "data"
    (root / "sbtest").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "ibdata1").write_bytes(os.urandom(3 * 2**20 + 17))
    (root / "sbtest/t.ibd").write_bytes(b"")
    with (root / "ib_logfile0").open("wb") as file:
        file.write(b"head")
        file.truncate(HOLE)
        file.seek(HOLE // 2)
        file.write(b"middle")
    return root


def content(root):
    return {str(p.relative_to(root)): p.read_bytes() if p.is_file() else None for p in root.rglob("*")}


def test_what_is_restored_is_what_was_saved(tmp_path, datadir):
    before = content(datadir)
    calls = []
    saved = snapshots.save(datadir, tmp_path / "store", "k", lambda done, all_: calls.append((done, all_)))
    assert saved.size_bytes == sum(len(data) for data in before.values() if data is not None)
    assert calls[-1] == (saved.size_bytes, saved.size_bytes)
    (datadir / "ibdata1").write_bytes(b"changed by a trial")
    (datadir / "new").write_bytes(b"made by a trial")
    snapshots.restore(tmp_path / "store", "k", datadir)
    assert content(datadir) == before


def test_holes_stay_holes(tmp_path, datadir):
    snapshots.save(datadir, tmp_path / "store", "k")
    copy = tmp_path / "store/k/data/ib_logfile0"
    assert copy.stat().st_size == HOLE
    assert copy.stat().st_blocks * 512 < HOLE // 8


def test_a_snapshot_can_be_restored_twice_and_listed(tmp_path, datadir):
    store = tmp_path / "store"
    before = content(datadir)
    assert not snapshots.exists(store, "k")
    snapshots.save(datadir, store, "k")
    for _ in range(2):
        snapshots.restore(store, "k", tmp_path / "other")
        assert content(tmp_path / "other") == before
    (one,) = snapshots.listed(store)
    assert (one.key, one.files) == ("k", 3)
    snapshots.remove(store, "k")
    assert snapshots.listed(store) == []


def test_a_damaged_snapshot_is_refused_and_the_data_stays(tmp_path, datadir):
    snapshots.save(datadir, tmp_path / "store", "k")
    os.truncate(tmp_path / "store/k/data/ibdata1", 5)
    before = content(datadir)
    with pytest.raises(DynoError, match="ibdata1"):
        snapshots.restore(tmp_path / "store", "k", datadir)
    assert content(datadir) == before


def test_a_snapshot_that_was_cut_short_does_not_exist(tmp_path, datadir, monkeypatch):
    def full(_reader, _writer):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(snapshots, "_copy_data", full)
    monkeypatch.setattr(snapshots, "_FICLONE", 0)
    with pytest.raises(DynoError, match="disk is full"):
        snapshots.save(datadir, tmp_path / "store", "k")
    assert not snapshots.exists(tmp_path / "store", "k")
    assert list((tmp_path / "store").iterdir()) == []


def test_a_directory_that_a_process_has_locked_is_not_copied(tmp_path, datadir):
    code = (
        "import fcntl, sys; f = open(sys.argv[1], 'r+b'); fcntl.lockf(f, fcntl.LOCK_EX);"
        "print('locked', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(datadir / "ibdata1")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout.readline() == b"locked\n"
        with pytest.raises(DynoError, match="running"):
            snapshots.save(datadir, tmp_path / "store", "k")
    finally:
        holder.communicate()
    snapshots.save(datadir, tmp_path / "store", "k")
    with (datadir / "ibdata1").open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_missing_snapshot_and_missing_directory(tmp_path):
    with pytest.raises(DynoError, match="no snapshot"):
        snapshots.restore(tmp_path, "k", tmp_path / "data")
    with pytest.raises(DynoError, match="no data directory"):
        snapshots.save(tmp_path / "data", tmp_path, "k")


@pytest.mark.parametrize("key", ["", ".", "..", "../up", "a/b"])
def test_a_key_cannot_leave_the_store(tmp_path, datadir, key):
    with pytest.raises(DynoError, match="cannot name"):
        snapshots.save(datadir, tmp_path, key)


def test_what_was_reserved_stays_reserved(tmp_path, datadir):
    with (datadir / "redo").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 8 * 2**20)
        file.write(b"head")
    snapshots.save(datadir, tmp_path / "store", "k")
    snapshots.restore(tmp_path / "store", "k", tmp_path / "other")
    copy = tmp_path / "other/redo"
    assert copy.read_bytes() == (datadir / "redo").read_bytes()
    assert copy.stat().st_blocks * 512 >= 8 * 2**20


def test_what_a_killed_process_left_is_removed(tmp_path, datadir):
    store = tmp_path / "store"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (store / f".old.{ended.pid}/data").mkdir(parents=True)
    (store / f".other.{os.getppid()}/data").mkdir(parents=True)
    snapshots.save(datadir, store, "k")
    assert sorted(path.name for path in store.iterdir()) == [f".other.{os.getppid()}", "k"]
