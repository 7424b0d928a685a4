"""An imported trial as the analysis needs it: rates as printed, histograms only where the log has one."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from dyno.errors import DynoError
from dyno.findings.words import number, plural
from dyno.record.histogram import decode_all, percentile_us
from dyno.record.imported import FILE, Imported, read_imported
from dyno.record.importers.logs import EMPTY
from dyno.record.importers.series import MEASURE, WARMUP
from dyno.record.series import SCHEMA
from dyno.report.model import Mark, Metric, Series, TrialResult
from dyno.report.series import UNITS
from dyno.report.trial import TrialData
from dyno.report.window import gap_mark, window_marks, window_of
from dyno.stats.littles_law import LittlesLaw, littles_law
from dyno.stats.steady import audit

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.record.manifest import OrderedTrial
    from dyno.record.run import Run

    Key = tuple[str, str, str]

_P99 = 99
SECONDS_PER_MINUTE = 60
CPUS_MAX = 16
"""CPUs that are drawn one by one; of more, a report shows the mean over all."""
ALL = "all"
THROUGHPUT = "throughput_per_s"


def read_imported_trial(run: Run, entry: OrderedTrial) -> TrialData | None:
    """The trial, if it was imported; None for one that was measured.

    A log without a result is a failed trial, an empty one a missing one; its reason is the importer's.
    """
    result = TrialResult.model_validate({"id": entry.trial, "block": entry.block, "status": "ok"})
    data = TrialData(result)
    try:
        folder = run.layout.trial(entry.trial).path
        log = read_imported(folder / FILE)
        if log is None:
            return None
        file = run.trial_file(entry.trial)
        lines = _read_series(folder / "series.parquet")
        data.latency = {ALL: decode_all([log.latency])} if log.latency else {}
    except ValueError:
        # Not the id of a trial: whoever reads measured trials says so.
        return None
    except DynoError as error:
        # Paths within the run: the same folder says the same wherever it lies.
        result.reason = error.message.replace(f"{run.path}/", "")
        result.status, result.hint = "invalid", error.hint
        return data
    data.server_version = file.server_version if file else None
    data.series = _series(entry.trial, lines)
    result.series = entry.trial if data.series else None
    if log.problem or log.throughput_per_s is None:
        result.status = "missing" if log.problem == EMPTY else "failed"
        result.reason = log.problem or "the log has no throughput"
        data.latency = {}
        return data
    result.throughput_per_s = log.throughput_per_s
    result.p99_us = _p99_us(log, data)
    result.retries = log.errors or 0
    result.marks = _marks(log)
    _judge_window(log, lines, result)
    return data


def _p99_us(log: Imported, data: TrialData) -> float | None:
    """From the printed histogram, else as printed where the tool printed just this percentile."""
    if data.latency:
        return percentile_us(data.latency[ALL], _P99)
    return log.latency_percentile_us if log.latency_percentile == _P99 else None


def _judge_window(log: Imported, lines: dict[Key, Line], result: TrialResult) -> None:
    """Was it steady, are all of its intervals there, do its figures agree? Of a rate only the second."""
    measured = lines.get((MEASURE, THROUGHPUT, ""))
    values = measured.values if measured else []
    missing = gap_mark(measured.times, log.measure_s) if measured else None
    result.marks += [missing] if missing else []
    if log.rate_per_s:
        return
    verdict, law = audit(values), _law(log)
    result.window = window_of(verdict, law, len(values))
    result.marks += window_marks(verdict, law)


def _law(log: Imported) -> LittlesLaw | None:
    """Little's law, where the log prints the mean latency of its sessions."""
    if not (log.threads and log.throughput_per_s and log.latency_mean_us and log.measure_s):
        return None
    return littles_law(
        sessions=log.threads,
        throughput_per_s=log.throughput_per_s,
        response_mean_us=log.latency_mean_us,
        window_s=log.measure_s,
    )


