"""`settings/<engine>--<settings>.json` of an imported run: what lay beside its logs about the servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dyno.record.importers.layouts import readable
from dyno.record.importers.server import check_settings, parse_cnf, parse_variables
from dyno.record.layout import write_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from dyno.record.importers.collect import Beside
    from dyno.record.layout import RunLayout

SESSIONS = "sessions"


def write_settings(run: RunLayout, engine: str, settings: str, beside: Iterable[Beside]) -> list[Path]:
    """Write what one engine was asked for and what it said of itself; returns the files not used.

    Files that hold for all load levels come before those of one; of several of a kind the first counts.
    """
    chosen: dict[str, Beside] = {}
    unused: list[Path] = []
    files = {each.path: each for each in beside if each.format.role == "settings"}
    for each in sorted(files.values(), key=lambda each: (SESSIONS in each.fields, each.path)):
        if each.format.name not in chosen:
            chosen[each.format.name] = each
        elif SESSIONS not in each.fields:
            unused.append(each.path)
    if not chosen:
        return []
    requested = _read(chosen.get("cnf"))
    effective = _read(chosen.get("variables"))
    content: dict[str, Any] = {
        "format": "dyno-settings/1",
        "engine": engine,
        "settings": settings,
        "requested": {},
        "arguments": [],
        "checks": check_settings(requested, effective) if effective else [],
        "effective": effective,
        "status": _read(chosen.get("status")),
        "sources": {name: readable(each.path.name) for name, each in sorted(chosen.items())},
    }
    write_json(run.settings(engine, settings), content)
    return unused


def write_trial_files(folder: Path, beside: Iterable[Beside]) -> None:
    """SHOW VARIABLES and SHOW STATUS that were saved for one load level alone, in its trial's folder."""
    for each in beside:
        if each.format.name in {"variables", "status"} and SESSIONS in each.fields:
            write_json(folder / f"{each.format.name}.json", _read(each))


def _read(file: Beside | None) -> dict[str, str]:
    if file is None:
        return {}
    with file.path.open(encoding="utf-8", errors="replace") as lines:
        return parse_cnf(lines) if file.format.name == "cnf" else parse_variables(lines)
