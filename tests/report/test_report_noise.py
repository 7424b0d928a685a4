"""The noise floor of the host in a run's report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dyno.errors import DynoError
from dyno.record.run import open_run
from dyno.report import markdown
from dyno.report.analysis import analyse
from dyno.report.noise import self_comparison
from fixtures.synthetic_run import NOISE_FLOOR, Scenario, build, edit_json

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.report.model import Analysis

SMALL = Scenario(speed={"mariadb-10.11": 1.0}, sessions=(1,), blocks=1, measure_s=1)


@pytest.fixture
def analysed(tmp_path: Path):
    """Analyse a run whose manifest has this noise floor."""

    def analysed(noise: dict | None) -> Analysis:
        run = build(tmp_path / "run", SMALL)
        edit_json(run / "manifest.json", lambda plan: plan.update(noise_floor=noise))
        return analyse(open_run(run))

    return analysed


def test_a_sentence_says_what_was_measured_and_when(analysed) -> None:
    found = analysed(NOISE_FLOOR)
    assert found.noise_floor.sentence == (
        "Noise floor of this host: ±1.4 %, measured 2026-11-19: MariaDB 10.11 is 1.002× itself, 95 % CI"
        " [0.990, 1.014]; oltp_read_write at 4 sessions, 6 trials a side of 5 s, which scatter by 1.1 %."
    )
    assert found.noise_floor.floor == NOISE_FLOOR["floor"]
    assert markdown.escape(found.noise_floor.sentence) in markdown.render(found)


def test_a_false_alarm_is_said(analysed) -> None:
    found = analysed({**NOISE_FLOOR, "ratio_low": 1.001, "false_alarm": True})
    said = "It was a false alarm: 1 of 20 such tests is one on a quiet host."
    assert found.noise_floor.sentence.endswith(said)


def test_without_an_aa_test_nothing_is_said(analysed) -> None:
    found = analysed(None)
    assert found.noise_floor is None
    assert "Noise floor" not in markdown.render(found)


def test_two_equal_sides_are_an_aa_test_and_anything_else_is_none(tmp_path: Path) -> None:
    scenario = Scenario(
        speed={"mariadb-10.11": 1.0, "mariadb-11.8": 1.0}, sessions=(4,), blocks=4, measure_s=1
    )
    run = open_run(build(tmp_path / "aa", scenario))
    found = self_comparison(run)
    assert found.engine == "MariaDB 10.11"
    assert found.test.ratio.n == 4
    assert found.test.ratio.method.startswith("paired by block")
    wild = Scenario(speed=scenario.speed, sessions=(4,), blocks=2, measure_s=1, noise=0.8)
    with pytest.raises(DynoError, match="may be more than twice itself"):
        self_comparison(open_run(build(tmp_path / "wild", wild)))
    with pytest.raises(DynoError, match="no A/A test: it has 1 cells"):
        self_comparison(open_run(build(tmp_path / "one", SMALL)))
