"""Study 003's form: for each mix, sessions and engine down; queries/s, mean and 99 % response time across."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.report.model import Table
from dyno.studies.run import MISSING, UNTESTED, shown, throughput

if TYPE_CHECKING:
    from dyno.report.model import Cell
    from dyno.studies.run import StudiedRun

Row = dict[str, str]
US_PER_MS = 1000
HEAD = ["Concurrence", "Version"]


def of_rows(rows: list[Row]) -> list[Table]:
    """One table a mix, as published."""
    figures = {
        (r["workload"], r["engine"], r["sessions"], r["metric"]): f"{float(r['value']):g}"
        if r["unit"] == "ms"
        else f"{float(r['value']):.0f}"
        for r in rows
    }
    metrics = {r["metric"]: f"{r['metric']} ({r['unit']})" for r in rows}
    engines = list(dict.fromkeys(r["engine"] for r in rows))
    sessions = sorted({r["sessions"] for r in rows}, key=int)
    return [
        Table(
            id=mix,
            title=mix,
            columns=[*HEAD, *metrics.values()],
            rows=[
                [n, e, *(figures.get((mix, e, n, m), UNTESTED) for m in metrics)]
                for n in sessions
                for e in engines
            ],
        )
        for mix in dict.fromkeys(r["workload"] for r in rows)
    ]


def of_run(run: StudiedRun) -> list[Table]:
    """One table a workload and settings set; latencies are service times of transactions."""
    made = []
    for workload, settings, title in run.conditions():
        rows = []
        for load in run.levels():
            for engine in run.engines():
                cell = run.cell(engine.id, settings, workload, load.id)
                rows.append([f"{load.x:g}", engine.label, shown(_queries_per_s(cell), cell), *_times(cell)])
        made.append(
            Table(
                id=f"{workload}-{settings}",
                title=title,
                columns=[*HEAD, "throughput (queries/s)", "latency_mean (ms)", "latency_p99 (ms)"],
                rows=rows,
                note=f"Service times of whole transactions. {UNTESTED} not tested.",
            )
        )
    return made


def _queries_per_s(cell: Cell | None) -> float | None:
    """Statements/s: transactions/s times the statements that a transaction had on average."""
    rate = throughput(cell)
    if cell is None or rate is None or not cell.latency or not cell.statements:
        return None
    return rate * sum(each.count for each in cell.statements) / cell.latency[0].count


def _times(cell: Cell | None) -> list[str]:
    if cell is None:
        return [UNTESTED, UNTESTED]
    if not cell.latency:
        return [MISSING, MISSING]
    whole = cell.latency[0]
    return [f"{value / US_PER_MS:.2f}" for value in (whole.mean_us, whole.p99_us)]
