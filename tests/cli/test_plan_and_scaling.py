"""`dyno plan` and `dyno scaling` from outside."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dyno.cli.main import call
from fixtures.synthetic_run import Scenario, build

if TYPE_CHECKING:
    from collections.abc import Callable

    Call = Callable[..., "Done"]

ROOT = Path(__file__).parents[2]
PLAN = """
[plan]
name = "p"
[[engines]]
engine = "mariadb@10.11"
[[engines]]
engine = "mariadb@11.8"
[[workloads]]
name = "oltp_fake"
[load]
sessions = [1, 2]
"""


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def dyno(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Call `dyno` in a folder with a plan, an empty cache and the fake rig."""
    rig = tmp_path / "dyno-rig"
    rig.write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT / "tests/experiment/fake_rig.py"} "$@"\n')
    rig.chmod(0o755)
    (tmp_path / "p.toml").write_text(PLAN)
    monkeypatch.setenv("DYNO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DYNO_RIG", str(rig))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Done:
        capsys.readouterr()
        code = call(arguments)
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


def test_a_plan_is_shown_like_a_dry_run(dyno: Call) -> None:
    shown, rehearsed = dyno("plan", "p.toml"), dyno("run", "p.toml", "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == rehearsed.stdout
    assert "4 cells × 3 = 12 trials" in shown.stdout


def test_power_as_text_and_as_json(dyno: Call) -> None:
    text = dyno("plan", "p.toml", "--power", "--spread", "1.5%", "--effect", "2%")
    assert text.returncode == 0, text.stderr
    assert "2 comparisons with the baseline, paired by block" in text.stdout
    assert "3 (plan)" in text.stdout
    done = dyno("plan", "p.toml", "--power", "--spread", "1.5%", "--effect", "2%", "--json")
    found = json.loads(done.stdout)
    assert (found["comparisons"], found["trials"], found["needed_alone"]) == (2, 3, 12)
    times = {row["trials"]: row["time_s"] for row in found["rows"]}
    assert times[20] > times[10] > times[3]


def test_power_from_a_pilot(dyno: Call, tmp_path: Path) -> None:
    build(tmp_path / "runs" / "pilot", Scenario(sessions=(1, 4), noise=0.01))
    done = dyno("plan", "p.toml", "--power", "--pilot", "pilot", "--json")
    assert done.returncode == 0, done.stderr
    spread = json.loads(done.stdout)["spread"]
    assert spread["low"] <= 0.01 <= spread["high"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--effect", "2%"], "--effect goes with --power"),
        (["--power"], "either --pilot RUN or --spread SHARE"),
        (["--power", "--spread", "1%", "--pilot", "x"], "either --pilot RUN or --spread SHARE"),
        (["--power", "--spread", "fast"], "--spread 'fast': a share is written as"),
        (["--power", "--spread", "1%", "--effect", "0%"], "--effect '0%': a share lies between"),
        (["--power", "--spread", "1%", "--chance", "100%"], "--chance '100%'"),
    ],
)
def test_wrong_usage(dyno: Call, arguments: list[str], said: str) -> None:
    done = dyno("plan", "p.toml", *arguments)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


def test_scaling_of_a_published_table(dyno: Call) -> None:
    csv = str(ROOT / "datasets" / "000-power10.csv")
    done = dyno("scaling", csv, "--residuals")
    assert done.returncode == 0, done.stderr
    assert "none: 4 load levels have a number" in " ".join(done.stdout.split())
    assert "- point_select, power10, 2 cores, table 4 scales by the Universal Scalability Law" in done.stdout
    assert "Levels against their law" in done.stdout
    curves = json.loads(dyno("scaling", csv, "--json").stdout)
    assert {curve["law"] for curve in curves} == {"usl", "amdahl", None}


def test_scaling_of_a_run(dyno: Call, tmp_path: Path) -> None:
    scenario = Scenario(speed={"mariadb-10.11": 1.0}, sessions=(1, 2, 4, 8, 16, 32), blocks=1)
    build(tmp_path / "runs" / "r1", scenario)
    done = dyno("scaling", "r1")
    assert done.returncode == 0, done.stderr
    assert "MariaDB 10.11 scales by Amdahl's law" in done.stdout


def test_a_run_of_one_level_has_nothing_to_fit(dyno: Call, tmp_path: Path) -> None:
    build(tmp_path / "runs" / "r1", Scenario(sessions=(4,), blocks=1))
    done = dyno("scaling", "r1")
    assert done.returncode == 1
    assert "two constant load levels of a closed loop" in done.stderr
    assert "hint: name several in the plan" in done.stderr


@pytest.mark.parametrize("command", ["plan", "scaling"])
def test_help_teaches(dyno: Call, command: str) -> None:
    done = dyno(command, "--help")
    assert done.returncode == 0
    assert f"dyno {command} " in done.stdout
    assert "\\b" not in done.stdout
