"""Settings fairness: which differences between the engines matter for the workloads of a run, and why."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from dyno.findings.knowledge import (
    ANYTHING,
    COMPLEX,
    CONNECTS,
    OFF,
    REDO_CAPACITY,
    REPLICATES,
    SORTS,
    TLS,
    WRITES,
    knowledge_of,
    rank,
)
from dyno.findings.words import joined
from dyno.report.model import SettingRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dyno.findings.knowledge import Knowledge

_EVERYTHING = frozenset({WRITES, SORTS, COMPLEX, CONNECTS, REPLICATES, TLS})

_TRAITS: tuple[tuple[str, frozenset[str]], ...] = (
    ("*read_only*", frozenset({SORTS})),
    ("ro-*", frozenset({SORTS})),
    ("*point_select*", frozenset()),
    ("select*", frozenset()),
    ("oltp_read_write", frozenset({WRITES, SORTS})),
    ("rw-*", frozenset({WRITES, SORTS})),
    ("oltp_*", frozenset({WRITES})),
    ("bulk_insert", frozenset({WRITES})),
    ("update_*", frozenset({WRITES})),
    ("tp?c*", frozenset({WRITES, SORTS})),
    ("tproc*", frozenset({WRITES, SORTS})),
)
"""What workloads do, by their names: the first pattern that matches. What none matches may do anything."""

WEIGHTS = ("matters", "unknown", "cosmetic")
"""Weights of a difference, the gravest first."""

# A redo capacity that nobody set, and what the two older variables give when nobody set them.
_CAPACITY_DEFAULT = 100 * 2**20
_FILES_DEFAULT = 2 * 48 * 2**20


def traits_of(workload: str) -> frozenset[str]:
    """What a workload does that settings matter for, by its name; everything where the name is not known."""
    return next((traits for name, traits in _TRAITS if fnmatchcase(workload, name)), _EVERYTHING)


def weigh_settings(rows: Sequence[SettingRow], workloads: Sequence[str]) -> list[SettingRow]:
    """The rows, each difference with its weight and reason, and a row of redo capacity for each settings set.

    Args:
        rows: One a variable and settings set.
        workloads: Names of the workloads of the run; a difference matters if it does for one of them.
    """
    weighed = []
    for settings in dict.fromkeys(row.settings for row in rows):
        group = [row for row in rows if row.settings == settings]
        group += _redo_capacity(settings, group)
        gates = {row.variable: row.effective for row in group}
        weighed += sorted((_weighed(row, workloads, gates) for row in group), key=_place)
    return weighed


def _place(row: SettingRow) -> tuple[bool, bool, int, int, str]:
    """What was asked first, then what differs, the gravest first."""
    weight = WEIGHTS.index(row.weight) if row.weight else len(WEIGHTS)
    return row.logical is None, not row.differs, weight, rank(row.variable), row.variable


def by_weight(rows: Sequence[SettingRow]) -> list[SettingRow]:
    """Rows that matter, the ones a reader should hear of first in front."""
    return sorted((row for row in rows if row.weight == "matters"), key=lambda row: rank(row.variable))


def _weighed(
    row: SettingRow, workloads: Sequence[str], gates: Mapping[str, Mapping[str, str | None]]
) -> SettingRow:
    if not row.differs:
        return row
    found = knowledge_of(row.variable)
    if found is None:
        reason = "Dyno does not know what it does"
        return row.model_copy(update={"weight": "unknown", "reason": reason})
    idle = _without_effect(row, found, gates)
    doing = [name for name in workloads if found.needs in {ANYTHING, *traits_of(name)}]
    if idle or not doing:
        reason = idle or found.reason
        if not idle and found.needs:
            verb = "is" if len(workloads) == 1 else "are"
            reason += f"; matters to what {found.needs}, which {joined(workloads)} {verb} not known to do"
        return row.model_copy(update={"weight": "cosmetic", "reason": reason})
    only = f" ({joined(doing)})" if len(doing) < len(workloads) else ""
    return row.model_copy(update={"weight": "matters", "reason": found.reason + only})


def _without_effect(
    row: SettingRow, found: Knowledge, gates: Mapping[str, Mapping[str, str | None]]
) -> str | None:
    """Why these values do the same after all, or None."""
    values = {engine: value for engine, value in row.effective.items() if value is not None}
    if found.gate and found.gate != row.variable:
        gate = gates.get(found.gate, {})
        values = {engine: value for engine, value in values.items() if _is_on(gate.get(engine))}
        if len(set(values.values())) < 2:  # noqa: PLR2004 - one value is no difference
            return f"{found.reason}; where {found.gate} is on, the engines have the same value"
    if found.alike and {value.upper() for value in values.values()} <= found.alike:
        return f"{found.reason}, but these values do the same"
    return None


def _is_on(value: str | None) -> bool:
    return value is not None and value.strip().upper() not in OFF


def _redo_capacity(settings: str, rows: Sequence[SettingRow]) -> list[SettingRow]:
    """Bytes that the redo log of each engine holds; no row where no engine says.

    MySQL from 8.0.30 on has innodb_redo_log_capacity, and where only the two older variables were set it
    goes by their product. MariaDB from 10.6 on has one file, whatever number of files it was asked for.
    """
    found = {row.variable: row for row in rows}
    parts = [found.get(f"innodb_{name}") for name in ("redo_log_capacity", "log_file_size")]
    files = found.get("innodb_log_files_in_group")
    engines = next((row.effective for row in parts if row), {})
    effective: dict[str, str | None] = {}
    for engine in engines:
        capacity, size = (_bytes(row, engine) for row in parts)
        product = None if size is None else size * (_bytes(files, engine) or 1)
        by_files = capacity is None or (
            capacity == _CAPACITY_DEFAULT and product not in (None, _FILES_DEFAULT)
        )
        known = product if by_files else capacity
        effective[engine] = None if known is None else str(known)
    values = {value for value in effective.values() if value is not None}
    if not values:
        return []
    return [
        SettingRow(
            settings=settings,
            variable=REDO_CAPACITY,
            logical=None,
            requested=dict.fromkeys(effective),
            effective=effective,
            differs=len(values) > 1,
        )
    ]


def _bytes(row: SettingRow | None, engine: str) -> int | None:
    value = row.effective.get(engine) if row else None
    return int(value) if value and value.isdigit() else None
