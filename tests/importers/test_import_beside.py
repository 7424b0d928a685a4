"""What lies beside logs, who claims which trial, archives, and what an import leaves behind."""

from __future__ import annotations

import json
import os
import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dyno.cli.main import call
from dyno.record.run import Run, open_run
from dyno.report.analysis import analyse
from dyno.report.imported import read_imported_trial
from importers.samples import GO_TPC, HAMMERDB, TPCC_MYSQL, XTPROF
from importers.test_sysbench_log import HISTOGRAM, INTERVALS_10, SUMMARY_10, WHOLE_10

MONITORS = Path(__file__).parent / "monitors"
LAYOUT = "{family}/{version}/{sessions}.{kind}"
OF_SERVER = "{family}/{version}/{kind}.txt"
VARIABLES = "innodb_buffer_pool_size\t2147483648\ninnodb_change_buffering\tall\nversion\t8.0.45\n"
CNF = "[mysqld]\ninnodb_buffer_pool_size = 2G\ninnodb_change_buffering = none\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "logs" / "mysql" / "8.0.45"
    folder.mkdir(parents=True)
    return folder


def imported(folder: Path, *arguments: str) -> Run:
    run = folder.parents[2] / "run"
    assert call(["import", str(folder.parents[1]), "-o", str(run), *arguments]) == 0
    return open_run(run)


def monitor(folder: Path, name: str, to: str) -> None:
    (folder / to).write_text((MONITORS / name).read_text())


def test_settings_beside_logs_are_the_runs_settings(folder: Path) -> None:
    (folder / "4.sysbench").write_text(WHOLE_10)
    (folder / "cnf.txt").write_text(CNF)
    (folder / "vars.txt").write_text(VARIABLES)
    (folder / "status.txt").write_text("Aborted_connects\t3\nUptime\t99\n")
    (folder / "4.status").write_text("Aborted_connects\t7\n")
    run = imported(folder, "--layout", LAYOUT, "--layout", OF_SERVER, "--tier", "2")
    (file,) = run.settings
    assert (file.engine, file.settings) == ("mysql-8.0", "2gib")
    assert file.effective["version"] == "8.0.45"
    assert {check.variable: check.verdict for check in file.checks} == {
        "innodb_buffer_pool_size": "equal",
        "innodb_change_buffering": "adjusted",
    }
    content = json.loads((run.path / "settings" / "mysql-8.0--2gib.json").read_text())
    assert content["status"] == {"Aborted_connects": "3", "Uptime": "99"}
    trial = run.layout.trial(run.manifest.order[0].trial).path
    assert json.loads((trial / "status.json").read_text()) == {"Aborted_connects": "7"}
    analysis = analyse(run)
    row = next(row for row in analysis.setting_rows if row.variable == "innodb_change_buffering")
    assert (row.requested["mysql-8.0"], row.effective["mysql-8.0"]) == ("none", "all")
    assert any("innodb_change_buffering" in mark.text for mark in analysis.cells[0].marks)


def test_monitors_beside_a_log_are_series_of_its_trial(folder: Path) -> None:
    (folder / "4.sysbench").write_text(WHOLE_10)
    (folder / "8.sysbench").write_text(WHOLE_10.replace("threads: 4", "threads: 8"))
    monitor(folder, "iostat-extended.txt", "4.iostat")
    monitor(folder, "vmstat.txt", "4.vmstat")
    monitor(folder, "mpstat.txt", "4.mpstat")
    (folder / "4.dstat").write_text("")
    run = imported(folder, "--layout", LAYOUT)
    series = {entry.cell.rpartition("~")[2]: read_imported_trial(run, entry) for entry in run.manifest.order}
    assert series["s4"]
    assert series["s8"]
    shown = series["s4"].series
    assert shown
    assert shown.t_s == [1, 2]
    lines = {(metric.metric, metric.label): metric.values for metric in shown.metrics}
    assert lines["disk_written_bytes_per_s", "vda"][0] == 311776 * 1024
    # mpstat is believed before vmstat and iostat, and tells CPUs apart.
    assert {label for metric, label in lines if metric == "cpu_busy"} == {"all", "0", "1"}
    # vmstat's sum over all disks would be drawn beside iostat's disks as if it were another one.
    assert ("disk_written_bytes_per_s", "all") not in lines
    assert lines["context_switches_per_s", ""] == [8035, 10824]
    assert all("disk" not in metric.metric for metric in series["s8"].series.metrics)  # type: ignore[union-attr]
    path = run.layout.trial(run.manifest.order[0].trial).series
    stored = pq.read_table(path).to_pandas()
    assert set(stored.columns) == {"t_s", "phase", "metric", "label", "value"}
    assert "memory_free_bytes" in set(stored["metric"])


