"""Record streams: whole, cut short, damaged."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno.errors import DynoError
from dyno.record.stream import read_stream
from fixtures.synthetic_run import Scenario, build, trials_of

if TYPE_CHECKING:
    from pathlib import Path

ONE = Scenario(speed={"mariadb-10.11": 1.0}, sessions=(4,), blocks=1)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = build(tmp_path_factory.mktemp("runs") / "one", ONE)
    return trials_of(run, "mariadb-10.11", 4)[0] / "record.ndjson"


def test_a_whole_stream(record: Path) -> None:
    stream = read_stream(record)
    assert stream.header.server_version == "10.11.3-MariaDB"
    assert [span.phase for span in stream.spans] == ["connect", "warmup", "measure", "drain"]
    assert [(span.start_us, span.end_us) for span in stream.spans][2] == (1_000_000, 4_000_000)
    assert len(stream.intervals) == len(stream.hosts) == len(stream.statuses) == 4
    assert len(stream.processes) == 8
    assert stream.summary is not None
    assert stream.summary.outcome == "ok"
    assert not stream.torn
    measured = [i for i in stream.intervals if i.phase == "measure"]
    assert sum(t.ok for i in measured for t in i.transactions) == stream.summary.transactions[0].ok


def test_a_sample_belongs_to_the_phase_of_its_middle(record: Path) -> None:
    stream = read_stream(record)
    assert stream.phase_at(-60_000) == "connect"
    assert stream.phase_at(999_999) == "warmup"
    assert stream.phase_at(1_000_000) == "measure"


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_cut_anywhere_it_reads_the_whole_lines_and_is_no_result(record: Path, data: st.DataObject) -> None:
    content = record.read_bytes()
    first = content.index(b"\n") + 1
    at = data.draw(st.integers(min_value=first, max_value=len(content) - 1))
    cut = record.with_name("cut.ndjson")
    cut.write_bytes(content[:at])
    stream = read_stream(cut)
    assert stream.summary is None
    assert stream.torn == (content[at - 1 : at] != b"\n")
    kept = content[:at].count(b"\n")
    lines = [stream.phases, stream.intervals, stream.hosts, stream.processes, stream.statuses, stream.notes]
    assert 1 + sum(len(each) for each in lines) == kept


def test_an_empty_file_is_no_stream(tmp_path: Path) -> None:
    empty = tmp_path / "record.ndjson"
    empty.write_bytes(b"")
    with pytest.raises(DynoError, match="empty: the rig recorded nothing") as caught:
        read_stream(empty)
    assert "rig.log" in (caught.value.hint or "")
    empty.write_bytes(b'{"record": "header", "form')
    with pytest.raises(DynoError, match="empty"):
        read_stream(empty)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DynoError, match="No such file"):
        read_stream(tmp_path / "record.ndjson")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"not json\n", "line 2: not JSON"),
        (b"[1, 2]\n", "line 2: not an object"),
        (b"\xff\xfe\n", "line 2: not JSON"),
        (b"[" * 100_000 + b"\n", "line 2: not JSON"),
        (b'{"record": "phase", "t_us": 0, "phase": "lunch"}\n', "line 2: phase: .*'lunch'"),
        (b'{"record": "interval", "t_us": 0}\n', "line 2: duration_us: field required"),
        (b'{"record": "header", "format": "dyno-record/1"}\n', "line 2: a second stream"),
    ],
)
def test_damaged_lines_are_named(record: Path, tmp_path: Path, line: bytes, expected: str) -> None:
    damaged = tmp_path / "record.ndjson"
    header = record.read_bytes().splitlines(keepends=True)[0]
    damaged.write_bytes(header + line)
    with pytest.raises(DynoError, match=expected) as caught:
        read_stream(damaged)
    assert caught.value.hint


def test_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "record.ndjson"
    path.write_text(json.dumps({"record": "header", "format": "dyno-record/9"}) + "\n")
    with pytest.raises(DynoError, match="dyno-record/9"):
        read_stream(path)
    path.write_text(json.dumps({"record": "phase", "t_us": 0, "phase": "warmup"}) + "\n")
    with pytest.raises(DynoError, match="begins with a header"):
        read_stream(path)


def test_line_types_and_fields_of_a_newer_rig_are_passed_over(record: Path, tmp_path: Path) -> None:
    newer = tmp_path / "record.ndjson"
    lines = record.read_text().splitlines(keepends=True)
    lines[1] = json.dumps({**json.loads(lines[1]), "colour": "red"}) + "\n"
    lines.insert(2, json.dumps({"record": "weather", "t_us": 0}) + "\n")
    newer.write_text("".join(lines))
    assert len(read_stream(newer).phases) == 4
