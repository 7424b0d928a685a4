# ruff: noqa: PLC0415 - the analysis is imported when it is needed (scipy takes most of a second)
"""Where findings and claims take their numbers from: a run, or a file of published figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dyno.record.run import Run, find_run, open_run

if TYPE_CHECKING:
    from dyno.findings.results import Results
    from dyno.report.model import Analysis

Source = Annotated[
    str,
    typer.Argument(
        metavar="RUN|CSV",
        help="A run: its folder, its id, or `latest`; or published figures with the columns of"
        " datasets/001-ecosystem.csv.",
    ),
]


def buffer_pools(run: Run) -> dict[str, int]:
    """Settings id → buffer pool in bytes, of those settings that say it."""
    pools = {each.id: each.requested.get("buffer_pool") for each in run.manifest.settings}
    return {name: size for name, size in pools.items() if isinstance(size, int)}


def analysed(source: str, runs_dir: Path) -> tuple[Analysis, Run]:
    """A run and its analysis."""
    from dyno.report.analysis import analyse

    run = open_run(find_run(source, runs_dir))
    return analyse(run), run


def results(source: str, runs_dir: Path) -> Results:
    """The numbers of a run, or of a file whose name ends in .csv."""
    if source.endswith(".csv"):
        from dyno.studies.published import published_results

        return published_results(Path(source))
    from dyno.findings.results import results_of

    analysis, run = analysed(source, runs_dir)
    return results_of(analysis, buffer_pools(run))