@pytest.mark.parametrize("clock", ["begins again", "counts on"])
def test_warm_up_and_histogram(folder: Path, clock: str) -> None:
    head = WHOLE_10[: WHOLE_10.index("[ 1s")].replace("Threads started!", "Warming up for 2 seconds...")
    measured = INTERVALS_10
    if clock == "counts on":
        measured = measured.replace("[ 2s ]", "[ 4s ]").replace("[ 1s ]", "[ 3s ]")
    text = head + INTERVALS_10 + "Threads started!\n" + measured + HISTOGRAM + SUMMARY_10
    (folder / "4.sysbench").write_text(text)
    run = imported(folder, "--layout", LAYOUT)
    data = read_imported_trial(run, run.manifest.order[0])
    assert data
    assert data.series
    assert data.series.t_s == [-1, 0, 1, 2]
    assert data.series.phases == [("warmup", -2, 0), ("measure", 0, 2)]
    assert data.result.p99_us == pytest.approx(77_490, rel=0.002)
    (latency,) = analyse(run).cells[0].latency
    assert (latency.count, latency.p50_us) == (51, pytest.approx(6434, rel=0.002))


def test_every_tool_is_known_by_its_content(folder: Path) -> None:
    for sessions, text in ((2, HAMMERDB), (4, WHOLE_10), (8, GO_TPC), (20, TPCC_MYSQL)):
        (folder / f"{sessions}.log").write_text(text)
    (folder / "2.profile").write_text(XTPROF)
    run = imported(folder, "--layout", "{family}/{version}/{sessions}.*")
    found = {}
    for entry in run.manifest.order:
        path = run.layout.trial(entry.trial).path / "imported.json"
        found[entry.cell.rpartition("~")[2]] = json.loads(path.read_text())
    tools = {load: each["tool"] for load, each in found.items()}
    assert tools == {"s2": "HammerDB", "s4": "sysbench", "s8": "go-tpc", "s20": "tpcc-mysql"}
    assert {load: each["new_orders_per_min"] for load, each in found.items()} == {
        "s2": 6500,
        "s4": None,
        "s8": 1500,
        "s20": 6600,
    }
    shown = {cell.load: mark.text for cell in analyse(run).cells for mark in cell.marks if mark.kind == "log"}
    assert shown["s2"] == "HammerDB: 6,500 new orders (NOPM) of 15,000 transactions a minute"
    assert set(shown) == {"s2", "s8", "s20"}
    assert found["s2"]["transaction_types"][0]["latency_percentiles_us"]["95.0"] == 5250
    workloads = {entry.cell.split("~")[2] for entry in run.manifest.order}
    assert workloads == {"hammerdb", "sysbench", "go-tpc", "tpcc-mysql"}


def test_a_rate_limit_is_said_wherever_the_number_is(folder: Path) -> None:
    limited = WHOLE_10.replace("Report inter", "Target transaction rate: 30/sec\nReport inter")
    (folder / "4.sysbench").write_text(limited)
    run = imported(folder, "--layout", LAYOUT)
    marks = {mark.kind: mark.text for mark in analyse(run).cells[0].trials[0].marks}
    assert marks["log"] == "offered 30 transactions/s: its throughput is no capacity"


