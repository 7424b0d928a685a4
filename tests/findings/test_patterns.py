"""Findings over several cells: what is known of the published figures, and what trials can carry."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno import stats
from dyno.cli.main import call
from dyno.findings import Names, Results, find_patterns
from dyno.findings.curves import collapse_of, saturation_of
from dyno.findings.progressions import version_key
from dyno.findings.results import peak_of, value_of
from dyno.record.run import open_run
from dyno.report.analysis import analyse
from dyno.report.model import Cell, Engine, Finding, Load, TrialResult
from dyno.studies.published import published_results
from fixtures.synthetic_run import build

FIGURES = Path(__file__).parents[2] / "datasets" / "001-ecosystem.csv"


@pytest.fixture(scope="module")
def published() -> Results:
    return published_results(FIGURES)


@pytest.fixture(scope="module")
def found(published: Results) -> list[Finding]:
    return find_patterns(published, relevant_difference=0.05)


def of(found: list[Finding], rule: str, *texts: str) -> Finding:
    """The one finding of a rule whose sentence has all the texts."""
    (finding,) = [f for f in found if f.rule == rule and all(text in f.sentence for text in texts)]
    return finding


def test_saturation_of_the_published_figures(found: list[Finding]) -> None:
    sentence = of(found, "saturation", "(rw-local, 32gib)").sentence
    assert "at 64 sessions MySQL 5.7;" in sentence
    assert "at 128 sessions MariaDB 10.11, MariaDB 11.4, MariaDB 12.1 and Percona 8.0;" in sentence
    assert sentence.endswith("only at the highest level run MySQL 8.4, MySQL 9.6 and Percona 8.4.")


def test_collapses_of_the_published_figures(found: list[Finding]) -> None:
    sentence = of(found, "collapse", "(ro-local, 32gib)").sentence
    assert "MySQL 5.7 from 13,684 transactions/s at 32 sessions to 3,889 at 512 sessions (−72 %)" in sentence
    assert "MySQL 8.4" in of(found, "collapse", "(ro-local, 2gib)").sentence


def test_gains_of_the_published_figures(found: list[Finding]) -> None:
    memory = of(found, "memory_gain", "(rw-local)").sentence
    assert "MySQL 8.4 25.1×, Percona 8.4 25.0×" in memory
    assert "MySQL 5.7 12.8×" in memory
    # (13,325 − 531) ÷ 30 GiB.
    assert memory.endswith("to 428 transactions/s.")
    reads = of(found, "read_only_ratio", "ro-local against rw-local (32gib)").sentence
    assert "MariaDB 10.11 3.03×" in reads
    assert "Percona 8.4 1.74×" in reads
    sessions = of(found, "session_gain", "(rw-local, 32gib)").sentence
    assert "MariaDB 10.11 20.7× with 128× the sessions" in sessions


def test_what_the_network_costs_is_contradicted(found: list[Finding]) -> None:
    network = of(found, "network")
    assert network.strength == "contradicted"
    assert "slower in 158 of 240 cells, faster in 78" in network.sentence
    assert len(network.cells) == 480


def test_progressions_mark_changes_and_say_that_single_runs_carry_none(found: list[Finding]) -> None:
    steady = of(found, "progression", "MariaDB 11.4 against MariaDB 10.11 (rw-local, 32gib)")
    assert "−5.2 % at 64, −10.8 % at 256 and −15.4 % at 512 sessions (5 % or more)" in steady.sentence
    assert "less than ±5 % at 128 sessions" in steady.sentence
    assert "With 1 trial a cell the data cannot tell" in steady.sentence
    assert steady.strength == "untested"
    crossing = of(found, "progression", "MySQL 8.4 against MySQL 5.7 (rw-local, 32gib)")
    assert crossing.strength == "contradicted"
    level = of(found, "progression", "Percona 8.0 against Percona 5.7 (ro-local, 12gib)")
    assert level.sentence.endswith("No change is marked.")
    # Three MariaDB, four MySQL, three Percona: seven newer versions in nine conditions.
    assert sum(f.rule == "progression" for f in found) == 7 * 9


def test_every_finding_names_cells_that_exist(found: list[Finding], published: Results) -> None:
    known = {cell.id for cell in published.cells}
    assert len(known) == 720
    assert all(f.cells and set(f.cells) <= known for f in found)


def cell(engine: str, load: str, values: list[float]) -> Cell:
    trials = [
        TrialResult(id=f"{engine}-{load}-{i}", block=i, status="ok", throughput_per_s=v)
        for i, v in enumerate(values, start=1)
    ]
    return Cell.model_validate(
        {
            "id": f"{engine}-{load}",
            "engine": engine,
            "settings": "d",
            "workload": "w",
            "load": load,
            "status": "ok" if values else "failed",
            "throughput_per_s": stats.mean_interval(values).__dict__ if values else None,
            "trials": trials,
        }
    )


def results(*cells: Cell) -> Results:
    engines = [
        Engine.model_validate(
            {
                "id": name,
                "label": name,
                "family": "mariadb",
                "version": name.partition("-")[2],
                "server_version": None,
                "source": "made",
                "content_sha256": None,
            }
        )
        for name in dict.fromkeys(cell.engine for cell in cells)
    ]
    loads = [Load(id=f"s{n}", kind="closed", label=f"{n} sessions", x=n) for n in (2, 4, 8, 16)]
    names = Names({e.id: e.label for e in engines}, {"d": "d"}, {"w": "w"}, {n.id: n.label for n in loads})
    return Results(list(cells), loads, engines, {}, names)


OLD, NEW = "m-5.7", "m-10.1"


def test_trials_support_a_change_or_not() -> None:
    """Four steady trials carry a 20 % loss; four that scatter do not."""
    made = results(
        cell(OLD, "s2", [100, 101, 99, 100]),
        cell(NEW, "s2", [80, 81, 79, 80]),
        cell(OLD, "s4", [100, 140, 60, 100]),
        cell(NEW, "s4", [110, 70, 150, 130]),
    )
    (finding,) = [f for f in find_patterns(made, relevant_difference=0.05) if f.rule == "progression"]
    assert finding.sentence.startswith(f"{NEW} against {OLD}: −20.0 % at 2 and ")
    assert finding.sentence.endswith("The trials support 1 of 2 marked changes, not those at 4 sessions.")


def test_a_cell_without_a_number_is_named() -> None:
    made = results(*(cell(e, load, v) for e in (OLD, NEW) for load, v in (("s2", [100.0]), ("s4", []))))
    (finding,) = find_patterns(made, relevant_difference=0.05)
    assert "no number at 4 sessions" in finding.sentence


def test_noise_is_no_collapse() -> None:
    low = [60.0, 100.0, 20.0, 80.0]
    curve = [
        cell(OLD, "s2", [99, 100, 101, 100]),
        cell(OLD, "s4", [100, 100, 100, 100]),
        cell(OLD, "s8", low),
    ]
    made = results(*curve)
    assert collapse_of(curve) is curve[2]
    assert not [f for f in find_patterns(made, relevant_difference=0.05) if f.rule == "collapse"]
    steady = results(*curve[:2], cell(OLD, "s8", [60.0, 61.0, 59.0, 60.0]))
    (finding,) = [f for f in find_patterns(steady, relevant_difference=0.05) if f.rule == "collapse"]
    assert finding.strength == "measured"
    assert "(−40 %)" in finding.sentence


@given(st.lists(st.floats(min_value=1, max_value=1e6), min_size=3, max_size=4))
def test_saturation_comes_no_later_than_the_peak_and_collapse_after_it(values: list[float]) -> None:
    curve = [cell(OLD, f"s{2 ** (i + 1)}", [value]) for i, value in enumerate(values)]
    point, peak, low = saturation_of(curve, 0.05), peak_of(curve), collapse_of(curve)
    assert curve.index(point) <= curve.index(peak)
    assert value_of(point) * 1.05 >= value_of(peak) * (1 - 1e-12)
    assert low is None or (curve.index(low) > curve.index(peak) and value_of(low) < value_of(peak))


def test_versions_are_ordered_as_numbers() -> None:
    versions = ["10.11", "5.7.44-48", "8.0.45", "5.7.9"]
    assert sorted(versions, key=version_key) == ["5.7.9", "5.7.44-48", "8.0.45", "10.11"]


def test_a_run_that_was_measured_has_them_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = build(tmp_path / "run")
    rules = {finding.rule for finding in analyse(open_run(run)).findings}
    assert {"saturation", "session_gain", "progression"} <= rules
    capsys.readouterr()
    assert call(["findings", str(run), "-r", "progression", "--json"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)
    assert finding["strength"] == "measured"
    assert finding["sentence"].startswith("MariaDB 11.8 against MariaDB 10.11: ")
    assert "The trials support 3 of 3 marked changes." in finding["sentence"]
    assert finding["n"] == 3
    assert {"cell", "throughput_per_s", "low", "high", "n"} == set(finding["evidence"][0])
    assert finding["link"].startswith(f"{run}/report.html#w=oltp_read_write&s=default&e=mariadb-11.8&l=s1")


def test_findings_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["findings", str(FIGURES), "--strength", "contradicted"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Contradicted: the cells do not agree (")
    assert "network: rw-network against rw-local" in out
    assert call(["findings", str(FIGURES), "-r", "horoscope"]) == 1
    assert "rules here: collapse, memory_gain" in capsys.readouterr().err
    assert call(["findings", str(FIGURES), "--strength", "strong"]) == 1
    assert "measured, untested" in capsys.readouterr().err
    other = tmp_path / "x.csv"
    other.write_text("a,b\n1,2\n")
    assert call(["findings", str(other)]) == 1
    assert "does not have the columns" in capsys.readouterr().err
