"""Following a record while it is written: whole lines, the newest second, nothing that is not understood."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dyno.record.follow import Follower
from fixtures.synthetic_run import Scenario, build, trials_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    run = build(
        tmp_path_factory.mktemp("runs") / "one",
        Scenario(speed={"mariadb-10.11": 1.0}, sessions=(4,), blocks=1),
    )
    return (trials_of(run, "mariadb-10.11", 4)[0] / "record.ndjson").read_bytes()


def test_a_record_that_is_not_there_yet_shows_nothing(tmp_path: Path) -> None:
    assert Follower(tmp_path / "none").latest() is None


def test_every_second_is_seen_once_wherever_the_writer_was_cut(record: bytes, tmp_path: Path) -> None:
    path = tmp_path / "record.ndjson"
    follower = Follower(path)
    seen = []
    with path.open("ab", buffering=0) as file:
        for start in range(0, len(record), 700):
            file.write(record[start : start + 700])
            second = follower.latest()
            if second is not None:
                seen.append(second)
    intervals = [line for line in map(json.loads, record.splitlines()) if line["record"] == "interval"]
    assert [second.t_s for second in seen] == [line["t_us"] / 1e6 for line in intervals]
    for second, line in zip(seen, intervals, strict=True):
        assert second.throughput_per_s == line["transactions"][0]["ok"]
        assert second.phase == line["phase"]
        assert second.p50_us is not None
        assert second.p99_us is not None
        assert 0 < second.p50_us <= second.p99_us
        assert second.client_cores == pytest.approx(line["client_cpu_us"] / 1e6)
        assert second.offered_per_s is None
    # The sample of the server follows its interval: it is known from the second one on.
    assert seen[0].server_cores is None
    assert seen[-1].server_cores == pytest.approx(0.74)
    assert follower.latest() is None


def test_of_several_new_seconds_the_last_one_is_shown(record: bytes, tmp_path: Path) -> None:
    path = tmp_path / "record.ndjson"
    path.write_bytes(record)
    second = Follower(path).latest()
    assert second is not None
    assert (second.t_s, second.phase) == (4.0, "measure")


@pytest.mark.parametrize("damage", [b"{\n", b"[]\n", b'{"record": "interval"}\n', b"\xff\xfe\n", b"\n"])
def test_what_is_not_understood_is_passed_over(record: bytes, tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "record.ndjson"
    path.write_bytes(damage + record + damage)
    assert Follower(path).latest() is not None


def test_a_damaged_histogram_shows_nothing(record: bytes, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in record.splitlines()]
    last = [line for line in lines if line["record"] == "interval"][-1]
    last["transactions"][0]["latency"] = "HISTFAAAgarbage"
    path = tmp_path / "record.ndjson"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert Follower(path).latest() is None


def test_an_open_loop_shows_what_was_offered(record: bytes, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in record.splitlines()]
    for line in lines:
        if line["record"] == "interval":
            line["open"] = {"due": 500, "dropped": 3, "carried": 0, "backlog": 7, "generator_lag": None}
    path = tmp_path / "record.ndjson"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    second = Follower(path).latest()
    assert second is not None
    assert (second.offered_per_s, second.backlog, second.dropped) == (500, 7, 3)


def test_measured_rates_are_given_out_once_and_in_order(record: bytes, tmp_path: Path) -> None:
    path = tmp_path / "record.ndjson"
    path.write_bytes(record)
    follower = Follower(path)
    assert follower.measured() == []
    follower.latest()
    lines = [line for line in map(json.loads, record.splitlines()) if line["record"] == "interval"]
    measured = [line["transactions"][0]["ok"] for line in lines if line["phase"] == "measure"]
    assert len(measured) == 3
    assert follower.measured() == measured
    assert follower.measured() == []
