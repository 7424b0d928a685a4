"""The studies' tables in their own form: from their figures, from logs of every scenario, from any run."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from dyno.cli.main import call
from dyno.errors import DynoError
from dyno.record.run import open_run
from dyno.report.analysis import analyse
from dyno.report.model import Latency
from dyno.studies import hammerdb, power10, semisync, xtradb
from dyno.studies.datasets import STUDIES, dataset, tables_of
from dyno.studies.run import StudiedRun, new_orders_per_min
from fixtures.synthetic_run import build

DATASETS = Path(__file__).parents[2] / "datasets"
FAMILIES = {"MariaDB": "mariadb", "MySQL": "mysql", "Percona": "percona-server"}
FOLDERS = {
    "rw-local": "benchmark_logs",
    "ro-local": "benchmark_logs_read_only",
    "rw-network": "benchmark_remote_logs",
}


def rows(name: str) -> list[dict[str, str]]:
    with (DATASETS / name).open(newline="") as file:
        return list(csv.DictReader(file))


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert call(["tables", *arguments, "--json"]) == 0
    return {table["id"]: table for table in json.loads(capsys.readouterr().out)}


@pytest.mark.parametrize("study", list(STUDIES))
def test_every_study_prints_without_naming_a_file(study: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["tables", "--study", study]) == 0
    assert capsys.readouterr().out


def test_what_is_no_study_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["tables", "--study", "005"]) == 1
    assert "000, 001, 002, 003, 004" in capsys.readouterr().err
    assert call(["tables"]) == 1
    assert "--study 001" in capsys.readouterr().err
    with pytest.raises(DynoError):
        dataset("006")


def test_a_broken_dataset_is_an_error_with_a_hint(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    for text in (
        "",
        "a,b\n1,2\n",
        "workload,engine,sessions,metric,unit,value\nselect,A,1,throughput,ms,fast\n",
    ):
        file.write_text(text)
        with pytest.raises(DynoError) as caught:
            tables_of(file)
        assert caught.value.hint


def test_the_scaling_of_study_000_by_cores(capsys: pytest.CaptureFixture[str]) -> None:
    tables = printed(capsys, "--study", "000")
    assert tables["4"]["rows"][-1] == ["512", "*", "574971", "899184", "1192191"]
    assert tables["4-scaling"]["rows"][-1] == ["8", "1192191", "512", "4.26×", "106%"]


def test_the_gain_of_study_002(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = printed(capsys, "--study", "002")["peaks"]["rows"]
    assert first[1:] == ["48", "782,949", "1,800,000", "1.00×"]
    assert second[1:] == ["*", "2,015,540", "4,600,000", "2.57×"]


def test_the_ratios_of_study_004(capsys: pytest.CaptureFixture[str]) -> None:
    found = [row[4] for row in printed(capsys, "--study", "004")["ratios"]["rows"]]
    assert found == ["about 1.5×", "about 4×"]


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of all three scenarios as the report's scripts lay them out, with the published figures inside."""
    at = tmp_path_factory.mktemp("scenarios")
    seen = set()
    for row in rows("001-ecosystem.csv"):
        place = (row["scenario"], row["engine"], row["buffer_pool_gib"], row["sessions"])
        if place in seen:
            continue
        seen.add(place)
        family, version = row["engine"].split(" ")
        folder = at / FOLDERS[row["scenario"]] / FAMILIES[family] / f"{version}.1"
        folder.mkdir(parents=True, exist_ok=True)
        count = round(float(row["value"]) * 900)
        # The scripts call every file RW, whatever it holds.
        (folder / f"Tier{row['buffer_pool_gib']}G_RW_{row['sessions']}th.sysbench.txt").write_text(
            "sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)\n\n"
            f"Running the test with following options:\nNumber of threads: {row['sessions']}\n\n"
            "Threads started!\n\nSQL statistics:\n"
            f"    transactions:                        {count} ({float(row['value']):.2f} per sec.)\n"
            f"    queries:                             {count * 20} ({count / 45:.2f} per sec.)\n"
            "    ignored errors:                      0      (0.00 per sec.)\n"
            "    reconnects:                          0      (0.00 per sec.)\n\n"
            "General statistics:\n    total time:                          900.0000s\n"
            f"    total number of events:              {count}\n\n"
            "Latency (ms):\n         min:  1.00\n         avg:  2.00\n         max:  9.00\n"
            "         95th percentile:  3.00\n         sum:  900000.00\n"
        )
    assert len(seen) == 720
    assert call(["import", str(at), "-o", str(at / "run"), "--layout", "percona-2026"]) == 0
    return at / "run"


