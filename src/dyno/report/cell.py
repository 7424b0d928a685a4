"""One cell: its good trials together, and what is known of the others."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from dyno import findings
from dyno.record.histogram import NANOSECONDS_PER_US, Histogram, merge, percentile_us
from dyno.report import tpcc
from dyno.report.model import Cell, Estimate, InvalidFigures, Latency, OpenLoop
from dyno.report.settings import not_taken
from dyno.stats import mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dyno.record import manifest
    from dyno.record.run import Run
    from dyno.report.model import TpccFigures, TrialResult
    from dyno.report.trial import TrialData

ALL = "all"
"""The name of all transaction types together, where a workload has several."""

PERCENTILES = (50, 95, 99, 99.9, 99.99)


def analyse_cell(run: Run, cell: manifest.Cell, trials: dict[str, TrialData]) -> Cell:
    """A cell of the plan from its trials, good or not."""
    data = [trials[entry.trial] for entry in run.manifest.order if entry.cell == cell.id]
    data.sort(key=lambda trial: trial.result.block)
    good = [trial for trial in data if trial.result.status == "ok"]
    results = [trial.result for trial in data]
    return Cell(
        id=cell.id,
        engine=cell.engine,
        settings=cell.settings,
        workload=cell.workload,
        load=cell.load,
        loop=next(load.kind for load in run.manifest.loads if load.id == cell.load),
        status=_status(len(good), len(data)),
        throughput_per_s=_estimate([trial.result.throughput_per_s for trial in good]),
        latency=_latencies((trial.latency for trial in good), together=True),
        service=_latencies((trial.service for trial in good), together=True),
        lag=_latencies((trial.lag for trial in good), together=True),
        statements=_latencies(trial.statements for trial in good),
        open=_open_loop(good),
        invalid=_invalid(results),
        server_cpu_us_per_transaction=_estimate([trial.server_cpu_us for trial in good]),
        client_cpu_us_per_transaction=_estimate([trial.client_cpu_us for trial in good]),
        tpcc=_tpcc(run, cell, good),
        trials=results,
        marks=findings.cell_marks(results, _not_taken(run, cell)),
    )


def _tpcc(run: Run, cell: manifest.Cell, good: list[TrialData]) -> TpccFigures | None:
    workload = next(each for each in run.manifest.workloads if each.id == cell.workload)
    latency: dict[str, list[Histogram]] = defaultdict(list)
    for trial in good:
        for name, histogram in trial.latency.items():
            latency[name].append(histogram)
    return tpcc.figures(workload, [trial.tpcc for trial in good if trial.tpcc], latency)


def _status(good: int, planned: int) -> Literal["ok", "partial", "failed"]:
    if not good:
        return "failed"
    return "ok" if good == planned else "partial"


def _not_taken(run: Run, cell: manifest.Cell) -> list[str]:
    return [
        text
        for file in run.settings
        if (file.engine, file.settings) == (cell.engine, cell.settings)
        for text in not_taken(file)
    ]


def _estimate(values: list[float | None]) -> Estimate | None:
    """The mean of what cannot be negative: an interval that reaches below 0 ends there."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    estimate = Estimate(**asdict(mean_interval(known)))
    if estimate.low is not None:
        estimate.low = max(estimate.low, 0.0)
    return estimate


def _latencies(trials: Iterable[dict[str, Histogram]], *, together: bool = False) -> list[Latency]:
    """Percentiles of the merged histograms by type; types that never occurred are left out.

    Args:
        trials: Type → histogram of each good trial.
        together: Whether all types as one come first, where there are several.
    """
    by_type: dict[str, list[Histogram]] = defaultdict(list)
    for histograms in trials:
        for name, histogram in histograms.items():
            by_type[name].append(histogram)
    merged = {name: merge(histograms) for name, histograms in by_type.items()}
    if together and len(merged) > 1:
        merged = {ALL: merge(merged.values()), **merged}
    return [_percentiles(name, histogram) for name, histogram in merged.items() if histogram.total]


def _percentiles(name: str, histogram: Histogram) -> Latency:
    p50, p95, p99, p999, p9999 = (value / NANOSECONDS_PER_US for value in histogram.percentiles(PERCENTILES))
    return Latency(
        name=name,
        count=histogram.total,
        mean_us=histogram.mean / NANOSECONDS_PER_US,
        p50_us=p50,
        p95_us=p95,
        p99_us=p99,
        p999_us=p999,
        p9999_us=p9999,
        max_us=histogram.maximum / NANOSECONDS_PER_US,
    )


def _open_loop(good: list[TrialData]) -> OpenLoop | None:
    """The good trials of an open loop together: counts added, rates averaged, histograms merged."""
    parts = [trial.result.open for trial in good if trial.result.open]
    if not parts:
        return None
    generator_lag = merge(trial.generator_lag for trial in good)
    return OpenLoop(
        offered_per_s=fmean(part.offered_per_s for part in parts),
        due=sum(part.due for part in parts),
        done=sum(part.done for part in parts),
        dropped=sum(part.dropped for part in parts),
        unfinished=sum(part.unfinished for part in parts),
        backlog=max(part.backlog for part in parts),
        service_p99_us=percentile_us(merge(h for trial in good for h in trial.service.values()), 99),
        lag_p99_us=percentile_us(merge(h for trial in good for h in trial.lag.values()), 99),
        generator_lag_p50_us=percentile_us(generator_lag, 50),
        generator_lag_p99_us=percentile_us(generator_lag, 99),
    )


def _invalid(trials: list[TrialResult]) -> InvalidFigures | None:
    """The numbers that invalid trials have all the same."""
    rates = [t.throughput_per_s for t in trials if t.status == "invalid" and t.throughput_per_s is not None]
    if not rates:
        return None
    p99s = [t.p99_us for t in trials if t.status == "invalid" and t.p99_us is not None]
    return InvalidFigures(n=len(rates), throughput_per_s=fmean(rates), p99_us=fmean(p99s) if p99s else None)
