"""An imported trial as the analysis needs it: rates as printed, no histograms, nothing of the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.errors import DynoError
from dyno.findings.words import plural
from dyno.record.imported import Imported, read_imported
from dyno.report.model import Mark, Metric, Series, TrialResult
from dyno.report.trial import TrialData
from dyno.stats.steady import audit

if TYPE_CHECKING:
    from dyno.record.manifest import OrderedTrial
    from dyno.record.run import Run

_PERCENTILE_METRICS = {50: "latency_p50_us", 95: "latency_p95_us", 99: "latency_p99_us"}
_MISSING_LOG = "the log is empty"
_P99 = 99


def read_imported_trial(run: Run, entry: OrderedTrial) -> TrialData | None:
    """The trial, if it was imported; None for one that was measured.

    A log without a result is a failed trial, an empty one a missing one; its reason is the importer's.
    """
    result = TrialResult.model_validate({"id": entry.trial, "block": entry.block, "status": "ok"})
    data = TrialData(result)
    try:
        log = read_imported(run.layout.trial(entry.trial).path / "imported.json")
        if log is None:
            return None
        file = run.trial_file(entry.trial)
    except ValueError:
        # Not the id of a trial: whoever reads measured trials says so.
        return None
    except DynoError as error:
        # Paths within the run: the same folder says the same wherever it lies.
        result.reason = error.message.replace(f"{run.path}/", "")
        result.status, result.hint = "invalid", error.hint
        return data
    data.server_version = file.server_version if file else None
    if log.intervals:
        data.series = _series(entry.trial, log)
        result.series = entry.trial
    if log.problem or log.throughput_per_s is None:
        result.status = "missing" if log.problem == _MISSING_LOG else "failed"
        result.reason = log.problem or "the log has no throughput"
        return data
    result.throughput_per_s = log.throughput_per_s
    result.p99_us = log.latency_percentile_us if log.latency_percentile == _P99 else None
    result.retries = log.errors or 0
    result.marks = _marks(log)
    return data


def _marks(log: Imported) -> list[Mark]:
    marks = []
    if log.errors:
        text = f"{plural(log.errors, 'ignored error')} in {log.transactions or 0:,} transactions"
        marks.append(Mark(kind="errors", severity="info", text=text))
    verdict = audit([each.throughput_per_s for each in log.intervals])
    if verdict.reasons:
        marks.append(
            Mark(kind="steady", severity="warn", text=f"{verdict.state}: {'; '.join(verdict.reasons)}")
        )
    return marks


def _series(trial: str, log: Imported) -> Series:
    """Throughput, errors and the printed percentile, on the clock of the log."""
    rows = log.intervals
    metrics = [
        Metric(metric="throughput_per_s", label="", unit="1/s", values=[r.throughput_per_s for r in rows])
    ]
    percentile = _PERCENTILE_METRICS.get(log.latency_percentile or 0)
    if percentile and any(r.latency_us is not None for r in rows):
        metrics.append(Metric(metric=percentile, label="", unit="us", values=[r.latency_us for r in rows]))
    if any(r.errors_per_s is not None for r in rows):
        metrics.append(
            Metric(metric="errors_per_s", label="", unit="1/s", values=[r.errors_per_s for r in rows])
        )
    return Series(
        trial=trial,
        t_s=[r.t_s for r in rows],
        phases=[("measure", 0.0, rows[-1].t_s)],
        metrics=metrics,
    )
