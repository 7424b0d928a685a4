"""What can go wrong in a trial, on a real server, with a rig that misbehaves on demand."""

from __future__ import annotations

import json
import os
import signal

import pytest

pytestmark = pytest.mark.engine

PLAN = """
[plan]
name = "faults"
[[engines]]
engine = "mariadb@10.11"
[settings]
redo = "16MiB"
{settings}
[[workloads]]
name = "oltp_fake"
[load]
sessions = [1]
[phases]
warmup = "100ms"
measure = "1s"
[trials]
count = {count}
"""
EXIT_TRIALS_FAILED = 4
# MariaDB has at most 64 of them and says nothing.
TOO_MANY = "[settings.extra.mariadb]\ntable_open_cache_instances = 1000"


def plan(count=1, settings=""):
    return PLAN.format(count=count, settings=settings)


@pytest.mark.parametrize(
    ("how", "status", "said"),
    [
        ("no-summary", "failed", "no summary"),
        ("nothing", "failed", "cannot read"),
        ("failed", "failed", "1146 (42S02): no such table"),
        ("interrupted", "failed", "interrupted"),
        ("empty", "invalid", "no transaction ended"),
        ("crash", "failed", "exit code"),
    ],
)
def test_a_rig_that_gives_no_result_is_never_ok(lab, how, status, said):
    done = lab.call("run", lab.plan(plan()), DYNO_FAKE_RIG=how)
    assert done.returncode == EXIT_TRIALS_FAILED, done.stderr
    (trial,) = lab.trials()
    assert trial["status"] == status
    assert said in trial["reason"]
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_failed_trial_keeps_the_end_of_the_servers_log(lab):
    lab.call("run", lab.plan(plan()), DYNO_FAKE_RIG="failed")
    assert "ready for connections" in lab.trials()[0]["engine_log_tail"]


def test_a_failed_build_fails_its_trials_with_the_rigs_words(fresh_lab):
    done = fresh_lab.call("run", fresh_lab.plan(plan(2)), DYNO_FAKE_RIG_PREPARE="fail")
    assert done.returncode == EXIT_TRIALS_FAILED
    ended = fresh_lab.trials()
    assert [trial["status"] for trial in ended] == ["failed"] * 2
    assert "the data does not want to be built" in ended[0]["reason"]
    assert ended[0]["hint"] == "ask it kindly"
    assert set(fresh_lab.states().values()) == {"failed"}


def test_a_variable_that_the_server_clamps_fails_the_trial_unless_accepted(lab):
    done = lab.call("run", lab.plan(plan(settings=TOO_MANY)))
    assert done.returncode == EXIT_TRIALS_FAILED
    (trial,) = lab.trials()
    assert "table_open_cache_instances" in trial["reason"]
    assert "accept" in trial["hint"]
    assert trial["marks"][0]["kind"] == "settings"


def test_an_accepted_difference_is_a_mark(lab):
    asked = f'accept = ["table_open_cache_instances"]\n{TOO_MANY}'
    done = lab.call("run", lab.plan(plan(settings=asked)))
    assert done.returncode == 0, done.stderr
    folder = lab.run_folder()
    (trial,) = lab.trials()
    assert trial["status"] == "ok"
    assert "accepted by the plan" in trial["marks"][0]["text"]
    (kept,) = (folder / "settings").iterdir()
    (check,) = [each for each in json.loads(kept.read_text())["checks"] if each["verdict"] != "equal"]
    assert (check["variable"], check["accepted"]) == ("table_open_cache_instances", True)


def test_a_buffer_pool_that_differs_fails_even_when_accepted(lab):
    asked = 'buffer_pool = "1000000001"\naccept = ["innodb_buffer_pool_size"]'
    done = lab.call("run", lab.plan(plan(settings=asked)))
    assert done.returncode == EXIT_TRIALS_FAILED
    assert "innodb_buffer_pool_size" in lab.trials()[0]["reason"]


def test_data_is_built_once_and_shared_between_runs(fresh_lab):
    path = fresh_lab.plan(plan())
    assert "built oltp_fake" in fresh_lab.call("run", path).stderr
    assert "built" not in fresh_lab.call("run", path).stderr


def test_a_server_killed_in_a_trial_fails_that_trial_only(lab):
    path = lab.plan(plan(2))
    process = lab.popen("run", path, DYNO_FAKE_RIG_SPEED="3")
    pid = lab.server_of("0001")
    os.kill(pid, signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == EXIT_TRIALS_FAILED
    first, second = lab.trials()
    assert first["status"] == "failed"
    assert "server's process died" in first["reason"]
    assert first["engine_log_tail"]
    assert second["status"] == "ok"
    assert "Traceback" not in err


def test_a_lab_killed_in_a_trial_resumes_without_repeating_or_losing_one(lab):
    process = lab.popen("run", lab.plan(plan(3)), DYNO_FAKE_RIG_SPEED="4")
    pid = lab.server_of("0002")
    process.kill()
    process.communicate()
    folder = lab.run_folder()
    assert sorted(lab.states().values()) == ["ok", "planned", "running"]
    before = lab.trials()
    assert lab.alive(pid)

    done = lab.call("run", "--resume", folder)
    assert done.returncode == 0, done.stderr
    assert "left over from an earlier run" in done.stderr
    assert not lab.alive(pid)
    after = lab.trials()
    assert after[0] == before[0]
    assert [trial["status"] for trial in after] == ["ok"] * 3
    assert set(lab.states().values()) == {"ok"}
    again = lab.call("run", "--resume", folder)
    assert again.returncode == 0
    assert lab.trials() == after


def test_a_trial_that_ended_just_before_the_lab_died_is_not_run_again(lab):
    lab.call("run", lab.plan(plan(2)))
    folder = lab.run_folder()
    journal = folder / "journal.ndjson"
    whole = journal.read_text()
    journal.write_text(whole[: whole.rindex('{"t"')] + '{"t": "2026')
    before = lab.trials()
    done = lab.call("run", "--resume", folder)
    assert done.returncode == 0, done.stderr
    assert lab.trials() == before
    assert set(lab.states().values()) == {"ok"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_stops_its_server_and_says_how_to_go_on(lab, number):
    process = lab.popen("run", lab.plan(plan(2)), DYNO_FAKE_RIG="hang")
    pid = lab.server_of("0001")
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "dyno run --resume" in err
    assert "Traceback" not in err
    assert not lab.alive(pid)
    assert set(lab.states().values()) == {"planned"}
    assert lab.call("run", "--resume", "latest").returncode == 0


def test_two_labs_cannot_work_on_one_run(lab):
    process = lab.popen("run", lab.plan(plan(2)), DYNO_FAKE_RIG_SPEED="3")
    lab.server_of("0001")
    other = lab.call("run", "--resume", "latest")
    assert other.returncode == 1
    assert "another process is working on" in other.stderr
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_resume_refuses_another_plan(lab):
    lab.call("run", lab.plan(plan()))
    done = lab.call("run", lab.plan(plan(5)), "--resume", "latest")
    assert done.returncode == 1
    assert "not the one" in done.stderr
