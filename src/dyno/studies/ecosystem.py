"""The tables of the 2026 ecosystem report, in its own form: TPS by threads, and version progressions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.errors import DynoError
from dyno.report.model import Table
from dyno.studies.run import throughput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dyno.studies.run import StudiedRun

MISSING = "missing"
MARK_PERCENT = 5.0
"""Changes above this are listed again in the report's last section."""

FAMILIES = {"mariadb": "MariaDB", "mysql": "MySQL", "percona": "Percona"}
SCENARIOS = {
    "rw-local": ("6.1", "Read-Write", "RW", "Local"),
    "ro-local": ("6.2", "Read-Only", "RO", "Local"),
    "rw-network": ("6.3", "Read-Write", "RW", "Network"),
    "ro-network": ("6.4", "Read-Only", "RO", "Network"),
}
"""Scenario → section, mode in long and short, place; the report itself has no section 6.4."""

TIERS = (32, 12, 2)
PROGRESSION_TIER = 32
GIB = 2**30


@dataclass(frozen=True, order=True)
class Key:
    """One figure: scenario, tier in GiB, engine (`mysql-8.0`), threads."""

    scenario: str
    tier: int
    engine: str
    threads: int


def of_rows(rows: list[dict[str, str]]) -> list[Table]:
    """The report's tables from its published figures."""
    return tables(
        {
            Key(r["scenario"], int(r["buffer_pool_gib"]), engine_id(r["engine"]), int(r["sessions"])): float(
                r["value"]
            )
            if r["value"]
            else None
            for r in rows
        }
    )


def of_run(run: StudiedRun) -> list[Table]:
    """A run's tables in the report's form.

    Raises:
        DynoError: None of its workloads is one of the report's scenarios.
    """
    sessions = {load.id: int(load.x) for load in run.levels()}
    made = tables(
        {
            Key(
                cell.workload,
                run.buffer_pools.get(cell.settings, 0) // GIB,
                cell.engine,
                sessions[cell.load],
            ): throughput(cell)
            for cell in run.analysis.cells
            if cell.load in sessions
        }
    )
    if not made:
        raise DynoError(
            f"{run.analysis.run} has none of the scenarios {', '.join(SCENARIOS)}",
            hint="`dyno show` prints the tables of any run, `--study` those in another study's form",
        )
    return made


def engine_id(name: str) -> str:
    """The id that an imported run has for an engine that the report calls "MySQL 8.0": `mysql-8.0`."""
    return name.lower().replace(" ", "-")


def tables(figures: Mapping[Key, float | None]) -> list[Table]:
    """All tables that the figures give, numbered as in the report; None is a planned cell without a number.

    TPS are rounded half to even, changes are computed from the figures as they are and then rounded.
    """
    made = []
    for scenario in (name for name in SCENARIOS if any(key.scenario == name for key in figures)):
        for number, tier in enumerate(TIERS, start=1):
            if any((key.scenario, key.tier) == (scenario, tier) for key in figures):
                made.append(_throughput(figures, scenario, tier, number))
        for number, family in enumerate(FAMILIES, start=len(TIERS) + 1):
            table = _progression(figures, scenario, family, number)
            made += [table] if table else []
    differences = _differences(figures)
    return [*made, differences] if differences.rows else made


def engine_name(engine: str) -> str:
    """The report's name of an engine: `mysql-8.0` is "MySQL 8.0"."""
    family, _, version = engine.partition("-")
    return f"{FAMILIES.get(family, family)} {version}"


def tps(value: float | None) -> str:
    """TPS as printed there: whole, rounded half to even, thousands by commas."""
    return MISSING if value is None else f"{round(value):,}"


def change_percent(value: float | None, base: float | None) -> float | None:
    """Change against the baseline in percent; None where a side has no number."""
    return None if value is None or not base else (value / base - 1) * 100


def _signed(change: float | None) -> str:
    return MISSING if change is None else f"{change:+.1f}%"


def _axes(figures: Mapping[Key, float | None], scenario: str, tier: int) -> tuple[list[str], list[int]]:
    """Engines and threads of one table, engines in the order in which the figures name them."""
    keys = [key for key in figures if (key.scenario, key.tier) == (scenario, tier)]
    return list(dict.fromkeys(key.engine for key in keys)), sorted({key.threads for key in keys})


def _throughput(figures: Mapping[Key, float | None], scenario: str, tier: int, number: int) -> Table:
    section, mode, _, place = SCENARIOS[scenario]
    engines, threads = _axes(figures, scenario, tier)
    return Table(
        id=f"{section}.{number}",
        title=f"Table {section}.{number}: TPS by Thread Count, {tier} GB Buffer Pool ({mode}, {place})",
        columns=["Engine", *(f"{n}t" for n in threads)],
        rows=[
            [engine_name(engine), *(tps(figures.get(Key(scenario, tier, engine, n))) for n in threads)]
            for engine in engines
        ],
    )


def _progression(
    figures: Mapping[Key, float | None], scenario: str, family: str, number: int
) -> Table | None:
    section, _, mode, place = SCENARIOS[scenario]
    engines, threads = _axes(figures, scenario, PROGRESSION_TIER)
    engines = [engine for engine in engines if engine.partition("-")[0] == family]
    if len(engines) < 2:  # noqa: PLR2004 - one version is no progression
        return None
    rows = []
    for engine in engines:
        values = [figures.get(Key(scenario, PROGRESSION_TIER, engine, n)) for n in threads]
        rows.append([f"{engine_name(engine)} (TPS)", *map(tps, values)])
        if engine != engines[0]:
            base = [figures.get(Key(scenario, PROGRESSION_TIER, engines[0], n)) for n in threads]
            changes = [change_percent(v, b) for v, b in zip(values, base, strict=True)]
            rows.append([f"vs {engine_name(engines[0])}", *map(_signed, changes)])
    return Table(
        id=f"{section}.{number}",
        title=f"Table {section}.{number}: {FAMILIES[family]} Version Progression ({PROGRESSION_TIER} GB,"
        f" {mode}, {place}), baseline: {engine_name(engines[0])}",
        columns=["Engine", *(f"{n}t" for n in threads)],
        rows=rows,
    )


def _differences(figures: Mapping[Key, float | None]) -> Table:
    """Every change of a progression above 5 %, as printed: the rounded figure decides, as in the report."""
    rows = []
    for scenario in SCENARIOS:
        engines, threads = _axes(figures, scenario, PROGRESSION_TIER)
        for family in FAMILIES:
            versions = [engine for engine in engines if engine.partition("-")[0] == family]
            for engine in versions[1:]:
                for n in threads:
                    value, base = (
                        figures.get(Key(scenario, PROGRESSION_TIER, each, n))
                        for each in (engine, versions[0])
                    )
                    change = change_percent(value, base)
                    if change is not None and abs(round(change, 1)) > MARK_PERCENT:
                        pair = f"{engine_name(engine)} vs {engine_name(versions[0])}"
                        rows.append([scenario, pair, str(n), _signed(change)])
    return Table(
        id="differences",
        title=f"Differences greater than 5% against the baseline ({PROGRESSION_TIER} GB)",
        columns=["Scenario", "Database Engines Comparison", "Thread Count", "Difference vs Baseline"],
        rows=rows,
        note="One trial a cell tests nothing: these are differences of single runs, not of engines.",
    )