def test_one_log_said_by_flags_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "some name.log"
    log.write_text(GO_TPC)
    command = ["import", str(log), "-o", str(tmp_path / "run"), "--family", "mysql", "--version", "8.4"]
    assert call(command) == 1
    assert "does not say with how many sessions it ran" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
    assert call([*command, "--sessions", "32", "--workload", "tpcc", "--mode", "Network", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trials"] == 1
    assert open_run(tmp_path / "run").manifest.cells[0].id == "mysql-8.4~unknown~tpcc-network~s32"


def test_two_logs_of_one_trial_are_refused_unless_they_are_repeats(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "4-1.log").write_text(WHOLE_10)
    (folder / "4-2.log").write_text(WHOLE_10)
    at = folder.parents[2]
    command = ["import", str(folder), "-o", str(at / "run"), "--layout"]
    assert call([*command, "{family}/{version}/{sessions}-*.log"]) == 1
    said = capsys.readouterr().err
    assert "4-1.log" in said
    assert "4-2.log" in said
    assert "{block}" in said
    # Nothing is left of an import that failed.
    assert [path.name for path in at.iterdir()] == ["logs"]
    assert call([*command, "{family}/{version}/{sessions}-{block}.log"]) == 0
    assert open_run(at / "run").manifest.trials_per_cell == 2


def test_two_versions_of_one_series_are_two_engines(folder: Path) -> None:
    (folder / "4.log").write_text(WHOLE_10)
    (folder.parent / "8.0.44").mkdir()
    (folder.parent / "8.0.44" / "4.log").write_text(WHOLE_10)
    run = imported(folder, "--layout", "{family}/{version}/{sessions}.log")
    assert [engine.id for engine in run.manifest.engines] == ["mysql-8.0.44", "mysql-8.0.45"]


def test_files_without_content_are_missing_trials_only_where_no_log_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "4.log").write_text(WHOLE_10)
    (folder / "4.iostat").write_text("")
    (folder / "4.summary").write_text("# Percona Toolkit MySQL Summary Report #\n[mysqld]\nport = 1\n")
    (folder / "8.log").write_text("")
    (folder / "16.log").write_text("once upon a time\n")
    (folder / "32.log").write_text("FATAL: unable to connect to MySQL server\n")
    run = imported(folder, "--layout", "{family}/{version}/{sessions}.*")
    said = capsys.readouterr().err
    assert "2 files are of no use to the run: 4.iostat, 4.summary" in said
    assert "3 of 4 logs give no number" in said
    results = {}
    for entry in run.manifest.order:
        data = read_imported_trial(run, entry)
        assert data
        results[entry.cell.rpartition("~")[2]] = data.result
    assert {load: result.status for load, result in results.items()} == {
        "s4": "ok",
        "s8": "missing",
        "s16": "failed",
        "s32": "failed",
    }
    assert (results["s16"].reason or "").startswith("no known format")
    assert "unable to connect" in (results["s32"].reason or "")
    assert [workload.id for workload in run.manifest.workloads] == ["sysbench"]


def test_a_format_can_be_forced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "4.log").write_text(WHOLE_10)
    layout = "{family}/{version}/{sessions}.log"
    run = imported(folder, "--layout", layout, "--format", "hammerdb")
    data = read_imported_trial(run, run.manifest.order[0])
    assert data
    assert "no test result" in (data.result.reason or "")
    again = ["import", str(folder), "-o", str(run.path) + "2", "--layout", layout]
    assert call([*again, "--format", "iostat"]) == 1
    assert "sysbench, hammerdb, go-tpc, tpcc-mysql" in capsys.readouterr().err


def test_an_archive_is_as_good_as_its_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "4.sysbench").write_text(WHOLE_10)
    at = folder.parents[2]
    archive = at / "logs.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        tar.add(at / "logs", "logs")
    command = ["import", str(archive), "--layout", LAYOUT, "-o"]
    assert call([*command, str(at / "run")]) == 0
    assert open_run(at / "run").manifest.cells[0].id == "mysql-8.0~unknown~sysbench~s4"
    archive.write_bytes(archive.read_bytes()[:100])
    capsys.readouterr()
    assert call([*command, str(at / "again")]) == 1
    assert "cannot unpack" in capsys.readouterr().err


