"""Runs with an open loop: response time at the offered rate, what was done of it, how it is compared."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from hdrh.histogram import HdrHistogram

from dyno.record.run import open_run
from dyno.report import csv_files, markdown
from dyno.report.analysis import analyse
from fixtures.synthetic_run import HIGHEST_NS, Scenario, build, edit_json, edit_record, trials_of

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.report.model import Analysis, Cell

BASE, SLOWEST = "mariadb-10.11", "mysql-9.7"
MET, MISSED = "r500", "r2600"
# Capacity with 32 sessions: about 2,700 of the one, 1,900 transactions/s of the other.
SCENARIO = Scenario(speed={BASE: 1.0, SLOWEST: 0.7}, sessions=(4,), rates=(500, 2600))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("runs") / "20261120-193000-open", SCENARIO)


@pytest.fixture
def run(template: Path, tmp_path: Path) -> Path:
    return shutil.copytree(template, tmp_path / template.name)


def analysis_of(run: Path) -> Analysis:
    return analyse(open_run(run))


def cell_of(analysis: Analysis, engine: str, load: str) -> Cell:
    return next(c for c in analysis.cells if (c.engine, c.load) == (engine, load))


def sentences(analysis: Analysis, rule: str) -> list[str]:
    return [finding.sentence for finding in analysis.findings if finding.rule == rule]


def table(analysis: Analysis, name: str) -> list[list[str]]:
    return next(t.rows for t in analysis.tables if t.id == name)


def merged(run: Path, engine: str, load: str, name: str) -> HdrHistogram:
    whole = HdrHistogram(1, HIGHEST_NS, 3)
    for trial in trials_of(run, engine, load):
        summary = json.loads((trial / "record.ndjson").read_text().splitlines()[-1])
        whole.add(HdrHistogram.decode(summary["transactions"][0][name]))
    return whole


def test_latency_is_response_time_with_service_and_lag_beside_it(template: Path) -> None:
    cell = cell_of(analysis_of(template), BASE, MET)
    assert (cell.loop, cell.status) == ("open", "ok")
    for lines, name in ((cell.latency, "latency"), (cell.service, "service"), (cell.lag, "lag")):
        (line,) = lines
        whole = merged(template, BASE, MET, name)
        assert line.count == whole.total_count == 3 * 3 * 500
        assert line.p99_us * 1000 == pytest.approx(whole.get_value_at_percentile(99), rel=1e-3)
        assert line.p9999_us * 1000 == pytest.approx(whole.get_value_at_percentile(99.99), rel=1e-3)
    assert cell.service[0].p50_us < cell.latency[0].p50_us
    assert cell.open is not None
    assert (cell.open.offered_per_s, cell.open.due, cell.open.done) == (500, 4500, 4500)
    assert (cell.open.dropped, cell.open.unfinished, cell.open.backlog) == (0, 0, 0)
    assert cell.trials[0].p99_us is not None
    assert cell.trials[0].open is not None
    assert cell_of(analysis_of(template), BASE, "s4").open is None


def test_a_rate_that_was_not_met_is_said_wherever_its_number_is(template: Path) -> None:
    analysis = analysis_of(template)
    cell = cell_of(analysis, SLOWEST, MISSED)
    assert cell.open is not None
    assert cell.throughput_per_s is not None
    assert cell.throughput_per_s.value < 0.9 * cell.open.offered_per_s
    assert cell.open.due == cell.open.done + cell.open.unfinished
    kinds = {mark.kind for mark in cell.marks}
    assert {"overload", "unfinished"} <= kinds
    assert not {mark.kind for mark in cell_of(analysis, BASE, MISSED).marks}
    (row,) = [
        row
        for row in table(analysis, "open_loop")
        if row[:2] == ["2,600 transactions/s offered", "MySQL 9.7*"]
    ]
    assert row[2] == "2,600"
    assert row[3] == f"{cell.throughput_per_s.value:,.0f}"
    said = " ".join(sentences(analysis, "offered"))
    assert "MariaDB 10.11 met every offered rate, up to 2,600 transactions/s offered" in said
    assert "MySQL 9.7 kept up with 500 transactions/s offered" in said
    assert "but not with 2,600 transactions/s offered" in said
    assert "did not keep up with the offered rate" in " ".join(sentences(analysis, "overload"))


def test_engines_are_compared_by_response_time(template: Path) -> None:
    analysis = analysis_of(template)
    by_load = {c.load: c for c in analysis.comparisons}
    assert {load: c.measure for load, c in by_load.items()} == {
        "s4": "throughput_per_s",
        MET: "p99_us",
        MISSED: "p99_us",
    }
    met = by_load[MET]
    assert met.ratio is not None
    # Service time is the inverse of speed; the lag on top of it is the same for both.
    assert 1.2 < met.ratio.value < 1.8
    assert met.verdict == "slower"
    assert met.sentence.startswith("The p99 response time of MySQL 9.7 is 1.")
    assert by_load["s4"].ratio is not None
    assert by_load["s4"].ratio.value < 1
    assert by_load["s4"].verdict == "slower"
    # Throughput under an offered rate is no peak, and its leader is who lets users wait least.
    assert sentences(analysis, "peak") == []
    leaders = sentences(analysis, "leader")
    assert any(s.startswith("MariaDB 10.11 (p99 ") and "at 500 transactions/s offered" in s for s in leaders)


def test_every_output_names_what_its_latency_is(template: Path) -> None:
    analysis = analysis_of(template)
    assert "Closed loop" in analysis.loop
    assert "Open loop" in analysis.loop
    times = {(row[0], row[2]) for row in table(analysis, "latency")}
    assert ("4 sessions", "service") in times
    assert {("500 transactions/s offered", time) for time in ("response", "service", "lag")} <= times
    text = markdown.render(analysis)
    assert "Response time at the offered rate (open loop)" in text
    assert "Throughput and p99 response time against MariaDB 10.11" in text
    files = csv_files.files(analysis)
    lines = files["data-latency.csv"].splitlines()
    assert lines[0].startswith("cell,of,time,name,count,mean_us")
    assert sum(",transaction,response," in line for line in lines) == 4
    assert sum(",transaction,lag," in line for line in lines) == 4
    assert len(files["data-open-loop.csv"].splitlines()) == 1 + 12
    # Throughput of an open loop is not listed as capacity.
    assert next(t for t in analysis.tables if t.id == "throughput").columns == ["Engine", "4 sessions"]


def test_series_show_what_was_offered_and_where_time_went(template: Path) -> None:
    analysis = analysis_of(template)
    trial = cell_of(analysis, SLOWEST, MISSED).trials[0]
    metrics = {m.metric: m.values for m in analysis.series[trial.series or ""].metrics}
    assert metrics["offered_per_s"][:4] == [2600] * 4
    backlog = metrics["backlog"]
    assert backlog[0] == 0
    assert backlog[1] < backlog[2] < backlog[3]  # type: ignore[operator]
    for name in ("service_p99_us", "lag_p99_us", "generator_lag_p99_us"):
        assert metrics[name][1] is not None
    assert metrics["sessions"][0] == 32


def test_transactions_that_are_not_accounted_for_make_a_trial_invalid(run: Path) -> None:
    def change(line: dict[str, Any]) -> None:
        if line["record"] == "summary":
            line["open"]["due"] += 1

    edit_record(trials_of(run, BASE, MET)[0], change)
    trial = cell_of(analysis_of(run), BASE, MET).trials[0]
    assert trial.status == "invalid"
    assert "1,501 transactions were due, 1,500 are accounted for" in (trial.reason or "")
    assert trial.p99_us is None


def test_a_rig_that_was_late_itself_makes_a_trial_invalid(run: Path) -> None:
    late = HdrHistogram(1, HIGHEST_NS, 3)
    late.record_value(40_000_000, 1500)

    def change(line: dict[str, Any]) -> None:
        if line["record"] == "summary":
            line["open"]["generator_lag"] = late.encode().decode("ascii")

    for trial in trials_of(run, SLOWEST, MET):
        edit_record(trial, change)
    analysis = analysis_of(run)
    cell = cell_of(analysis, SLOWEST, MET)
    assert {trial.status for trial in cell.trials} == {"invalid"}
    assert "the rig itself was 40 ms late at the 99th percentile" in (cell.trials[0].reason or "")
    assert cell.invalid is not None
    assert cell.invalid.p99_us is not None
    (row,) = [
        row for row in table(analysis, "open_loop") if row[:2] == ["500 transactions/s offered", "MySQL 9.7*"]
    ]
    assert row[3] == "(500)"
    assert row[6].startswith("(")
    assert next(c for c in analysis.comparisons if c.load == MET).verdict == "missing"


def test_a_schedule_is_named_explained_and_has_no_peak(run: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        for load in manifest["loads"]:
            if load["id"] == "s4":
                load.update(sessions=None, start=1, stages=[{"duration_s": 2, "target": 4}])

    edit_json(run / "manifest.json", change)
    analysis = analysis_of(run)
    load = next(load for load in analysis.loads if load.id == "s4")
    assert load.schedule == "from 1 session, to 4 over 2 s"
    assert analysis.loads[-1] is load
    assert "Schedule s4: from" in analysis.loop


def test_much_of_what_the_rig_can_do_is_marked(run: Path) -> None:
    def ceiling(queries_per_s_max: float) -> set[str]:
        known = {"measured": "2026-11-20T19:00:00Z", "queries_per_s_max": queries_per_s_max}
        edit_json(run / "manifest.json", lambda manifest: manifest.update(ceiling=known))
        return {m.text for m in cell_of(analysis_of(run), BASE, "s4").marks if m.kind == "client_cpu"}

    # 13 statements a transaction, about 1,180 transactions/s.
    assert ceiling(40_000) == set()
    (text,) = ceiling(20_000)
    assert "of the queries/s that it can on this host (selftest)" in text
