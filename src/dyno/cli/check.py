# ruff: noqa: PLC0415, D301 - commands import what they need when they run; a backspace in a docstring keeps the
# lines of an example apart.
"""`dyno check`: whether the TPC-C-derived data on any server is consistent."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dyno.cli import console
from dyno.cli.bench import Pairs, named_values

if TYPE_CHECKING:
    from dyno.record.checked import Checked, Condition

WORKLOAD = "tpcc"
ROW_WIDTH_MAX = 90


def check(  # noqa: PLR0917 (typer passes options by name)
    engine: Annotated[
        str | None,
        typer.Option(help="A server of `dyno engines start`: its label, such as mariadb-10.11."),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Any other server: mysql://USER@HOST:PORT/DATABASE.")
    ] = None,
    database: Annotated[str, typer.Option(help="With --engine: the database of the tables.")] = "sbtest",
    profile: Annotated[
        str | None, typer.Option(help="Short for -o profile=NAME: whose conditions apply.")
    ] = None,
    option: Pairs = [],  # noqa: B006 (typer copies it)
    limit: Annotated[
        float, typer.Option(min=0.001, help="Seconds that the server may spend on one condition.")
    ] = 60.0,
    password_env: Annotated[
        str | None, typer.Option(help="Environment variable that holds the target's password.")
    ] = None,
    password_file: Annotated[
        Path | None, typer.Option(help="File whose first line is the target's password.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON on stdout.")] = False,
) -> None:
    """Check TPC-C-derived data: all consistency conditions, with the rows that break them.

    The conditions are those of the specification (3.3.2) and the counters beyond them. Each is one SQL
    statement, which the server itself ends after --limit. Nobody should write to the tables meanwhile. The
    exit code is 1 when a condition does not hold or could not be asked in time.

    \b
      dyno check --engine mariadb-10.11
      dyno check --target mysql://app@db1:3306/tpcc --password-env DB_PASSWORD --json
      dyno check --engine mysql-9.7 --profile hammerdb
    """
    from dyno.experiment.check import check_server
    from dyno.experiment.target import Address

    if (engine is None) == (target is None):
        raise typer.BadParameter("name either --engine or --target")
    if target is not None:
        file = None if password_file is None else str(password_file.expanduser().absolute())
        address = Address.parse(target, password_env, file)
        address.password()
        where = address.spec
    else:
        where = _socket_of(engine, database)
    options = named_values("-o", option) | ({} if profile is None else {"profile": profile})
    with tempfile.TemporaryDirectory(prefix="dyno-check-") as folder, console.err.status("checking the data"):
        checked = check_server(WORKLOAD, options, where, Path(folder), limit_s=limit)
    if as_json:
        console.print_json(checked.model_dump(mode="json"))
    else:
        _show(checked)
    if not checked.consistent:
        raise typer.Exit(1)


def _socket_of(name: str | None, database: str) -> dict[str, Any]:
    """How to reach a server that `dyno engines start` started."""
    from dyno.cli.engines import running

    return {"socket": running(name).socket, "user": "root", "database": database}


def _show(checked: Checked) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("Condition", "Holds", "Seconds", "What must hold"):
        table.add_column(heading, justify="right" if heading == "Seconds" else "left", overflow="fold")
    for condition in checked.conditions:
        what = condition.text if condition.holds else _broken(condition)
        table.add_row(condition.name, _holds(condition), f"{condition.seconds:.3f}", escape(what))
    console.out.print(table)
    for left_out in checked.not_defined:
        console.out.print(f"not asked: {left_out.name}: {left_out.reason}", style="dim", markup=False)
    broken = f"{len(checked.broken)} of {len(checked.conditions)} conditions do not hold"
    verdict = "the data is consistent" if checked.consistent else broken
    console.out.print(f"{verdict}; {checked.total_seconds:.1f} s")


def _holds(condition: Condition) -> str:
    if condition.deviation and condition.holds is False:
        return "[yellow]no, by its profile[/]"
    return {True: "[green]yes[/]", False: "[bold red]no[/]", None: "[yellow]not known[/]"}[condition.holds]


def _broken(condition: Condition) -> str:
    """What must hold, and the rows that break it, each on a line."""
    lines = [condition.text]
    if condition.deviation:
        lines.append(f"  the profile breaks it: {condition.deviation}")
    for row in condition.rows:
        cells = zip(condition.columns, row, strict=False)
        line = ", ".join(f"{column} = {'NULL' if value is None else value}" for column, value in cells)
        lines.append(f"  {line[:ROW_WIDTH_MAX]}")
    if condition.more:
        lines.append("  and more")
    if condition.holds is None:
        lines.append("  the server took longer than the limit (--limit)")
    return "\n".join(lines)
