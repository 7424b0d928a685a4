"""Claims against numbers: the published report's own, exactly as they are known, and each comparator."""

from __future__ import annotations

import csv
import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dyno.cli.claims import read_claims
from dyno.cli.main import call
from dyno.errors import DynoError
from dyno.findings.claim_file import Claim, ClaimFile
from dyno.findings.claims import Verdict, verify
from dyno.studies.published import published_results
from findings.test_patterns import NEW, OLD, cell, results

if TYPE_CHECKING:
    from dyno.findings import Results

DATASETS = Path(__file__).parents[2] / "datasets"
CLAIMS = DATASETS / "claims-001.toml"
FIGURES = DATASETS / "001-ecosystem.csv"

CONTRADICTED_IN_RW_LOCAL = {"mysql-8.0-percona-8.0", "buffer-pool-range", "rw-12-unique"}
CONTRADICTED_ELSEWHERE = {
    "ro-32-ahead",
    "network-overhead",
    "ro-12-leaders",
    "network-mariadb-every-count",
}
VAGUE = {"rw-32-unique-scaling", "network-mariadb", "write-paths"}
OF_RW_LOCAL = {
    "rw-32-leaders",
    "rw-32-percona-8.4",
    "rw-32-mysql-8.4",
    "rw-2-leader",
    "rw-2-percona-5.7",
    "rw-2-continues",
    "mariadb-12.1-regresses",
    "buffer-pool-percona-8.4",
    "buffer-pool-mysql-5.7",
}


def by_answer(verdicts: list[Verdict]) -> dict[str, set[str]]:
    answers = ("true", "false", "not decidable")
    return {answer: {v.id for v in verdicts if v.verdict == answer} for answer in answers}


def all_claims() -> set[str]:
    return {claim.id for claim in read_claims(CLAIMS).claim}


def test_the_reports_claims_on_all_its_published_figures() -> None:
    verdicts = {v.id: v for v in verify(read_claims(CLAIMS), published_results(FIGURES))}
    answers = by_answer(list(verdicts.values()))
    assert answers["false"] == CONTRADICTED_IN_RW_LOCAL | CONTRADICTED_ELSEWHERE
    assert answers["not decidable"] == VAGUE
    assert verdicts["ro-32-ahead"].found.startswith("+34.4 %")
    assert verdicts["mysql-8.0-percona-8.0"].found.startswith("34 of 72 figures as claimed; from −32.5 %")
    assert "+197.9 %" in verdicts["mysql-8.0-percona-8.0"].found
    # From TPS in whole numbers; from the unrounded ones of the logs it is 56.
    assert verdicts["network-overhead"].found.startswith("55 of 239 figures as claimed")
    assert "Percona 5.7, Percona 8.0 and Percona 8.4" in verdicts["rw-12-unique"].found
    assert "−4.5 %" in verdicts["network-mariadb-every-count"].found
    for end in ("12.784×", "25.094×"):
        assert end in verdicts["buffer-pool-range"].found
    assert "3,631 transactions/s (MySQL 9.6" in verdicts["ro-12-leaders"].found
    assert {v.strength for v in verdicts.values()} == {"untested", "contradicted", "none"}


def rw_local(tmp_path: Path) -> Path:
    """The published figures of read-write local alone."""
    file = tmp_path / "rw-local.csv"
    with FIGURES.open(newline="") as source, file.open("w", newline="") as target:
        rows = csv.DictReader(source)
        writer = csv.DictWriter(target, rows.fieldnames or [])
        writer.writeheader()
        writer.writerows(row for row in rows if row["scenario"] == "rw-local")
    return file


def expected_of_rw_local() -> dict[str, set[str]]:
    decided = CONTRADICTED_IN_RW_LOCAL | OF_RW_LOCAL
    return {
        "true": OF_RW_LOCAL,
        "false": CONTRADICTED_IN_RW_LOCAL,
        "not decidable": all_claims() - decided,
    }


def test_of_read_write_local_alone_the_rest_is_not_decidable(tmp_path: Path) -> None:
    verdicts = verify(read_claims(CLAIMS), published_results(rw_local(tmp_path)))
    assert by_answer(verdicts) == expected_of_rw_local()
    whys = {v.id: v.why or "" for v in verdicts}
    assert whys["ro-32-leader"] == "there is no cell of workload ro-local"
    assert "its log is empty, yet 257 was published" in whys["buffer-pool-range"]


