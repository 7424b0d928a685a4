"""Path patterns: what a log's path says of engine, tier, sessions and mode.

A pattern is a path with fields in braces, matched against the end of the path:
`{family}/{version}/{sessions}.txt`.
A field takes one or more characters other than `/`, `sessions`, `tier` and `block` a number; `*` stands for
any characters but `/`. Fields: `family`, `version`, `tier` (buffer pool, GiB), `sessions`, `workload` and
`block`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dyno.errors import DynoError

if TYPE_CHECKING:
    from pathlib import Path

FIELDS = ("family", "version", "tier", "sessions", "workload", "block")
_WHOLE_NUMBERS = {"tier", "sessions", "block"}
_PART = re.compile(r"\{(\w+)\}|\*|[^{}*]+")
_FAMILIES = {"percona-server": "percona", "percona_server": "percona", "ps": "percona", "maria": "mariadb"}


@dataclass(frozen=True)
class Layout:
    """How a collection of logs is laid out.

    Attributes:
        pattern: Of the logs.
        variables: Pattern of the files with SHOW VARIABLES (`name<tab>value`), with the same fields, or None.
        workloads: (part of a folder's name, workload): the first that some folder of the path contains names
            the workload; a file's own name may say otherwise and is not asked.
        workload: Workload of all other logs, unless the pattern has one.
    """

    pattern: str
    variables: str | None = None
    workloads: tuple[tuple[str, str], ...] = field(default=())
    workload: str = "sysbench"

    def match(self, path: Path) -> dict[str, str] | None:
        """The fields that the path gives, `workload` always among them; None where it does not match."""
        found = compiled(self.pattern).search(path.as_posix())
        if not found:
            return None
        fields = found.groupdict()
        folder = path.parent.as_posix()
        named = next((workload for part, workload in self.workloads if part in folder), self.workload)
        fields.setdefault("workload", named)
        fields["family"] = _FAMILIES.get(fields.get("family", "").lower(), fields.get("family", "").lower())
        return fields


PRESETS = {
    "percona-2026": Layout(
        pattern="{family}/{version}/Tier{tier}G_*_{sessions}th.sysbench.txt",
        variables="{family}/{version}/Tier{tier}G.vars.txt",
        workloads=(
            ("benchmark_remote_logs_read_only", "ro-network"),
            ("benchmark_remote_logs", "rw-network"),
            ("benchmark_logs_read_only", "ro-local"),
        ),
        workload="rw-local",
    )
}


def layout_of(text: str) -> Layout:
    """A preset by its name, or a pattern as given.

    Raises:
        DynoError: Neither: no such preset, or a pattern without the fields that tell trials apart.
    """
    if text in PRESETS:
        return PRESETS[text]
    if "{" not in text:
        raise DynoError(
            f"there is no layout {text!r}",
            hint=f"presets: {', '.join(PRESETS)}; or a pattern: '{{family}}/{{version}}/{{sessions}}.txt'",
        )
    compiled(text)
    return Layout(text)


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern as a regular expression for the end of a path.

    Raises:
        DynoError: An unknown field, one used twice, a brace without its other, or no family or version.
    """
    parts, used = [], []
    at = 0
    for part in _PART.finditer(pattern):
        if part.start() != at:
            break
        at = part.end()
        name = part[1]
        if name:
            used.append(name)
            parts.append(f"(?P<{name}>{'[0-9]{1,6}' if name in _WHOLE_NUMBERS else '[^/]+'})")
        else:
            parts.append("[^/]*" if part[0] == "*" else re.escape(part[0]))
    wrong = [name for name in used if name not in FIELDS]
    hint = f"fields: {', '.join(FIELDS)}; each once; {{family}} and {{version}} are needed"
    if at != len(pattern) or wrong or len(set(used)) != len(used):
        raise DynoError(f"the layout {pattern!r} is not a pattern", hint=hint)
    if not {"family", "version"} <= set(used):
        raise DynoError(f"the layout {pattern!r} does not say which engine a log is of", hint=hint)
    return re.compile(rf"(?:^|/){''.join(parts)}$")
