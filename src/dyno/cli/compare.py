# ruff: noqa: PLC0415, D301 - the statistics are imported when they are needed; a backspace in a docstring keeps the
# lines of an example apart.
"""`dyno compare`: is this run slower than that one? With an exit code for CI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dyno.cli import console
from dyno.cli.report import AsJson, RunsDir, print_table
from dyno.plan.units import parse_share
from dyno.record.run import RUNS, find_run, open_run

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.compare import Compared
    from dyno.compare.sides import Opened

EXIT_CODES = {"pass": 0, "slower": 5, "undecided": 6}
STYLES = {"pass": "green", "slower": "bold red", "undecided": "yellow"}


def compare(  # noqa: PLR0917 (typer passes options by name)
    before: Annotated[
        str, typer.Argument(metavar="RUN_A", help="The run to compare with: folder, id or `latest`.")
    ],
    after: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN_B]", help="The run in question; without it, RUN_A's engines are compared."
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="ENGINE", help="Within one run: compare with this engine.  [default: the plan's baseline]"
        ),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option("--engine", "-e", help="Only this engine (repeatable): id, label or request."),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE", help="Smallest slowdown that matters, such as 2%.  [default: the plan's]"
        ),
    ] = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown for a pull request.")
    ] = False,
    runs_dir: RunsDir = RUNS,
    as_json: AsJson = False,
) -> None:
    """Compare two runs, or the engines of one, and say whether anything became slower.

    Ratios are after ÷ before with 95 % intervals over trials, corrected by Holm; one trial tests nothing.
    What differs beside the numbers (host, versions, settings, plan) is listed.

    \b
      dyno compare runs/before runs/after --threshold 2%
      dyno compare latest --baseline mariadb@10.11 --engine mariadb@11.8
      dyno compare main pull-request --markdown >> "$GITHUB_STEP_SUMMARY"

    \b
    Exit codes: 0 no slowdown beyond the threshold, shown by the intervals; 5 slower beyond the threshold;
    6 undecided: more trials or a quieter host are needed; 1 error, 2 wrong usage.
    """
    if as_markdown and as_json:
        raise typer.BadParameter("--markdown and --json exclude each other")
    if after is not None and baseline is not None:
        raise typer.BadParameter("--baseline is for one run; of two runs the first is it")
    paths = [find_run(name, runs_dir) for name in (before, after) if name is not None]
    compared = _compare(paths, baseline, engine or [], _share(threshold))
    if as_json:
        console.print_json(compared.model_dump(mode="json"))
    elif as_markdown:
        from dyno.compare.text import markdown

        console.out.print(markdown(compared), markup=False, end="")
    else:
        _print(compared)
    if EXIT_CODES[compared.gate]:
        raise typer.Exit(EXIT_CODES[compared.gate])


def _share(text: str | None) -> float | None:
    try:
        return None if text is None else parse_share(float(text) if text[-1:].isdigit() else text)
    except ValueError as error:
        raise typer.BadParameter(f"--threshold {text!r}: {error}") from None


def _compare(
    paths: list[Path], baseline: str | None, engines: list[str], threshold: float | None
) -> Compared:
    from dyno.compare import compare_engines, compare_runs
    from dyno.errors import DynoError

    with console.err.status("reading the runs"):
        opened = [_open(path) for path in paths]
        if len(opened) > 1:
            return compare_runs(opened[0], opened[1], threshold=threshold, engines=engines)
        base = baseline or opened[0].analysis.baseline
        if base is None:
            raise DynoError("none of the run's engines could be had", hint="`dyno show -t engines` says why")
        return compare_engines(opened[0], base, threshold=threshold, engines=engines)


def _open(path: Path) -> Opened:
    from dyno.compare.sides import Opened
    from dyno.report.analysis import analyse

    run = open_run(path)
    return Opened(run, analyse(run))


def _print(compared: Compared) -> None:
    from dyno.compare.text import notes, tables

    for table in tables(compared):
        print_table(table)
    for pair in compared.pairs:
        console.out.print(f"- {pair.sentence}", markup=False)
    for text in notes(compared):
        console.out.print(f"- {text}", style="yellow", markup=False)
    console.out.print(compared.sentence, style=STYLES[compared.gate], markup=False)
