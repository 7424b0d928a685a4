# ruff: noqa: PLC0415, D301 - the analysis is imported when it is needed (scipy takes most of a second); a
# backspace in a docstring keeps the lines of an example apart.
"""`dyno verify-claims`: whether the sentences that somebody made of numbers are true of these numbers."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dyno.cli import console
from dyno.cli.report import AsJson, RunsDir  # noqa: TC001 - typer reads annotations when it runs
from dyno.cli.sources import Source, results
from dyno.errors import DynoError
from dyno.record.run import RUNS

if TYPE_CHECKING:
    from dyno.findings.claim_file import ClaimFile
    from dyno.findings.claims import Verdict

ClaimsPath = Annotated[Path, typer.Argument(metavar="CLAIMS.toml", help="The claims (docs/CLAIMS.md).")]

EXIT_FALSE = 5
EXIT_NOT_DECIDABLE = 6
STYLES = {"true": "green", "false": "bold red", "not decidable": "yellow"}
WIDTH = max(map(len, STYLES))
ERRORS_SHOWN = 3


def verify_claims(
    claims: ClaimsPath,
    source: Source,
    allow_undecided: Annotated[
        bool, typer.Option("--allow-undecided", help="Exit with 0 when no claim is false.")
    ] = False,
    runs_dir: RunsDir = RUNS,
    as_json: AsJson = False,
) -> None:
    """Check claims against a run, or against published figures: true, false, or not decidable.

    A claims file says what must hold of which figures; docs/CLAIMS.md has all fields.

    \b
      format = "dyno-claims/1"
      title = "Release notes 11.8"
      source = "our web page"
      [[claim]]
      id = "faster-at-64"
      text = "11.8 is at least 5 % faster than 10.11 at 64 sessions"
      scope = { engine = "mariadb-11.8", load = 64 }
      against = { engine = "mariadb-10.11" }
      unit = "change_percent"
      comparator = ">="
      value = 5

    \b
      dyno verify-claims claims.toml latest
      dyno verify-claims datasets/claims-001.toml datasets/001-ecosystem.csv

    Exit codes for CI: 0 all true, 5 a claim is false, 6 none is false but one is not decidable.
    """
    from dyno.findings.claims import verify

    file = read_claims(claims)
    verdicts = verify(file, results(source, runs_dir))
    if as_json:
        console.print_json([verdict.as_dict() for verdict in verdicts])
    else:
        _print(file, verdicts)
    answers = {verdict.verdict for verdict in verdicts}
    if "false" in answers:
        raise typer.Exit(EXIT_FALSE)
    if "not decidable" in answers and not allow_undecided:
        raise typer.Exit(EXIT_NOT_DECIDABLE)


def read_claims(path: Path) -> ClaimFile:
    """Read a claims file.

    Raises:
        DynoError: It cannot be read, is no TOML, or is not a claims file.
    """
    from pydantic import ValidationError

    from dyno.findings.claim_file import ClaimFile

    hint = "docs/CLAIMS.md describes claims files; datasets/claims-001.toml is one"
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DynoError(f"cannot read claims from {path}: {error}", hint=hint) from None
    try:
        return ClaimFile.model_validate(written)
    except ValidationError as error:
        problems = [f"{_where(each['loc'], written)}: {each['msg']}" for each in error.errors()]
        rest = len(problems) - ERRORS_SHOWN
        more = f"; and {rest} more" if rest > 0 else ""
        raise DynoError(f"{path}: {'; '.join(problems[:ERRORS_SHOWN])}{more}", hint=hint) from None


def _where(location: tuple[int | str, ...], written: dict[str, object]) -> str:
    """A place in the file, its claims by their ids."""
    claims = written.get("claim")
    match location:
        case ("claim", int(number), *rest) if isinstance(claims, list) and number < len(claims):
            one = claims[number]
            name = one.get("id") if isinstance(one, dict) else None
            return ".".join([f"claim {name or number + 1}", *map(str, rest)])
        case _:
            return ".".join(map(str, location)) or "file"


def _print(file: ClaimFile, verdicts: list[Verdict]) -> None:
    console.out.print(f"{file.title} ({file.source})", style="bold", markup=False)
    for verdict in verdicts:
        console.out.print(f"{verdict.verdict:{WIDTH}}", style=STYLES[verdict.verdict], end="  ", markup=False)
        console.out.print(f"{verdict.id}: {verdict.text}", markup=False)
        single = "single runs, untested: " if verdict.strength == "untested" else ""
        for line in (f"{single}{verdict.found}" if verdict.found else "", verdict.why or ""):
            if line:
                console.out.print(f"{' ' * WIDTH}  {line}", style="dim", markup=False)
    counts = [f"{sum(v.verdict == answer for v in verdicts)} {answer}" for answer in STYLES]
    console.out.print(", ".join(counts), style="bold", markup=False)