def test_the_reports_claims_on_its_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from corpus import unpacked  # noqa: PLC0415 - skips where the corpus is not at hand

    run = tmp_path / "run"
    logs = unpacked(tmp_path / "logs")
    assert call(["import", str(logs), "-o", str(run), "--layout", "percona-2026"]) == 0
    capsys.readouterr()
    assert call(["verify-claims", str(CLAIMS), str(run), "--json"]) == 5
    verdicts = json.loads(capsys.readouterr().out)
    expected = expected_of_rw_local()
    for answer, ids in expected.items():
        assert {v["id"] for v in verdicts if v["verdict"] == answer} == ids
    found = {v["id"]: v["found"] for v in verdicts}
    assert "+33.4 %" in found["mysql-8.0-percona-8.0"]
    assert "12.786×" in found["buffer-pool-range"]


def one(made: Results, **fields: Any) -> Verdict:
    claim = {"id": "c", "text": "…", **fields}
    file = ClaimFile.model_validate(
        {"format": "dyno-claims/1", "title": "t", "source": "s", "claim": [claim]}
    )
    return verify(file, made)[0]


SINGLE = results(
    cell(OLD, "s2", [100]), cell(OLD, "s4", [200]), cell(NEW, "s2", [110]), cell(NEW, "s4", [190])
)
STEADY = results(cell(OLD, "s2", [100, 101, 99, 100]), cell(NEW, "s2", [120, 121, 119, 120]))
WILD = results(cell(OLD, "s2", [100, 140, 60, 100]), cell(NEW, "s2", [110, 70, 150, 130]))


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"scope": {"load": 4, "engine": OLD}, "comparator": "=", "value": 200}, "true"),
        ({"scope": {"load": 4, "engine": OLD}, "comparator": "=", "value": 201, "tolerance": 1}, "true"),
        ({"scope": {"load": 4, "engine": OLD}, "comparator": "=", "value": 202, "tolerance": 1}, "false"),
        ({"scope": {"load": 4}, "comparator": ">", "value": 190}, "false"),
        ({"scope": {"load": 4}, "comparator": ">=", "value": 190}, "true"),
        ({"scope": {"load": 4}, "comparator": "<", "value": 200}, "false"),
        ({"scope": {"load": 4}, "comparator": "<=", "value": 200}, "true"),
        ({"comparator": "within", "value": [100, 200]}, "true"),
        ({"comparator": "within", "value": [100, 199]}, "false"),
        ({"comparator": "spans", "value": [100, 200]}, "true"),
        ({"comparator": "spans", "value": [90, 210]}, "false"),
        ({"scope": {"load": 4, "engine": OLD}, "comparator": "best"}, "true"),
        ({"scope": {"load": 2, "engine": OLD}, "comparator": "best"}, "false"),
        ({"figure": "peak", "scope": {"engine": "m-5*"}, "comparator": "best"}, "true"),
        ({"figure": "peak_sessions", "comparator": "=", "value": 4}, "true"),
        ({"figure": "peak_sessions", "scope": {"engine": OLD}, "comparator": "only", "value": 4}, "false"),
        (
            {
                "scope": {"engine": NEW},
                "against": {"engine": OLD},
                "comparator": "within",
                "value": [0.95, 1.1],
            },
            "true",
        ),
        (
            {
                "scope": {"engine": NEW, "load": 2},
                "against": {"engine": "next best"},
                "unit": "change_percent",
                "comparator": "=",
                "value": 10,
                "tolerance": 1e-9,
            },
            "true",
        ),
        ({"scope": {"engine": "oracle"}, "comparator": ">", "value": 0}, "not decidable"),
        ({"metric": "p99_us", "comparator": ">", "value": 0}, "not decidable"),
        ({"vague": "says nothing"}, "not decidable"),
    ],
)
def test_comparators_on_single_runs(fields: dict[str, Any], answer: str) -> None:
    verdict = one(SINGLE, **fields)
    assert verdict.verdict == answer
    assert verdict.strength == {"true": "untested", "false": "contradicted", "not decidable": "none"}[answer]
    assert verdict.found or verdict.why


@pytest.mark.parametrize(
    ("made", "value", "answer"),
    [(STEADY, 10, "true"), (STEADY, 20, "not decidable"), (STEADY, 30, "false"), (WILD, 1, "not decidable")],
)
def test_with_several_trials_the_interval_decides(made: Results, value: float, answer: str) -> None:
    verdict = one(
        made,
        scope={"engine": NEW},
        against={"engine": OLD},
        unit="change_percent",
        comparator=">=",
        value=value,
    )
    assert verdict.verdict == answer
    assert verdict.n == 4
    assert "[" in verdict.found
    if answer == "true":
        assert verdict.strength == "measured"
    if answer == "not decidable":
        assert "more trials" in (verdict.why or "")


def test_with_several_trials_the_best_must_be_told_apart() -> None:
    assert one(STEADY, scope={"engine": NEW}, comparator="best").verdict == "true"
    undecided = one(WILD, scope={"engine": NEW}, comparator="best")
    assert (undecided.verdict, undecided.why) == ("not decidable", "the trials do not tell them apart")


