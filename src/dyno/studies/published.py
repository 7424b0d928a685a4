"""Published figures as results that findings and claims understand: one trial a cell, nothing tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.errors import DynoError
from dyno.findings.names import Names
from dyno.findings.results import Results
from dyno.report.model import Cell, Engine, Load
from dyno.studies.datasets import read_rows
from dyno.studies.ecosystem import FAMILIES, GIB, engine_id

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = {"scenario", "buffer_pool_gib", "engine", "sessions", "metric", "value"}


def published_results(path: Path) -> Results:
    """The figures of 001-ecosystem.csv, or of a file with its columns, by the ids of an imported run.

    Raises:
        DynoError: The file cannot be read, has other columns, or a value that is not a number.
    """
    rows = read_rows(path)
    columns = set(rows[0]) if rows else set()
    if not columns >= COLUMNS:
        lacking = ", ".join(sorted(COLUMNS - columns))
        raise DynoError(
            f"{path} does not have the columns {lacking}",
            hint="001-ecosystem.csv of datasets/ has them; a run needs none",
        )
    try:
        # Later tables of the document restate figures of earlier ones.
        cells = {cell.id: cell for cell in map(_cell, rows)}
        tiers = sorted({int(row["buffer_pool_gib"]) for row in rows}, reverse=True)
        sessions = sorted({int(row["sessions"]) for row in rows})
    except (ValueError, TypeError) as error:
        raise DynoError(f"{path}: {error}", hint="datasets/README.md describes the columns") from None
    engines = [_engine(name) for name in dict.fromkeys(row["engine"] for row in rows)]
    loads = [Load(id=f"s{n}", kind="closed", label=f"{n} session{'s' * (n != 1)}", x=n) for n in sessions]
    settings, workloads = [f"{tier}gib" for tier in tiers], dict.fromkeys(row["scenario"] for row in rows)
    names = Names(
        engines={each.id: each.label for each in engines},
        settings={each: each for each in settings},
        workloads={each: each for each in workloads},
        loads={each.id: each.label for each in loads},
    )
    pools = {f"{tier}gib": tier * GIB for tier in tiers}
    return Results(list(cells.values()), loads, engines, pools, names)


def _engine(name: str) -> Engine:
    identity = engine_id(name)
    family, _, version = identity.partition("-")
    known = {"id": identity, "label": name, "family": family if family in FAMILIES else identity}
    told = {"version": version, "server_version": None, "source": "published", "content_sha256": None}
    return Engine.model_validate(known | told)


def _cell(row: dict[str, str]) -> Cell:
    place = (engine_id(row["engine"]), f"{row['buffer_pool_gib']}gib", row["scenario"], f"s{row['sessions']}")
    name = "~".join(place)
    value = float(row["value"]) if row["value"] else None
    trial = {"id": f"{name}-published", "block": 1, "throughput_per_s": value}
    return Cell.model_validate(
        {
            "id": name,
            **dict(zip(("engine", "settings", "workload", "load"), place, strict=True)),
            "status": "failed" if value is None else "ok",
            "throughput_per_s": value and {"value": value, "n": 1, "method": "as published"},
            "trials": [trial | {"status": "missing" if value is None else "ok"}],
        }
    )
