# ruff: noqa: PLC0415, D301 - Arrow is loaded when logs are imported, not at every start; a backspace in a docstring
# keeps the lines of an example apart.
"""`dyno import`: other people's logs as a run."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from dyno.cli import console
from dyno.errors import DynoError
from dyno.record.importers.formats import FORMATS, LOG_PARSERS, log_format
from dyno.record.importers.layouts import PRESETS, layout_of

if TYPE_CHECKING:
    from dyno.record.importers.runs import ImportResult

SHOWN_MAX = 5
"""Names that a warning lists."""


def import_(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH…", help="Log files, folders of them, tar archives of folders."),
    ] = None,
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder of the run to make.")] = None,
    layout: Annotated[
        list[str] | None,
        typer.Option(
            "--layout",
            help=f"How paths name engine, tier, sessions: {', '.join(PRESETS)}, a pattern, or a file with one"
            " a line. May be given several times: the first that matches counts.",
        ),
    ] = None,
    named_format: Annotated[
        str | None, typer.Option("--format", help=f"Format of all logs: {', '.join(LOG_PARSERS)}.")
    ] = None,
    family: Annotated[str | None, typer.Option(help="Engine family, where the layout has none.")] = None,
    version: Annotated[str | None, typer.Option(help="Engine version, likewise.")] = None,
    tier: Annotated[str | None, typer.Option(help="Buffer pool: 12 (GiB), 512M.")] = None,
    sessions: Annotated[int | None, typer.Option(help="Number of connections.", min=1)] = None,
    workload: Annotated[str | None, typer.Option(help="What ran.")] = None,
    mode: Annotated[str | None, typer.Option(help="Which form of it: read-only, network, ….")] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes at most; one a CPU by default.", min=1)] = None,
    formats: Annotated[bool, typer.Option("--formats", help="List the formats and end.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Turn other programs' logs into a run that `show`, `report` and `tables` understand.

    A log that is empty, cut short, contradicts itself or ends in FATAL becomes a cell without a number,
    with the reason. Host monitors, my.cnf, SHOW VARIABLES and SHOW STATUS that the layout matches are read
    with the logs that their paths agree with.

    \b
      dyno import logs/ -o runs/old --layout '{family}/{version}/{sessions}.txt'
      dyno import a16.log -o runs/one --family mysql --version 8.0.45 --sessions 16
      dyno import corpus.tar.xz -o runs/report --layout percona-2026

    A layout is a path with fields: family, version, tier, sessions, workload, mode, block, kind. `*` is
    anything but `/`, `**/` any folders, and `field=value` after it sets a field; docs/IMPORT.md has the
    whole language.
    """
    if formats:
        _list_formats(as_json=as_json)
        return
    from dyno.record.importers.runs import import_logs

    if not paths or output is None:
        missing = "no PATH to import" if not paths else "no folder for the run"
        raise DynoError(
            missing, hint="dyno import PATH… -o RUN --layout …; `dyno import --help` has examples"
        )
    said = {"family": family, "version": version, "tier": tier, "workload": workload, "mode": mode}
    said["sessions"] = str(sessions) if sessions else None
    given = {name: value for name, value in said.items() if value is not None}
    with _bar() as bar:
        task = bar.add_task("logs", total=None)
        made = import_logs(
            paths,
            layout_of(layout or [], given),
            output,
            command=["dyno", *sys.argv[1:]],
            log_format=log_format(named_format).name if named_format else None,
            jobs=jobs,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    _say(made)
    if as_json:
        console.print_json(
            {
                "path": str(made.path),
                "trials": made.trials,
                "failed": made.failed,
                "left_out": list(made.left_out),
            }
        )
    else:
        console.out.print(str(made.path), markup=False)


def _bar() -> Progress:
    """A bar on stderr that goes when the work is done, and is not there at all without a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=console.err, transient=True, disable=not console.err.is_terminal)


def _say(made: ImportResult) -> None:
    if made.left_out:
        names = ", ".join(made.left_out[:SHOWN_MAX]) + (", …" if len(made.left_out) > SHOWN_MAX else "")
        console.warn(
            f"{len(made.left_out)} files are of no use to the run: {names}",
            hint="empty, of no known format (`dyno import --formats`), or saying what another file says",
        )
    if made.failed:
        console.warn(
            f"{made.failed} of {made.trials} logs give no number",
            hint=f"`dyno show {made.path} -t validity` says why",
        )


def _list_formats(*, as_json: bool) -> None:
    """Every format with its name, what it is, and what its parser was tested on."""
    rows = [
        {"format": each.name, "is": each.role, "reads": each.title, "tested on": each.tested}
        for each in FORMATS
    ]
    if as_json:
        console.print_json(rows)
        return
    table = Table(box=None, pad_edge=False)
    for column in rows[0]:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row.values())
    console.out.print(table)