def test_a_missing_number_keeps_a_claim_from_being_true_but_not_from_being_false() -> None:
    made = results(cell(OLD, "s2", [100]), cell(OLD, "s4", []), cell(NEW, "s2", [90]), cell(NEW, "s4", [80]))
    assert one(made, comparator=">", value=50).verdict == "not decidable"
    assert "m-5.7 at 4 sessions has no number" in (one(made, comparator=">", value=50).why or "")
    assert one(made, comparator=">", value=85).verdict == "false"
    # Its rival there has no number, so NEW cannot be called the best.
    assert one(made, scope={"engine": NEW, "load": 4}, comparator="best").verdict == "not decidable"
    peak = one(made, figure="peak", scope={"engine": OLD}, comparator="=", value=100)
    assert peak.verdict == "true"
    assert "the peak is that of the other levels" in (peak.why or "")


@given(st.floats(1, 1e6), st.floats(1, 1e6), st.floats(0, 100))
def test_a_figure_is_below_above_or_at_a_bound(figure: float, bound: float, tolerance: float) -> None:
    made = results(cell(OLD, "s2", [figure]))
    answers = {
        comparator: one(made, comparator=comparator, value=bound).verdict == "true"
        for comparator in ("<", "<=", ">", ">=", "=")
    }
    assert answers["<"] + answers["="] + answers[">"] == 1
    assert answers["<="] == (answers["<"] or answers["="])
    assert answers[">="] == (answers[">"] or answers["="])
    near = one(made, comparator="=", value=bound, tolerance=tolerance)
    assert (near.verdict == "true") == (bound - tolerance <= figure <= bound + tolerance)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, "comparator is missing"),
        ({"comparator": "within", "value": 3}, "two numbers as value"),
        ({"comparator": "best", "value": 3}, "no value"),
        ({"comparator": "=", "value": [1, 2]}, "one number as value"),
        ({"comparator": "within", "value": [2, 1]}, "ends before it begins"),
        ({"comparator": "best", "against": {"engine": "x"}}, "leave out `against`"),
        ({"comparator": "=", "value": 1, "figure": "peak_sessions", "against": {"load": 1}}, "leave out"),
        ({"vague": "x", "comparator": "best"}, "no comparator"),
        ({"comparator": "=", "value": 1, "scop": {}}, "Extra inputs"),
        ({"comparator": "~", "value": 1}, "Input should be"),
        ({"comparator": "=", "value": 1, "tolerance": -1}, "greater than or equal to 0"),
    ],
)
def test_a_claim_that_says_nothing_checkable_is_refused(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Claim.model_validate({"id": "c", "text": "…", **fields})


def test_a_wrong_file_is_an_error_that_names_the_claim(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "claims.toml"
    head = 'format = "dyno-claims/1"\ntitle = "t"\nsource = "s"\n'
    one_claim = '[[claim]]\nid = "a"\ntext = "x"\ncomparator = "best"\n'
    for text, part in (
        ("[[", "cannot read claims"),
        (head, "claim: Field required"),
        (head + one_claim.replace('"best"', '"beast"'), "claim a.comparator"),
        (head + one_claim + one_claim, "two claims are called a"),
    ):
        file.write_text(text)
        with pytest.raises(DynoError) as caught:
            read_claims(file)
        assert part in caught.value.message
        assert caught.value.hint
    assert call(["verify-claims", str(tmp_path / "none.toml"), str(FIGURES)]) == 1
    assert "hint:" in capsys.readouterr().err


def test_exit_codes_for_ci(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "claims.toml"

    def code(claim: str, *options: str) -> int:
        file.write_text(
            f'format = "dyno-claims/1"\ntitle = "t"\nsource = "s"\n[[claim]]\nid = "a"\ntext = "x"\n{claim}'
        )
        return call(["verify-claims", str(file), str(FIGURES), *options])

    assert code('comparator = ">"\nvalue = 0') == 0
    assert code('comparator = ">"\nvalue = 1000') == 5
    assert code('vague = "nothing to check"') == 6
    assert code('vague = "nothing to check"', "--allow-undecided") == 0
    assert "1 not decidable" in capsys.readouterr().out


def test_the_claims_file_of_the_documentation_is_one() -> None:
    text = (Path(__file__).parents[2] / "docs" / "CLAIMS.md").read_text()
    example = text.partition("```toml\n")[2].partition("```")[0]
    file = ClaimFile.model_validate(tomllib.loads(example))
    assert len(file.claim) > 2
    documented = {name for name in Claim.model_fields if f"`{name}`" in text}
    assert documented == set(Claim.model_fields)
