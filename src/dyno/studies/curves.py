"""Throughput over sessions of published tables, to fit scaling laws to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.errors import DynoError
from dyno.findings import fit_curve
from dyno.studies.datasets import read_rows

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.report.model import Scaling

NEEDED = {"sessions", "metric", "value"}
NOT_A_CONDITION = {"sessions", "metric", "unit", "value", "table"}
UNITS = {"buffer_pool_gib": " GiB", "cores": " cores"}
"""What to say behind the value of a column that is a bare number."""


def curves_of(path: Path) -> list[Scaling]:
    """One curve for each table and condition of a dataset: every row is a single run, n = 1.

    Raises:
        DynoError: The file cannot be read, has no throughput over sessions, or a value that is not a number.
    """
    rows = read_rows(path)
    if not rows or not NEEDED.issubset(rows[0]):
        raise DynoError(
            f"{path} has no throughput over sessions: columns {', '.join(sorted(NEEDED))} are needed",
            hint="000-power10.csv, 001-ecosystem.csv and 003-semisync.csv of datasets/ have them",
        )
    levels: dict[str, dict[float, list[float]]] = {}
    for row in rows:
        if row["metric"] != "throughput" or not row["value"]:
            continue
        try:
            sessions, value = float(row["sessions"]), float(row["value"])
        except ValueError as error:
            raise DynoError(f"{path}: {error}", hint="datasets/README.md describes the columns") from None
        levels.setdefault(_label(row), {}).setdefault(sessions, []).append(value)
    return [fit_curve(label, each) for label, each in levels.items()]


def _label(row: dict[str, str]) -> str:
    conditions = [
        f"{row[name]}{UNITS.get(name, '')}" for name in row if name not in NOT_A_CONDITION and row[name]
    ]
    table = [f"table {row['table']}"] if row.get("table") else []
    return ", ".join([*conditions, *table])
