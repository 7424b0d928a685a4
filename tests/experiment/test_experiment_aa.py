"""`dyno selftest --aa` on a real engine: whatever the host is like, an honest answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dyno.record.run import open_run
from dyno.report.noise import self_comparison

LEAST = 2
ARGUMENTS = ["selftest", "--aa", "--trials", str(LEAST), "--seconds", "1", "--sessions", "2", "--json"]


@pytest.mark.engine
def test_an_engine_against_itself(real_lab):
    done = real_lab.call(*ARGUMENTS)
    trials = real_lab.trials()
    good = {side: sum(t["status"] == "ok" and f"~{side}~" in t["cell"] for t in trials) for side in "ab"}
    assert len(trials) == 2 * LEAST
    assert {trial["block"] for trial in trials} == {1, 2}
    kept = list(Path(real_lab.environment["DYNO_CACHE"]).glob("selftest/*--aa.json"))
    if min(good.values()) < LEAST or "twice itself" in done.stderr:
        # This test runs beside others, which can take the generator's CPU: then there is no noise floor.
        assert done.returncode == 1, done.stderr
        assert "the A/A test gives no noise floor" in done.stderr
        assert kept == []
        return
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    (path,) = kept
    assert json.loads(path.read_text()) == said
    test = self_comparison(open_run(real_lab.run_folder())).test
    assert (said["floor"], said["ratio"], said["trials"]) == (test.floor, test.ratio.value, LEAST)
    assert said["ratio_low"] <= said["ratio"] <= said["ratio_high"]


def test_an_unknown_engine_starts_nothing(lab):
    done = lab.call("selftest", "--aa", "--engine", "mariadb@1")
    assert done.returncode == 1
    assert "mariadb@1" in done.stderr
    assert not lab.runs.exists()
