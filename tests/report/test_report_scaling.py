"""Scaling laws in the analysis: the truth of a synthetic run, limits of the generator, sentences, knees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from dyno.findings import Names, find_scaling, fit_curve, fit_curves
from dyno.findings.scaling import sentence
from dyno.record.manifest import Manifest
from dyno.record.run import open_run
from dyno.report.analysis import analyse
from dyno.report.model import Cell, Load, Mark, TrialResult
from dyno.report.scaling import borders, residual_table
from dyno.stats import Border
from fixtures.synthetic_run import Scenario, build

if TYPE_CHECKING:
    from pathlib import Path

LEVELS = (1, 2, 4, 8, 16, 32, 64, 128)
LOADS = [Load(id=f"s{n}", kind="closed", label=f"{n} sessions", x=n) for n in LEVELS]
NAMES = Names(
    engines={"a": "Alpha"},
    settings={"default": "default"},
    workloads={"w": "w"},
    loads={load.id: load.label for load in LOADS},
)


def usl(n: float, beta: float = 1e-4) -> float:
    return float(500 * n / (1 + 0.02 * (n - 1) + beta * n * (n - 1)))


def cells(values: dict[int, float], repeats: int = 1, marks: dict[int, Mark] | None = None) -> list[Cell]:
    made = []
    for n in LEVELS:
        value = values.get(n)
        trials = [
            TrialResult(
                id=f"a-s{n}-b{block}",
                block=block,
                status="invalid" if value is None else "ok",
                reason="the generator was the bottleneck" if value is None else None,
                throughput_per_s=value,
            )
            for block in range(1, repeats + 1)
        ]
        made.append(
            Cell(
                id=f"a-s{n}",
                engine="a",
                settings="default",
                workload="w",
                load=f"s{n}",
                status="failed" if value is None else "ok",
                trials=trials,
                marks=[marks[n]] if marks and n in marks else [],
            )
        )
    return made


def test_a_run_gives_its_true_law(tmp_path: Path) -> None:
    """The synthetic servers obey Amdahl's law with α = 0.12; blocks move all levels alike."""
    scenario = Scenario(speed={"mariadb-10.11": 1.0}, sessions=LEVELS[:7], blocks=2)
    analysis = analyse(open_run(build(tmp_path / "run", scenario)))
    (curve,) = analysis.scaling
    assert curve.law == "amdahl"
    assert curve.alpha is not None
    assert curve.alpha.low is not None
    assert curve.alpha.high is not None
    assert curve.alpha.low <= 0.12 <= curve.alpha.high
    assert curve.alpha.n == 14
    assert curve.sessions == list(LEVELS[:7])
    (finding,) = [f for f in analysis.findings if f.rule == "scaling"]
    assert finding.strength == "measured"
    assert "scales by Amdahl's law (α = 0.1" in finding.sentence
    assert len(finding.cells) == 7
    table = next(t for t in analysis.tables if t.id == "scaling")
    assert len(table.rows) == 1


def test_few_levels_are_no_finding_and_no_row(tmp_path: Path) -> None:
    analysis = analyse(open_run(build(tmp_path / "run", Scenario(blocks=1))))
    assert {curve.refused for curve in analysis.scaling} == {"few levels"}
    assert not [f for f in analysis.findings if f.rule == "scaling"]
    assert next(t for t in analysis.tables if t.id == "scaling").rows == []


def test_levels_of_the_generator_are_left_out_and_named() -> None:
    limited = Mark(kind="client_cpu", severity="bad", text="the rig used 99 % of its CPUs")
    values = {n: usl(n) for n in LEVELS}
    (curve,) = fit_curves(cells(values, marks={64: limited, 128: limited}), LOADS, NAMES)
    assert curve.sessions == [1, 2, 4, 8, 16, 32]
    without = {n: v for n, v in values.items() if n < 16}
    (refused,) = fit_curves(cells(without, marks={8: limited}), LOADS, NAMES)
    assert refused.refused == "few levels"
    assert refused.reason is not None
    assert refused.reason.startswith("3 load levels have a number, a law needs 6; without a number: ")
    assert "8 sessions (the generator was the limit)" in refused.reason
    assert "16 sessions (the generator was the bottleneck)" in refused.reason


@pytest.mark.parametrize(("repeats", "strength"), [(1, "untested"), (2, "measured")])
def test_sentence_of_a_peak(repeats: int, strength: str) -> None:
    mine = cells({n: usl(n) for n in LEVELS}, repeats)
    (finding,) = find_scaling(fit_curves(mine, LOADS, NAMES), mine, NAMES)
    assert finding.strength == strength
    assert finding.sentence.startswith("Alpha scales by the Universal Scalability Law (α = 0.02 [")
    assert (
        "levels are off by under 0.1 % (standard deviation). The law's peak is 12,595 [" in finding.sentence
    )
    assert " at 99.0 [99.0, 99.0] sessions." in finding.sentence


def test_a_refusal_is_a_caution() -> None:
    mine = cells({n: usl(n) * (0.2 if n == 128 else 1) for n in LEVELS})
    (finding,) = find_scaling(fit_curves(mine, LOADS, NAMES), mine, NAMES)
    assert finding.strength == "caution"
    assert finding.sentence.startswith("No scaling law is given for Alpha: the levels scatter by ")


def test_a_knee_is_said_once() -> None:
    rng = np.random.default_rng(5)
    sessions = [1.0, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 256]
    levels = {n: [usl(n, 1e-5) * max(n / 48, 1) ** -0.5 * float(rng.lognormal(0, 0.004))] for n in sessions}
    curve = fit_curve("Alpha", levels, [Border(8, "one cache"), Border(48, "one node")])
    assert [knee.name for knee in curve.knees] == ["one cache", "one node"]
    said = sentence(curve)
    assert said.count("Beyond ") == 1
    assert "Beyond 48 sessions (one node) it falls behind the law, as (N ÷ 48)^-0." in said


def manifest(server_cpus: list[int], **host: int) -> Manifest:
    return Manifest.model_validate(
        {
            "format": "dyno-run/1",
            "id": "r",
            "name": "r",
            "title": "r",
            "created": "",
            "trials_per_cell": 1,
            "host": host,
            "placement": {"server_cpus": server_cpus},
            **{key: [] for key in ("engines", "settings", "workloads", "loads", "cells", "order")},
        }
    )


def test_borders_of_the_host() -> None:
    host = {"cpus": 96, "cpu_cores": 48, "cpu_caches": 12, "numa_nodes": 2}
    assert [(b.sessions, b.name) for b in borders(manifest([], **host))] == [
        (8, "the CPUs of one cache"),
        (48, "all cores, one thread each"),
        (96, "all CPUs of the server"),
    ]
    assert [b.sessions for b in borders(manifest(list(range(16)), **host))] == [8, 16]
    assert borders(manifest([])) == []


def test_levels_against_their_law() -> None:
    values = {n: usl(n) * (1.05 if n % 3 == 1 else 0.95) for n in LEVELS}
    curves = fit_curves(cells(values), LOADS, NAMES)
    table = residual_table(curves)
    assert len(table.rows) == len(LEVELS)
    for row, n in zip(table.rows, LEVELS, strict=True):
        measured, fitted = (float(text.replace(",", "")) for text in row[2:4])
        assert measured == pytest.approx(values[n], rel=2e-3)
        assert row[4] == f"{curves[0].residuals[LEVELS.index(n)]:+.1%}"
        assert measured / fitted - 1 == pytest.approx(curves[0].residuals[LEVELS.index(n)], abs=6e-3)
