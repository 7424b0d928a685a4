"""The tidy table of a trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from dyno.errors import DynoError
from dyno.record import series
from dyno.record.stream import read_stream
from fixtures.synthetic_run import Scenario, build, edit_record, trials_of

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

ONE = Scenario(speed={"mariadb-10.11": 1.0}, sessions=(4,), blocks=1)


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    return trials_of(build(tmp_path / "one", ONE), "mariadb-10.11", 4)[0]


def table(trial: Path) -> pd.DataFrame:
    series.write(trial / "record.ndjson", trial / "series.parquet")
    return pd.read_parquet(trial / "series.parquet")


def test_columns_and_metrics(trial: Path) -> None:
    frame = table(trial)
    assert [(name, str(kind)) for name, kind in frame.dtypes.items()] == [
        ("t_s", "float64"),
        ("phase", "str"),
        ("metric", "str"),
        ("label", "str"),
        ("value", "float64"),
    ]
    assert not frame.isna().any().any()
    assert set(frame.metric) >= {
        *("throughput_per_s", "latency_p50_us", "latency_p95_us", "latency_p99_us", "latency_max_us"),
        *(
            "errors_per_s",
            "client_cpu",
            "server_cpu",
            "server_rss_bytes",
            "cpu_busy",
            "disk_read_bytes_per_s",
        ),
        *("disk_written_bytes_per_s", "net_rx_bytes_per_s", "net_tx_bytes_per_s", "memory_available_bytes"),
        *("context_switches_per_s", "status/Questions", "status/Threads_running"),
    }


def test_values_are_those_of_the_record(trial: Path) -> None:
    frame, stream = table(trial), read_stream(trial / "record.ndjson")
    throughput = frame[frame.metric == "throughput_per_s"]
    assert throughput.value.tolist() == [i.transactions[0].ok for i in stream.intervals]
    assert throughput.phase.tolist() == ["warmup", "measure", "measure", "measure"]
    assert throughput.t_s.tolist() == [1.0, 2.0, 3.0, 4.0]
    server = frame[frame.metric == "server_cpu"]
    assert server.value.tolist() == pytest.approx([0.37, 0.74, 0.74, 0.74])
    # Sampled 0.9 ms after the boundary, each still belongs to the second before.
    assert server.phase.tolist() == ["warmup", "measure", "measure", "measure"]
    busy = frame[(frame.metric == "cpu_busy") & (frame.label == "0")]
    assert busy.value.tolist() == pytest.approx([0.8] * 4)
    assert frame[frame.metric == "disk_written_bytes_per_s"].label.unique().tolist() == ["vda"]


def test_rates_are_over_the_true_duration(trial: Path) -> None:
    def shorten(line: dict[str, Any]) -> None:
        if line["record"] in {"interval", "status"} and line["t_us"] > 3_500_000:
            line["duration_us"] = 500_000

    before = table(trial)
    edit_record(trial, shorten)
    after = table(trial)
    for metric in ("throughput_per_s", "status/Questions"):
        old, new = (frame[frame.metric == metric].value.to_list()[-1] for frame in (before, after))
        assert new == pytest.approx(2 * old)


def test_several_transaction_types_show_all_and_each(trial: Path) -> None:
    def split(line: dict[str, Any]) -> None:
        if line["record"] == "interval":
            line["transactions"].append({"type": "rare", "ok": 1, "retries": 0, "latency": None})

    edit_record(trial, split)
    frame = table(trial)
    throughput = frame[(frame.metric == "throughput_per_s") & (frame.t_s == 1.0)].set_index("label").value
    assert throughput[""] == throughput["oltp_read_write"] + throughput["rare"]
    assert throughput["rare"] == 1
    assert "rare" not in set(frame[frame.metric == "latency_p99_us"].label)


def test_no_time_gives_no_rate(trial: Path) -> None:
    edit_record(trial, lambda line: line.update(duration_us=0) if "duration_us" in line else None)
    assert table(trial).empty


def test_a_damaged_record_writes_nothing(trial: Path) -> None:
    (trial / "record.ndjson").write_text("")
    with pytest.raises(DynoError, match="empty"):
        series.write(trial / "record.ndjson", trial / "series.parquet")
    assert not (trial / "series.parquet").exists()


def test_a_place_that_cannot_be_written(trial: Path) -> None:
    with pytest.raises(DynoError, match="cannot write"):
        series.write(trial / "record.ndjson", trial / "nowhere" / "series.parquet")
