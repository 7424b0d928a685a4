"""Every parser against files that were cut, shuffled and damaged: no crash, no number that is none."""

from __future__ import annotations

import math
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno.record.importers import hammerdb
from dyno.record.importers.formats import LOG_PARSERS, TELEMETRY_PARSERS, detect
from dyno.record.importers.server import check_settings, parse_cnf, parse_variables
from importers.samples import GO_TPC, HAMMERDB, TPCC_MYSQL, TPCC_MYSQL_OLD_LINES, XTPROF, as_table
from importers.test_server_texts import CNF
from importers.test_sysbench_log import CSV, EARLY_05, JSON, LATE_05, SUMMARY_05, WHOLE_04, WHOLE_10

if TYPE_CHECKING:
    from collections.abc import Callable

HISTOGRAM = "Latency histogram (values are in milliseconds)\n       6.434 |****  51\n"
LOGS = {
    "sysbench": [WHOLE_10, WHOLE_04, LATE_05 + EARLY_05 + SUMMARY_05, CSV + JSON + HISTOGRAM],
    "hammerdb": [HAMMERDB + XTPROF],
    "go-tpc": [GO_TPC, as_table(GO_TPC)],
    "tpcc-mysql": [TPCC_MYSQL, TPCC_MYSQL_OLD_LINES],
}
MONITORS = sorted((Path(__file__).parent / "monitors").iterdir())


@st.composite
def damaged(draw: st.DrawFn, texts: list[str]) -> str:
    """One of the texts, its lines shuffled or doubled, cut off somewhere, with garbage in it."""
    lines = draw(st.sampled_from(texts)).splitlines(keepends=True)
    if draw(st.booleans()):
        lines = draw(st.permutations(lines))
    lines += draw(st.lists(st.sampled_from(lines), max_size=3))
    text = "".join(lines)
    text = text[: draw(st.integers(0, len(text)))]
    garbage = st.one_of(
        st.text(max_size=20),
        st.binary(max_size=20).map(lambda raw: raw.decode("utf-8", "replace")),
        st.sampled_from(["9" * 400, "9" * 5000, "-1", "nan", "inf", "1e999", "\0", "٣", "²", ",", "|", "\r"]),
    )
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(garbage) + text[at + draw(st.integers(0, 5)) :]
    return text


@pytest.mark.parametrize("name", LOGS)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_logs(name: str, data: st.DataObject) -> None:
    log = LOG_PARSERS[name](StringIO(data.draw(damaged(LOGS[name]))))
    if log.problem is None:
        assert log.throughput_per_s is not None
        assert math.isfinite(log.throughput_per_s)
        assert log.throughput_per_s > 0
        assert log.total_time_s
        assert log.transactions
        assert log.results <= 1
    for interval in log.intervals:
        assert math.isfinite(interval.t_s)
        assert math.isfinite(interval.tps)
        assert interval.tps >= 0
    for sample in log.samples:
        assert math.isfinite(sample.value)


@pytest.mark.parametrize("path", MONITORS, ids=lambda path: path.name)
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_monitors(path: Path, data: st.DataObject) -> None:
    found = detect(path)
    assert found
    telemetry = TELEMETRY_PARSERS[found.name](StringIO(data.draw(damaged([path.read_text()]))))
    for (metric, _), (times, values) in telemetry.series.items():
        assert len(times) == len(values)
        assert all(math.isfinite(t) and t >= 0 for t in times)
        assert all(math.isfinite(value) and value >= 0 for value in values)
        if metric == "cpu_busy":
            assert max(values) <= 1


@pytest.mark.parametrize("parse", [parse_cnf, parse_variables], ids=["cnf", "variables"])
@settings(max_examples=50, deadline=None)
@given(text=damaged([CNF, "autocommit\tON\nversion\t8\n", "| a | 1 |\n", "Variable_name: a\nValue: 1\n"]))
def test_server_texts(parse: Callable[[StringIO], dict[str, str]], text: str) -> None:
    found = parse(StringIO(text))
    assert {check["verdict"] for check in check_settings(found, found)} <= {"equal"}


@settings(max_examples=50, deadline=None)
@given(text=damaged([XTPROF]))
def test_time_profiles(text: str) -> None:
    for each in hammerdb.parse_profile(StringIO(text)):
        assert each.count >= 0
        assert all(math.isfinite(value) for value in each.percentiles_ms.values())
