"""The settings each engine really ran with, side by side."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from dyno.report.model import SettingRow

if TYPE_CHECKING:
    from dyno.record.manifest import Scalar, SettingCheck, SettingsFile

_DECIMAL = re.compile(r"-?\d+(\.\d+)?")
# What a server is called and what it was built from: it differs by nature and says nothing of how it was set.
_NAMES = re.compile(r"hostname|(mysqlx_|report_)?port|pseudo_thread_id|server_uu?id|timestamp|version(_.*)?")
# What only matters to an encrypted connection.
_TLS = re.compile(r"(admin_|mysqlx_)?(tls|ssl)_.*|have_(open)?ssl")
_SAME = {"ON": "1", "YES": "1", "TRUE": "1", "OFF": "0", "NO": "0", "FALSE": "0"}


def setting_rows(files: list[SettingsFile]) -> list[SettingRow]:
    """One row a variable and settings set: those that Dyno set first, then those that differ."""
    rows = []
    for settings in dict.fromkeys(file.settings for file in files):
        group = [file for file in files if file.settings == settings]
        checks = {(file.engine, check.variable): check for file in group for check in file.checks}
        variables = {name for file in group for name in file.effective} | {name for _, name in checks}
        variables -= _idle_instrumentation(group)
        tls_off = all(_without_tls(file) for file in group)
        found = [_row(settings, variable, group, checks) for variable in variables]
        rows += [_idle(row) if tls_off and _TLS.fullmatch(row.variable) else row for row in found]
    return sorted(rows, key=lambda r: (r.settings, r.logical is None, not r.differs, r.variable))


def _idle_instrumentation(files: list[SettingsFile]) -> set[str]:
    """The sizes of a performance_schema that is off in every engine: they set nothing."""
    if any(_normal(str(file.effective.get("performance_schema", "ON"))) != "0" for file in files):
        return set()
    return {name for file in files for name in file.effective if name.startswith("performance_schema_")}


def _without_tls(file: SettingsFile) -> bool:
    """Whether a server takes no encrypted connection, in the words of its family."""
    if _text(file.effective.get("have_ssl")) in {"DISABLED", "NO"}:
        return True
    return file.effective.get("tls_version") == ""


def _idle(row: SettingRow) -> SettingRow:
    """A difference between servers that all have TLS off: MariaDB lists versions that it offers nobody."""
    idle = "TLS is off on every server" if row.differs else None
    return row.model_copy(update={"differs": False, "idle": idle})


def _row(
    settings: str, variable: str, files: list[SettingsFile], checks: dict[tuple[str, str], SettingCheck]
) -> SettingRow:
    own = {file.engine: checks.get((file.engine, variable)) for file in files}
    effective: dict[str, str | None] = {}
    for file in files:
        check = own[file.engine]
        effective[file.engine] = _text(file.effective.get(variable, check.effective if check else None))
    present = {_normal(value) for value in effective.values() if value is not None}
    logical = next((check.logical or "set by Dyno" for check in own.values() if check), None)
    return SettingRow(
        settings=settings,
        variable=variable,
        logical=logical,
        requested={engine: _text(check.requested) if check else None for engine, check in own.items()},
        effective=effective,
        differs=len(present) > 1 and not _is_place(variable, effective),
        ignored=[
            engine for engine, check in own.items() if check and check.verdict in {"ignored", "adjusted"}
        ],
    )


def _is_place(variable: str, effective: dict[str, str | None]) -> bool:
    """Whether a variable says where the server lives or what it is called: names, ports, absolute paths."""
    values = [value for value in effective.values() if value]
    return _NAMES.fullmatch(variable) is not None or all(value.startswith("/") for value in values)


def _text(value: Scalar) -> str | None:
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    return None if value is None else str(value)


def _normal(value: str) -> str:
    """A value such that spellings of the same (ON and 1, 90 and 90.000000) compare equal."""
    upper = value.strip().upper()
    if _DECIMAL.fullmatch(upper):
        return str(Decimal(upper).normalize())
    return _SAME.get(upper, upper)


def not_taken(file: SettingsFile) -> list[str]:
    """What the server did not take as asked, a sentence each."""
    texts = []
    for check in file.checks:
        accepted = ", which the plan accepts" if check.accepted else ""
        if check.verdict in {"ignored", "adjusted"}:
            texts.append(
                f"{check.variable}: asked {check.requested}, the server reports {check.effective}{accepted}"
            )
        elif check.verdict == "unknown":
            texts.append(
                f"{check.variable}: asked {check.requested}, the server does not report it{accepted}"
            )
    return texts
