"""A lab of its own for every test: own cache (sharing only what is installed), own runs, a rig that obeys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from dyno.engines import Store, find, install
from dyno.experiment.rig import find_rig

ENGINES = ("mariadb@10.11", "mysql@9.7")
FAKE_RIG = Path(__file__).parent / "fake_rig.py"


@dataclass
class Lab:
    """Runs `dyno` as a process of its own, as a user would."""

    root: Path
    environment: dict[str, str]

    @property
    def runs(self):
        return self.root / "runs"

    def plan(self, text):
        path = self.root / "plan.toml"
        path.write_text(text)
        return path

    def popen(self, *arguments, **environment):
        return subprocess.Popen(
            [sys.executable, "-c", "from dyno.cli.main import main; main()", *map(str, arguments)],
            env={**self.environment, **environment},
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, *arguments, **environment):
        process = self.popen(*arguments, **environment)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def run_folder(self):
        (folder,) = self.runs.iterdir()
        return folder

    def trials(self):
        """Every trial.json of all runs, in order."""
        return [json.loads(path.read_text()) for path in sorted(self.runs.glob("*/trials/*/trial.json"))]

    def statuses(self):
        """Status of every trial. These tests run beside others: one that only they spoilt is ok."""
        return ["ok" if spoilt_by_neighbours(trial) else trial["status"] for trial in self.trials()]

    def well(self, done):
        """Whether a command did all it was asked to."""
        return done.returncode == 0 or (done.returncode == 4 and set(self.statuses()) == {"ok"})

    def states(self):
        """Trial → last state in the journal of the only run."""
        lines = (self.run_folder() / "journal.ndjson").read_text().splitlines()
        return {line["trial"]: line["state"] for line in map(json.loads, lines)}

    @staticmethod
    def alive(pid):
        """Whether a process runs (a zombie does not)."""
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
        except OSError:
            return False

    def server_of(self, number):
        """The pid of a trial's server, once it is under load."""
        (record,) = wait_for(lambda: list(self.root.glob(f"runs/*/trials/{number}-*/record.ndjson")), number)
        return json.loads((record.parent / "spec.json").read_text())["probe"]["server_pid"]


def spoilt_by_neighbours(trial):
    """Whether a trial is invalid because its generator lacked CPU."""
    return trial["status"] == "invalid" and trial["reason"].startswith("the generator was the bottleneck")


def wait_for(found, what, timeout_s=120):
    """The first true value of `found()`."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        value = found()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory):
    """A cache with MariaDB 10.11 that all tests share, so that data is built once."""
    return new_cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def lab(tmp_path, shared_cache):
    """A lab with the fake rig."""
    return new_lab(tmp_path, shared_cache)


@pytest.fixture
def real_lab(tmp_path, shared_cache):
    """A lab with the rig itself."""
    lab = new_lab(tmp_path, shared_cache)
    lab.environment["DYNO_RIG"] = str(find_rig())
    return lab


@pytest.fixture
def fresh_lab(tmp_path):
    """The same with an empty cache: its data must be built."""
    return new_lab(tmp_path, new_cache(tmp_path / "cache"))


def new_cache(folder):
    """A cache that knows the engines of these tests and no other, and has no data."""
    folder.mkdir(exist_ok=True)
    cache = Store(folder)
    for name in ENGINES:
        cache.remember(install(find(name)))
    return folder


def new_lab(root, cache):
    """A lab in `root` with the fake rig."""
    rig = root / "dyno-rig"
    rig.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE_RIG} "$@"\n')
    rig.chmod(0o755)
    return Lab(root, {**os.environ, "DYNO_CACHE": str(cache), "DYNO_RIG": str(rig), "NO_COLOR": "1"})
