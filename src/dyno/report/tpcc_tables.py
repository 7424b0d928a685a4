"""The tables of a TPC-C-derived load: new orders a minute by level, each type, and the load's validity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.findings.words import duration, number, percent, with_error
from dyno.report.model import Table
from dyno.report.view import signed

if TYPE_CHECKING:
    from dyno.report.model import Cell, Estimate, TpccFigures, TpccShare, TpccType
    from dyno.report.view import View

NO_NUMBER = "–"
DERIVED = "The load is TPC-C-derived; its figures are no results of that benchmark."


def tables(view: View) -> list[Table]:
    """All of them; without rows where the run has no such load."""
    return [nopm(view), types(view), validity(view)]


def nopm(view: View) -> Table:
    """New orders a minute: engine, profile and shape by load level."""
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for cell, found in _cells(view):
        key = (*view.condition(cell), view.engines[cell.engine], found.profile, found.shape)
        rows.setdefault(key, {})[cell.load] = signed(rate(found.nopm), cell.marks)
    loads = [load for load in view.analysis.loads if any(load.id in row for row in rows.values())]
    return Table(
        id="tpcc_nopm",
        title="New orders a minute (NOPM)",
        columns=[*view.condition_columns, "Engine", "Profile", "Shape", *(load.label for load in loads)],
        rows=[[*key, *(row.get(load.id, NO_NUMBER) for load in loads)] for key, row in rows.items()],
        note="Orders entered a minute of measured time, by the client's count: mean over trials ± half of the"
        f" 95 % confidence interval. Rolled-back orders are not in it. {DERIVED}",
    )


def types(view: View) -> Table:
    """Each transaction type against the specification's minimum share and limit of response time."""
    rows = [
        [
            *view.condition(cell),
            view.loads[cell.load],
            view.engines[cell.engine],
            each.name,
            number(each.per_minute),
            f"{100 * each.share:.2f} %",
            NO_NUMBER if each.share_min is None else percent(each.share_min),
            *(NO_NUMBER if us is None else duration(us) for us in (each.p50_us, each.p90_us)),
            duration(each.p90_limit_us),
            *(NO_NUMBER if us is None else duration(us) for us in (each.p99_us, each.max_us)),
            type_verdict(each),
        ]
        for cell, found in _cells(view)
        for each in found.types
    ]
    return Table(
        id="tpcc_types",
        title="Transactions by type against the specification's limits",
        columns=[
            *view.condition_columns,
            *("Load", "Engine", "Transaction", "A minute", "Share", "Least", "p50", "p90", "Limit of p90"),
            *("p99", "max", "Verdict"),
        ],
        rows=rows,
        note="Percentiles of the merged histograms of all good trials. Least: the smallest share allowed.",
    )


def validity(view: View) -> Table:
    """Both counts of transactions, and the shares that the specification wants in a range."""
    cells = _cells(view)
    names = list(dict.fromkeys(share.name for _, found in cells for share in found.shares))
    rows = [
        [
            *view.condition(cell),
            view.loads[cell.load],
            view.engines[cell.engine],
            rate(found.tpm),
            NO_NUMBER if found.server_tpm is None else rate(found.server_tpm),
            *(share_words(share) for share in found.shares),
        ]
        for cell, found in cells
    ]
    ranges = "; ".join(
        f"{share.name} {range_words(share)}" for share in (cells[0][1].shares if cells else [])
    )
    return Table(
        id="tpcc_validity",
        title="Transactions a minute (TPM), and the load against the specification's ranges",
        columns=[
            *view.condition_columns,
            *("Load", "Engine", "TPM, client", "TPM, server"),
            *(name[0].upper() + name[1:] for name in names),
        ],
        rows=rows,
        note="TPM of the client: transactions that it saw end. TPM of the server: Com_commit + Com_rollback,"
        f" those of repeated transactions included. Ranges: {ranges}. {DERIVED}",
    )


def _cells(view: View) -> list[tuple[Cell, TpccFigures]]:
    return [(cell, cell.tpcc) for cell in view.by_load() if cell.tpcc is not None]


def rate(estimate: Estimate) -> str:
    """A rate a minute with half of its interval, where it has one."""
    if estimate.low is None or estimate.high is None:
        return number(estimate.value)
    return with_error(estimate.value, estimate.high - estimate.value)


def type_verdict(each: TpccType) -> str:
    """What a type misses of the specification's limits."""
    words = {"share": "share too small", "p90": "p90 too long"}
    return ", ".join(words[what] for what in each.missed) or ("within" if each.count else "none ended")


def share_words(share: TpccShare) -> str:
    """A share, and its verdict where that is not "within"."""
    if share.value is None:
        return share.verdict
    value = f"{share.value:.2f}" if share.high > 1 else f"{100 * share.value:.2f} %"
    return value if share.verdict == "within" else f"{value} ({share.verdict})"


def range_words(share: TpccShare) -> str:
    """The range: "9.5 to 10.5", "0.9 to 1.1 %"."""
    if share.high > 1:
        return f"{share.low:g} to {share.high:g}"
    return f"{100 * share.low:g} to {100 * share.high:g} %"
