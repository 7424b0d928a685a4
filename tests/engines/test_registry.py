"""Reaping ends what a dead command left, and nothing else."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from dyno.engines import registry
from dyno.engines.registry import Record

SLEEPER = "import sys, time; print('up', flush=True); time.sleep(600)"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNO_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def dead():
    """A pid and start time of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    found = process.pid, registry.start_ticks(process.pid)
    process.communicate()
    return found


@pytest.fixture
def sleeper(tmp_path):
    """A process that looks like a server on `tmp_path/data`."""
    command = [sys.executable, "-c", SLEEPER, f"--datadir={tmp_path / 'data'}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"up\n"
    yield process
    process.kill()
    process.wait()


def record_of(process, tmp_path, owner):
    return Record(
        name="r",
        engine="mariadb-10.11",
        version="10.11.1",
        pid=process.pid,
        start_ticks=registry.start_ticks(process.pid),
        boot_id=registry.boot_id(),
        server="/x/mariadbd",
        client="/x/mariadb",
        work_dir=str(tmp_path),
        datadir=str(tmp_path / "data"),
        socket=str(tmp_path / "no.sock"),
        port=1,
        owner_pid=owner[0],
        owner_start_ticks=owner[1],
    )


def test_a_server_whose_starter_died_is_ended(sleeper, dead, tmp_path):
    record_of(sleeper, tmp_path, dead).save()
    assert [record.name for record in registry.reap()] == ["r"]
    assert sleeper.wait(timeout=5) is not None
    assert registry.start_ticks(sleeper.pid) is None
    assert registry.records() == []


def test_a_server_that_was_being_spawned_is_found_by_its_data_directory(sleeper, dead, tmp_path):
    replace(record_of(sleeper, tmp_path, dead), pid=None, start_ticks=None).save()
    assert len(registry.reap()) == 1
    assert registry.start_ticks(sleeper.pid) is None


def test_servers_of_a_living_process_are_left_alone(sleeper, tmp_path):
    record_of(sleeper, tmp_path, (os.getpid(), registry.start_ticks(os.getpid()))).save()
    assert registry.reap() == []
    assert sleeper.poll() is None
    assert registry.find("r") is not None


def test_servers_kept_on_purpose_are_left_alone(sleeper, tmp_path):
    record_of(sleeper, tmp_path, (None, None)).save()
    assert registry.reap() == []
    assert sleeper.poll() is None


@pytest.mark.parametrize(
    "other", [{"start_ticks": 1}, {"datadir": "/somewhere/else"}, {"boot_id": "another boot"}], ids=str
)
def test_another_process_with_the_recorded_pid_is_never_ended(sleeper, dead, tmp_path, other):
    replace(record_of(sleeper, tmp_path, dead), **other).save()
    assert registry.reap() == []
    assert sleeper.poll() is None
    assert registry.records() == [], "the record is about nothing any more"


def test_a_torn_record_is_no_record():
    (registry.folder() / "torn.json").write_text('{"name": "torn"')
    assert registry.reap() == []
