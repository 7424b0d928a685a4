# ruff: noqa: PLC0415, D301 - DuckDB and pandas are imported when they are needed; a backspace in a docstring keeps
# the lines of an example apart.
"""`dyno sql`: questions to any number of runs."""

from __future__ import annotations

import csv
import math
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dyno.cli import console
from dyno.cli.report import AsJson, RunsDir, print_table
from dyno.record.run import LATEST, RUNS, find_run

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.data.sql import Result

EXAMPLE = 'dyno sql latest "SELECT engine, avg(throughput_per_s) FROM trials GROUP BY engine"'


def sql(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN…] QUERY", help="Runs (folders, ids or `latest`, the default), then one SELECT."
        ),
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="List tables and columns; takes no query.")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the rows as CSV, numbers in full.")] = False,
    runs_dir: RunsDir = RUNS,
    as_json: AsJson = False,
) -> None:
    """Ask runs by SQL: the tables of docs/DATA.md in DuckDB, over as many runs as are named.

    Every table has the column `run`. Only `status = 'ok'` trials are results; a second of `series` is not a
    repeat. Runs are read and never changed, and the query sees no other file.

    \b
      dyno sql "SELECT engine, sessions, throughput_per_s FROM cells"
      dyno sql runs/* "SELECT run, count(*) FROM trials WHERE status <> 'ok' GROUP BY run"
      dyno sql latest --csv "FROM series WHERE metric = 'cpu_busy'"
      dyno sql --schema
    """
    if as_csv and as_json:
        raise typer.BadParameter("--csv and --json exclude each other")
    if schema:
        _show_schema(as_json=as_json)
        return
    names, query = _split(words or [])
    result = _ask([find_run(name, runs_dir) for name in names], query)
    if as_csv:
        _write_csv(result)
    elif as_json:
        console.print_json([{key: _plain(value) for key, value in row.items()} for row in result.as_dicts()])
    else:
        _print(result)


def _split(words: list[str]) -> tuple[list[str], str]:
    """Runs and query: the last word is the query, which has a space in it as no SELECT can do without."""
    if not words or " " not in words[-1].strip():
        raise typer.BadParameter(f"the last argument is the query, in quotes: {EXAMPLE}")
    return words[:-1] or [LATEST], words[-1]


def _ask(paths: list[Path], query: str) -> Result:
    from dyno.data.frames import open_data
    from dyno.data.sql import query as ask

    return ask([open_data(path) for path in paths], query)


def _print(result: Result) -> None:
    from dyno.report.model import Table

    rows = [[_shown(value) for value in row] for row in result.rows]
    print_table(Table(id="sql", title="", columns=result.columns, rows=rows))
    console.err.print(f"{len(rows):,} rows" if len(rows) != 1 else "1 row", style="dim")


def _shown(value: Any) -> str:
    """A value for a reader: six digits of a fraction; JSON and CSV have them all."""
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) and not value.is_integer() else str(value)


def _plain(value: Any) -> Any:
    """A value that JSON has: what is not finite is null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write_csv(result: Result) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows(result.rows)


def _show_schema(*, as_json: bool) -> None:
    from dyno.data.tables import SQL, TABLES
    from dyno.report.model import Table

    if as_json:
        console.print_json(
            {
                name: {
                    "row": table.row,
                    "columns": [{"name": c.name, "type": SQL[c.kind], "text": c.text} for c in table.columns],
                }
                for name, table in TABLES.items()
            }
        )
        return
    for name, table in TABLES.items():
        rows = [[column.name, SQL[column.kind], column.text] for column in table.columns]
        print_table(
            Table(
                id=name, title=f"{name}: a row is {table.row}", columns=["column", "type", "What"], rows=rows
            )
        )
