"""`dyno sql`: right numbers over any number of runs, errors that teach, and nothing but the runs in sight."""

from __future__ import annotations

import csv
import io
import json
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.two_runs import FIRST, SECOND
from dyno.cli.main import call
from dyno.data.sql import query
from dyno.data.tables import SQL, TABLES
from dyno.errors import DynoError

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.data import RunData


@pytest.fixture
def ask(runs: Path, capfd: pytest.CaptureFixture[str]):
    """Call `dyno sql` and return its exit code, stdout and stderr."""

    def ask(*words: str) -> tuple[int, str, str]:
        code = call(["sql", "--runs-dir", str(runs), *words])
        return (code, *capfd.readouterr())

    return ask


def test_means_over_trials_are_those_of_pandas(first: RunData) -> None:
    result = query(
        [first], "SELECT cell, avg(throughput_per_s) FROM trials WHERE status = 'ok' GROUP BY cell"
    )
    expected = first.trials.groupby("cell").throughput_per_s.mean()
    assert dict(result.rows) == pytest.approx(expected.to_dict())


def test_runs_are_put_together_and_told_apart(ask) -> None:
    code, out, _ = ask(
        FIRST, SECOND, "--json", "SELECT run, count(*) AS n FROM trials GROUP BY run ORDER BY run"
    )
    assert code == 0
    assert json.loads(out) == [{"run": FIRST, "n": 18}, {"run": SECOND, "n": 4}]


def test_without_a_run_the_newest_is_asked(ask) -> None:
    _, out, _ = ask("--csv", "SELECT DISTINCT run FROM cells")
    assert out == f"run\n{SECOND}\n"


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_its_documented_types(first: RunData, second: RunData, name: str) -> None:
    result = query([first, second], f"DESCRIBE SELECT * FROM {name}")
    types = [(row[0], row[1]) for row in result.rows]
    assert types == [(column.name, SQL[column.kind]) for column in TABLES[name].columns]


def test_a_table_and_csv_and_json_say_the_same(ask) -> None:
    text = "SELECT engine, sessions, throughput_per_s, reason FROM trials ORDER BY ALL LIMIT 3"
    rows = json.loads(ask(FIRST, "--json", text)[1])
    assert rows[0]["reason"] is None
    lines = list(csv.DictReader(io.StringIO(ask(FIRST, "--csv", text)[1])))
    assert [float(line["throughput_per_s"]) for line in lines] == [row["throughput_per_s"] for row in rows]
    _, shown, said = ask(FIRST, text)
    assert f"{rows[0]['throughput_per_s']:.6g}" in shown
    assert "3 rows" in said


def test_what_json_does_not_have_is_null(ask) -> None:
    code, out, _ = ask("--json", "SELECT 'nan'::DOUBLE AS a, 'inf'::DOUBLE AS b FROM cells LIMIT 1")
    assert (code, json.loads(out)) == (0, [{"a": None, "b": None}])


def test_the_schema_is_listed_without_a_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert call(["sql", "--schema", "--json", "--runs-dir", str(tmp_path)]) == 0
    listed = json.loads(capfd.readouterr().out)
    assert {name: [c["name"] for c in table["columns"]] for name, table in listed.items()} == {
        name: schema.names for name, schema in TABLES.items()
    }
    assert call(["sql", "--schema"]) == 0
    assert "throughput_per_s" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("SELECT thruput FROM cells", '"thruput" not found', "throughput_per_s"),
        ("SELECT * FROM trails", "trails does not exist", "trials, cells"),
        ("SELEC 1 FROM cells", "syntax error", "--schema"),
        ("SELECT 1; SELECT 2", "2 statements", "one SELECT"),
        ("DROP TABLE trials", "DROP is not for runs", "SELECT"),
        ("COPY (SELECT 1) TO 'out.csv'", "COPY is not for runs", "SELECT"),
        ("ATTACH 'other.db' AS x", "ATTACH is not for runs", "SELECT"),
        ("SET enable_external_access = true", "SET is not for runs", "SELECT"),
        ("SELECT sum(engine) FROM cells", "sum(VARCHAR)", "--schema"),
    ],
)
def test_an_error_teaches(ask, text: str, said: str, hint: str) -> None:
    code, out, error = ask(SECOND, text)
    assert (code, out) == (1, "")
    assert said in error
    assert hint in error.partition("hint:")[2]
    assert "Traceback" not in error


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM glob('{folder}/*')",
    ],
)
def test_no_file_is_in_sight(second: RunData, tmp_path: Path, text: str) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("a,b\n1,2\n")
    with pytest.raises(DynoError, match=r"disabled by configuration|does not exist"):
        query([second], text.format(file=file, folder=tmp_path))


def test_no_variable_of_the_program_is_a_table(second: RunData) -> None:
    hidden = second.trials
    assert not hidden.empty
    with pytest.raises(DynoError, match="hidden does not exist"):
        query([second], "SELECT * FROM hidden")


@pytest.mark.parametrize("words", [(), ("latest",), ("latest", " "), ("--csv", "--json", "SELECT 1")])
def test_wrong_usage_ends_with_2(ask, words: tuple[str, ...]) -> None:
    code, out, error = ask(*words)
    assert (code, out) == (2, "")
    assert "hint:" in error


def test_one_run_twice_is_an_error(second: RunData) -> None:
    with pytest.raises(DynoError, match=f"both the run {SECOND}"):
        query([second, second], "SELECT 1")


@settings(deadline=None, max_examples=50)
@given(text=st.text(max_size=40))
def test_any_text_gives_rows_or_a_teaching_error(text: str) -> None:
    with suppress(DynoError):
        query([], text)
