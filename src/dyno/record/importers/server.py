"""What was asked of a server and what it said of itself: my.cnf, SHOW VARIABLES, SHOW GLOBAL STATUS."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Verdict = Literal["equal", "adjusted", "unknown"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]{0,127}")
_ROW_NAME = re.compile(r"\s*Variable_name:\s*(\S.*)", re.IGNORECASE)
_ROW_VALUE = re.compile(r"\s*(?:Variable_)?value:\s?(.*)", re.IGNORECASE)
_SECTION = re.compile(r"\[([^\]]{1,64})\]")
_SERVER_SECTION = re.compile(r"(?i)(mysqld|mariadbd?|server|galera)([-.\d]*)")
_PREFIX = re.compile(r"^(?:loose|maximum)_")
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)([kmgtpe]?)b?")
_TRUTH = {"on": "1", "yes": "1", "true": "1", "off": "0", "no": "0", "false": "0"}
_SECRET = re.compile(r"(?i)password|passwd|secret")
# A file name in my.cnf, on or off in SHOW VARIABLES.
_NAMED_SWITCHES = frozenset({"log_bin", "general_log", "slow_query_log", "log_error", "relay_log"})


def parse_variables(lines: Iterable[str]) -> dict[str, str]:
    """Names and values of SHOW VARIABLES or SHOW STATUS: with tabs, as a boxed table, or a row a line."""
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        text = line.rstrip("\r\n")
        if row := _ROW_NAME.fullmatch(text):
            name = row[1].strip()
        elif name and (row := _ROW_VALUE.fullmatch(text)):
            found[name], name = row[1], ""
        else:
            key, value = _pair(text)
            if _NAME.fullmatch(key) and key.lower() != "variable_name":
                found[key] = value
    return {name: value for name, value in found.items() if not _SECRET.search(name) or not value}


def _pair(text: str) -> tuple[str, str]:
    if "\t" in text:
        key, _, value = text.partition("\t")
        return key, value
    if text.startswith("|"):
        key, _, value = text.strip("|").partition("|")
        return key.strip(), value.strip()
    return "", ""


def parse_cnf(lines: Iterable[str]) -> dict[str, str]:
    """The server's options of an option file, by their variables' names; the last of a name wins.

    Only sections that a server reads count. An option without a value is `ON`; `skip-name` of no variable
    `skip_name` is left as it is written.
    """
    found: dict[str, str] = {}
    counts = False
    for line in lines:
        text = line.strip()
        if section := _SECTION.match(text):
            counts = _SERVER_SECTION.fullmatch(section[1].strip()) is not None
            continue
        if not counts or not text or text[0] in "#;!":
            continue
        key, equals, value = text.partition("=")
        name = _PREFIX.sub("", key.strip().lower().replace("-", "_"))
        if _NAME.fullmatch(name) and not _SECRET.search(name):
            found[name] = _unquoted(value.strip()) if equals else "ON"
    return found


def _unquoted(value: str) -> str:
    """A value without its quotes, or without the comment after it."""
    if value[:1] in {'"', "'"} and (end := value.find(value[0], 1)) > 0:
        return value[1:end]
    return re.split(r"\s#", value, maxsplit=1)[0].strip()


def check_settings(requested: Mapping[str, str], effective: Mapping[str, str]) -> list[dict[str, object]]:
    """What was asked against what the server says, in the form of `checks` in docs/FORMAT.md, 1.

    `unknown` is what SHOW VARIABLES does not know: an option of the start alone, or one that this server
    does not have.
    """
    by_name = {name.lower(): value for name, value in effective.items()}
    checks: list[dict[str, object]] = []
    for name, value in requested.items():
        asked = by_name.get(name.lower())
        checks.append(
            {
                "variable": name,
                "logical": "my.cnf",
                "requested": value,
                "effective": asked,
                "verdict": _verdict(name, value, asked),
                "accepted": False,
            }
        )
    return checks


def _verdict(name: str, requested: str, effective: str | None) -> Verdict:
    if effective is None:
        return "unknown"
    if _canonical(requested) == _canonical(effective):
        return "equal"
    if name in _NAMED_SWITCHES and _canonical(effective) == "1" and _canonical(requested) != "0":
        return "equal"
    return "adjusted"


def _canonical(value: str) -> str | float:
    """A value such that its spellings compare equal: `2G` and `2147483648`, `ON` and `1`, `/a/` and `/a`."""
    text = value.strip().casefold()
    text = _TRUTH.get(text, text)
    if size := _SIZE.fullmatch(text):
        number = float(size[1]) * 1024.0 ** " kmgtpe".index(size[2] or " ")
        return str(int(number)) if number == int(number) else number
    return text.rstrip("/") if text.startswith("/") else text.replace("-", "_")
