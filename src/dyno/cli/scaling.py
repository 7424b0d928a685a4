# ruff: noqa: PLC0415, D301 - the analysis is imported when it is needed (scipy takes most of a second); a
# backspace in a docstring keeps the lines of an example apart.
"""`dyno scaling`: the scaling laws of a run or of published tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dyno.cli import console
from dyno.cli.report import AsJson, RunsDir, print_table
from dyno.errors import DynoError
from dyno.record.run import RUNS, find_run, open_run

if TYPE_CHECKING:
    from dyno.report.model import Scaling


def scaling(
    source: Annotated[
        str, typer.Argument(metavar="RUN|CSV", help="A run, or a file of datasets/ with published figures.")
    ] = "latest",
    residuals: Annotated[
        bool, typer.Option("--residuals", help="Show how far each level lies off its law, too.")
    ] = False,
    runs_dir: RunsDir = RUNS,
    as_json: AsJson = False,
) -> None:
    """Fit scaling laws to throughput over sessions, or say why there is none to fit.

    The Universal Scalability Law, X(N) = γN ÷ (1 + α(N − 1) + βN(N − 1)), where the levels show that
    throughput falls again (β above 0), else Amdahl's law (β = 0); with 95 % intervals, the peak N* and X(N*).
    It takes six load levels of a closed loop; what lies off every such curve by more than 15 % gets no law.

    \b
      dyno scaling                                 the newest run
      dyno scaling latest --residuals              and how well each level fits
      dyno scaling datasets/000-power10.csv        a published table
    """
    with console.err.status("reading the figures and fitting"):
        curves = _curves(source, runs_dir)
    if as_json:
        console.print_json([curve.model_dump(mode="json") for curve in curves])
        return
    from dyno.findings.scaling import sentence
    from dyno.report.scaling import residual_table, scaling_table

    print_table(scaling_table(curves))
    if residuals:
        print_table(residual_table(curves))
    for curve in curves:
        if curve.law:
            console.out.print(f"- {sentence(curve)}", markup=False)


def _curves(source: str, runs_dir: Path) -> list[Scaling]:
    if source.endswith(".csv"):
        from dyno.studies.curves import curves_of

        return curves_of(Path(source))
    from dyno.report.analysis import analyse

    path = find_run(source, runs_dir)
    curves = analyse(open_run(path)).scaling
    if not curves:
        raise DynoError(
            f"{path} has no engine with two constant load levels of a closed loop",
            hint="name several in the plan, such as sessions = [1, 2, 4, 8, 16, 32, 64]",
        )
    return curves
