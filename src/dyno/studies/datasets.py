"""Tables of the other studies in their own form, from `datasets/*.csv`."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from dyno.errors import DynoError
from dyno.report.model import Table
from dyno.studies import ecosystem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Row = dict[str, str]
UNTESTED = "*"


def tables_of(path: Path) -> list[Table]:
    """The tables of one dataset, told by its columns.

    Raises:
        DynoError: The file cannot be read, is no dataset, or has a value that is not a number.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DynoError(f"cannot read {path}: {error}", hint="name a run or a file of datasets/") from None
    columns = set(rows[0]) if rows else set()
    try:
        for needed, make in _FORMS:
            if needed <= columns:
                return make(rows)
    except ValueError as error:
        raise DynoError(f"{path}: {error}", hint="datasets/README.md describes the columns") from None
    raise DynoError(
        f"{path} is no dataset that has tables: its columns are {', '.join(sorted(columns)) or 'none'}",
        hint="000-power10.csv, 001-ecosystem.csv and 003-semisync.csv of datasets/ have tables",
    )


def _power10(rows: list[Row]) -> list[Table]:
    """Platform against platform with the ratio, then scaling by cores; `*` is a cell that was not tested."""
    made = []
    for table in sorted({row["table"] for row in rows}):
        mine = [row for row in rows if row["table"] == table]
        figures = {(r["platform"], r["cores"], r["sessions"]): float(r["value"]) for r in mine if r["value"]}
        sessions = sorted({r["sessions"] for r in mine}, key=int)
        platforms = list(dict.fromkeys(r["platform"] for r in mine))
        if len(platforms) > 1:
            made.append(_advantage(table, mine[0]["workload"], figures, sessions, platforms=platforms))
        else:
            made.append(_scaling(table, mine[0]["workload"], figures, sessions, platform=platforms[0]))
    return made


def _advantage(
    table: str,
    workload: str,
    figures: dict[tuple[str, str, str], float],
    sessions: list[str],
    *,
    platforms: list[str],
) -> Table:
    rows = []
    for n in sessions:
        pair = [
            next((v for (p, _, s), v in figures.items() if (p, s) == (platform, n)), None)
            for platform in platforms
        ]
        ratio = f"{round(pair[0] / pair[1] * 100)}%" if pair[0] and pair[1] else UNTESTED
        rows.append([n, *(UNTESTED if v is None else f"{v:.0f}" for v in pair), ratio])
    return Table(
        id=table,
        title=f"Table {table}: {workload}, transactions/s",
        columns=["Threads", *platforms, "Performance Advantage"],
        rows=rows,
        note=f"A ratio: 100% is equal. {UNTESTED} not tested. The hosts differ in storage"
        " and virtualisation too.",
    )


def _scaling(
    table: str,
    workload: str,
    figures: dict[tuple[str, str, str], float],
    sessions: list[str],
    *,
    platform: str,
) -> Table:
    cores = sorted({cores for _, cores, _ in figures}, key=int)
    cells = {n: [figures.get((platform, c, n)) for c in cores] for n in sessions}
    return Table(
        id=table,
        title=f"Table {table}: {workload} on {platform} by cores, transactions/s",
        columns=["Threads", *cores],
        rows=[[n, *(UNTESTED if v is None else f"{v:.0f}" for v in row)] for n, row in cells.items()],
        note=f"{UNTESTED} not tested.",
    )


def _by_mix(rows: list[Row]) -> list[Table]:
    """One table a mix: sessions and engine down, metrics across."""
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
            columns=["Concurrence", "Version", *metrics.values()],
            rows=[
                [n, e, *(figures.get((mix, e, n, m), UNTESTED) for m in metrics)]
                for n in sessions
                for e in engines
            ],
        )
        for mix in dict.fromkeys(r["workload"] for r in rows)
    ]


def _ecosystem(rows: list[Row]) -> list[Table]:
    return ecosystem.tables(
        {
            ecosystem.Key(
                r["scenario"],
                int(r["buffer_pool_gib"]),
                r["engine"].lower().replace(" ", "-"),
                int(r["sessions"]),
            ): float(r["value"]) if r["value"] else None
            for r in rows
        }
    )


_FORMS: tuple[tuple[set[str], Callable[[list[Row]], list[Table]]], ...] = (
    ({"platform", "cores", "sessions", "value"}, _power10),
    ({"scenario", "buffer_pool_gib", "engine", "sessions", "value"}, _ecosystem),
    ({"workload", "engine", "sessions", "metric", "unit", "value"}, _by_mix),
)
