# ruff: noqa: PLC0415, D301 - commands import what they need when they run; a backspace in a docstring keeps the
# lines of an example apart.
"""`dyno audit`: whether a server keeps what it promises."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

from dyno.cli import console
from dyno.cli.bench import Pairs, named_values
from dyno.errors import DynoError

if TYPE_CHECKING:
    from dyno.experiment.durability import Audit
    from dyno.report.model import Finding

AUDITS = Path("audits")

app = typer.Typer(no_args_is_help=True, help="Find out whether a server keeps what it promises.")


@app.callback()
def _audits() -> None:
    """Room for more than one audit."""


@app.command("durability")
def durability(  # noqa: PLR0917 (typer passes options by name)
    engine: Annotated[str, typer.Option(help="An engine of the catalog.")] = "mariadb@10.11",
    level: Annotated[
        str,
        typer.Option("--durability", help="The logical setting: full, relaxed or none (docs/SETTINGS.md)."),
    ] = "full",
    rounds: Annotated[int, typer.Option(min=1, help="How often the server is killed.")] = 3,
    seconds: Annotated[float, typer.Option(min=0.5, help="The latest moment of a kill under load.")] = 5.0,
    sessions: Annotated[int, typer.Option(min=1, help="Sessions of the load.")] = 8,
    warehouses: Annotated[int, typer.Option(min=1, help="Warehouses of the data.")] = 1,
    option: Pairs = [],  # noqa: B006 (typer copies it)
    seed: Annotated[int, typer.Option(min=0, help="Of data, load and the moments of the kills.")] = 1,
    output: Annotated[Path, typer.Option(help="Folder of all audits.", show_default=True)] = AUDITS,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")] = False,
) -> None:
    """Kill a server under load, restart it, and look for every transaction that it had acknowledged.

    The load is TPC-C-derived. The client writes down each New-Order and Payment as it is acknowledged,
    outside the server. After each SIGKILL at a random moment and the restart, every one of them must be in
    the data, and all consistency conditions must hold: no half transaction. Logs, checks and result are kept.

    The exit code is 1 when a half transaction was found, or when one was lost with durability full.

    \b
      dyno audit durability --engine mysql@9.7 --rounds 5
      dyno audit durability --durability none          show what relaxed settings lose
    """
    from dyno.engines import find
    from dyno.experiment.durability import Auditor, AuditRequest, Durability
    from dyno.findings.durability import LIMITS_OF_A_KILL
    from dyno.record.layout import write_json

    if level not in get_args(Durability):
        raise typer.BadParameter(f"--durability {level!r}: one of {', '.join(get_args(Durability))}")
    request = AuditRequest(
        engine=find(engine).name,
        durability=cast("Durability", level),
        rounds=rounds,
        seconds=seconds,
        sessions=sessions,
        warehouses=warehouses,
        options=named_values("-o", option),
        seed=seed,
    )
    folder = _new_folder(output, f"durability-{engine.replace('@', '-')}-{level}")
    audit = Auditor(request, folder, lambda text: console.err.print(text, markup=False)).run()
    finding = _finding(audit)
    result = _result(audit, finding, LIMITS_OF_A_KILL)
    write_json(folder / "audit.json", result)
    if as_json:
        console.print_json({**result, "folder": str(folder)})
    else:
        _show(audit, finding, LIMITS_OF_A_KILL)
        console.out.print(f"kept in {folder}", markup=False)
    if any(each.half for each in audit.rounds) or (level == "full" and finding.strength == "caution"):
        raise typer.Exit(1)


def _new_folder(parent: Path, name: str) -> Path:
    """A new folder for one audit."""
    folder = parent / f"{datetime.now(UTC).strftime('%Y%m%d-%H%M%S')}-{name}"
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise DynoError(
            f"cannot make {folder}: {error.strerror}", hint="--output names another place"
        ) from None
    return folder.absolute()


def _finding(audit: Audit) -> Finding:
    from dyno.findings.durability import Kill, find_durability

    kills = [
        Kill(each.acknowledged.total, each.loss.total, half=each.half is not None) for each in audit.rounds
    ]
    return find_durability(audit.request.engine, audit.request.durability, kills)


def _result(audit: Audit, finding: Finding, limits: str) -> dict[str, Any]:
    """`audit.json`."""
    return {
        "format": "dyno-audit/1",
        "request": vars(audit.request),
        "server_version": audit.server_version,
        "variables": audit.variables,
        "finding": finding.model_dump(mode="json"),
        "limits": limits,
        "rounds": [each.as_dict() for each in audit.rounds],
    }


def _show(audit: Audit, finding: Finding, limits: str) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("Round", "Killed after", "New-Orders", "Payments", "Lost", "Beyond", "Restart"):
        table.add_column(heading, justify="right")
    table.add_column("Half transactions")
    for each in audit.rounds:
        table.add_row(
            str(each.number),
            f"{each.killed_after_s:.2f} s",
            f"{len(each.acknowledged.orders):,}",
            f"{each.acknowledged.payments.total():,}",
            f"{each.loss.total:,}",
            f"{each.loss.unacknowledged:,}",
            f"{each.recovery_s:.1f} s",
            each.half or "none",
        )
    console.out.print(table)
    shown = ", ".join(f"{name} = {value}" for name, value in audit.variables.items())
    console.out.print(f"{audit.server_version}: {shown}", style="dim", markup=False)
    for each in audit.rounds:
        for example in each.loss.examples()[:3]:
            console.out.print(f"  lost in round {each.number}: {example}", markup=False)
    console.out.print(finding.sentence, style="yellow" if finding.strength == "caution" else "", markup=False)
    console.out.print(limits, style="dim", markup=False)
