# ruff: noqa: D301 - a backspace in a docstring keeps the lines of an example apart.
"""`dyno snapshots`: the built data that is kept between runs, and making room."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from dyno.cli import console
from dyno.engines.snapshot_use import prune as prune_store
from dyno.engines.snapshot_use import uses
from dyno.experiment.installed import snapshot_store
from dyno.plan.units import format_bytes, format_duration, parse_duration

if TYPE_CHECKING:
    from dyno.engines.snapshot_use import Use

SECONDS_PER_DAY = 86_400
COLUMNS = ("engine", "workload", "size", "last used", "state", "key")

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

app = typer.Typer(
    name="snapshots",
    help="The data directories that runs build once and restore before every trial.",
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def list_snapshots(context: typer.Context, as_json: AsJson = False) -> None:
    """List the kept data directories: engine, workload, size on disk, when a run last used them.

    A snapshot is kept under a hash of all that it was made from; a run that needs one which is gone builds it
    again.

    \b
      dyno snapshots                        what is kept, the longest unused first
      dyno snapshots prune                  remove what no run used for 30 days
      dyno snapshots prune --all            remove all but those in use
    """
    if context.invoked_subcommand is not None:
        return
    found = uses(snapshot_store())
    if as_json:
        console.print_json([_row(use) for use in found])
        return
    _print(found)
    total = format_bytes(sum(use.snapshot.disk_bytes for use in found))
    console.out.print(f"{len(found)} kept, {total} in {snapshot_store()}", markup=False)


@app.command("prune")
def prune(
    older_than: Annotated[
        str, typer.Option(metavar="TIME", help="Only what no run used for so long: 12h, 30d, …")
    ] = "30d",
    every: Annotated[bool, typer.Option("--all", help="All, however recently used.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove snapshots and say what it freed. One that a living run holds stays, whatever is asked."""
    removed = prune_store(snapshot_store(), unused_s=0.0 if every else _seconds(older_than))
    left = uses(snapshot_store())
    freed = sum(use.snapshot.disk_bytes for use in removed)
    if as_json:
        rows = {"removed": [_row(use) for use in removed], "left": [_row(use) for use in left]}
        console.print_json({"freed_bytes": freed, **rows})
        return
    if removed:
        _print(removed)
    console.out.print(f"removed {len(removed)}, freed {format_bytes(freed)}; {len(left)} left", markup=False)
    held = sum(use.in_use for use in left)
    if held:
        console.warn(f"{held} of them are in use and stay", hint="end the runs that use them first")


def _seconds(text: str) -> float:
    """Seconds of a duration of the plan's units or of days."""
    try:
        if text.endswith("d"):
            return float(text[:-1]) * SECONDS_PER_DAY
        return parse_duration(text)
    except ValueError:
        raise typer.BadParameter(f"--older-than {text!r}: a time such as 12h or 30d is needed") from None


def _row(use: Use) -> dict[str, Any]:
    snapshot = use.snapshot
    return {
        "key": snapshot.key,
        "engine": snapshot.about.get("engine"),
        "workload": snapshot.about.get("workload"),
        "path": str(snapshot.path),
        "size_bytes": snapshot.size_bytes,
        "disk_bytes": snapshot.disk_bytes,
        "created": _moment(snapshot.created),
        "used": _moment(use.used),
        "in_use": use.in_use,
    }


def _moment(epoch_s: float) -> str:
    return datetime.fromtimestamp(epoch_s, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _print(found: list[Use]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in COLUMNS:
        table.add_column(heading, overflow="fold")
    for use in found:
        row = _row(use)
        table.add_row(
            row["engine"] or "–",
            row["workload"] or "–",
            format_bytes(row["disk_bytes"]),
            f"{format_duration(max(time.time() - use.used, 0))} ago",
            "in use" if use.in_use else "free",
            row["key"],
        )
    console.out.print(table)
