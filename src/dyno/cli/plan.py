# ruff: noqa: PLC0415, TC003, D301 - commands import what they need when they run (scipy takes most of a second),
# typer reads annotations at run time; a backspace in a docstring keeps the lines of an example apart.
"""`dyno plan`: what a plan will do, and what its trials can see."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dyno.cli import console
from dyno.cli.run import RUNS, AsJson, RunsDir, show_rehearsal
from dyno.plan.units import parse_share

if TYPE_CHECKING:
    from dyno.experiment.rehearse import Rehearsal
    from dyno.stats import Estimate


def plan(  # noqa: PLR0917 (typer passes options by name)
    file: Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, such as plans/quickstart.toml.")],
    power: Annotated[
        bool,
        typer.Option("--power", help="Which differences its trials can see, and how many an effect takes."),
    ] = False,
    effect: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="With --power: the difference to look for, such as 2%."),
    ] = None,
    pilot: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="With --power: a run whose repeats show the spread of trials."),
    ] = None,
    spread: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE", help="With --power: assume this spread of trials instead, such as 1.5%."
        ),
    ] = None,
    chance: Annotated[
        str, typer.Option(metavar="SHARE", help="With --power: how sure to be of seeing the effect.")
    ] = "80%",
    runs_dir: RunsDir = RUNS,
    as_json: AsJson = False,
) -> None:
    """Show what a plan will do (cells, trials, order, time, disk); with --power, what it can find out.

    The spread is the coefficient of variation of repeats of one cell in one block. A pilot run of two trials
    a cell or more shows it, best on the host of the plan; `dyno selftest --aa` leaves such a run. A plan of
    several engines compares them block by block with its baseline; one of a single engine is taken as run
    twice.

    \b
      dyno plan plans/quickstart.toml
      dyno plan plans/quickstart.toml --power --spread 1.5% --effect 2%
      dyno plan plans/quickstart.toml --power --pilot latest
    """
    from dyno.experiment.rehearse import rehearse
    from dyno.plan.load import read

    if not power:
        given = [name for name, value in (("effect", effect), ("pilot", pilot), ("spread", spread)) if value]
        if given:
            raise typer.BadParameter(f"--{given[0]} goes with --power")
    elif (pilot is None) == (spread is None):
        raise typer.BadParameter("--power takes either --pilot RUN or --spread SHARE")
    asked = None if effect is None else _share("--effect", effect)
    wanted = _share("--chance", chance)
    assumed = None if spread is None else _share("--spread", spread)
    rehearsal = rehearse(*read(file))
    if not power:
        show_rehearsal(rehearsal, as_json=as_json)
        return
    from dyno.report.power import assumed as assumed_spread

    known = _pilot(pilot or "", runs_dir) if assumed is None else assumed_spread(assumed)
    _show_power(rehearsal, known, effect=asked, wanted=wanted, as_json=as_json)


def _share(flag: str, text: str) -> float:
    try:
        return parse_share(text)
    except ValueError as error:
        raise typer.BadParameter(f"{flag} {text!r}: {error}") from None


def _pilot(run: str, runs_dir: Path) -> Estimate:
    from dyno.record.run import find_run, open_run
    from dyno.report.analysis import analyse
    from dyno.report.power import pilot_spread

    with console.err.status("reading the pilot"):
        return pilot_spread(analyse(open_run(find_run(run, runs_dir))))


def _show_power(
    rehearsal: Rehearsal, spread: Estimate, *, effect: float | None, wanted: float, as_json: bool
) -> None:
    from dyno.cli.report import print_table
    from dyno.experiment.estimate import time_with
    from dyno.report.power import power_of, power_table, sentences

    resolved, installs = rehearsal.resolved, len(rehearsal.to_install)
    found = power_of(
        resolved, spread, effect=effect, wanted=wanted, time_of=lambda n: time_with(resolved, installs, n)
    )
    if as_json:
        console.print_json({"plan": resolved.name, **found.as_dict()})
        return
    for sentence in sentences(found):
        console.out.print(sentence, markup=False)
    console.out.print()
    print_table(power_table(found))
