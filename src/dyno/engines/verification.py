"""Read every setting back from the running server: what was asked is not always what is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import pymysql

from dyno.engines.settings import parse_size
from dyno.errors import DynoError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pymysql.connections import Connection
    from pymysql.cursors import Cursor

    from dyno.engines.translation import Assignment

Verdict = Literal["equal", "adjusted", "ignored", "unknown"]

BUFFER_POOL = "innodb_buffer_pool_size"

_BOUND_BY_OPEN_FILES = {"max_connections", "table_open_cache", "table_open_cache_instances"}
_TRUTH = {"on": "1", "true": "1", "yes": "1", "off": "0", "false": "0", "no": "0"}
_LISTS = {"sql_mode", "tls_version", "optimizer_switch", "character_set_collations"}


@dataclass(frozen=True)
class SettingCheck:
    """One variable, asked for and read back (a row of the settings file in docs/FORMAT.md).

    Attributes:
        variable: Name as in SHOW GLOBAL VARIABLES.
        requested: What the server was asked to report.
        effective: What it reports, or None when it knows no such variable.
        verdict: `equal`; `adjusted`: another value than asked and than its built-in default (clamped,
        rounded);
            `ignored`: taken on the command line without effect; `unknown`: no such variable.
        accepted: The caller accepts that it differs.
    """

    variable: str
    requested: str
    effective: str | None
    verdict: Verdict
    accepted: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The row as it is written to the settings file."""
        return asdict(self)


def global_variables(connection: Connection[Cursor]) -> dict[str, str]:
    """SHOW GLOBAL VARIABLES as a dict of texts."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        return {str(name): "" if value is None else str(value) for name, value in cursor.fetchall()}


def verify(
    connection: Connection[Cursor],
    assignments: Iterable[Assignment],
    *,
    accept: Collection[str] = (),
    error_log: str = "",
) -> list[SettingCheck]:
    """Compare every assignment with what the server reports, in the order of the assignments.

    Args:
        connection: To the running server, with the right to read global variables.
        assignments: What it was started with.
        accept: Variables (or `Settings` fields) that may differ; the buffer pool never may.
        error_log: The server's error log of this start, which tells a removed variable from an unknown one.
    """
    return compare(
        assignments, global_variables(connection), _built_in_values(connection), accept, error_log=error_log
    )


def compare(
    assignments: Iterable[Assignment],
    effective: Mapping[str, str],
    built_in: Mapping[str, str],
    accept: Collection[str] = (),
    *,
    error_log: str = "",
) -> list[SettingCheck]:
    """`verify` without a server: from what it reports (`effective`) and would report unasked (`built_in`)."""
    return [_check(assignment, effective, built_in, accept, error_log) for assignment in assignments]


def require_verified(checks: Sequence[SettingCheck]) -> None:
    """Raise for the first difference that is not accepted, the buffer pool before all others.

    Raises:
        DynoError: Names the variable, what was asked and what the server reports.
    """
    different = [check for check in checks if check.verdict != "equal" and not check.accepted]
    if not different:
        return
    worst = min(different, key=lambda check: check.variable != BUFFER_POOL)
    others = len(different) - 1
    more = f" (and {others} more)" if others else ""
    hint = f'give a value that this server keeps, or accept the difference: accept = ["{worst.variable}"]'
    if worst.variable in _BOUND_BY_OPEN_FILES:
        hint = f'raise the limit of open files (ulimit -n), lower the value, or accept = ["{worst.variable}"]'
    if worst.variable == BUFFER_POOL:
        hint = "choose a size that this server and this machine's memory can give"
    raise DynoError(describe(worst) + more, hint=hint)


def describe(check: SettingCheck) -> str:
    """One check in words: `sync_binlog: asked 1, the server reports 0 (ignored)`."""
    if check.effective is None:
        return f"{check.variable}: asked {check.requested}, the server has no such variable ({check.verdict})"
    return (
        f"{check.variable}: asked {check.requested}, the server reports {check.effective} ({check.verdict})"
    )


def same_value(variable: str, one: str, other: str) -> bool:
    """Whether two spellings mean one value: `256M` and `268435456`, `ON` and `1`, `10` and `10.000000`."""
    if variable in _LISTS:
        return _items(one) == _items(other)
    return _canonical(one) == _canonical(other)


def _items(text: str) -> set[str]:
    return {item.strip().casefold() for item in text.split(",") if item.strip()}


def _canonical(text: str) -> str | float:
    folded = text.strip().casefold()
    folded = _TRUTH.get(folded, folded)
    try:
        return float(folded)
    except ValueError:
        pass
    try:
        return float(parse_size(folded))
    except ValueError:
        return folded


def _check(
    assignment: Assignment,
    effective: Mapping[str, str],
    built_in: Mapping[str, str],
    accept: Collection[str],
    error_log: str,
) -> SettingCheck:
    variable = assignment.variable.removeprefix("loose_")
    found = effective.get(variable)
    verdict: Verdict
    if found is None:
        verdict = "ignored" if _mentioned(variable, error_log) else "unknown"
    elif same_value(variable, assignment.value, found):
        verdict = "equal"
    elif variable in built_in and same_value(variable, built_in[variable], found):
        verdict = "ignored"
    else:
        verdict = "adjusted"
    agreed = variable in accept or assignment.logical in accept
    accepted = verdict != "equal" and agreed and variable != BUFFER_POOL
    return SettingCheck(variable, assignment.value, found, verdict, accepted)


def _mentioned(variable: str, error_log: str) -> bool:
    return variable in error_log or variable.replace("_", "-") in error_log


def _built_in_values(connection: Connection[Cursor]) -> dict[str, str]:
    """Compiled-in values where the server tells them: by table in MariaDB, by source in MySQL; else empty."""
    of_mariadb = "SELECT LOWER(VARIABLE_NAME), DEFAULT_VALUE FROM information_schema.SYSTEM_VARIABLES"
    of_mysql = (
        "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.variables_info"
        " JOIN performance_schema.global_variables USING (VARIABLE_NAME) WHERE VARIABLE_SOURCE = 'COMPILED'"
    )
    for query in (of_mariadb, of_mysql):
        try:
            with connection.cursor() as cursor:
                cursor.execute(query)
                return {str(name): str(value) for name, value in cursor.fetchall() if value is not None}
        except pymysql.MySQLError:
            continue
    return {}
