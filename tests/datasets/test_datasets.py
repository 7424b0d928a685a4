"""The published figures agree with what their documents derive from them."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

DATASETS = Path(__file__).parents[2] / "datasets"


def rows(name: str) -> list[dict[str, str]]:
    with (DATASETS / name).open(newline="") as file:
        return list(csv.DictReader(file))


def tps() -> dict[tuple[str, str, str, str], float]:
    return {
        (r["scenario"], r["buffer_pool_gib"], r["engine"], r["sessions"]): float(r["value"])
        for r in rows("001-ecosystem.csv")
    }


def test_every_cell_of_study_001_is_there_once_a_table() -> None:
    counts = Counter(r["table"] for r in rows("001-ecosystem.csv"))
    assert {t: n for t, n in counts.items() if t[-1] in "123"} == {
        f"6.{s}.{t}": 80 for s in (1, 2, 3) for t in (1, 2, 3)
    }
    assert len(tps()) == 720


def test_restated_figures_equal_the_stated_ones() -> None:
    stated = tps()
    for r in rows("001-ecosystem.csv"):
        key = (r["scenario"], r["buffer_pool_gib"], r["engine"], r["sessions"])
        assert stated[key] == float(r["value"]), r


def possible_changes(a: float, b: float) -> tuple[float, float]:
    """Percent changes that whole-number TPS a and b allow: the document computed from unrounded ones."""
    return ((a - 0.5) / (b + 0.5) - 1) * 100, ((a + 0.5) / (b - 0.5) - 1) * 100


def test_every_version_progression_follows_from_the_tables() -> None:
    figures = tps()
    changes = rows("001-ecosystem-progression.csv")
    assert len(changes) == 168
    for r in changes:
        at = (r["scenario"], r["buffer_pool_gib"])
        low, high = possible_changes(
            figures[(*at, r["engine"], r["sessions"])], figures[(*at, r["baseline"], r["sessions"])]
        )
        assert low - 0.05 <= float(r["change_percent"]) <= high + 0.05, r


def test_the_lists_above_5_percent_are_exactly_those_of_the_progressions() -> None:
    key = ("scenario", "buffer_pool_gib", "engine", "baseline", "sessions", "change_percent")
    listed = [tuple(r[k] for k in key) for r in rows("001-ecosystem-over-5-percent.csv")]
    expected = {
        tuple(r[k] for k in key)
        for r in rows("001-ecosystem-progression.csv")
        if abs(float(r["change_percent"])) > 5
    }
    assert len(listed) == 132
    assert set(listed) == expected


def power10() -> dict[tuple[str, str, str, str], float]:
    return {
        (r["table"], r["platform"], r["cores"], r["sessions"]): float(r["value"])
        for r in rows("000-power10.csv")
        if r["value"]
    }


def test_every_performance_advantage_is_the_ratio() -> None:
    figures = power10()
    advantages = rows("000-power10-advantage.csv")
    assert len(advantages) == 23
    for r in advantages:
        ratio = (
            figures[r["table"], "power10", "8", r["sessions"]]
            / figures[r["table"], "xeon6348", "8", r["sessions"]]
        )
        assert round(ratio * 100) == int(r["advantage_percent"]), r


def test_the_power10_texts() -> None:
    figures = power10()
    best = {
        table: max(
            value / figures[t, "xeon6348", "8", n]
            for (t, platform, _, n), value in figures.items()
            if t == table and platform == "power10"
        )
        for table in "123"
    }
    assert {t: round(v, 2) for t, v in best.items()} == {"1": 4.22, "2": 3.64, "3": 1.59}
    table_4 = [value for (t, *_), value in figures.items() if t == "4"]
    assert max(table_4) == 1192191
    assert max(table_4) > 900_000  # the text's "up to 900,000" is below its own table


def test_table_2_and_table_4_restate_the_same_runs() -> None:
    figures = power10()
    for (table, platform, cores, n), value in figures.items():
        if (table, platform, cores) == ("2", "power10", "8"):
            assert figures["4", platform, cores, n] == value


def test_hammerdb_gain() -> None:
    nopm = [float(r["value"]) for r in rows("002-hammerdb.csv") if r["metric"] == "NOPM"]
    assert nopm[1] / nopm[0] == pytest.approx(2.574, abs=0.001)


def test_semisync_tables_are_whole() -> None:
    counts = Counter((r["workload"], r["engine"], r["metric"]) for r in rows("003-semisync.csv"))
    assert len(counts) == 18
    assert set(counts.values()) == {5}
    for r in rows("003-semisync.csv"):
        assert float(r["value"]) > 0


def test_xtradb_data_is_twice_the_buffer_pool() -> None:
    for r in rows("004-xtradb.csv"):
        assert float(r["data_gib"]) / float(r["buffer_pool_gib"]) == 2
