"""`dyno doctor`: what in this host would spoil a measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from dyno.cli import console
from dyno.engines import cache_root
from dyno.errors import DynoError
from dyno.experiment.rig import Rig, find_rig
from dyno.hosts.ceiling import Ceiling, known_ceiling
from dyno.hosts.doctor import Check, examine
from dyno.hosts.facts import HostFacts, host_facts
from dyno.hosts.placement import place

if TYPE_CHECKING:
    from pathlib import Path

STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print checks and host facts as JSON.")] = False,
) -> None:
    """Say what in this host would spoil a measurement, and what to do about it.

    Each check ends in ok, warn (numbers will be noisier) or fail (a run will break or mean little). With a
    fail the exit code is 1.
    """
    where = cache_root()
    facts = host_facts(where)
    checks = examine(where, ceiling=_ceiling(where, facts))
    if as_json:
        console.print_json({"host": facts.as_dict(), "checks": [check.as_dict() for check in checks]})
    else:
        model = facts.cpu_model or "unknown CPU"
        console.out.print(
            f"{facts.hostname}: {model}, {facts.cpus} CPUs, {facts.memory_bytes / 2**30:.1f} GiB, {facts.os}",
            markup=False,
        )
        console.out.print(_table(checks))
    if any(check.verdict == "fail" for check in checks):
        raise typer.Exit(1)


def _ceiling(cache: Path, facts: HostFacts) -> Ceiling | None:
    """The ceiling of the rig that is here, where there is one."""
    try:
        version = Rig(find_rig()).version()
    except DynoError:
        return None
    return known_ceiling(cache, facts, version, place().rig_cpus)


def _table(checks: list[Check]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        text = escape(check.text) + (f"\n[cyan]hint:[/] {escape(check.hint)}" if check.hint else "")
        table.add_row(f"[{STYLES[check.verdict]}]{check.verdict}[/]", check.check, text)
    return table
