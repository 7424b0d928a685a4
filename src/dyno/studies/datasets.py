"""The published figures of `datasets/`: where they lie, and their tables in their documents' own form."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import dyno
from dyno.errors import DynoError
from dyno.studies import ecosystem, hammerdb, power10, semisync, xtradb

if TYPE_CHECKING:
    from collections.abc import Callable

    from dyno.report.model import Table
    from dyno.studies.run import StudiedRun

Row = dict[str, str]

STUDIES = {
    "000": "000-power10.csv",
    "001": "001-ecosystem.csv",
    "002": "002-hammerdb.csv",
    "003": "003-semisync.csv",
    "004": "004-xtradb.csv",
}
"""Study → its file of figures."""

OF_RUN: dict[str, Callable[[StudiedRun], list[Table]]] = {
    "000": power10.of_run,
    "001": ecosystem.of_run,
    "002": hammerdb.of_run,
    "003": semisync.of_run,
    "004": xtradb.of_run,
}
"""Study → a run's tables in its form."""

_FORMS: tuple[tuple[set[str], Callable[[list[Row]], list[Table]]], ...] = (
    ({"table", "workload", "platform", "cores", "sessions", "value"}, power10.of_rows),
    ({"scenario", "buffer_pool_gib", "engine", "sessions", "value"}, ecosystem.of_rows),
    ({"engine", "host", "virtual_users", "metric", "value"}, hammerdb.of_rows),
    ({"workload", "engine", "sessions", "metric", "unit", "value"}, semisync.of_rows),
    ({"comparison", "numerator", "denominator", "approximate_ratio"}, xtradb.of_rows),
)
"""Columns that tell a file of figures → its form."""


def dataset(study: str) -> Path:
    """The file of a study's published figures, of the installed package or of the checkout.

    Raises:
        DynoError: There is no such study, or its file is not there.
    """
    if study not in STUDIES:
        raise DynoError(f"there is no study {study!r}", hint=f"studies: {', '.join(STUDIES)}")
    package = Path(dyno.__file__).parent
    for folder in (package / "datasets", package.parents[1] / "datasets"):
        if (folder / STUDIES[study]).is_file():
            return folder / STUDIES[study]
    raise DynoError(
        f"the published figures of study {study} are not installed",
        hint=f"name the file: `dyno tables path/to/{STUDIES[study]}`",
    )


def read_rows(path: Path) -> list[Row]:
    """The rows of a file of figures.

    Raises:
        DynoError: The file cannot be read as CSV.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DynoError(f"cannot read {path}: {error}", hint="name a run or a file of datasets/") from None


def tables_of(path: Path) -> list[Table]:
    """The tables of one dataset, told by its columns.

    Raises:
        DynoError: The file cannot be read, is no dataset, or has a value that is not a number.
    """
    rows = read_rows(path)
    columns = set(rows[0]) if rows else set()
    try:
        for needed, make in _FORMS:
            if needed <= columns:
                return make(rows)
    except (ValueError, TypeError) as error:
        raise DynoError(f"{path}: {error}", hint="datasets/README.md describes the columns") from None
    raise DynoError(
        f"{path} is no dataset that has tables: its columns are {', '.join(sorted(columns)) or 'none'}",
        hint=f"{', '.join(STUDIES.values())} of datasets/ have tables",
    )
