"""The command line from outside: what it prints where, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dyno import __version__

ROOT = Path(__file__).parents[2]
RIG = ROOT / "tests" / "experiment" / "fake_rig.py"
GOOD = """
[plan]
name = "p"
[[engines]]
engine = "mariadb@10.11"
[[workloads]]
name = "oltp_fake"
[load]
sessions = [1, 2]
"""


@pytest.fixture
def dyno(tmp_path):
    """Call `dyno` in an empty folder with an empty cache."""
    rig = tmp_path / "dyno-rig"
    rig.write_text(f'#!/bin/sh\nexec {sys.executable} {RIG} "$@"\n')
    rig.chmod(0o755)
    base = {**os.environ, "DYNO_CACHE": str(tmp_path / "cache"), "DYNO_RIG": str(rig)}
    base.pop("NO_COLOR", None)

    def call(*arguments, **environment):
        return subprocess.run(
            [sys.executable, "-c", "from dyno.cli.main import main; main()", *map(str, arguments)],
            env={**base, **environment},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return call


def test_version(dyno):
    done = dyno("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"dyno {__version__}\n", "")


@pytest.mark.parametrize(
    "command",
    ["run", "bench", "doctor", "report", "show", "engines", "sql", "compare", "snapshots", "selftest"],
)
def test_every_command_explains_itself(dyno, command):
    done = dyno(command, "--help")
    assert done.returncode == 0
    assert command in done.stdout
    assert "\\b" not in done.stdout
    assert command in dyno("--help").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rum"], "rum"),
        (["run", "--no-such"], "--no-such"),
        (["run"], "name a plan"),
        (["run", "p.toml", "--resume", "latest", "--dry-run"], "exclude each other"),
        (["bench", "oltp_fake"], "--engine or --target"),
        (["bench", "oltp_fake", "--engine", "a", "--target", "b"], "--engine or --target"),
        (["bench", "oltp_fake", "--engine", "mariadb@10.11", "--sessions", "1,x"], "--sessions '1,x'"),
        (["bench", "oltp_fake", "--engine", "mariadb@10.11", "-o", "tables"], "NAME=VALUE"),
        (["bench", "oltp_fake", "--engine", "mariadb@10.11", "--seconds", "0"], "seconds"),
    ],
)
def test_wrong_usage_ends_with_2(dyno, arguments, said):
    done = dyno(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert "hint: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "nothing.toml"], "cannot read the plan nothing.toml"),
        (["run", "--resume", "latest"], "there is no run 'latest'"),
        (["show", "latest"], "there is no run 'latest'"),
        (["bench", "oltp_fake", "--engine", "mariadb@1"], 'engines[0].engine = "mariadb@1"'),
        (
            ["bench", "oltp_fake", "--engine", "mariadb@10.11", "--set", "bufferpool=1G"],
            "did you mean 'buffer_pool'?",
        ),
        (["bench", "oltp_fake", "--engine", "mariadb@10.11", "--warmup", "2"], 'phases.warmup = "2"'),
        (["bench", "x", "--target", "mysql://u:geheim@h/d"], "a password does not belong here"),
        (["bench", "oltp_fake", "--target", "mysql://u@127.0.0.1:1/d"], "does not let us in"),
    ],
)
def test_an_error_names_the_value_and_what_to_do(dyno, arguments, said):
    done = dyno(*arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    assert said in done.stderr
    assert "hint: " in done.stderr
    assert "Traceback" not in done.stderr
    assert "geheim" not in done.stderr
    assert "\x1b" not in done.stderr


def test_where_an_error_came_from_on_request(dyno):
    assert "Traceback" in dyno("run", "nothing.toml", DYNO_DEBUG="1").stderr


def test_a_dry_run_fetches_and_starts_nothing(dyno, tmp_path):
    (tmp_path / "p.toml").write_text(GOOD)
    done = dyno("run", "p.toml", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "to be fetched" in done.stdout
    assert "2 cells × 3 = 6 trials" in done.stdout
    assert "0006-" in done.stdout
    assert not (tmp_path / "runs").exists()
    assert not list((tmp_path / "cache").glob("prefixes/*"))


def test_a_dry_run_as_json_is_the_resolved_plan(dyno, tmp_path):
    (tmp_path / "p.toml").write_text(GOOD)
    result = json.loads(dyno("run", "p.toml", "--dry-run", "--json").stdout)
    assert result["to_install"] == ["mariadb-10.11"]
    assert len(result["resolved"]["order"]) == 6
    assert result["estimate"]["trials"] == 6
    assert result["estimate"]["time_s"] > 6 * 7


def test_a_workload_that_the_rig_does_not_have(dyno, tmp_path):
    (tmp_path / "p.toml").write_text(GOOD.replace("oltp_fake", "oltp_fak"))
    done = dyno("run", "p.toml", "--dry-run")
    assert done.returncode == 1
    assert "did you mean 'oltp_fake'?" in done.stderr


def test_without_a_rig(dyno, tmp_path):
    (tmp_path / "p.toml").write_text(GOOD)
    done = dyno("run", "p.toml", DYNO_RIG="/nowhere")
    assert done.returncode == 1
    assert "DYNO_RIG = /nowhere" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_the_doctor_as_text_and_as_json(dyno):
    text = dyno("doctor")
    assert text.returncode in (0, 1)
    result = json.loads(dyno("doctor", "--json").stdout)
    assert {"cpus", "governor", "disk", "nofile", "steal"} <= {check["check"] for check in result["checks"]}
    assert all(check["check"] in text.stdout for check in result["checks"])
    assert result["host"]["cpus"] >= 1


@pytest.mark.usefixtures("dyno")
def test_a_reader_that_goes_away_is_no_error(tmp_path):
    (tmp_path / "p.toml").write_text(GOOD)
    program = f"{sys.executable} -c 'from dyno.cli.main import main; main()'"
    done = subprocess.run(
        f"{program} run p.toml --dry-run --json | head -c 10",
        shell=True,
        cwd=tmp_path,
        env={**os.environ, "DYNO_CACHE": str(tmp_path / "cache"), "DYNO_RIG": str(tmp_path / "dyno-rig")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert len(done.stdout) == 10
    assert done.stderr == ""
