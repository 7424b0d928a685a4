"""A TPC-C-derived load in the analysis: NOPM, TPM, the mix, and whether the load was a valid one."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dyno.record.manifest import Workload
from dyno.record.run import open_run
from dyno.report import csv_files, html, markdown, tpcc
from dyno.report.analysis import analyse
from fixtures.synthetic_run import Scenario, build, trials_of
from fixtures.tpcc_run import as_tpcc

if TYPE_CHECKING:
    from dyno.report.model import Analysis, TpccFigures

ROOT = Path(__file__).parents[2]
ENGINE = "mariadb-10.11"
SCENARIO = Scenario(speed={ENGINE: 1.0, "mysql-9.7": 0.7}, sessions=(1, 4, 16), measure_s=5)
UNUSUAL_WORD = re.compile(r"tpm" + "c", re.IGNORECASE)


SMALL = Scenario(speed={ENGINE: 1.0}, sessions=(4,), blocks=1, measure_s=5)
"""One trial."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return as_tpcc(build(tmp_path_factory.mktemp("tpcc") / "run", SCENARIO))


@pytest.fixture(scope="module")
def analysis(run: Path) -> Analysis:
    return analyse(open_run(run))


def figures(analysis: Analysis, engine: str = ENGINE, load: str = "s4") -> TpccFigures:
    """Those of a cell."""
    (found,) = [c.tpcc for c in analysis.cells if (c.engine, c.load) == (engine, load)]
    assert found is not None
    return found


def summaries(run: Path) -> list[dict[str, int]]:
    """Transactions by type of each trial of a cell, straight from the records."""
    records = [(trial / "record.ndjson").read_text().splitlines() for trial in trials_of(run, ENGINE, 4)]
    return [{each["type"]: each["ok"] for each in json.loads(lines[-1])["transactions"]} for lines in records]


def test_nopm_leaves_out_what_was_rolled_back_and_tpm_does_not(run: Path, analysis: Analysis) -> None:
    found = figures(analysis)
    minutes = SCENARIO.measure_s / 60
    orders = [trial["new_order"] - round(trial["new_order"] * 0.01) for trial in summaries(run)]
    assert found.nopm_trials == pytest.approx([count / minutes for count in orders])
    assert found.nopm.value == pytest.approx(sum(orders) / len(orders) / minutes)
    assert found.tpm.value == pytest.approx(sum(sum(t.values()) for t in summaries(run)) / 3 / minutes)
    assert (found.nopm.n, found.profile, found.shape) == (3, "standard", "batched")


def test_the_server_counts_only_samples_within_measure(analysis: Analysis) -> None:
    found = figures(analysis)
    assert found.server_tpm is not None
    assert found.server_tpm.value == pytest.approx(2020 * 60)


def test_types_have_their_limits(analysis: Analysis) -> None:
    types = {each.name: each for each in figures(analysis).types}
    assert list(types) == ["new_order", "payment", "order_status", "delivery", "stock_level"]
    assert [types[name].share_min for name in types] == [None, 0.43, 0.04, 0.04, 0.04]
    assert sum(each.share for each in types.values()) == pytest.approx(1)
    assert types["stock_level"].p90_limit_us == 20e6
    for each in types.values():
        assert each.p50_us is not None
        assert each.p90_us is not None
        assert 0 < each.p50_us <= each.p90_us < each.p90_limit_us


def test_a_valid_load_is_within_every_range(analysis: Analysis) -> None:
    shares = figures(analysis).shares
    assert {share.verdict for share in shares} == {"within"}
    assert {share.name: share.value for share in shares}["lines of an order"] == pytest.approx(10)


def test_a_share_far_off_is_outside_and_a_little_off_is_too_few_to_say(tmp_path: Path) -> None:
    far = as_tpcc(build(tmp_path / "far", SMALL), rolled_back=0.05)
    near = as_tpcc(build(tmp_path / "near", SMALL), rolled_back=0.0112)
    verdicts = [figures(analyse(open_run(path))).shares[0].verdict for path in (far, near)]
    assert verdicts == ["outside", "too few to say"]
    cautions = [f for f in analyse(open_run(far)).findings if f.rule == "tpcc_validity"]
    assert any("rolled-back New-Orders" in finding.sentence for finding in cautions)


def test_one_warehouse_has_nothing_remote(tmp_path: Path) -> None:
    found = figures(analyse(open_run(as_tpcc(build(tmp_path / "one", SMALL), warehouses=1))))
    assert {s.verdict for s in found.shares if s.name.startswith("remote")} == {"one warehouse"}


def test_a_rig_that_counts_only_transactions_leaves_shares_open(tmp_path: Path) -> None:
    found = figures(analyse(open_run(as_tpcc(build(tmp_path / "old", SMALL), counted=False))))
    assert {(share.value, share.verdict) for share in found.shares} == {(None, "not counted")}
    assert found.nopm.value > 0


def test_findings_name_the_peak_and_a_server_that_counts_otherwise(analysis: Analysis) -> None:
    findings = analysis.findings
    (peak, _) = [f for f in findings if f.rule == "nopm"]
    assert "takes the most new orders at 16 sessions" in peak.sentence
    assert "shape batched" in peak.sentence
    assert "may lie beyond" in peak.sentence
    assert len(peak.cells) == 3
    assert all("commits and rollbacks" in f.sentence for f in findings if f.rule == "tpm")


def test_profile_and_shape_are_part_of_the_label(analysis: Analysis) -> None:
    assert [workload.label for workload in analysis.workloads] == ["oltp_read_write (standard, batched)"]


def test_a_type_that_never_occurred_has_no_percentiles() -> None:
    trial = tpcc.TpccTrial(Counter(new_order=30), measure_us=60_000_000, server_tpm=None)
    found = tpcc.figures(Workload(id="tpcc", name="tpcc"), [trial], {})
    assert found
    assert (found.nopm.value, found.tpm.value) == (30, 30)
    assert [(each.count, each.p99_us) for each in found.types] == [(30, None), *[(0, None)] * 4]


def test_other_loads_have_no_such_figures(tmp_path: Path) -> None:
    analysis = analyse(open_run(build(tmp_path / "oltp", SMALL)))
    assert all(cell.tpcc is None for cell in analysis.cells)
    assert [table.rows for table in analysis.tables if table.id.startswith("tpcc")] == [[], [], []]


def test_no_report_uses_the_benchmarks_own_metric(analysis: Analysis) -> None:
    """Fair use: results of this load must not look like those of the benchmark that it is derived from."""
    for text in (markdown.render(analysis), html.render(analysis), *csv_files.files(analysis).values()):
        assert not UNUSUAL_WORD.search(text)
    assert "TPC-C-derived" in markdown.render(analysis)


@pytest.mark.parametrize("folder", ["src", "rig", "viewer/src", "plans"])
def test_no_source_uses_the_benchmarks_own_metric(folder: str) -> None:
    kinds = {".py", ".rs", ".ts", ".toml"}
    # The importers read the logs of programs that do use it.
    others = {"target", "importers"}
    found = (path for path in (ROOT / folder).rglob("*") if path.suffix in kinds)
    files = [path for path in found if not others & set(path.parts)]
    assert files
    assert [path for path in files if UNUSUAL_WORD.search(path.read_text(encoding="utf-8"))] == []
