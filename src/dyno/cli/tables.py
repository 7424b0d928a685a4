# ruff: noqa: PLC0415 - the analysis is imported when it is needed (scipy takes most of a second)
"""`dyno tables`: a run or a dataset in the form of the published studies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dyno.cli import console
from dyno.cli.report import AsJson, RunsDir, print_table
from dyno.errors import DynoError
from dyno.record.run import RUNS, find_run, open_run

if TYPE_CHECKING:
    from dyno.report.model import Table
    from dyno.studies.ecosystem import Key

GIB = 2**30


def tables(
    source: Annotated[
        str, typer.Argument(metavar="RUN|CSV", help="A run, or a file of datasets/ with published figures.")
    ],
    runs_dir: RunsDir = RUNS,
    as_json: AsJson = False,
) -> None:
    """Print a run, or published figures, in the form of the studies' own tables.

    A run gives the tables of the 2026 ecosystem report: TPS by threads for each memory tier, version
    progressions, and every difference above 5 %. A cell without a number says "missing".
    """
    made = _tables(source, runs_dir)
    if as_json:
        console.print_json([each.model_dump(mode="json") for each in made])
        return
    for each in made:
        print_table(each)


def _tables(source: str, runs_dir: Path) -> list[Table]:
    from dyno.studies import ecosystem
    from dyno.studies.datasets import tables_of

    if source.endswith(".csv"):
        return tables_of(Path(source))
    made = ecosystem.tables(_figures(find_run(source, runs_dir)))
    if not made:
        raise DynoError(
            f"{source} has none of the scenarios {', '.join(ecosystem.SCENARIOS)}",
            hint="`dyno show` prints the tables of any run",
        )
    return made


def _figures(path: Path) -> dict[Key, float | None]:
    """Mean throughput of each cell; None where no trial gave a number."""
    from dyno.report.analysis import analyse
    from dyno.studies.ecosystem import Key

    run = open_run(path)
    pools = {each.id: each.requested.get("buffer_pool") for each in run.manifest.settings}
    sessions = {each.id: each.sessions or 0 for each in run.manifest.loads}
    return {
        Key(cell.workload, (pools[cell.settings] or 0) // GIB, cell.engine, sessions[cell.load]): (
            cell.throughput_per_s.value if cell.throughput_per_s else None
        )
        for cell in analyse(run).cells
    }
