"""Snapshots in use: held by a process as long as it lives, listed, and pruned only when free."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from dyno.cli.main import call
from dyno.engines import snapshots
from dyno.engines.snapshot_use import hold, prune, uses

DAY_S = 86_400


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A cache with two snapshots, of which the first was made by an older version."""
    monkeypatch.setenv("DYNO_CACHE", str(tmp_path))
    datadir = tmp_path / "datadir"
    datadir.mkdir()
    (datadir / "ibdata1").write_bytes(b"x" * 5000)
    folder = tmp_path / "snapshots"
    snapshots.save(datadir, folder, "old")
    listing = folder / "old" / "files.json"
    record = json.loads(listing.read_text())
    del record["about"]
    record["created"] = time.time() - 40 * DAY_S
    listing.write_text(json.dumps(record))
    snapshots.save(datadir, folder, "new", about={"engine": "mariadb-10.11", "workload": "tpcc"})
    return folder


@contextmanager
def holder(store, key):
    """Another process that holds a snapshot, until the end of the block kills it."""
    program = (
        "import sys, time; from pathlib import Path; from dyno.engines.snapshot_use import hold;"
        f" hold(Path({str(store)!r}), {key!r}); print('held', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "held\n"
        yield
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def keys(found):
    return [use.snapshot.key for use in found]


def test_only_what_was_long_unused_is_pruned(store):
    assert keys(uses(store)) == ["old", "new"]
    assert keys(prune(store, unused_s=30 * DAY_S)) == ["old"]
    assert keys(uses(store)) == ["new"]


def test_using_a_snapshot_makes_it_young(store):
    with holder(store, "old"):
        pass
    assert prune(store, unused_s=30 * DAY_S) == []
    assert time.time() - next(use for use in uses(store) if use.snapshot.key == "old").used < DAY_S


def test_one_in_use_stays_until_its_process_is_gone(store):
    with holder(store, "old"):
        assert {use.snapshot.key: use.in_use for use in uses(store)} == {"old": True, "new": False}
        assert keys(prune(store, unused_s=0)) == ["new"]
        assert snapshots.exists(store, "old")
    assert keys(prune(store, unused_s=0)) == ["old"]


def test_one_that_this_process_holds_stays_and_can_be_held_before_it_is_there(store, tmp_path):
    hold(store, "to-come")
    hold(store, "to-come")
    snapshots.save(tmp_path / "datadir", store, "to-come")
    prune(store, unused_s=0)
    assert keys(uses(store)) == ["to-come"]


def test_listing_and_pruning_on_the_command_line(store, capfd):
    assert call(["snapshots", "--json"]) == 0
    rows = json.loads(capfd.readouterr().out)
    assert [(row["key"], row["engine"], row["workload"], row["in_use"]) for row in rows] == [
        ("old", None, None, False),
        ("new", "mariadb-10.11", "tpcc", False),
    ]
    assert rows[0]["size_bytes"] == 5000
    with holder(store, "old"):
        assert call(["snapshots"]) == 0
        shown = capfd.readouterr().out
        assert "in use" in shown
        assert "2 kept" in shown
        assert call(["snapshots", "prune", "--all"]) == 0
        out, error = capfd.readouterr()
        assert "removed 1" in out
        assert "1 of them are in use and stay" in error
    assert call(["snapshots", "prune", "--older-than", "0s", "--json"]) == 0
    result = json.loads(capfd.readouterr().out)
    assert [row["key"] for row in result["removed"]] == ["old"]
    assert result["freed_bytes"] > 0
    assert result["left"] == []


@pytest.mark.parametrize("text", ["30", "d", "a month", "-1h"])
def test_a_wrong_time_is_refused(store, capfd, text):
    assert call(["snapshots", "prune", f"--older-than={text}"]) == 2
    assert "12h or 30d" in capfd.readouterr().err
    assert len(uses(store)) == 2
