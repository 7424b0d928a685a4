"""Study 002's form: new orders a minute over virtual users, and peak against peak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.report.model import Table
from dyno.studies.run import (
    SECONDS_A_MINUTE,
    UNTESTED,
    new_orders_per_min,
    ratio,
    shown,
    throughput,
)

if TYPE_CHECKING:
    from dyno.studies.run import StudiedRun

Row = dict[str, str]
_Peak = tuple[str, str, float | None, float | None]
_PEAK_COLUMNS = ["Engine", "Virtual users at the peak", "NOPM", "TPM", "NOPM ÷ {base}"]


def of_rows(rows: list[Row]) -> list[Table]:
    """The peaks that the document states in its text; it gives no curve as numbers."""
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    figures = {(row["engine"], row["metric"]): float(row["value"]) for row in rows}
    users = {row["engine"]: row["virtual_users"] or UNTESTED for row in rows}
    peaks: list[_Peak] = [
        (engine, users[engine], figures.get((engine, "NOPM")), figures.get((engine, "TPM")))
        for engine in engines
    ]
    hosts = ", ".join(dict.fromkeys(row["host"] for row in rows))
    return [_peaks("peaks", f"Peak throughput on {hosts}", peaks)]


def of_run(run: StudiedRun) -> list[Table]:
    """A profile over virtual users for each workload and settings set, and the peaks of its engines.

    Raises:
        DynoError: A workload has no new-order transaction.
    """
    made = []
    for workload, settings, title in run.conditions():
        rows: list[list[str]] = []
        peaks: list[_Peak] = []
        for engine in reversed(run.engines()):
            cells = [(load, run.cell(engine.id, settings, workload, load.id)) for load in run.levels()]
            profile = [(load, cell, new_orders_per_min(cell)) for load, cell in cells]
            known = [(nopm, load, cell) for load, cell, nopm in profile if nopm is not None]
            first = known[0][0] if known else None
            for load, cell, nopm in profile:
                tpm = shown(_per_minute(throughput(cell)), cell)
                rows.append([engine.label, f"{load.x:g}", shown(nopm, cell), tpm, ratio(nopm, first)])
            if known:
                top, load, cell = max(known, key=lambda each: each[0])
                peaks.append((engine.label, f"{load.x:g}", top, _per_minute(throughput(cell))))
        columns = ["Engine", "Virtual users", "NOPM", "TPM", "NOPM ÷ the lowest level"]
        name = f"{workload}-{settings}"
        made.append(
            Table(id=f"profile-{name}", title=f"Performance profile: {title}", columns=columns, rows=rows)
        )
        if peaks:
            made.append(_peaks(f"peaks-{name}", f"Peak throughput: {title}", peaks))
    return made


def _peaks(name: str, title: str, peaks: list[_Peak]) -> Table:
    base_engine, _, base, _ = peaks[0]
    return Table(
        id=name,
        title=title,
        columns=[column.format(base=base_engine) for column in _PEAK_COLUMNS],
        rows=[
            [engine, users, *("*" if v is None else f"{v:,.0f}" for v in (nopm, tpm)), ratio(nopm, base)]
            for engine, users, nopm, tpm in peaks
        ],
        note="NOPM counts new orders, TPM all transactions; TPM of different engines is not to be compared."
        f" {UNTESTED} not stated.",
    )


def _per_minute(rate_per_s: float | None) -> float | None:
    return None if rate_per_s is None else rate_per_s * SECONDS_A_MINUTE
