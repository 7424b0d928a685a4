"""The rig's process is watched and always ends."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from dyno.errors import DynoError
from dyno.experiment.rig import Rig, RigError, find_rig

FAKE_RIG = Path(__file__).parent / "fake_rig.py"


@pytest.fixture
def rig(tmp_path):
    """A rig that does what its one argument says, without any server."""
    path = tmp_path / "rig"
    path.write_text(f"#!{sys.executable}\nimport os, sys, time, signal\nexec(os.environ['RIG'])\n")
    path.chmod(0o755)
    return Rig(path)


def drive(rig, tmp_path, monkeypatch, program, *, limit_s=60.0, server_gone=lambda: False, look=lambda: None):
    monkeypatch.setenv("RIG", program)
    return rig.drive(
        tmp_path / "s",
        tmp_path / "r",
        tmp_path / "log",
        cpus=[],
        limit_s=limit_s,
        server_gone=server_gone,
        look=look,
    )


def test_a_rig_that_ends_gives_its_exit_code(rig, tmp_path, monkeypatch):
    ended = drive(rig, tmp_path, monkeypatch, "sys.exit(7)")
    assert (ended.code, ended.complaint) == (7, None)


@pytest.mark.parametrize(
    "program", ["time.sleep(600)", "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"]
)
def test_a_rig_that_hangs_is_ended(rig, tmp_path, monkeypatch, program):
    ended = drive(rig, tmp_path, monkeypatch, program, limit_s=0.5)
    assert ended.code < 0
    assert "time limit" in ended.complaint


def test_somebody_may_look_while_the_rig_runs(rig, tmp_path, monkeypatch):
    looks = []
    drive(rig, tmp_path, monkeypatch, "time.sleep(1)", look=lambda: looks.append(1))
    assert looks


def test_a_rig_is_told_once_that_enough_is_measured(rig, tmp_path, monkeypatch):
    ready, told = tmp_path / "ready", tmp_path / "told"
    program = f"""
signal.signal(signal.SIGUSR1, lambda *_: open({str(told)!r}, "a").write("x"))
open({str(ready)!r}, "w").close()
while not os.path.exists({str(told)!r}):
    time.sleep(0.05)
time.sleep(1)
"""
    ended = drive(rig, tmp_path, monkeypatch, program, look=ready.exists)
    assert (ended.code, ended.complaint) == (0, None)
    assert told.read_text() == "x"


def test_a_rig_that_does_not_notice_the_servers_death_is_ended(rig, tmp_path, monkeypatch):
    monkeypatch.setattr("dyno.experiment.rig.SERVER_DEATH_GRACE_S", 0.3)
    ended = drive(rig, tmp_path, monkeypatch, "time.sleep(600)", server_gone=lambda: True)
    assert "did not notice" in ended.complaint


def test_a_rig_that_ends_well_on_a_dead_server_is_not_believed(rig, tmp_path, monkeypatch):
    ended = drive(rig, tmp_path, monkeypatch, "pass", server_gone=lambda: True)
    assert "server's process died" in ended.complaint


def test_the_rig_does_not_outlive_its_lab(rig, tmp_path, monkeypatch):
    marker = tmp_path / "pid"
    program = f"open({str(marker)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    lab = os.fork()
    if lab == 0:
        try:
            drive(rig, tmp_path, monkeypatch, program)
        finally:
            os._exit(0)
    deadline = time.monotonic() + 60
    while not (marker.exists() and marker.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(lab, 9)
    os.waitpid(lab, 0)
    pid = marker.read_text()
    while Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_errors_of_the_rig_are_its_own_words(rig, tmp_path, monkeypatch):
    monkeypatch.setenv("RIG", "sys.exit('progress 1\\nerror: no disk\\nhint: buy one')")
    with pytest.raises(RigError) as caught:
        rig.prepare(tmp_path / "s", tmp_path / "log", tmp_path / "out", [])
    assert (caught.value.message, caught.value.hint) == ("no disk", "buy one")


def test_the_closing_line_of_a_build_is_its_report(rig, tmp_path, monkeypatch):
    monkeypatch.setenv("RIG", f"print({json.dumps({'rows': 5})!r})")
    assert rig.prepare(tmp_path / "s", tmp_path / "log", tmp_path / "out", []) == {"rows": 5}


def test_find_rig_names_a_wrong_variable(monkeypatch):
    monkeypatch.setenv("DYNO_RIG", "/nowhere/dyno-rig")
    with pytest.raises(DynoError, match="DYNO_RIG = /nowhere"):
        find_rig()


def test_find_rig_says_how_to_make_one(monkeypatch, tmp_path):
    monkeypatch.delenv("DYNO_RIG", raising=False)
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DynoError) as caught:
        find_rig()
    assert "make build" in caught.value.hint
