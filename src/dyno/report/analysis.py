"""A run folder → `Analysis`: a pure function of its files, so that re-analysis never re-measures."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno import findings
from dyno.findings import Names
from dyno.report import facts, scaling, tables
from dyno.report.cell import analyse_cell
from dyno.report.imported import read_imported_trial
from dyno.report.model import Analysis, Cell, Comparison, Finding, Reproduction
from dyno.report.settings import setting_rows
from dyno.report.trial import TrialData, read_trial

if TYPE_CHECKING:
    from dyno.record import manifest
    from dyno.record.manifest import Manifest
    from dyno.record.run import Run
    from dyno.report.model import Engine, Load


def analyse(run: Run) -> Analysis:
    """Analyse a run, finished or not.

    A damaged trial becomes an invalid one with its reason; it never stops the analysis of the others.

    Raises:
        DynoError: The run as a whole is damaged (its manifest, journal or settings).
    """
    plan = run.manifest
    trials = {entry.trial: read_imported_trial(run, entry) or read_trial(run, entry) for entry in plan.order}
    engines = facts.engines(plan, _versions(plan, trials))
    loads = facts.loads(plan)
    names = _names(plan, engines, loads)
    cells = [analyse_cell(run, cell, trials) for cell in _ordered(plan, loads)]
    rows = findings.weigh_settings(setting_rows(run.settings), [each.name for each in plan.workloads])
    series = {trial: data.series for trial, data in trials.items() if data.series}
    verdicts = _verdicts(run, cells, engines, loads, names=names)
    pools = {each.id: each.requested.get("buffer_pool") for each in plan.settings}
    sized = {name: size for name, size in pools.items() if isinstance(size, int)}
    results = findings.Results(cells, loads, engines, sized, names)
    curves = findings.fit_curves(cells, loads, names, scaling.borders(plan))
    analysis = Analysis(
        run=plan.id,
        name=plan.name,
        title=plan.title,
        question=plan.question,
        created=plan.created,
        dyno_version=plan.dyno_version,
        loop=facts.loop(plan),
        baseline=verdicts.baseline,
        relevant_difference=plan.relevant_difference,
        trials_planned=len(plan.order),
        trials_ok=sum(trial.result.status == "ok" for trial in trials.values()),
        trials_per_cell=plan.trials_per_cell,
        phases=facts.phases(plan),
        placement=plan.placement.text,
        host=facts.host(plan),
        doctor=facts.doctor(plan),
        noise_floor=facts.noise_floor(plan),
        engines=engines,
        settings=facts.settings(plan),
        workloads=facts.workloads(plan),
        loads=loads,
        cells=cells,
        comparisons=verdicts.comparisons,
        findings=verdicts.findings
        + findings.find_patterns(results, relevant_difference=plan.relevant_difference)
        + findings.find_scaling(curves, cells, names)
        + findings.find_cautions(
            cells, verdicts.comparisons, engines, rows, doctor=facts.doctor(plan), run=plan.id, names=names
        )
        + findings.find_warmups(cells, series, names),
        scaling=curves,
        tables=[],
        setting_rows=rows,
        series=series,
        reproduction=_reproduction(run),
    )
    analysis.tables = tables.build(analysis)
    return analysis


def _names(plan: Manifest, engines: list[Engine], loads: list[Load]) -> Names:
    return Names(
        engines={each.id: each.label for each in engines},
        settings={each.id: each.id for each in plan.settings},
        workloads={each.id: each.label for each in facts.workloads(plan)},
        loads={each.id: each.label for each in loads},
    )


def _versions(plan: Manifest, trials: dict[str, TrialData]) -> dict[str, str | None]:
    """Engine id → what its servers said of themselves in the trials."""
    engine_of = {cell.id: cell.engine for cell in plan.cells}
    said: dict[str, set[str]] = defaultdict(set)
    for entry in plan.order:
        version = trials[entry.trial].server_version
        if version:
            said[engine_of[entry.cell]].add(version)
    return {engine: facts.different_versions(versions) for engine, versions in said.items()}


def _ordered(plan: Manifest, loads: list[Load]) -> list[manifest.Cell]:
    """The cells by workload, settings, engine and load, in the order in which the plan names them."""
    workloads = [each.id for each in plan.workloads]
    settings = [each.id for each in plan.settings]
    engines = [each.id for each in plan.engines]
    levels = [each.id for each in loads]

    def place(cell: manifest.Cell) -> tuple[int, int, int, int]:
        return (
            workloads.index(cell.workload),
            settings.index(cell.settings),
            engines.index(cell.engine),
            levels.index(cell.load),
        )

    return sorted(plan.cells, key=place)


@dataclass(frozen=True)
class _Verdicts:
    """What the comparisons say, and against which engine."""

    baseline: str | None
    comparisons: list[Comparison]
    findings: list[Finding]


def _verdicts(
    run: Run, cells: list[Cell], engines: list[Engine], loads: list[Load], *, names: Names
) -> _Verdicts:
    plan = run.manifest
    delta = plan.relevant_difference
    baseline, notes = _baseline(plan, engines)
    comparisons = findings.compare_with_baseline(cells, baseline, relevant_difference=delta, names=names)
    sentences = [
        *findings.find_leaders(cells, relevant_difference=delta, names=names),
        *findings.find_comparisons(comparisons, cells, names),
        *findings.find_peaks(cells, loads, relevant_difference=delta, names=names),
        *findings.find_limits(cells, loads, names),
        *findings.find_tpcc(cells, loads, names),
    ]
    return _Verdicts(baseline, comparisons, [*sentences, *notes])


def _baseline(plan: Manifest, engines: list[Engine]) -> tuple[str | None, list[Finding]]:
    """The engine to compare with: the plan's, or where that could not be had, the first that could."""
    present = [engine for engine in engines if not engine.missing]
    if not present:
        return None, []
    if plan.baseline is None or plan.baseline in {engine.id for engine in present}:
        return plan.baseline or present[0].id, []
    wanted = next((engine.label for engine in engines if engine.id == plan.baseline), plan.baseline)
    sentence = f"The baseline {wanted} is not in this run: {present[0].label} takes its place."
    return present[0].id, [Finding(rule="baseline", sentence=sentence, strength="caution")]


def _reproduction(run: Run) -> Reproduction:
    plan = run.manifest
    return Reproduction(
        command=plan.command, seed=plan.seed, plan_sha256=plan.plan_sha256, plan_toml=run.plan_toml
    )
