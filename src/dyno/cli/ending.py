"""How `dyno run` and `dyno bench` end: the report is built, its tables are shown, its path is said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dyno.cli import console
from dyno.cli.report import print_summary, warn_of_missing_page
from dyno.report.build import build

if TYPE_CHECKING:
    from dyno.experiment.loop import Outcome

EXIT_TRIALS_FAILED = 4


def show_outcome(outcome: Outcome, *, as_json: bool) -> None:
    """Build the report of a run and show it.

    Raises:
        typer.Exit: With code 4, when a trial failed or is invalid.
    """
    built = build(outcome.layout.path)
    warn_of_missing_page(built)
    if as_json:
        console.print_json(
            {
                "run": str(outcome.layout.path),
                "report": str(built.best),
                "trials": {"ok": outcome.ok, "failed": outcome.failed, "invalid": outcome.invalid},
                "analysis": built.analysis.model_dump(mode="json"),
            }
        )
    else:
        print_summary(built.analysis)
        console.out.print(f"report: {_short(built.best)}", markup=False)
    if not outcome.clean:
        lost = outcome.failed + outcome.invalid
        hint = f"`dyno show {_short(outcome.layout.path)} -t trials` says why"
        console.warn(f"{lost} of {lost + outcome.ok} trials gave no result", hint=hint)
        raise typer.Exit(EXIT_TRIALS_FAILED)


def _short(path: Path) -> Path:
    """The path as seen from here, where it is below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
