"""Scaling laws of the published tables: a fit or a refusal with its reason, for every curve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dyno.errors import DynoError
from dyno.findings.scaling import sentence
from dyno.studies.curves import curves_of

if TYPE_CHECKING:
    from dyno.report.model import Scaling

DATASETS = Path(__file__).parents[2] / "datasets"


def by_label(name: str) -> dict[str, Scaling]:
    return {curve.label: curve for curve in curves_of(DATASETS / name)}


def test_power10_table_4() -> None:
    """Only two cores reach their peak within the levels; with more cores contention falls."""
    curves = by_label("000-power10.csv")
    by_cores = [curves[f"point_select, power10, {cores} cores, table 4"] for cores in (2, 4, 6, 8)]
    assert [curve.law for curve in by_cores] == ["usl", "amdahl", "amdahl", "amdahl"]
    alphas = [curve.alpha.value for curve in by_cores if curve.alpha]
    assert alphas == sorted(alphas, reverse=True)
    assert alphas == pytest.approx([0.0512, 0.0317, 0.0213, 0.0164], abs=1e-4)
    peak = by_cores[0].peak_sessions
    assert peak is not None
    assert peak.low is not None
    assert peak.high is not None
    assert peak.low <= 119 <= peak.high
    assert peak.low >= 64
    assert all(curve.peak_sessions is None for curve in by_cores[1:])


def test_power10_refusals() -> None:
    curves = by_label("000-power10.csv")
    few = curves["tpcc_like, power10, 8 cores, table 3"]
    assert (few.refused, few.reason) == ("few levels", "4 load levels have a number, a law needs 6")
    bad = curves["oltp_90_10, xeon6348, 8 cores, table 1"]
    assert bad.refused == "bad fit"
    assert bad.reason is not None
    assert "scatter by 15.5%" in bad.reason


def test_every_curve_of_the_ecosystem_report_is_judged() -> None:
    """Curves that collapse at high sessions follow no law, which is said and not smoothed over."""
    curves = by_label("001-ecosystem.csv")
    assert len(curves) >= 90
    for curve in curves.values():
        assert (curve.law is None) == (curve.reason is not None) == (curve.refused is not None)
        if curve.law:
            assert curve.alpha is not None
            assert curve.residual_spread is not None
            assert curve.residual_spread <= 0.15
    saw_teeth = [c for label, c in curves.items() if label.startswith("rw-local, 12 GiB, MariaDB")]
    assert len(saw_teeth) == 3
    assert {curve.refused for curve in saw_teeth} == {"bad fit"}


def test_a_published_peak_lies_in_the_laws_interval() -> None:
    """Read-only at 32 GiB MySQL 5.7 is published as falling from 32 sessions on."""
    curves = by_label("001-ecosystem.csv")
    mysql = next(c for label, c in curves.items() if label.startswith("ro-local, 32 GiB, MySQL 5.7"))
    assert mysql.law == "usl"
    assert mysql.peak_sessions is not None
    assert 32 <= mysql.peak_sessions.value <= 64
    assert "The law's peak is" in sentence(mysql)


def test_what_has_no_sessions_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DynoError, match="no throughput over sessions"):
        curves_of(DATASETS / "004-xtradb.csv")
    broken = tmp_path / "x.csv"
    broken.write_text("engine,sessions,metric,value\nA,many,throughput,5\n")
    with pytest.raises(DynoError, match="many"):
        curves_of(broken)