def test_many_logs_go_through_several_processes(folder: Path) -> None:
    for sessions in range(1, 31):
        text = WHOLE_10.replace("threads: 4", f"threads: {sessions}")
        (folder / f"{sessions}.log").write_text(text if sessions % 10 else "")
    run = imported(folder, "--layout", "{family}/{version}/{sessions}.log", "--jobs", "2")
    states = [line.state for line in run.journal.values()]
    assert (states.count("ok"), states.count("failed")) == (27, 3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no PATH to import"),
        (["logs"], "no folder for the run"),
        (["logs", "-o", "run"], "nothing says the family and version"),
        (["logs", "-o", "run", "--family", "mysql", "--version", "8", "--tier", "12GB"], "'12GB' is no tier"),
        (
            ["logs", "-o", "run", "--family", "\u00e9", "--version", "\u00e9", "--sessions", "4"],
            "which gives no id",
        ),
        (["nowhere", "-o", "run", "--family", "mysql", "--version", "8"], "does not exist"),
        (["logs", "-o", "run", "--layout", "{family}/{version}.txt"], "no log below"),
    ],
)
def test_wrong_use_is_an_error_with_a_hint(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.log").write_text(WHOLE_10)
    monkeypatch.chdir(tmp_path)
    assert call(["import", *arguments]) == 1
    said = capsys.readouterr().err
    assert words in said
    assert "hint:" in said


def test_the_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["import", "--formats", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["format"] for row in rows} >= {
        "sysbench",
        "hammerdb",
        "go-tpc",
        "tpcc-mysql",
        "iostat",
        "cnf",
    }
    assert call(["import", "--formats"]) == 0
    assert "xtprof" in capsys.readouterr().out


def test_a_sequence_of_hammerdb_is_as_many_trials_as_it_has_results(folder: Path) -> None:
    four = HAMMERDB.replace("2 Active", "4 Active").replace("15000 MariaDB TPM", "24000 MariaDB TPM")
    stopped = HAMMERDB[: HAMMERDB.index("Vuser 1:Test complete")].replace("3 Virtual", "9 Virtual")
    (folder / "autopilot.log").write_text(HAMMERDB + stopped + four)
    run = imported(folder, "--layout", "{family}/{version}/*.log")
    found = {entry.cell.rpartition("~")[2]: read_imported_trial(run, entry) for entry in run.manifest.order}
    rates = {load: data.result.throughput_per_s for load, data in found.items() if data}
    assert rates == {"s2": 250, "s8": None, "s4": 400}


def test_hosts_of_monitors_are_facts_or_a_complaint(folder: Path) -> None:
    for sessions in (4, 8):
        (folder / f"{sessions}.sysbench").write_text(WHOLE_10.replace("threads: 4", f"threads: {sessions}"))
        monitor(folder, "iostat-extended.txt", f"{sessions}.iostat")
    run = imported(folder, "--layout", LAYOUT)
    assert run.manifest.host == {"hostname": "db1", "kernel": "6.1.0-18-amd64", "cpus": 2}
    other = (MONITORS / "iostat-extended.txt").read_text().replace("(db1)", "(db2)")
    (folder / "8.iostat").write_text(other)
    run.path.rename(run.path.with_name("one-host"))
    run = imported(folder, "--layout", LAYOUT)
    (check,) = run.manifest.doctor
    assert "sysbench on db1" in check.text
    assert "sysbench on db2" in check.text


def test_names_that_are_no_text_are_shown_with_question_marks(folder: Path) -> None:
    name = os.fsdecode(b"4-\xff.sysbench")
    (folder / name).write_text(WHOLE_10)
    run = imported(folder, "--layout", "{family}/{version}/{sessions}-*.sysbench")
    path = run.layout.trial(run.manifest.order[0].trial).path / "imported.json"
    assert json.loads(path.read_text())["source"] == "4-?.sysbench"


def test_a_damaged_series_is_said_with_its_trial(folder: Path) -> None:
    (folder / "4.sysbench").write_text(WHOLE_10)
    (folder / "8.sysbench").write_text(WHOLE_10.replace("threads: 4", "threads: 8"))
    run = imported(folder, "--layout", LAYOUT)
    damaged, other = (run.layout.trial(entry.trial).series for entry in run.manifest.order)
    damaged.write_bytes(b"PAR1 no more")
    pq.write_table(pq.read_table(other).drop(["label"]), other)
    for entry, words in zip(run.manifest.order, ("cannot be read", "other columns"), strict=True):
        data = read_imported_trial(run, entry)
        assert data
        assert data.result.status == "invalid"
        assert words in (data.result.reason or "")
