"""`dyno.open`: frames with exactly the documented columns, and the numbers of the analysis in them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import dyno
from data.two_runs import FIRST, SECOND
from dyno.cli.main import call
from dyno.data.doc import updated
from dyno.data.rows import ROWS
from dyno.data.tables import PANDAS, TABLES
from dyno.errors import DynoError
from dyno.record.series import write
from fixtures.synthetic_run import edit_json, trials_of
from importers.test_sysbench_log import WHOLE_10

if TYPE_CHECKING:
    from dyno.data import RunData

DATA_MD = Path(__file__).parents[2] / "docs" / "DATA.md"


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_its_documented_columns_and_types(first: RunData, name: str) -> None:
    frame = first.table(name)
    assert list(frame.columns) == TABLES[name].names
    assert not frame.empty
    for column in TABLES[name].columns:
        assert str(frame[column.name].dtype) == PANDAS[column.kind], column.name


@pytest.mark.parametrize("name", ROWS)
def test_no_row_has_a_value_without_a_column(first: RunData, name: str) -> None:
    for row in ROWS[name](first.analysis, first.manifest):
        assert list(row) == TABLES[name].names[1:]


def test_the_document_lists_the_tables_as_they_are() -> None:
    text = DATA_MD.read_text()
    assert text == updated(text), "run `python -m dyno.data.doc`"


def test_trials_are_those_of_the_analysis(runs: Path) -> None:
    run = dyno.open(FIRST, runs_dir=runs)
    trials = run.trials.set_index("trial")
    assert len(trials) == 3 * (2 + 1) * 2
    assert list(trials.order_in_run) == list(range(1, len(trials) + 1))
    for cell in run.analysis.cells:
        for trial in cell.trials:
            assert trials.loc[trial.id, "throughput_per_s"] == trial.throughput_per_s
            assert trials.loc[trial.id, "cell"] == cell.id
    closed, opened = trials[trials.loop == "closed"], trials[trials.loop == "open"]
    assert set(closed.sessions) == {1, 4}
    assert closed.offered_per_s.isna().all()
    assert set(opened.offered_per_s) == {500.0}


def test_cells_and_latency_are_those_of_the_report(first: RunData) -> None:
    cells, latency = first.cells.set_index("cell"), first.latency.set_index(["cell", "of", "time", "name"])
    for cell in first.analysis.cells:
        assert cell.throughput_per_s
        assert cells.loc[cell.id, "throughput_per_s_low"] == cell.throughput_per_s.low
        time = "response" if cell.loop == "open" else "service"
        first = cell.latency[0]
        assert latency.loc[(cell.id, "transaction", time, first.name), "p99_us"] == first.p99_us
    assert latency.index.is_unique


def test_settings_comparisons_and_findings(first: RunData) -> None:
    pool = first.settings[first.settings.variable == "innodb_buffer_pool_size"]
    assert set(pool.engine) == {"mariadb-10.11", "mariadb-11.8", "mysql-9.7"}
    assert set(pool.effective) == {str(256 * 2**20)}
    assert list(first.comparisons.sentence) == [each.sentence for each in first.analysis.comparisons]
    assert list(first.findings.sentence) == [each.sentence for each in first.analysis.findings]
    trials = set(first.trials.trial)
    assert all(set(text.split()) <= trials for text in first.findings.trials)


def test_the_series_is_the_same_from_parquet_and_from_the_record(runs: Path, tmp_path: Path) -> None:
    from_record = dyno.open(runs / SECOND).series
    copy = shutil.copytree(runs / SECOND, tmp_path / SECOND)
    for trial in (copy / "trials").iterdir():
        write(trial / "record.ndjson", trial / "series.parquet")
        (trial / "record.ndjson").write_text("no longer needed")
    from_parquet = dyno.open(copy).series
    key = ["trial", "t_s", "metric", "label"]
    pd.testing.assert_frame_equal(
        from_record.sort_values(key)
        .astype({"trial": str, "metric": str, "label": str})
        .reset_index(drop=True),
        from_parquet.sort_values(key)
        .astype({"trial": str, "metric": str, "label": str})
        .reset_index(drop=True),
    )
    throughput = from_record[(from_record.metric == "throughput_per_s") & (from_record.phase == "measure")]
    assert set(throughput.groupby("trial", observed=True).size()) == {3}


def test_a_trial_without_a_record_has_a_row_and_no_samples(runs: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(runs / SECOND, tmp_path / SECOND)
    gone = trials_of(copy, "mariadb-10.11", 4)[0]
    (gone / "record.ndjson").unlink()
    run = dyno.open(copy)
    row = run.trials.set_index("trial").loc[gone.name]
    assert row.status == "invalid"
    assert "record.ndjson" in row.reason
    assert pd.isna(row.throughput_per_s)
    assert gone.name not in set(run.series.trial)


def test_frames_of_several_runs_go_together(runs: Path) -> None:
    both = pd.concat([dyno.open(FIRST, runs_dir=runs).trials, dyno.open("latest", runs_dir=runs).trials])
    assert set(both.run) == {FIRST, SECOND}
    assert both.groupby("run").size()[SECOND] == 4


def test_an_imported_run(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "mariadb" / "11.8" / "4.txt"
    log.parent.mkdir(parents=True)
    log.write_text(WHOLE_10)
    arguments = ["import", str(tmp_path / "logs"), "-o", str(tmp_path / "run")]
    assert call([*arguments, "--layout", "{family}/{version}/{sessions}.txt"]) == 0
    run = dyno.open(tmp_path / "run")
    assert run.trials.throughput_per_s.notna().all()
    assert set(run.series.metric) >= {"throughput_per_s"}
    assert run.latency.empty
    assert list(run.latency.columns) == TABLES["latency"].names


def test_what_is_no_run_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DynoError, match=r"is not a run: it has no manifest\.json") as caught:
        dyno.open(tmp_path)
    assert "latest" in (caught.value.hint or "")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DynoError, match="there is no run 'nothing'"):
        dyno.open("nothing")
    with pytest.raises(DynoError, match="there is no run 'latest'"):
        dyno.open()


def test_a_damaged_manifest_is_named(runs: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(runs / SECOND, tmp_path / SECOND)
    edit_json(copy / "manifest.json", lambda manifest: manifest.pop("engines"))
    with pytest.raises(DynoError, match=r"manifest\.json.*engines"):
        dyno.open(copy)


def test_an_unknown_table_is_an_error(second: RunData) -> None:
    with pytest.raises(DynoError, match="there is no table 'trails'") as caught:
        second.table("trails")
    assert "trials" in (caught.value.hint or "")


def test_importing_dyno_loads_none_of_the_science() -> None:
    heavy = {"pandas", "numpy", "scipy", "pyarrow", "duckdb", "pydantic"}
    program = f"import sys, dyno; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