def _marks(log: Imported) -> list[Mark]:
    marks: list[Mark] = []
    if log.errors:
        text = f"{plural(log.errors, 'ignored error')} in {log.transactions or 0:,} transactions"
        marks.append(Mark(kind="errors", severity="info", text=text))
    if log.rate_per_s:
        text = f"offered {log.rate_per_s:,} transactions/s: its throughput is no capacity"
        marks.append(Mark(kind="log", severity="warn", text=text))
    if log.new_orders_per_min and log.throughput_per_s:
        nopm, tpm = number(log.new_orders_per_min), number(log.throughput_per_s * SECONDS_PER_MINUTE)
        text = f"{log.tool}: {nopm} new orders (NOPM) of {tpm} transactions a minute"
        marks.append(Mark(kind="log", severity="info", text=text))
    return marks


@dataclass(frozen=True)
class Line:
    """One metric of one phase: times in s, ascending, and values."""

    times: list[float]
    values: list[float]


def _read_series(path: Path) -> dict[Key, Line]:
    """(phase, metric, label) → its samples, of the metrics that a report shows; empty without a file.

    Raises:
        DynoError: The file is damaged.
    """
    if not path.exists():
        return {}
    try:
        table = pq.ParquetFile(path).read(use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise DynoError(f"{path} cannot be read: {error}", hint="import the logs again") from None
    if not table.schema.equals(SCHEMA):
        raise DynoError(f"{path} has other columns than a series has", hint="import the logs again")
    frame = table.to_pandas()
    frame = frame[frame["metric"].isin(UNITS)]
    return {
        (str(phase), str(metric), str(label)): Line(rows["t_s"].to_list(), rows["value"].to_list())
        for (phase, metric, label), rows in frame.groupby(["phase", "metric", "label"], sort=False)
    }


def _series(trial: str, lines: dict[Key, Line]) -> Series | None:
    """All on the clock of the log's intervals; where it has none, on that of the host's monitors."""
    shown = {key: line for key, line in lines.items() if _is_shown(key, lines)}
    intervals = [line for (_, metric, label), line in shown.items() if (metric, label) == (THROUGHPUT, "")]
    grid = sorted({t for line in intervals or shown.values() for t in line.times})
    if not grid:
        return None
    placed: dict[tuple[str, str], list[float | None]] = {}
    for (_, metric, label), line in shown.items():
        if line.times == grid:
            placed[metric, label] = list(line.values)
            continue
        values = placed.setdefault((metric, label), [None] * len(grid))
        for t_s, value in zip(line.times, line.values, strict=True):
            if (place := _nearest(grid, t_s)) is not None:
                values[place] = value
    order = {metric: place for place, metric in enumerate(UNITS)}
    kept = [key for key, values in placed.items() if not key[1] or any(values)]
    kept.sort(key=lambda key: order[key[0]])
    return Series(
        trial=trial,
        t_s=grid,
        phases=_phases(grid),
        metrics=[Metric(metric=m, label=label, unit=UNITS[m], values=placed[m, label]) for m, label in kept],
    )


def _is_shown(key: Key, lines: dict[Key, Line]) -> bool:
    """Whether a line is drawn: of many CPUs only their mean."""
    phase, metric, label = key
    if metric != "cpu_busy" or label == ALL or (phase, metric, ALL) not in lines:
        return True
    return sum(m == metric for _, m, _ in lines) <= CPUS_MAX + 1


def _phases(grid: list[float]) -> list[tuple[str, float, float]]:
    """Warm-up ends at 0, where the measured time begins."""
    before = [t for t in grid if t <= 0]
    phases: list[tuple[str, float, float]] = []
    if before:
        step = before[1] - before[0] if len(before) > 1 else 1.0
        phases.append((WARMUP, before[0] - step, 0.0))
    if grid[-1] > 0:
        phases.append((MEASURE, 0.0, grid[-1]))
    return phases


def _nearest(grid: list[float], t_s: float) -> int | None:
    """Index of the grid time nearest to `t_s`; None for a sample after the end: a monitor that ran on."""
    after = bisect_left(grid, t_s)
    if after == len(grid):
        step = grid[-1] - grid[-2] if len(grid) > 1 else 1.0
        return after - 1 if t_s <= grid[-1] + step / 2 else None
    if after and t_s - grid[after - 1] < grid[after] - t_s:
        return after - 1
    return after
