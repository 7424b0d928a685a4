"""What a plan can see: its comparisons, a pilot's spread, sentences and the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dyno import stats
from dyno.errors import DynoError
from dyno.plan import names
from dyno.plan.resolved import ResolvedCell, ResolvedPlan
from dyno.record.run import open_run
from dyno.report.analysis import analyse
from dyno.report.power import assumed, comparisons_of, pilot_spread, power_of, power_table, sentences
from fixtures.synthetic_run import Scenario, build

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.report.power import PlanPower


def plan(engines: list[str], loads: list[str], trials: int = 3, baseline: str | None = None) -> ResolvedPlan:
    """A plan as far as power asks for it."""
    cells = [
        ResolvedCell(
            id=names.cell_id(engine, "default", "w", load),
            engine=engine,
            settings="default",
            workload="w",
            load=load,
        )
        for engine in engines
        for load in loads
    ]
    return ResolvedPlan.model_construct(
        cells=cells, trials_per_cell=trials, baseline=baseline, relevant_difference=0.05, order=[]
    )


def power(resolved: ResolvedPlan, spread: float = 0.015, effect: float | None = 0.02) -> PlanPower:
    return power_of(resolved, assumed(spread), effect=effect, wanted=0.8, time_of=lambda n: 60.0 * n)


@pytest.mark.parametrize(
    ("engines", "loads", "expected"),
    [
        (["a", "b", "c"], ["s1", "s4"], (4, True)),
        (["a", "b"], ["s1"], (1, True)),
        (["a"], ["s1", "s4"], (2, False)),
    ],
)
def test_comparisons_of_a_plan(engines: list[str], loads: list[str], expected: tuple[int, bool]) -> None:
    assert comparisons_of(plan(engines, loads)) == expected
    assert comparisons_of(plan(engines, loads, baseline=engines[-1])) == expected


def test_the_numbers_are_those_of_the_statistics() -> None:
    found = power(plan(["a", "b", "c"], ["s1", "s4"]))
    design = stats.Design(0.015, comparisons=4)
    assert found.needed_alone == stats.trials_needed(stats.Design(0.015), 0.02) == 12
    assert found.needed_corrected == stats.trials_needed(design, 0.02)
    assert found.needed_at_worst is None
    row = next(row for row in found.rows if row.trials == 3)
    assert row.effect_corrected == stats.detectable_effect(design, 3)
    assert row.time_s == 180
    assert found.needed_corrected in {row.trials for row in found.rows}


def test_sentences_name_design_and_correction() -> None:
    said = sentences(power(plan(["a", "b", "c"], ["s1", "s4"])))
    assert said[0] == "Spread of repeats: 1.5 % (assumed)."
    assert said[1].endswith("Holm's first step tests the smallest p against 5 % ÷ 4.")
    assert said[2].startswith("With 3 trials a cell, as planned, a difference of 7.2 % is seen")
    assert "takes 12 trials in one comparison for itself, 17 trials in Holm's first step." in said[3]
    assert said[4].endswith("(no relevant difference) with a chance of 80 % by 5 trials a cell.")


def test_one_engine_is_run_twice_and_one_trial_sees_nothing() -> None:
    found = power(plan(["a"], ["s1"], trials=1), effect=None)
    said = " ".join(sentences(found))
    assert "two runs of this plan, 1 comparison, not paired: Welch's t test." in said
    assert "no difference can be seen" in said
    assert 1 not in {row.trials for row in found.rows}
    assert power_table(found).columns == [
        "Trials",
        "Difference seen alone",
        "After Holm",
        "Chance to find equal within ±5 %",
        "Time",
    ]


def test_hopeless_spreads_are_said() -> None:
    found = power(plan(["a", "b"], ["s1"], trials=2), spread=3.0, effect=0.001)
    assert found.needed_alone is None
    said = " ".join(sentences(found))
    assert "takes more than 1,000 trials in one comparison" in said
    assert "a difference of no size up to tenfold" in said


def test_table_marks_the_plan() -> None:
    table = power_table(power(plan(["a", "b"], ["s1"])))
    assert [row[0] for row in table.rows if "plan" in row[0]] == ["3 (plan)"]
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_pilot_without_the_mood_of_its_blocks(tmp_path: Path) -> None:
    """Blocks move by 20 %, trials by 1 %: the interval of the spread holds the 1 %."""
    scenario = Scenario(sessions=(1, 4), blocks=4, block_spread=0.2, noise=0.01)
    spread = pilot_spread(analyse(open_run(build(tmp_path / "run", scenario))))
    assert spread.low is not None
    assert spread.high is not None
    assert spread.low <= 0.01 <= spread.high < 0.03
    assert spread.n == 2 * 2 * 3
    said = sentences(power_of(plan(["a", "b"], ["s1"]), spread, effect=0.02, wanted=0.8, time_of=float))
    assert "if the spread is at the upper end of its interval)" in said[3]


def test_a_run_without_repeats_is_no_pilot(tmp_path: Path) -> None:
    run = build(tmp_path / "run", Scenario(sessions=(1,), blocks=1))
    with pytest.raises(DynoError, match="is no pilot") as caught:
        pilot_spread(analyse(open_run(run)))
    assert caught.value.hint is not None
