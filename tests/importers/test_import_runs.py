"""Logs as runs: layouts, failed logs, and the published report from its own logs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from dyno.cli.main import call
from dyno.record.run import open_run
from dyno.report.imported import read_imported_trial
from importers.test_sysbench_log import HEAD_10, INTERVALS_10, WHOLE_10

DATASETS = Path(__file__).parents[2] / "datasets"


def logs(at: Path) -> Path:
    folder = at / "logs" / "mysql" / "8.0.45"
    folder.mkdir(parents=True)
    (folder / "4.txt").write_text(WHOLE_10)
    (folder / "8.txt").write_text(HEAD_10.replace("threads: 4", "threads: 8") + INTERVALS_10)
    (folder / "16.txt").write_text("")
    (folder / "32.txt").write_text(WHOLE_10)
    return at / "logs"


def test_an_import_is_a_run_that_show_understands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "old"
    pattern = "{family}/{version}/{sessions}.txt"
    assert call(["import", str(logs(tmp_path)), "-o", str(run), "--layout", pattern]) == 0
    assert "3 of 4 logs give no number" in capsys.readouterr().err
    opened = open_run(run)
    results = {}
    for entry in opened.manifest.order:
        data = read_imported_trial(opened, entry)
        assert data
        results[entry.cell.rpartition("~")[2]] = data.result
    assert (results["s4"].status, results["s4"].throughput_per_s) == ("ok", 25.5)
    assert (results["s8"].status, results["s8"].throughput_per_s) == ("failed", None)
    assert results["s8"].reason == "the log is cut short: no summary after 2 s"
    assert (results["s16"].status, results["s16"].reason) == ("missing", "the log is empty")
    assert results["s32"].reason == "the path says 32 sessions, the log 4"
    assert call(["show", str(run), "-t", "throughput"]) == 0
    shown = capsys.readouterr().out
    assert "25.5" in shown


def test_an_import_never_writes_into_a_folder_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    command = ["import", str(logs(tmp_path)), "-o", str(tmp_path / "old"), "--layout"]
    assert call([*command, "{family}/{version}/{sessions}.txt"]) == 1
    assert list((tmp_path / "old").iterdir()) == []


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from corpus import unpacked  # noqa: PLC0415 - skips where the corpus is not at hand

    at = tmp_path_factory.mktemp("corpus")
    run = at / "percona-2026"
    source = unpacked(at / "logs")
    assert call(["import", str(source), "-o", str(run), "--layout", "percona-2026"]) == 0
    return run


def test_the_published_report_from_its_logs(published: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert call(["tables", str(published), "--json"]) == 0
    tables = {table["id"]: table for table in json.loads(capsys.readouterr().out)}
    cells = {}
    for number in ("6.1.1", "6.1.2", "6.1.3"):
        for row in tables[number]["rows"]:
            for n, value in zip(tables[number]["columns"][1:], row[1:], strict=True):
                cells[number, row[0], n] = value
    differing = []
    with (DATASETS / "001-ecosystem.csv").open(newline="") as file:
        for r in csv.DictReader(file):
            if r["table"] in ("6.1.1", "6.1.2", "6.1.3"):
                mine = cells[r["table"], r["engine"], f"{r['sessions']}t"]
                if mine.replace(",", "") != r["value"]:
                    differing.append((r["engine"], r["buffer_pool_gib"], r["sessions"], mine))
    assert len(cells) == 240
    assert differing == [("MySQL 5.7", "2", "512", "missing")]


def test_its_progressions_and_differences(published: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert call(["tables", str(published), "--json"]) == 0
    tables = {table["id"]: table for table in json.loads(capsys.readouterr().out)}
    changes = [
        value.rstrip("%")
        for number in ("6.1.4", "6.1.5", "6.1.6")
        for row in tables[number]["rows"]
        if row[0].startswith("vs ")
        for value in row[1:]
    ]
    with (DATASETS / "001-ecosystem-progression.csv").open(newline="") as file:
        assert changes == [r["change_percent"] for r in csv.DictReader(file) if r["scenario"] == "rw-local"]
    with (DATASETS / "001-ecosystem-over-5-percent.csv").open(newline="") as file:
        assert [row[1:] for row in tables["differences"]["rows"]] == [
            [f"{r['engine']} vs {r['baseline']}", r["sessions"], f"{r['change_percent']}%"]
            for r in csv.DictReader(file)
            if r["scenario"] == "rw-local"
        ]


def test_the_audit_flags_what_is_known_of_its_windows(published: Path) -> None:
    run = open_run(published)
    said = {}
    for entry in run.manifest.order:
        data = read_imported_trial(run, entry)
        assert data
        said[entry.cell] = " ".join(mark.text for mark in data.result.marks if mark.kind == "steady")
    for engine in ("5.7", "8.0", "8.4", "9.6"):
        assert "rises" in said[f"mysql-{engine}~2gib~rw-local~s1"]
    assert "3.28×" in said["mysql-8.0~2gib~rw-local~s1"]
    for engine in ("10.11", "11.4", "12.1"):
        for tier in ("2gib", "32gib"):
            assert said[f"mariadb-{engine}~{tier}~rw-local~s512"].startswith("oscillating")


@pytest.mark.parametrize("name", ["000-power10.csv", "001-ecosystem.csv", "003-semisync.csv"])
def test_datasets_have_tables(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["tables", str(DATASETS / name)]) == 0
    out = capsys.readouterr().out
    expected = {
        "000-power10.csv": ("422%", "1192191", "*"),
        "001-ecosystem.csv": ("13,385", "Table 6.3.6"),
        "003-semisync.csv": ("490678", "latency_p99 (ms)"),
    }
    for text in expected[name]:
        assert text in out


def test_the_advantages_are_the_published_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["tables", str(DATASETS / "000-power10.csv"), "--json"]) == 0
    tables = {table["id"]: table for table in json.loads(capsys.readouterr().out)}
    with (DATASETS / "000-power10-advantage.csv").open(newline="") as file:
        for r in csv.DictReader(file):
            row = next(row for row in tables[r["table"]]["rows"] if row[0] == r["sessions"])
            assert row[-1] == f"{r['advantage_percent']}%"
