# ruff: noqa: PLC0415, D301 - the analysis is imported when a command needs it (scipy takes most of a second); a
# backspace in a docstring keeps the lines of an example apart.
"""`dyno report` and `dyno show`: a run's report built again, and its tables on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table as RichTable

from dyno.cli import console
from dyno.errors import DynoError
from dyno.record.run import RUNS, find_run, open_run

if TYPE_CHECKING:
    from dyno.report.build import Report
    from dyno.report.model import Analysis, Table

SUMMARY_TABLES = ("throughput", "open_loop", "comparison", "validity")
LONG_TABLES = ("trials", "statements", "settings")
TEXT_COLUMNS = {"What", "Reason", "Values"}
TEXT_WIDTH_MAX = 60
LINE_WIDTH_MAX = 400
STYLES = {"measured": "", "untested": "dim", "contradicted": "magenta", "caution": "yellow"}
WORDS = {"measured": "", "untested": "untested: ", "contradicted": "contradicted: ", "caution": "caution: "}

RunName = Annotated[
    str, typer.Argument(metavar="RUN", help="A run: its folder, its id under the runs folder, or `latest`.")
]
RunsDir = Annotated[Path, typer.Option("--runs-dir", help="Folder of all runs.", show_default=True)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text.")]


def report(run: RunName = "latest", runs_dir: RunsDir = RUNS, as_json: AsJson = False) -> None:
    """Build a run's report again from its files, and print where it is.

    Nothing is measured: analysis.json, report.html, report.md and csv/ follow from the recorded files alone.
    """
    from dyno.report.build import build

    built = build(find_run(run, runs_dir))
    warn_of_missing_page(built)
    if as_json:
        paths = {"analysis": built.json, "html": built.html, "markdown": built.markdown, "csv": built.csv}
        console.print_json({name: str(path) if path else None for name, path in paths.items()})
        return
    console.out.print(str(built.best), markup=False)


def show(
    run: RunName = "latest",
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table",
            "-t",
            help="Only this table: throughput, open_loop, comparison, scaling, latency, statements, validity,"
            " settings, engines, trials",
        ),
    ] = None,
    runs_dir: RunsDir = RUNS,
    as_json: AsJson = False,
) -> None:
    """Show a run: its tables and what they say. Works on a run that is still going on.

    \b
      dyno show                       the newest run
      dyno show latest -t latency     one table of it
      dyno show latest --json         the whole analysis, for programs
    """
    from dyno.report.analysis import analyse

    analysis = analyse(open_run(find_run(run, runs_dir)))
    chosen = _chosen(analysis, table)
    if as_json:
        whole = analysis.model_dump(mode="json")
        console.print_json([each.model_dump(mode="json") for each in chosen] if table else whole)
        return
    if not table:
        _print_head(analysis)
    for each in chosen:
        print_table(each)
    if not table:
        _print_findings(analysis)


def print_summary(analysis: Analysis) -> None:
    """The end of a run on the terminal: throughput, comparison, marks, and the findings in sentences."""
    for table in analysis.tables:
        if table.id in SUMMARY_TABLES and table.rows:
            print_table(table)
    _print_findings(analysis)


def warn_of_missing_page(built: Report) -> None:
    """Say why there is no report.html, where there is none."""
    if built.html_problem:
        console.warn(f"no report.html: {built.html_problem.message}", hint=built.html_problem.hint)


def print_table(table: Table) -> None:
    """Print a table of the report; its note stands below it."""
    shown = rich_table(table)
    # Never narrower than its numbers need: a folded number is unreadable, a long line is not.
    wide = console.out.options.update(max_width=LINE_WIDTH_MAX)
    shown.width = Measurement.get(console.out, wide, shown).maximum
    console.out.print(shown, crop=False)
    if table.note:
        console.out.print(table.note, style="dim", markup=False)
    console.out.print()


def rich_table(table: Table) -> RichTable:
    """A table of the report for the terminal: numbers to the right, hostile names as they are."""
    shown = RichTable(
        title=escape(table.title), title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    for index, column in enumerate(table.columns):
        texts = column in TEXT_COLUMNS
        numeric = not texts and bool(table.rows) and all(_is_numeric(row[index]) for row in table.rows)
        shown.add_column(
            escape(column),
            justify="right" if numeric else "left",
            no_wrap=not texts,
            max_width=TEXT_WIDTH_MAX if texts else None,
            overflow="fold",
        )
    for row in table.rows:
        shown.add_row(*(escape(cell) for cell in row))
    return shown


def _is_numeric(text: str) -> bool:
    return text[:1].isdigit() or text[:1] in {"–", "[", "<"}


def _chosen(analysis: Analysis, wanted: list[str] | None) -> list[Table]:
    """The wanted tables; by default those that have rows, without the long ones."""
    if not wanted:
        return [table for table in analysis.tables if table.rows and table.id not in LONG_TABLES]
    known = {table.id: table for table in analysis.tables}
    for name in wanted:
        if name not in known:
            raise DynoError(f"there is no table {name!r}", hint=f"tables: {', '.join(known)}")
    return [known[name] for name in wanted]


def _print_head(analysis: Analysis) -> None:
    console.out.print(analysis.title, style="bold", markup=False)
    trials = f"{analysis.trials_ok} of {analysis.trials_planned} trials good"
    console.out.print(f"run {analysis.run}, {trials}, {analysis.placement}", markup=False)
    console.out.print(analysis.loop, style="dim", markup=False)
    console.out.print()


def _print_findings(analysis: Analysis) -> None:
    for finding in analysis.findings:
        console.out.print(
            f"- {WORDS[finding.strength]}{finding.sentence}", style=STYLES[finding.strength], markup=False
        )