def test_read_only_and_network_logs_give_their_tables(
    scenarios: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From logs and from the published figures the same tables."""
    from_logs = printed(capsys, str(scenarios))
    published = printed(capsys, "--study", "001")
    assert len([name for name in published if name.startswith("6.")]) == 18
    assert from_logs == published


def synthetic(tmp_path: Path) -> StudiedRun:
    return StudiedRun(analyse(open_run(build(tmp_path / "run"))), {"default": 256 * 2**20})


def test_any_run_in_the_form_of_study_000(tmp_path: Path) -> None:
    run = synthetic(tmp_path)
    run.analysis.baseline = "mysql-9.7"
    (table,) = power10.of_run(run)
    assert table.columns[0] == "Threads"
    assert table.columns[-2:] == ["MariaDB 10.11 ÷ MySQL 9.7", "MariaDB 11.8 ÷ MySQL 9.7"]
    for row in table.rows:
        assert [int(text.rstrip("%")) for text in row[-2:]] == pytest.approx([143, 121], abs=3)


def test_any_run_in_the_form_of_study_003(tmp_path: Path) -> None:
    run = synthetic(tmp_path)
    (table,) = semisync.of_run(run)
    assert [row[0] for row in table.rows] == ["1"] * 3 + ["4"] * 3 + ["16"] * 3
    cell = next(c for c in run.analysis.cells if c.load == "s16" and c.engine == "mariadb-11.8")
    row = next(row for row in table.rows if row[:2] == ["16", "MariaDB 11.8"])
    assert cell.throughput_per_s is not None
    # 13 statements a transaction.
    assert float(row[2].replace(",", "")) == pytest.approx(13 * cell.throughput_per_s.value, rel=1e-3)
    assert float(row[3]) == pytest.approx(cell.latency[0].mean_us / 1000, abs=0.005)


def with_new_orders(run: StudiedRun) -> StudiedRun:
    """Every cell as if 45 of 100 of its transactions were new orders."""
    for cell in run.analysis.cells:
        whole = cell.latency[0]
        parts = {"new_order": 45, "payment": 55}
        typed = [whole.model_copy(update={"name": name, "count": n}) for name, n in parts.items()]
        cell.latency = [whole.model_copy(update={"name": "all", "count": 100}), *typed]
    return run


def test_any_tpcc_run_in_the_forms_of_studies_002_and_004(tmp_path: Path) -> None:
    run = with_new_orders(synthetic(tmp_path))
    cell = run.cell("mysql-9.7", "default", "oltp_read_write", "s16")
    assert cell is not None
    assert cell.throughput_per_s is not None
    nopm = new_orders_per_min(cell)
    assert nopm == pytest.approx(cell.throughput_per_s.value * 0.45 * 60)
    profile, peaks = hammerdb.of_run(run)
    row = next(row for row in profile.rows if row[:2] == ["MySQL 9.7", "16"])
    assert row[2] == f"{nopm:,.0f}"
    assert row[3] == f"{cell.throughput_per_s.value * 60:,.0f}"
    assert peaks.rows[0][0] == "MariaDB 10.11"
    last = xtradb.of_run(run)[-1]
    assert last.rows[0][2] == "1.00×"
    assert next(row for row in last.rows if row[0] == "MySQL 9.7")[1] == f"{nopm:,.0f}"


def test_other_workloads_have_no_new_orders(tmp_path: Path) -> None:
    run = synthetic(tmp_path)
    for of_run in (hammerdb.of_run, xtradb.of_run):
        with pytest.raises(DynoError, match="no transaction type 'new_order'"):
            of_run(run)


def test_a_cell_without_a_number_is_missing_in_every_form(tmp_path: Path) -> None:
    run = with_new_orders(synthetic(tmp_path))
    cell = run.cell("mariadb-11.8", "default", "oltp_read_write", "s4")
    assert cell is not None
    cell.throughput_per_s, cell.latency, cell.statements = None, list[Latency](), list[Latency]()
    assert ["4", "MariaDB 11.8", "missing", "missing", "missing"] in semisync.of_run(run)[0].rows
    assert ["MariaDB 11.8", "4", "missing", "missing", "*"] in hammerdb.of_run(run)[0].rows
    assert any(row[0] == "4" and "*" in row for row in power10.of_run(run)[0].rows)
