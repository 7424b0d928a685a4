"""Analysis of synthetic runs with a known right answer, whole and broken."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from scipy import stats as scipy_stats

from dyno.record.run import open_run
from dyno.report.analysis import analyse
from fixtures.synthetic_run import HIGHEST_NS, Scenario, build, edit_json, edit_record, trials_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dyno.report.model import Analysis, Cell, Comparison, Finding, SettingRow

BASE, SLOWER, SLOWEST = "mariadb-10.11", "mariadb-11.8", "mysql-9.7"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("runs") / "20261120-193000-quickstart")


@pytest.fixture
def run(template: Path, tmp_path: Path) -> Path:
    return shutil.copytree(template, tmp_path / template.name)


def analysis_of(run: Path) -> Analysis:
    return analyse(open_run(run))


def cell_of(analysis: Analysis, engine: str, sessions: int) -> Cell:
    return next(c for c in analysis.cells if (c.engine, c.load) == (engine, f"s{sessions}"))


def comparison_of(analysis: Analysis, engine: str, sessions: int) -> Comparison:
    return next(c for c in analysis.comparisons if (c.engine, c.load) == (engine, f"s{sessions}"))


def findings_of(analysis: Analysis, rule: str) -> list[Finding]:
    return [finding for finding in analysis.findings if finding.rule == rule]


def table(analysis: Analysis, name: str) -> list[list[str]]:
    return next(t.rows for t in analysis.tables if t.id == name)


def test_finds_what_was_put_in(template: Path) -> None:
    analysis = analysis_of(template)
    scenario = Scenario()
    assert (analysis.trials_ok, analysis.trials_planned) == (27, 27)
    assert analysis.baseline == BASE
    assert {c.verdict for c in analysis.comparisons} == {"slower"}
    for comparison in analysis.comparisons:
        true = scenario.speed[comparison.engine] / scenario.speed[BASE]
        assert comparison.ratio is not None
        assert comparison.ratio.value == pytest.approx(true, rel=0.02)
        assert "paired by block" in comparison.ratio.method
    leaders = findings_of(analysis, "leader")
    assert len(leaders) == 3
    assert all(f.sentence.startswith("MariaDB 10.11 (") and f.strength == "measured" for f in leaders)
    assert [e.server_version for e in analysis.engines] == ["10.11.3-MariaDB", "11.8.3-MariaDB", "9.7.3"]
    assert analysis.loop.startswith("Closed loop")
    assert all(not cell.marks and cell.status == "ok" for cell in analysis.cells)


def test_the_trial_is_the_unit(template: Path) -> None:
    """The estimate is the t interval of three trial values computed here from the raw record lines."""
    analysis = analysis_of(template)
    values = []
    for trial in trials_of(template, SLOWER, 4):
        lines = [json.loads(line) for line in (trial / "record.ndjson").read_text().splitlines()]
        measured = [line for line in lines if line["record"] == "interval" and line["phase"] == "measure"]
        seconds = sum(line["duration_us"] for line in measured) / 1e6
        values.append(sum(line["transactions"][0]["ok"] for line in measured) / seconds)
    estimate = cell_of(analysis, SLOWER, 4).throughput_per_s
    low, high = scipy_stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert estimate is not None
    assert (estimate.value, estimate.low, estimate.high, estimate.n) == pytest.approx(
        (np.mean(values), low, high, 3)
    )


def test_percentiles_come_from_the_merged_histograms(template: Path) -> None:
    merged = HdrHistogram(1, HIGHEST_NS, 3)
    for trial in trials_of(template, SLOWEST, 16):
        summary = json.loads((trial / "record.ndjson").read_text().splitlines()[-1])
        merged.add(HdrHistogram.decode(summary["transactions"][0]["latency"]))
    (line,) = cell_of(analysis_of(template), SLOWEST, 16).latency
    assert line.count == merged.total_count
    assert line.p99_us * 1000 == pytest.approx(merged.get_value_at_percentile(99), rel=1e-3)
    assert line.p50_us * 1000 == pytest.approx(merged.get_value_at_percentile(50), rel=1e-3)
    assert line.max_us * 1000 == merged.get_max_value()
    assert line.mean_us * 1000 == pytest.approx(merged.get_mean_value())


def test_costs_and_cpu(template: Path) -> None:
    cell = cell_of(analysis_of(template), BASE, 16)
    assert cell.throughput_per_s is not None
    assert cell.server_cpu_us_per_transaction is not None
    assert cell.client_cpu_us_per_transaction is not None
    assert cell.trials[0].server_cpu_cores == pytest.approx(0.74)
    assert cell.trials[0].client_cpu_share == pytest.approx(0.45)
    assert cell.server_cpu_us_per_transaction.value == pytest.approx(
        0.74e6 / cell.throughput_per_s.value, rel=1e-2
    )
    assert cell.client_cpu_us_per_transaction.value == pytest.approx(
        0.45e6 / cell.throughput_per_s.value, rel=1e-2
    )


def test_series_stand_on_one_clock(template: Path) -> None:
    analysis = analysis_of(template)
    trial = cell_of(analysis, BASE, 4).trials[0]
    series = analysis.series[trial.series or ""]
    assert series.t_s == [1.0, 2.0, 3.0, 4.0]
    assert series.phases[1:3] == [("warmup", 0.0, 1.0), ("measure", 1.0, 4.0)]
    metrics = {(m.metric, m.label): m for m in series.metrics}
    assert all(len(m.values) == 4 for m in series.metrics)
    assert metrics["server_cpu", ""].values == pytest.approx([0.37, 0.74, 0.74, 0.74])
    assert metrics["cpu_busy", "0"].unit == "share"
    assert ("disk_written_bytes_per_s", "vda") in metrics
    assert ("disk_read_bytes_per_s", "vda") not in metrics  # nothing was read


def test_a_sample_just_before_the_boundary_stands_at_it(run: Path) -> None:
    trial = trials_of(run, BASE, 4)[0]
    edit_record(
        trial, lambda line: line.update(t_us=line["t_us"] - 1800) if line["record"] == "process" else None
    )
    metrics = analysis_of(run).series[trial.name].metrics
    values = next(m.values for m in metrics if m.metric == "server_cpu")
    assert values == pytest.approx([0.37, 0.74, 0.74, 0.74])


def test_a_second_without_a_sample_is_a_gap(run: Path) -> None:
    trial = trials_of(run, BASE, 4)[0]
    record = trial / "record.ndjson"
    lines = record.read_text().splitlines(keepends=True)
    late = [
        line for line in lines if json.loads(line)["record"] == "process" and json.loads(line)["t_us"] > 2.5e6
    ]
    record.write_text("".join(line for line in lines if line not in late[:2]))
    analysis = analysis_of(run)
    values = next(m.values for m in analysis.series[trial.name].metrics if m.metric == "server_cpu")
    assert values[2] is None
    assert values[3] == pytest.approx(0.74)


# -- one broken trial ------------------------------------------------------------------------------------


def cut(trial: Path) -> None:
    record = trial / "record.ndjson"
    record.write_bytes(record.read_bytes()[:-40])


def empty(trial: Path) -> None:
    (trial / "record.ndjson").write_bytes(b"")


def gone(trial: Path) -> None:
    (trial / "record.ndjson").unlink()


def garbled(trial: Path) -> None:
    (trial / "record.ndjson").write_text("{}\n")


def no_file(trial: Path) -> None:
    (trial / "trial.json").unlink()


def damaged_file(trial: Path) -> None:
    (trial / "trial.json").write_text("{")


def failed(trial: Path) -> None:
    def change(file: dict[str, Any]) -> None:
        file.update(
            status="failed", reason="the server ended with signal 6", engine_log_tail="mysqld got signal 6"
        )

    edit_json(trial / "trial.json", change)


def rig_failed(trial: Path) -> None:
    error = {
        "kind": "server",
        "code": 1114,
        "sqlstate": "HY000",
        "message": "The table is full",
        "statement": "x",
    }
    edit_record(
        trial,
        lambda line: line.update(outcome="failed", error=error) if line["record"] == "summary" else None,
    )


def contradiction(trial: Path) -> None:
    def change(line: dict[str, Any]) -> None:
        if line["record"] == "summary":
            line["transactions"][0]["ok"] += 1

    edit_record(trial, change)


def nothing_done(trial: Path) -> None:
    def change(line: dict[str, Any]) -> None:
        for each in line.get("transactions", []):
            each.update(ok=0, latency=None)

    edit_record(trial, change)


def bad_histogram(trial: Path) -> None:
    def change(line: dict[str, Any]) -> None:
        if line["record"] == "summary":
            line["transactions"][0]["latency"] = "HISTFAAAgarbage"

    edit_record(trial, change)


def journal_state(state: str) -> Callable[[Path], None]:
    def change(trial: Path) -> None:
        with (trial.parent.parent / "journal.ndjson").open("a") as journal:
            journal.write(json.dumps({"trial": trial.name, "state": state, "reason": "as said"}) + "\n")

    return change


@pytest.mark.parametrize(
    ("damage", "status", "reason"),
    [
        (cut, "failed", "cut short"),
        (empty, "invalid", "empty"),
        (gone, "invalid", "cannot read"),
        (garbled, "invalid", "line 1"),
        (no_file, "invalid", "trial.json is missing"),
        (damaged_file, "invalid", "trial.json"),
        (failed, "failed", "signal 6"),
        (rig_failed, "failed", "The table is full"),
        (contradiction, "invalid", "contradicts itself"),
        (nothing_done, "invalid", "no transaction ended"),
        (bad_histogram, "invalid", "not a latency histogram"),
        (journal_state("running"), "missing", "stopped in the middle"),
        (journal_state("planned"), "missing", "not run"),
        (journal_state("failed"), "failed", "as said"),
    ],
)
def test_a_broken_trial_never_gives_a_number(
    run: Path, damage: Callable[[Path], None], status: str, reason: str
) -> None:
    damage(trials_of(run, SLOWER, 4)[1])
    analysis = analysis_of(run)
    cell = cell_of(analysis, SLOWER, 4)
    trial = cell.trials[1]
    assert trial.status == status
    assert reason in (trial.reason or "")
    assert str(run.parent) not in (trial.reason or "")  # a run says the same wherever it lies
    assert (trial.throughput_per_s, trial.p99_us, trial.client_cpu_share) == (None, None, None)
    assert cell.status == "partial"
    assert cell.throughput_per_s is not None
    assert cell.throughput_per_s.n == 2
    assert cell.latency[0].count < cell_of(analysis, BASE, 4).latency[0].count
    assert any(mark.kind == status for mark in cell.marks)
    assert analysis.trials_ok == 26
    # The reason stands wherever the number does.
    row = next(row for row in table(analysis, "throughput") if row[0] == "MariaDB 11.8")
    assert row[2].endswith("(n = 2)*")
    comparison = comparison_of(analysis, SLOWER, 4)
    assert comparison.ratio is not None
    assert "Fieller" in comparison.ratio.method
    assert "2 and 3 trials" in comparison.sentence
    assert re.search(r"Read with care: some trials .* \(MariaDB 11\.8\)", comparison.sentence)
    rule = "unfinished" if status == "missing" else "failed"
    assert any(trial.id in finding.trials for finding in findings_of(analysis, rule))


def test_a_failed_trial_keeps_its_series_and_the_log_of_the_server(run: Path) -> None:
    failed(trials_of(run, SLOWER, 4)[1])
    analysis = analysis_of(run)
    trial = cell_of(analysis, SLOWER, 4).trials[1]
    assert trial.log_tail == "mysqld got signal 6"
    assert trial.series in analysis.series


def test_a_cell_without_a_number_is_compared_with_nothing(run: Path) -> None:
    for trial in trials_of(run, BASE, 16):
        failed(trial)
    analysis = analysis_of(run)
    cell = cell_of(analysis, BASE, 16)
    assert (cell.status, cell.throughput_per_s, cell.latency) == ("failed", None, [])
    assert [c.verdict for c in analysis.comparisons if c.load == "s16"] == ["missing", "missing"]
    sentence = comparison_of(analysis, SLOWER, 16).sentence
    assert sentence == "MariaDB 10.11 has no number at 16 sessions: nothing to compare."
    leader = next(f for f in findings_of(analysis, "leader") if "16 sessions" in f.sentence)
    assert leader.sentence.startswith("MariaDB 11.8 (")
    assert "Without a number there: MariaDB 10.11." in leader.sentence
    assert table(analysis, "throughput")[0][3] == "–*"
    peak = next(f for f in findings_of(analysis, "peak") if f.sentence.startswith("MariaDB 10.11"))
    assert "at 4 sessions" in peak.sentence
    assert "Without a number: 16 sessions." in peak.sentence


def test_a_run_that_was_never_started(run: Path) -> None:
    (run / "journal.ndjson").unlink()
    shutil.rmtree(run / "trials")
    analysis = analysis_of(run)
    assert analysis.trials_ok == 0
    assert all(cell.throughput_per_s is None for cell in analysis.cells)
    (finding,) = findings_of(analysis, "unfinished")
    assert "27 of 27 trials were not run" in finding.sentence
    assert f"--resume {run.name}" in finding.sentence
    assert not any(cell.latency for cell in analysis.cells)


# -- validity --------------------------------------------------------------------------------------------


def test_one_trial_is_shown_and_tests_nothing(tmp_path: Path) -> None:
    analysis = analysis_of(build(tmp_path / "one", Scenario(blocks=1, sessions=(1, 4))))
    assert {c.verdict for c in analysis.comparisons} == {"untested"}
    assert all(c.p_value is None and c.p_value_holm is None for c in analysis.comparisons)
    estimate = cell_of(analysis, BASE, 1).throughput_per_s
    assert estimate is not None
    assert (estimate.low, estimate.high, estimate.n) == (None, None, 1)
    assert {f.strength for f in analysis.findings if f.rule in {"leader", "peak", "comparison"}} == {
        "untested"
    }
    (few,) = findings_of(analysis, "n")
    assert few.sentence.startswith("One trial a cell")
    assert "(n = 1)" in table(analysis, "throughput")[0][1]


def test_a_generator_at_its_limit_makes_its_trials_invalid_and_leaves_them_visible(tmp_path: Path) -> None:
    analysis = analysis_of(build(tmp_path / "busy", Scenario(client_cpu=0.97, sessions=(1, 16))))
    cell = cell_of(analysis, SLOWER, 16)
    assert [trial.status for trial in cell.trials] == ["invalid"] * 3
    for trial in cell.trials:
        assert trial.throughput_per_s is not None
        assert "the generator was the bottleneck: the rig's busiest worker used 97 %" in (trial.reason or "")
        assert "rig_cpus" in (trial.hint or "")
    (mark,) = [mark for mark in cell.marks if mark.kind == "invalid"]
    assert mark.severity == "bad"
    assert (cell.status, cell.throughput_per_s, cell.latency) == ("failed", None, [])
    assert cell.invalid is not None
    assert cell.invalid.throughput_per_s == pytest.approx(
        np.mean([trial.throughput_per_s for trial in cell.trials])
    )
    assert comparison_of(analysis, SLOWER, 16).verdict == "missing"
    assert comparison_of(analysis, SLOWER, 1).verdict == "slower"
    row = table(analysis, "throughput")[1]
    assert row[2] == f"({cell.invalid.throughput_per_s:,.0f})*"
    assert not row[1].endswith("*")
    assert analysis.trials_ok == 9


def test_a_number_that_the_lab_calls_invalid_stays_visible_and_counts_nowhere(run: Path) -> None:
    journal_state("invalid")(trials_of(run, SLOWER, 4)[1])
    analysis = analysis_of(run)
    cell = cell_of(analysis, SLOWER, 4)
    trial = cell.trials[1]
    assert (trial.status, trial.reason) == ("invalid", "as said")
    assert trial.throughput_per_s is not None
    assert cell.throughput_per_s is not None
    assert cell.throughput_per_s.n == 2
    assert cell.latency[0].count < cell_of(analysis, BASE, 4).latency[0].count
    assert "2 and 3 trials" in comparison_of(analysis, SLOWER, 4).sentence


def test_statements_have_percentiles_of_their_own_and_unused_ones_are_left_out(run: Path) -> None:
    def change(line: dict[str, Any]) -> None:
        if line["record"] == "summary":
            line["statements"].append({"type": "never", "count": 0, "latency": None})

    for trial in trials_of(run, BASE, 4):
        edit_record(trial, change)
    analysis = analysis_of(run)
    cell = cell_of(analysis, BASE, 4)
    assert [line.name for line in cell.statements] == ["begin", "point_select", "update_index", "commit"]
    select = cell.statements[1]
    assert select.count == 10 * cell.latency[0].count
    assert select.p50_us <= select.p99_us <= select.p999_us <= select.p9999_us <= select.max_us
    assert len(table(analysis, "statements")) == 4 * 9


def test_retries_are_counted_and_marked(run: Path) -> None:
    def change(line: dict[str, Any]) -> None:
        if line["record"] == "summary":
            line["transactions"][0]["retries"] = line["transactions"][0]["ok"] // 20
            line["errors"] = [{"code": 1213, "count": 150}, {"code": 1205, "count": 2}]
            line["unfinished"] = 3

    for trial in trials_of(run, SLOWEST, 4):
        edit_record(trial, change)
    analysis = analysis_of(run)
    cell = cell_of(analysis, SLOWEST, 4)
    marks = {mark.kind: mark for mark in cell.marks}
    assert marks["errors"].severity == "warn"
    assert "1205 × 2, 1213 × 150" in marks["errors"].text
    assert "3 transactions cut off" in marks["unfinished"].text
    assert cell.trials[0].retries > 0
    assert "many transactions were retried" in comparison_of(analysis, SLOWEST, 4).sentence


def test_stolen_time_is_marked(run: Path) -> None:
    def change(line: dict[str, Any]) -> None:
        for cpu in line.get("cpus", []):
            cpu.update(steal_us=cpu["idle_us"], idle_us=0)

    edit_record(trials_of(run, BASE, 1)[0], change)
    (mark,) = cell_of(analysis_of(run), BASE, 1).marks
    assert mark.kind == "host"
    assert mark.text.startswith("in 1 of 3 trials: the hypervisor took 59 %")


def test_other_processes_on_the_host_are_marked(run: Path) -> None:
    """Of 2 × 1 s, the other processes take 0.5 s; 0.06 s are there in the synthetic run anyway."""

    def change(line: dict[str, Any]) -> None:
        for cpu in line.get("cpus", [])[1:]:
            cpu.update(user_us=cpu["user_us"] + 500_000, idle_us=cpu["idle_us"] - 500_000)

    edit_record(trials_of(run, BASE, 1)[0], change)
    (mark,) = cell_of(analysis_of(run), BASE, 1).marks
    assert (mark.kind, mark.severity) == ("host", "warn")
    assert mark.text == "in 1 of 3 trials: other processes used 28 % of the host's CPU time"


def test_settings_not_taken_and_settings_that_differ(run: Path) -> None:
    def ignore(file: dict[str, Any]) -> None:
        file["checks"][0].update(effective="134217728", verdict="ignored")
        file["effective"]["innodb_buffer_pool_size"] = "134217728"

    edit_json(run / "settings" / f"{SLOWEST}--default.json", ignore)
    analysis = analysis_of(run)
    row = analysis.setting_rows[0]
    assert (row.variable, row.logical, row.differs, row.ignored) == (
        "innodb_buffer_pool_size",
        "buffer_pool",
        True,
        [SLOWEST],
    )
    assert row.effective[SLOWEST] == "134217728"
    mark = next(m for m in cell_of(analysis, SLOWEST, 1).marks if m.kind == "settings")
    assert mark.text == "innodb_buffer_pool_size: asked 268435456, the server reports 134217728"
    assert "MySQL 9.7: innodb_buffer_pool_size" in findings_of(analysis, "settings_ignored")[0].sentence
    assert "128 MiB on MySQL 9.7" in findings_of(analysis, "settings_matter")[0].sentence
    assert "every setting" in comparison_of(analysis, SLOWEST, 1).sentence
    rows = {r.variable: r for r in analysis.setting_rows}
    assert not rows["autocommit"].differs  # ON and 1 are the same
    assert not rows["innodb_max_dirty_pages_pct"].differs  # as are 90 and 90.000000
    assert not rows["datadir"].differs  # a place is not a setting
    assert rows["innodb_dedicated_server"].effective[BASE] is None
    assert not rows["innodb_dedicated_server"].differs


def test_what_only_matters_to_tls_is_no_difference_while_tls_is_off_everywhere(run: Path) -> None:
    def row_of() -> SettingRow:
        return next(row for row in analysis_of(run).setting_rows if row.variable == "tls_version")

    assert len(set(row_of().effective.values())) == 2
    assert (row_of().differs, row_of().idle) == (False, "TLS is off on every server")
    # One server that takes encrypted connections is enough to make it one.
    edit_json(
        run / "settings" / f"{BASE}--default.json", lambda file: file["effective"].update(have_ssl="YES")
    )
    assert (row_of().differs, row_of().idle) == (True, None)


def test_marks_of_the_lab_are_kept(run: Path) -> None:
    text = "innodb_log_file_size: asked 268435456, the server reports 100663296"
    for trial in trials_of(run, BASE, 1):
        edit_json(trial / "trial.json", lambda f: f.update(marks=[{"kind": "settings", "text": text}]))
    (mark,) = cell_of(analysis_of(run), BASE, 1).marks
    assert (mark.kind, mark.text) == ("settings", text)


def test_engines_that_could_not_be_had(tmp_path: Path) -> None:
    scenario = Scenario(missing={"percona-8.4": "no package of that version"}, sessions=(1,))
    run = build(tmp_path / "missing", scenario)
    edit_json(run / "manifest.json", lambda m: m.update(baseline="percona-8.4"))
    analysis = analysis_of(run)
    assert analysis.engines[-1].missing == "no package of that version"
    assert analysis.engines[-1].label == "Percona Server 8.4"
    assert analysis.baseline == BASE
    assert (
        "The baseline Percona Server 8.4 is not in this run" in findings_of(analysis, "baseline")[0].sentence
    )
    assert "could not be had" in findings_of(analysis, "engine_missing")[0].sentence


def test_the_doctor_is_heard(template: Path) -> None:
    analysis = analysis_of(template)
    (mark,) = analysis.doctor
    assert mark.text in findings_of(analysis, "doctor")[0].sentence
    assert (mark.severity, mark.text) == ("warn", "the governor is powersave (hint: set performance)")


def test_two_server_versions_in_one_engine_are_said(run: Path) -> None:
    edit_json(trials_of(run, BASE, 1)[0] / "trial.json", lambda f: f.update(server_version="10.11.4-MariaDB"))
    engine = analysis_of(run).engines[0]
    assert engine.server_version == "2 versions: 10.11.3-MariaDB, 10.11.4-MariaDB"


# -- what the statistics promise -------------------------------------------------------------------------


def test_another_baseline_inverts_the_ratio(run: Path) -> None:
    forward = comparison_of(analysis_of(run), SLOWER, 4).ratio
    edit_json(run / "manifest.json", lambda m: m.update(baseline=SLOWER))
    backward = comparison_of(analysis_of(run), BASE, 4).ratio
    assert forward is not None
    assert backward is not None
    assert forward.value * backward.value == pytest.approx(1)
    assert (forward.low or 0) * (backward.high or 0) == pytest.approx(1)


def test_the_same_engine_twice_is_not_told_apart(tmp_path: Path) -> None:
    """A/A: nothing is claimed, and no leader is named."""
    scenario = Scenario(speed={"mariadb-1": 1.0, "mariadb-2": 1.0}, noise=0.01, blocks=4, sessions=(1, 4, 16))
    analysis = analysis_of(build(tmp_path / "same", scenario))
    assert {c.verdict for c in analysis.comparisons} <= {"no relevant difference", "undecided"}
    for finding in findings_of(analysis, "leader"):
        assert finding.sentence.startswith(("No leader is decided", "Level "))


def test_what_all_trials_of_a_block_share_does_not_widen_the_ratio(tmp_path: Path) -> None:
    """A host that changes its mood by 20 % from block to block: wide means, narrow ratios."""
    analysis = analysis_of(build(tmp_path / "moody", Scenario(block_spread=0.2)))
    estimate, ratio = cell_of(analysis, SLOWER, 4).throughput_per_s, comparison_of(analysis, SLOWER, 4).ratio
    assert estimate is not None
    assert ratio is not None
    assert ((estimate.high or 0) - (estimate.low or 0)) / estimate.value > 0.2
    assert ((ratio.high or 0) - (ratio.low or 0)) / ratio.value < 0.1


def test_holm_over_the_whole_table(template: Path) -> None:
    comparisons = analysis_of(template).comparisons
    p_values = sorted(c.p_value for c in comparisons if c.p_value is not None)
    smallest = min(c.p_value_holm for c in comparisons if c.p_value_holm is not None)
    assert len(p_values) == 6
    assert smallest == pytest.approx(6 * p_values[0])


def test_every_finding_names_evidence_that_exists(run: Path) -> None:
    failed(trials_of(run, SLOWER, 4)[1])
    analysis = analysis_of(run)
    cells = {cell.id for cell in analysis.cells}
    trials = {trial.id for cell in analysis.cells for trial in cell.trials}
    for finding in analysis.findings:
        assert set(finding.cells) <= cells
        assert set(finding.trials) <= trials
        if not finding.rule.startswith(("settings", "doctor")):
            assert finding.cells


def test_analysis_is_a_pure_function(template: Path) -> None:
    before = sorted((p, p.stat().st_mtime_ns) for p in template.rglob("*"))
    first, second = analysis_of(template), analysis_of(template)
    assert first.model_dump_json() == second.model_dump_json()
    assert sorted((p, p.stat().st_mtime_ns) for p in template.rglob("*")) == before


def test_several_workloads_and_settings_are_told_apart(run: Path) -> None:
    """A second workload and a second settings set appear in tables and sentences by name."""

    def change(manifest: dict[str, Any]) -> None:
        manifest["workloads"].append({**manifest["workloads"][0], "id": "oltp_read_only"})
        manifest["settings"].append({**manifest["settings"][0], "id": "large"})

    edit_json(run / "manifest.json", change)
    analysis = analysis_of(run)
    assert "at 4 sessions (oltp_read_write, default)" in comparison_of(analysis, SLOWER, 4).sentence
    columns = next(t.columns for t in analysis.tables if t.id == "throughput")
    assert columns[:3] == ["Workload", "Settings", "Engine"]
