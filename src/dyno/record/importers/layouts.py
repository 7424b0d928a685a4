"""Path patterns: what a file's path says of engine, tier, sessions and mode (docs/IMPORT.md, Layouts).

A layout is one or several rules. A rule is a pattern, matched against the end of a path, and fields that it
sets for every file it matches: `logs_ro/**/{family}/{version}/{sessions}.txt mode=read-only`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dyno.errors import DynoError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FIELDS: dict[str, str] = {
    "family": "mysql, mariadb, percona, …",
    "version": "of the engine, as 8.0.45",
    "tier": "buffer pool: 2 (GiB), 512M, 12G",
    "sessions": "number of connections",
    "workload": "what ran",
    "mode": "which form of it: read-only, over the network, …",
    "block": "number of the repeat",
    "kind": "what the file is: sysbench, iostat, vars, …; without it the content decides",
}
_WHOLE = r"[0-9]{1,6}"
_SHAPES = {"sessions": _WHOLE, "block": _WHOLE, "tier": rf"{_WHOLE}[KMGT]?", "kind": r"[A-Za-z0-9_-]+"}
_PART = re.compile(r"\{(\w+)\}|\*\*/|\*|[^{}*]+")
_FIXED = re.compile(r"\s+(\w+)=(\S+)$")
_FAMILIES = {"percona-server": "percona", "percona_server": "percona", "ps": "percona", "maria": "mariadb"}
_PERCONA_FILES = ("Tier{tier}G_*_{sessions}th.{kind}.txt", "Tier{tier}G.{kind}.txt")
_PERCONA_MODES = {
    "benchmark_remote_logs_read_only/**/": "ro-network",
    "benchmark_remote_logs/**/": "rw-network",
    "benchmark_logs_read_only/**/": "ro-local",
    "": "rw-local",
}
PRESETS: dict[str, tuple[str, ...]] = {
    "percona-2026": tuple(
        f"{folder}{{family}}/{{version}}/{file} mode={mode}"
        for folder, mode in _PERCONA_MODES.items()
        for file in _PERCONA_FILES
    )
}
"""Name → rules. `percona-2026`: the folder says the mode; file names say RW in all of them."""


@dataclass(frozen=True)
class Rule:
    """One pattern with the fields that it sets by itself."""

    pattern: str
    expression: re.Pattern[str]
    fixed: dict[str, str]


@dataclass(frozen=True)
class Layout:
    """How a collection of files is laid out.

    Attributes:
        rules: The first that matches a path counts.
        given: Fields for all files that the path does not say.
    """

    rules: tuple[Rule, ...]
    given: dict[str, str]

    def match(self, path: Path) -> dict[str, str] | None:
        """The fields of a path, as far as they are known; None where no rule matches."""
        text = readable(path.as_posix())
        for rule in self.rules:
            if found := rule.expression.search(text):
                fields = {**self.given, **rule.fixed, **found.groupdict()}
                return {name: _normal(name, value) for name, value in fields.items()}
        return None

    def __str__(self) -> str:
        return " or ".join(repr(rule.pattern) for rule in self.rules)


def layout_of(texts: Sequence[str], given: Mapping[str, str] | None = None) -> Layout:
    """Presets by name, rules, or files with one rule a line; none at all: every file, all said by `given`.

    Raises:
        DynoError: No such preset, a text that is no rule, or engines that nothing tells apart.
    """
    known = dict(given or {})
    _check_values(known)
    rules = tuple(rule_of(text) for each in texts or ["*"] for text in _expanded(each))
    for rule in rules:
        said = {*known, *rule.fixed, *rule.expression.groupindex}
        if missing := [name for name in ("family", "version") if name not in said]:
            raise DynoError(
                f"nothing says the {' and '.join(missing)} of the engine for files like {rule.pattern!r}",
                hint="put {family} and {version} into --layout, or say --family and --version",
            )
    return Layout(rules, known)


def rule_of(text: str) -> Rule:
    """One rule from its text.

    Raises:
        DynoError: An unknown field, one used twice, or a brace without its other.
    """
    pattern, fixed = text.strip(), dict[str, str]()
    while found := _FIXED.search(pattern):
        fixed[found[1]] = found[2]
        pattern = pattern[: found.start()]
    _check_values(fixed)
    parts: list[str] = []
    used = [*fixed]
    at = 0
    for part in _PART.finditer(pattern):
        if part.start() != at:
            break
        at = part.end()
        if name := part[1]:
            used.append(name)
            parts.append(f"(?P<{name}>{_SHAPES.get(name, '[^/]+')})")
        else:
            parts.append({"*": "[^/]*", "**/": "(?:[^/]+/)*"}.get(part[0]) or re.escape(part[0]))
    wrong = [name for name in used if name not in FIELDS]
    if at != len(pattern) or not pattern or wrong or len(set(used)) != len(used):
        raise DynoError(
            f"{text!r} is no rule of a layout" + (f": there is no field {wrong[0]!r}" if wrong else ""),
            hint=f"fields, each once: {', '.join(FIELDS)}; `**/` stands for folders, `*` for all but `/`",
        )
    return Rule(pattern, re.compile(rf"(?:^|/){''.join(parts)}$"), fixed)


def _check_values(fields: Mapping[str, str]) -> None:
    """What is said outside of a path has the shape that it must have in one."""
    for name, value in fields.items():
        if re.fullmatch(_SHAPES.get(name, "[^/]+"), value) is None:
            raise DynoError(
                f"{value!r} is no {name}", hint=f"{name}: {FIELDS.get(name, 'no field of a layout')}"
            )


def readable(text: str) -> str:
    """A path as text that any file can hold: bytes that are no UTF-8 become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _expanded(text: str) -> Sequence[str]:
    """The rules that a word on the command line stands for."""
    if text in PRESETS:
        return PRESETS[text]
    file = Path(text)
    if "{" not in text and file.is_file():
        try:
            lines = [line.strip() for line in file.read_text("utf-8").splitlines()]
        except (OSError, UnicodeDecodeError) as error:
            raise DynoError(
                f"cannot read the layout {text}: {error}", hint="it has one rule a line"
            ) from None
        if rules := [line for line in lines if line and not line.startswith("#")]:
            return rules
        raise DynoError(f"the layout {text} has no rule", hint="it has one rule a line, as in docs/IMPORT.md")
    if "{" not in text and "*" not in text:
        raise DynoError(
            f"there is no layout {text!r}",
            hint=f"presets: {', '.join(PRESETS)}; or a pattern: '{{family}}/{{version}}/{{sessions}}.txt'",
        )
    return [text]


def _normal(name: str, value: str) -> str:
    """A field's value in the one spelling that files are compared by."""
    if name == "family":
        return _FAMILIES.get(value.lower(), value.lower())
    if name in {"sessions", "block"}:
        return str(int(value))
    if name == "tier":
        return value.removesuffix("G").lstrip("0") or "0"
    return value
