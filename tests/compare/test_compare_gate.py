"""`dyno compare`: the gate over known answers, what differs, and the exit codes that CI reads."""

from __future__ import annotations

import json
import math
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno import stats
from dyno.cli.main import call
from dyno.compare import Pair, compare_engines, compare_runs
from dyno.compare.gate import gate_of
from dyno.compare.sides import Opened
from dyno.errors import DynoError
from dyno.record.run import open_run
from dyno.report.analysis import analyse
from dyno.report.model import Estimate
from fixtures.synthetic_run import NOISE_FLOOR, Scenario, build, edit_json, trials_of

if TYPE_CHECKING:
    from pathlib import Path

BASE, OTHER = "mariadb-10.11", "mysql-9.7"
QUIET = {"block_spread": 0.002, "noise": 0.002, "measure_s": 2}


def opened(path: Path) -> Opened:
    run = open_run(path)
    return Opened(run, analyse(run))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`before`; `same` as fast; `slower` by 10 %; `noisy`; `single`: one trial."""
    folder = tmp_path_factory.mktemp("compare")
    for name, speed, blocks, seed in (
        ("before", 1.0, 5, 1),
        ("same", 1.0, 5, 2),
        ("slower", 0.9, 5, 3),
        ("single", 0.9, 1, 4),
    ):
        build(
            folder / name, Scenario(speed={BASE: speed}, sessions=(1, 4), blocks=blocks, seed=seed, **QUIET)
        )
    noisy = {**QUIET, "noise": 0.08}
    build(folder / "noisy", Scenario(speed={BASE: 0.97}, sessions=(1, 4), blocks=3, seed=16, **noisy))
    build(folder / "two", Scenario(speed={BASE: 1.0, OTHER: 0.9}, sessions=(4,), blocks=3, seed=5, **QUIET))
    return folder


@pytest.mark.parametrize(
    ("after", "threshold", "answer"),
    [
        ("same", "5%", ("pass", 0)),
        ("slower", "5%", ("slower", 5)),
        ("slower", "20%", ("pass", 0)),
        ("noisy", "5%", ("undecided", 6)),
        ("single", "5%", ("undecided", 6)),
    ],
)
def test_the_gate_of_a_known_slowdown(
    runs: Path, capfd: pytest.CaptureFixture[str], *, after: str, threshold: str, answer: tuple[str, int]
) -> None:
    code = call(["compare", "before", after, "--threshold", threshold, "--runs-dir", str(runs), "--json"])
    said = json.loads(capfd.readouterr().out)
    assert (said["gate"], code) == answer
    assert said["threshold"] == pytest.approx(float(threshold.rstrip("%")) / 100)


def test_two_runs_are_never_paired_and_numbers_are_those_of_stats(runs: Path) -> None:
    before, after = opened(runs / "before"), opened(runs / "slower")
    pair = compare_runs(before, after, threshold=0.05).pairs[0]
    x, y = ([t.throughput_per_s for t in side.analysis.cells[0].trials] for side in (before, after))
    expected = stats.ratio_unpaired([v for v in y if v], [v for v in x if v])
    assert pair.ratio
    assert (pair.ratio.value, pair.ratio.low, pair.ratio.high) == (
        expected.ratio.value,
        expected.ratio.low,
        expected.ratio.high,
    )
    assert pair.ratio.value == pytest.approx(0.9, rel=0.02)
    assert pair.second_opinion
    assert pair.second_opinion.p_value == stats.mann_whitney([v for v in y if v], [v for v in x if v]).p_value
    assert pair.p_value_holm == pytest.approx(min(1, 2 * (pair.p_value or 0)), rel=1)


def test_engines_of_one_run_are_paired_by_block(runs: Path) -> None:
    compared = compare_engines(opened(runs / "two"), "mariadb@10.11", threshold=0.05)
    (pair,) = compared.pairs
    assert (pair.before, pair.after, pair.verdict, pair.gate) == (BASE, OTHER, "slower", "slower")
    assert pair.ratio
    assert pair.ratio.method.startswith("paired by block")
    assert pair.second_opinion
    assert pair.second_opinion.p_value is None, "three against three trials show nothing by ranks"
    reverse = compare_engines(opened(runs / "two"), OTHER, threshold=0.05)
    assert (reverse.gate, reverse.pairs[0].verdict) == ("pass", "faster")


def test_a_single_trial_tests_nothing(runs: Path) -> None:
    compared = compare_runs(opened(runs / "before"), opened(runs / "single"))
    for pair in compared.pairs:
        assert pair.verdict == "untested"
        assert pair.p_value is None
        assert pair.second_opinion is None
        assert "one trial says nothing" in pair.sentence


def test_different_engines_of_two_runs_stand_against_each_other(runs: Path) -> None:
    compared = compare_runs(opened(runs / "before"), opened(runs / "two"), engines=[])
    assert {pair.after for pair in compared.pairs} == {BASE}
    assert compared.lost == [f"{BASE}~default~oltp_read_write~s1"]
    assert compared.gate == "undecided", "what has vanished cannot pass"
    assert "1 cell of the first run is not in the second" in compared.sentence
    assert compared.added == [f"{OTHER}~default~oltp_read_write~s4"]


def test_a_threshold_below_the_noise_floor_of_the_host_is_said(runs: Path) -> None:
    fine = compare_engines(opened(runs / "two"), BASE, threshold=NOISE_FLOOR["floor"] / 2)
    assert any("finer than what the host could show" in note for note in fine.notes)
    coarse = compare_engines(opened(runs / "two"), BASE, threshold=NOISE_FLOOR["floor"] * 2)
    assert coarse.notes == []


def test_an_open_loop_compares_response_times(tmp_path: Path) -> None:
    for name, speed in (("fast", 1.0), ("slow", 0.5)):
        build(tmp_path / name, Scenario(speed={BASE: speed}, sessions=(), rates=(200,), blocks=3, **QUIET))
    compared = compare_runs(opened(tmp_path / "fast"), opened(tmp_path / "slow"), threshold=0.05)
    (pair,) = compared.pairs
    assert (pair.measure, pair.verdict, pair.gate) == ("p99_us", "slower", "slower")
    assert pair.ratio
    assert pair.ratio.value > 1.5
    assert "p99 response time" in pair.sentence


def test_what_differs_is_listed(runs: Path, tmp_path: Path) -> None:
    other = shutil.copytree(runs / "same", tmp_path / "other")

    def change(plan: dict) -> None:
        plan["host"]["kernel"] = "6.12.0"
        plan["rig_version"] = "0.2.0"
        plan["phases"]["measure_s"] = 60.0
        plan["workloads"][0]["options"]["table_size"] = 50_000
        plan["engines"][0]["content_sha256"] = "f" * 64

    edit_json(other / "manifest.json", change)
    file = other / "settings" / f"{BASE}--default.json"
    edit_json(file, lambda text: text["effective"].update(innodb_buffer_pool_size="1", datadir="/elsewhere"))
    compared = compare_runs(opened(runs / "before"), opened(other))
    found = {(each.kind, each.what): (each.before, each.after) for each in compared.differences}
    assert compared.notes[0] == (
        "The runs also differ in the host, the workload, the length of the phases and the settings:"
        " a ratio may be due to that."
    )
    assert found["host", "kernel"] == ("6.1.0", "6.12.0")
    assert found["software", "rig_version"] == ("0.1.0", "0.2.0")
    assert found["phases", "measure_s"] == ("2.0", "60.0")
    assert found["workload", "oltp_read_write: table_size"] == ("25000", "50000")
    assert found["engine", "content of MariaDB 10.11"][1] == "f" * 12
    pool = f"innodb_buffer_pool_size ({BASE}, default)"
    assert found["settings", pool] == (str(256 * 2**20), "1")
    assert not any("datadir" in what for _, what in found), "where a server lives is no difference"


def test_a_run_against_itself_differs_in_nothing(runs: Path) -> None:
    compared = compare_runs(opened(runs / "before"), opened(runs / "before"))
    assert compared.differences == []
    assert not any("also differ" in note for note in compared.notes)
    assert [pair.ratio and pair.ratio.value for pair in compared.pairs] == [1.0, 1.0]


def test_a_side_without_a_number_is_missing_and_does_not_pass(runs: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(runs / "same", tmp_path / "broken")
    for trial in trials_of(broken, BASE, 4):
        (trial / "record.ndjson").write_text("")
    compared = compare_runs(opened(runs / "before"), opened(broken))
    gone = next(pair for pair in compared.pairs if pair.load == "s4")
    assert (gone.verdict, gone.gate, gone.ratio) == ("missing", "undecided", None)
    assert "has no number after" in gone.sentence
    assert compared.gate == "undecided"


def test_markdown_for_a_pull_request(runs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert call(["compare", "before", "slower", "--markdown", "--runs-dir", str(runs)]) == 5
    text = capfd.readouterr().out
    assert text.startswith("### Dyno: slower\n\nSlower by more than 5 % in 2 of 2 comparisons.")
    rows = [line for line in text.splitlines() if line.startswith(f"| {BASE} ")]
    assert len(rows) == 2
    assert len({line.count("|") for line in text.splitlines() if line.startswith("| ")} - {5}) == 1
    assert "<details>" in text


def test_text_for_a_person(runs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert call(["compare", "before", "same", "--runs-dir", str(runs)]) == 0
    out = capfd.readouterr().out
    assert "No slowdown of 5 % in 2 comparisons." in out
    assert "What differs beside the numbers" in out
    assert "Two runs: their trials are not paired" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["before", "nothing"], 1, "there is no run 'nothing'"),
        (["before"], 1, "no engine beside the baseline"),
        (["two", "--baseline", "mariadb@11.8"], 1, "has no engine 'mariadb@11.8'"),
        (["before", "same", "-e", OTHER], 1, f"has no engine '{OTHER}'"),
        (["before", "same", "--threshold", "2"], 2, "--threshold '2'"),
        (["before", "same", "--threshold", "x%"], 2, "--threshold 'x%'"),
        (["before", "same", "--baseline", BASE], 2, "--baseline is for one run"),
        (["before", "same", "--json", "--markdown"], 2, "exclude each other"),
    ],
)
def test_an_error_teaches(
    runs: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    assert call(["compare", *arguments, "--runs-dir", str(runs)]) == code
    out, error = capfd.readouterr()
    assert out == ""
    assert said in error
    assert "hint:" in error


def test_runs_without_a_cell_in_common(runs: Path, tmp_path: Path) -> None:
    build(tmp_path / "else", Scenario(speed={BASE: 1.0}, sessions=(64,), blocks=1, **QUIET))
    with pytest.raises(DynoError, match="have no cell in common") as caught:
        compare_runs(opened(runs / "before"), opened(tmp_path / "else"))
    assert "~s64" in (caught.value.hint or "")


def pair_of(low: float, value: float, high: float, *, measure: str, delta: float) -> Pair:
    ratio = stats.Estimate(value, low, high, 5, "given")
    p_value = 0.5 if low <= 1 <= high else 0.001
    verdict = stats.verdict(stats.Comparison(ratio, p_value), relevant_difference=delta)
    opposite = {"faster": "slower", "slower": "faster"}
    return Pair.model_validate(
        {
            **dict.fromkeys(("before", "after", "settings", "workload", "load", "sentence"), "x"),
            "before_value": None,
            "after_value": None,
            "measure": measure,
            "ratio": Estimate(value=value, low=low, high=high, n=5, method="given"),
            "verdict": opposite.get(verdict, verdict) if measure == "p99_us" else verdict,
            "gate": "undecided",
        }
    )


@settings(deadline=None)
@given(
    centre=st.floats(-0.5, 0.5),
    halves=st.tuples(st.floats(0.001, 0.4), st.floats(0.001, 0.4)),
    delta=st.floats(0.01, 0.3),
)
def test_the_gate_is_sound_and_the_same_for_time_as_for_rate(
    centre: float, halves: tuple[float, float], delta: float
) -> None:
    ends = (centre - halves[0], centre, centre + halves[1])
    low, value, high = (math.exp(end) for end in ends)
    gate = gate_of(pair_of(low, value, high, measure="throughput_per_s", delta=delta), delta)
    if gate == "slower":
        assert high < 1
        assert value < 1 / (1 + delta)
    if gate == "pass":
        assert low >= 1 / (1 + delta) * (1 - 1e-12) or low > 1
    inverse = [math.exp(-end) for end in reversed(ends)]
    time = pair_of(inverse[0], inverse[1], inverse[2], measure="p99_us", delta=delta)
    edge = min(abs(abs(end) - math.log1p(delta)) for end in ends) < 1e-9
    assert edge or gate_of(time, delta) == gate
