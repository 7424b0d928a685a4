"""What is written and printed: the same numbers everywhere, safe with any name, readable by programs."""

from __future__ import annotations

import csv
import io
import json
import shutil
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from dyno.cli import report as command
from dyno.errors import DynoError
from dyno.report import html
from dyno.report.build import build as build_report
from dyno.report.markdown import escape
from dyno.report.model import Analysis
from fixtures.synthetic_run import Scenario, build, edit_json

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "a|b</script><img src=x onerror=alert(1)>\n\n# *x* [y](z) `q` \\"
SMALL = Scenario(speed={"mariadb-10.11": 1.0, "mysql-9.7": 0.7}, sessions=(1, 4), blocks=3)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("runs") / "20261120-193000-small", SMALL)


@pytest.fixture
def run(template: Path, tmp_path: Path) -> Path:
    return shutil.copytree(template, tmp_path / "runs" / template.name)


@pytest.fixture(autouse=True)
def page(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of the viewer's form, so that these tests do not need the viewer to be built."""
    monkeypatch.setattr(html, "_template", lambda: f"<html>{html.TITLE_SLOT}{html.DATA_SLOT}</html>")


app = typer.Typer(rich_markup_mode=None)
app.command("report")(command.report)
app.command("show")(command.show)


def call(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_build_writes_everything_and_again_the_same(run: Path) -> None:
    built = build_report(run)
    names = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
    assert {"analysis.json", "report.md", "report.html", "csv/throughput.csv", "csv/data-trials.csv"} <= names
    assert not [name for name in names if name.endswith(".part")]
    files = [built.json, built.markdown, built.html, *sorted(built.csv.iterdir())]
    first = [path.read_bytes() for path in files if path]
    build_report(run)
    assert [path.read_bytes() for path in files if path] == first
    assert Analysis.model_validate_json(built.json.read_text()) == built.analysis


def test_without_the_viewer_the_rest_is_still_written(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise DynoError("the page is missing", hint="run `make build`")

    monkeypatch.setattr(html, "_template", missing)
    built = build_report(run)
    assert built.html is None
    assert built.html_problem is not None
    assert built.best == built.markdown
    assert built.json.exists()
    assert call("report", str(run)).strip() == str(built.markdown)


def test_tables_are_the_same_in_all_forms(run: Path) -> None:
    built = build_report(run)
    text = built.markdown.read_text()
    for table in built.analysis.tables:
        with (built.csv / f"{table.id}.csv").open(newline="") as file:
            assert list(csv.reader(file)) == [table.columns, *table.rows]
        for row in table.rows:
            assert f"| {' | '.join(escape(cell) for cell in row)} |" in text
    shown = call("show", str(run))
    assert all(row[0] in shown for table in built.analysis.tables for row in table.rows)


def test_data_files_hold_unrounded_numbers(run: Path) -> None:
    built = build_report(run)
    with (built.csv / "data-trials.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    trials = [trial for cell in built.analysis.cells for trial in cell.trials]
    assert [float(row["throughput_per_s"]) for row in rows] == [t.throughput_per_s for t in trials]
    with (built.csv / "data-comparisons.csv").open(newline="") as file:
        ratios = [float(row["ratio_low"]) for row in csv.DictReader(file)]
    assert ratios == [c.ratio.low for c in built.analysis.comparisons if c.ratio]
    with (built.csv / "data-settings.csv").open(newline="") as file:
        settings = list(csv.DictReader(file))
    assert {row["engine"] for row in settings} == {"mariadb-10.11", "mysql-9.7"}


def test_every_sentence_is_in_the_text(run: Path) -> None:
    built = build_report(run)
    text = built.markdown.read_text()
    assert len(built.analysis.findings) >= 5
    for finding in built.analysis.findings:
        assert f"- {escape(finding.sentence)}" in text


def test_hostile_names_stay_text(run: Path) -> None:
    edit_json(run / "manifest.json", lambda m: m.update(title=HOSTILE, question=HOSTILE))
    edit_json(run / "manifest.json", lambda m: m["engines"][0].update(label=HOSTILE))
    edit_json(run / "manifest.json", lambda m: m["host"].update(hostname=HOSTILE))
    built = build_report(run)
    text = built.markdown.read_text()
    assert "<img" not in text.replace("\\<img", "")
    assert "\n# *x*" not in text
    pipes = {
        line.replace("\\|", "").count("|")
        for line in text.splitlines()
        if "Throughput, t" not in line and "onerror" in line
    }
    columns = {len(table.columns) + 1 for table in built.analysis.tables}
    assert pipes <= {0, *columns, 5}
    assert built.html is not None
    assert "<img" not in built.html.read_text()
    for name in ("throughput.csv", "trials.csv"):
        rows = list(csv.reader(io.StringIO((built.csv / name).read_text())))
        assert len({len(row) for row in rows}) == 1
    assert "onerror=alert(1)" in call("show", str(run))


def test_show_and_report_on_the_command_line(run: Path) -> None:
    runs = ["--runs-dir", str(run.parent)]
    assert call("report", "latest", *runs).strip() == str(run / "report.html")
    paths = json.loads(call("report", run.name, "--json", *runs))
    assert set(paths) == {"analysis", "html", "markdown", "csv"}
    whole = json.loads(call("show", "--json", *runs))
    assert Analysis.model_validate(whole).run == run.name
    (latency,) = json.loads(call("show", "--json", "-t", "latency", *runs))
    assert latency["id"] == "latency"
    only = call("show", "--table", "trials", *runs)
    assert "Throughput" not in only
    assert only.count("ok") == 12


def test_numbers_are_never_cut_off_on_a_narrow_terminal(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = build_report(run)
    monkeypatch.setattr(command.console.out, "width", 30)
    shown = call("show", str(run), "-t", "latency")
    latency = next(table for table in built.analysis.tables if table.id == "latency")
    assert all(cell in shown for row in latency.rows for cell in row)


def test_errors_teach(run: Path) -> None:
    with pytest.raises(DynoError, match="no table 'thruput'") as caught:
        call("show", str(run), "-t", "thruput")
    assert "throughput" in (caught.value.hint or "")
    with pytest.raises(DynoError, match="no run 'yesterday'"):
        call("report", "yesterday", "--runs-dir", str(run.parent))
