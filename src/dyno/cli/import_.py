"""`dyno import`: other people's logs as a run."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from dyno.cli import console
from dyno.record.importers.layouts import PRESETS, layout_of
from dyno.record.importers.runs import import_logs


def import_(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Log files, or folders of them.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the run to make.")],
    layout: Annotated[
        str,
        typer.Option(
            "--layout", help=f"How paths name engine, tier, sessions: {', '.join(PRESETS)}, or a pattern."
        ),
    ],
) -> None:
    """Turn sysbench logs into a run that `show`, `report` and `tables` understand.

    A log that is empty, cut short or ends in FATAL becomes a cell without a number, with the reason.
    """
    made = import_logs(paths, layout_of(layout), output, command=["dyno", *sys.argv[1:]])
    if made.failed:
        console.warn(
            f"{made.failed} of {made.trials} logs give no number",
            hint=f"`dyno show {made.path} -t validity` says why",
        )
    console.out.print(str(made.path), markup=False)
