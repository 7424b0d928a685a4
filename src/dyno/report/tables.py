"""The tables of a report: the same cells on the terminal, in Markdown, in CSV and on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.findings.words import duration, number, percent, plural, ratio_interval, ratio_value, with_error
from dyno.report import tpcc_tables
from dyno.report.fairness_table import settings_table
from dyno.report.model import Table
from dyno.report.scaling import scaling_table, worth_showing
from dyno.report.view import CARE_SIGN, View, signed

if TYPE_CHECKING:
    from collections.abc import Callable

    from dyno.report.model import Analysis, Cell, Latency

NO_NUMBER = "–"
HASH_DIGITS = 12


def build(analysis: Analysis) -> list[Table]:
    """All tables of an analysis, the most asked first."""
    view = View(analysis)
    return [
        throughput(view),
        open_loop(view),
        comparison(view),
        scaling_table(worth_showing(analysis.scaling)),
        latency(view),
        *tpcc_tables.tables(view),
        statements(view),
        validity(view),
        settings_table(view),
        engines(view),
        trials(view),
    ]


def _care_note(cells: list[Cell]) -> str:
    marked = any(mark.severity != "info" for cell in cells for mark in cell.marks)
    return f" {CARE_SIGN} read with care, see the table of marks." if marked else ""


def throughput(view: View) -> Table:
    """Engine by load level: mean and half of the confidence interval."""
    analysis = view.analysis
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for cell in analysis.cells:
        if cell.loop == "closed":
            key = (*view.condition(cell), view.engines[cell.engine])
            rows.setdefault(key, {})[cell.load] = signed(_mean(cell, analysis.trials_per_cell), cell.marks)
    loads = [load for load in analysis.loads if any(load.id in row for row in rows.values())]
    return Table(
        id="throughput",
        title="Throughput, transactions/s",
        columns=[*view.condition_columns, "Engine", *(load.label for load in loads)],
        rows=[[*key, *(row.get(load.id, NO_NUMBER) for load in loads)] for key, row in rows.items()],
        note=f"Mean of {plural(analysis.trials_per_cell, 'trial')} a cell ± half of its 95 % confidence"
        f" interval (t, over trials). Closed loop: capacity. {NO_NUMBER} no number."
        f"{_invalid_note(analysis.cells)}{_care_note(analysis.cells)}",
    )


def _mean(cell: Cell, planned: int) -> str:
    """Mean and half interval; with its own n where that is not what the note under the table says."""
    estimate = cell.throughput_per_s
    if estimate is None:
        return f"({number(cell.invalid.throughput_per_s)})" if cell.invalid else NO_NUMBER
    text = number(estimate.value)
    if estimate.low is not None and estimate.high is not None:
        text = with_error(estimate.value, estimate.high - estimate.value)
    return text if estimate.n == planned > 1 else f"{text} (n = {estimate.n})"


def _invalid_note(cells: list[Cell]) -> str:
    bracketed = any(cell.invalid and cell.throughput_per_s is None for cell in cells)
    return " In brackets: invalid, not compared." if bracketed else ""


OPEN_COLUMNS = ["Offered/s", "Done/s", "p50", "p95", "p99", "p99.9", "max"]
OPEN_BESIDE = ["Service p99", "Lag p99", "Rig's own lag p99", "Dropped", "Waiting"]


def open_loop(view: View) -> Table:
    """Response times at each offered rate, and what was done of it."""
    cells = [cell for cell in view.by_load() if cell.loop == "open"]
    rows = [
        [
            *view.condition(cell),
            view.loads[cell.load],
            signed(view.engines[cell.engine], cell.marks),
            *_open_figures(cell),
        ]
        for cell in cells
    ]
    return Table(
        id="open_loop",
        title="Response time at the offered rate (open loop)",
        columns=[*view.condition_columns, "Load", "Engine", *OPEN_COLUMNS, *OPEN_BESIDE],
        rows=rows,
        note="Response time: from when a transaction was due to its end, of all good trials together."
        " Service: from its start. Lag: from due to start, the wait for a free session included. Waiting: due"
        f" transactions that had no session when measure ended.{_invalid_note(cells)}{_care_note(cells)}",
    )


def _open_figures(cell: Cell) -> list[str]:
    found, whole = cell.open, cell.latency[0] if cell.latency else None
    if found is None or whole is None or cell.throughput_per_s is None:
        gone = [NO_NUMBER] * (len(OPEN_COLUMNS) + len(OPEN_BESIDE))
        if cell.invalid:
            gone[OPEN_COLUMNS.index("Done/s")] = f"({number(cell.invalid.throughput_per_s)})"
            gone[OPEN_COLUMNS.index("p99")] = f"({_or_none(cell.invalid.p99_us, duration)})"
        return gone
    return [
        number(found.offered_per_s),
        number(cell.throughput_per_s.value),
        *(duration(us) for us in (whole.p50_us, whole.p95_us, whole.p99_us, whole.p999_us, whole.max_us)),
        *(_or_none(us, duration) for us in (found.service_p99_us, found.lag_p99_us)),
        _or_none(found.generator_lag_p99_us, duration),
        f"{found.dropped:,}",
        f"{found.backlog:,}",
    ]


MEASURES = {"throughput_per_s": "Throughput", "p99_us": "p99 response time"}


def comparison(view: View) -> Table:
    """Each engine against the baseline, in words."""
    analysis = view.analysis
    care = {(c.engine, c.settings, c.workload, c.load): c.marks for c in analysis.cells}
    measures = dict.fromkeys(MEASURES[c.measure] for c in analysis.comparisons)
    rows = []
    for c in analysis.comparisons:
        marks = [
            mark
            for engine in (c.engine, c.baseline)
            for mark in care.get((engine, c.settings, c.workload, c.load), [])
        ]
        rows.append(
            [
                *view.condition(c),
                view.loads[c.load],
                view.engines[c.engine],
                *([MEASURES[c.measure]] if len(measures) > 1 else []),
                signed(ratio_value(c.ratio), marks) if c.ratio else NO_NUMBER,
                (c.ratio and ratio_interval(c.ratio)) or NO_NUMBER,
                NO_NUMBER if c.p_value_holm is None else p_value(c.p_value_holm),
                c.verdict,
            ]
        )
    base = view.engines.get(analysis.baseline or "", "no baseline")
    return Table(
        id="comparison",
        title=f"{' and '.join(measures) or 'Throughput'} against {base}",
        columns=[
            *view.condition_columns,
            *("Load", "Engine"),
            *(["Measure"] if len(measures) > 1 else []),
            *("Ratio", "95 % CI", "p (Holm)", "Verdict"),
        ],
        rows=rows,
        note=f"Relevant difference: ±{percent(analysis.relevant_difference)}. p-values are corrected by Holm"
        f" over this table.{_care_note(analysis.cells)}",
    )


def p_value(p: float) -> str:
    """A p-value for a reader: never a bare 0."""
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"  # noqa: PLR2004


PERCENTILE_COLUMNS = ["mean", "p50", "p95", "p99", "p99.9", "p99.99", "max", "n"]


def _percentiles(line: Latency) -> list[str]:
    values = (line.mean_us, line.p50_us, line.p95_us, line.p99_us, line.p999_us, line.p9999_us, line.max_us)
    return [*(duration(value) for value in values), f"{line.count:,}"]


def latency(view: View) -> Table:
    """Percentiles of transactions by load level and engine; in an open loop with service and lag beside."""
    several_types = any(len(cell.latency) > 1 for cell in view.analysis.cells)
    some_open = any(cell.loop == "open" for cell in view.analysis.cells)
    rows = [
        [
            *view.condition(cell),
            view.loads[cell.load],
            signed(view.engines[cell.engine], cell.marks),
            *([line.name] if several_types else []),
            *([time] if some_open else []),
            *_percentiles(line),
        ]
        for cell in view.by_load()
        for time, lines in (
            ("response" if cell.loop == "open" else "service", cell.latency),
            ("service", cell.service),
            ("lag", cell.lag),
        )
        for line in lines
    ]
    head = [*view.condition_columns, "Load", "Engine", *(["Transaction"] if several_types else [])]
    return Table(
        id="latency",
        title="Latency of a transaction",
        columns=[*head, *(["Time"] if some_open else []), *PERCENTILE_COLUMNS],
        rows=rows,
        note="Percentiles of the merged histograms of all good trials of a cell (3 significant digits), never"
        f" averaged. {_kind(view)}{_care_note(view.analysis.cells)}",
    )


def _kind(view: View) -> str:
    kinds = {load.kind for load in view.analysis.loads}
    closed = "Closed loop: service time, from the start of a transaction to its end."
    opened = "Open loop: response time, from when the transaction was due."
    return " ".join(text for kind, text in (("closed", closed), ("open", opened)) if kind in kinds)


def statements(view: View) -> Table:
    """Percentiles of single statements; those that never ran are left out."""
    rows = [
        [
            *view.condition(cell),
            view.loads[cell.load],
            signed(view.engines[cell.engine], cell.marks),
            line.name,
            *_percentiles(line),
        ]
        for cell in view.by_load()
        for line in cell.statements
    ]
    return Table(
        id="statements",
        title="Latency of a statement",
        columns=[*view.condition_columns, "Load", "Engine", "Statement", *PERCENTILE_COLUMNS],
        rows=rows,
        note="From the first byte sent to the last byte received, in both loops.",
    )


def validity(view: View) -> Table:
    """Every mark of every cell."""
    rows = [
        [
            *view.condition(cell),
            view.engines[cell.engine],
            view.loads[cell.load],
            mark.severity,
            mark.kind,
            mark.text,
        ]
        for cell in view.analysis.cells
        for mark in cell.marks
    ]
    return Table(
        id="validity",
        title="Marks: what must be known to read a number",
        columns=[*view.condition_columns, "Engine", "Load", "Severity", "Kind", "What"],
        rows=rows,
        note=None if rows else "No cell has a mark.",
    )


def engines(view: View) -> Table:
    """What ran, in the servers' own words."""
    rows = [
        [
            each.label,
            each.server_version or NO_NUMBER,
            each.source or NO_NUMBER,
            (each.content_sha256 or NO_NUMBER)[:HASH_DIGITS],
            f"missing: {each.missing}" if each.missing else "run",
        ]
        for each in view.analysis.engines
    ]
    return Table(
        id="engines",
        title="Engines",
        columns=["Engine", "VERSION()", "Source", "Content", "State"],
        rows=rows,
        note=f"Content: the first {HASH_DIGITS} digits of the SHA-256 of what was installed.",
    )


def trials(view: View) -> Table:
    """Every single trial."""
    rows = [
        [
            *view.condition(cell),
            view.engines[cell.engine],
            view.loads[cell.load],
            str(trial.block),
            trial.status,
            _or_none(trial.throughput_per_s, number),
            _or_none(trial.p99_us, duration),
            _or_none(trial.server_cpu_cores, number),
            _or_none(trial.client_cpu_share, percent),
            f"{trial.retries:,}" if trial.status == "ok" else NO_NUMBER,
            trial.reason or "",
        ]
        for cell in view.analysis.cells
        for trial in cell.trials
    ]
    measures = ["Transactions/s", "p99", "Server cores", "Rig CPU", "Retries", "Reason"]
    return Table(
        id="trials",
        title="Trials",
        columns=[*view.condition_columns, "Engine", "Load", "Block", "Status", *measures],
        rows=rows,
    )


def _or_none(value: float | None, words: Callable[[float], str]) -> str:
    return NO_NUMBER if value is None else words(value)
