# ruff: noqa: PLC0415, D301 - the analysis is imported when it is needed (scipy takes most of a second); a
# backspace in a docstring keeps the lines of an example apart.
"""`dyno tables`: a run or a dataset in the form of the published studies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dyno.cli import console
from dyno.cli.report import AsJson, RunsDir, print_table
from dyno.cli.sources import analysed, buffer_pools
from dyno.errors import DynoError
from dyno.record.run import RUNS

if TYPE_CHECKING:
    from dyno.report.model import Table
    from dyno.studies.run import StudiedRun

DEFAULT_STUDY = "001"


def tables(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN|CSV",
            help="A run, or a file of datasets/. Without it: the figures that the study published.",
            show_default=False,
        ),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            "--study",
            help="The form: 000 ratios between engines and by cores; 001 TPS by memory tier, version"
            " progressions, differences above 5 %; 002 NOPM and TPM by virtual users; 003 queries/s, mean"
            " and 99 % by mix; 004 NOTPM, variant against variant. Default for a run: 001.",
        ),
    ] = None,
    runs_dir: RunsDir = RUNS,
    as_json: AsJson = False,
) -> None:
    """Print a run, or published figures, in the form of the studies' own tables.

    \b
      dyno tables --study 000            what study 000 published: a performance advantage is a ratio
      dyno tables latest --study 003     your run in study 003's form
      dyno tables runs/percona-2026      imported logs as tables 6.1.1 to 6.1.6 of study 001

    "missing" is a cell that was run and gave no number, "*" one that was not tested.
    """
    made = _tables(source, study, runs_dir)
    if as_json:
        console.print_json([each.model_dump(mode="json") for each in made])
        return
    for each in made:
        print_table(each)


def _tables(source: str | None, study: str | None, runs_dir: Path) -> list[Table]:
    from dyno.studies.datasets import OF_RUN, STUDIES, dataset, tables_of

    if study is not None and study not in STUDIES:
        raise DynoError(f"there is no study {study!r}", hint=f"studies: {', '.join(STUDIES)}")
    if source is None:
        if study is None:
            raise DynoError(
                "nothing to print", hint="name a run, a file of datasets/, or a study: --study 001"
            )
        return tables_of(dataset(study))
    if source.endswith(".csv"):
        return tables_of(Path(source))
    return OF_RUN[study or DEFAULT_STUDY](studied(source, runs_dir))


def studied(source: str, runs_dir: Path) -> StudiedRun:
    """Analyse a run for the forms of the studies."""
    from dyno.studies.run import StudiedRun

    analysis, run = analysed(source, runs_dir)
    return StudiedRun(analysis, buffer_pools(run))
