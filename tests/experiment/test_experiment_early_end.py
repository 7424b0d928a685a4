"""Trials that end when their mean is known, on a real server with the real rig."""

from __future__ import annotations

import json

import pytest

from dyno.plan import early_end
from dyno.stats import stopping

PLAN = """
[plan]
name = "early-end"
[[engines]]
engine = "mariadb@10.11"
[settings]
buffer_pool = "64MiB"
redo = "16MiB"
[[workloads]]
name = "oltp_point_select"
options = { tables = 1, table_size = 1000 }
[load]
sessions = [2]
[phases]
warmup = "1s"
measure = "MEASURE"
measure_min = "20s"
precision = "PRECISION"
[trials]
count = 1
"""


def test_plan_and_rule_speak_of_the_same_windows():
    assert early_end.SHORTEST_S == stopping.BATCHES
    assert early_end.MEASURE_MIN_S == stopping.MEASURE_MIN


def run(real_lab, *, measure, precision):
    plan = PLAN.replace("MEASURE", measure).replace("PRECISION", precision)
    done = real_lab.call("run", real_lab.plan(plan))
    assert real_lab.well(done), done.stderr
    folder = real_lab.run_folder()
    (record,) = folder.glob("trials/*/record.ndjson")
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    analysis = json.loads((folder / "analysis.json").read_text())
    return folder, lines, analysis["cells"][0]["trials"][0]


@pytest.mark.engine
def test_a_trial_whose_mean_is_known_ends_early_and_says_so(real_lab):
    folder, lines, trial = run(real_lab, measure="300s", precision="90%")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["phases"]["stopping"] == {
        "rule": "dyno-stopping/1",
        "precision": 0.9,
        "measure_min_s": 20.0,
    }
    summary = lines[-1]
    assert (summary["outcome"], summary["measure_end"]) == ("ok", "asked")
    measured = [line for line in lines if line["record"] == "interval" and line["phase"] == "measure"]
    assert summary["measure_us"] == len(measured) * 1_000_000
    # The rule's shortest window, and what it took to see it and to end it.
    assert 20 <= len(measured) < 300
    assert sum(each["ok"] for line in measured for each in line["transactions"]) == sum(
        each["ok"] for each in summary["transactions"]
    )
    # On a busy host the generator may have been the limit: the trial is then invalid, and ended all the same.
    assert trial["status"] in {"ok", "invalid"}, trial["reason"]
    assert trial["throughput_per_s"] > 0
    # On a busy host the generator may have been the limit: the trial is then invalid, and ended all the same.
    assert trial["status"] in {"ok", "invalid"}, trial["reason"]
    assert trial["stopping"]["ended_early"]
    assert trial["stopping"]["measured_s"] == len(measured)


@pytest.mark.engine
def test_a_trial_that_never_settles_runs_to_its_longest_and_is_marked(real_lab):
    _, lines, trial = run(real_lab, measure="22s", precision="0.001%")
    assert (lines[-1]["outcome"], lines[-1]["measure_end"]) == ("ok", "planned")
    assert lines[-1]["measure_us"] == 22_000_000
    assert trial["status"] in {"ok", "invalid"}, trial["reason"]
    assert trial["status"] in {"ok", "invalid"}, trial["reason"]
    assert not trial["stopping"]["ended_early"]
    (mark,) = [mark for mark in trial["marks"] if "never settled" in mark["text"]]
    assert (mark["kind"], mark["severity"]) == ("steady", "warn")
    assert "22 s" in mark["text"]
