"""Which files are logs, which lie beside them, and to which trials those belong."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dyno.errors import DynoError
from dyno.record.importers import hammerdb
from dyno.record.importers.formats import Format, by_word, detect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from dyno.record.importers.layouts import Layout

SESSIONS = "sessions"
LOG = "log"
"""The word for a log of whichever tool, where a layout has `{kind}`."""


@dataclass(frozen=True)
class Beside:
    """A file beside a log: what it is, and the fields of its path."""

    path: Path
    format: Format
    fields: dict[str, str]


@dataclass(frozen=True)
class Source:
    """A log, what its path says of it, and the files that lie beside it.

    Attributes:
        tool: The one tool of all other logs, where a log has no known format.
        lines: Which part of the file it is: a sequence of HammerDB writes several logs into one.
        format: Its format's name; None for a file without content, or with one that is not known.
    """

    path: Path
    fields: dict[str, str]
    format: str | None
    tool: str | None = None
    lines: tuple[int, int | None] = (0, None)
    beside: tuple[Beside, ...] = ()

    @property
    def settings(self) -> str:
        """The memory tier as an id, or `unknown` where nothing says it."""
        tier = self.fields.get("tier")
        if tier is None:
            return "unknown"
        return f"{tier}gib" if tier.isdigit() else f"{tier[:-1]}{tier[-1].lower()}ib"

    @property
    def workload(self) -> str:
        """What ran and in which form: `rw-local`, `tpcc-network`."""
        parts = [self.fields[name] for name in ("workload", "mode") if name in self.fields]
        return "-".join(parts) or self.format or self.tool or "unknown"


@dataclass
class Collection:
    """What was found: the logs in the order of their paths, and the files that nothing could be made of."""

    logs: list[Source] = field(default_factory=list[Source])
    left_out: list[Path] = field(default_factory=list["Path"])


def collect(paths: Sequence[Path], layout: Layout, forced: str | None = None) -> Collection:
    """Every file below the paths that the layout matches, sorted into logs and what lies beside them.

    Args:
        paths: Files, or folders of them.
        layout: What their paths say.
        forced: The format of all logs, whatever their content looks like.

    Raises:
        DynoError: A path that is not there, or no log at all.
    """
    found = Collection()
    beside: list[Beside] = []
    doubtful: list[Source] = []
    for path, fields in _matches(paths, layout):
        word = fields.pop("kind", None)
        kind = by_word(word) if word else detect(path)
        if word and kind is None and word != LOG:
            found.left_out.append(path)
        elif kind and kind.role != LOG:
            beside.append(Beside(path, kind, fields))
        elif kind or word:
            kind = kind or detect(path)
            found.logs.append(Source(path, fields, forced or (kind.name if kind else None)))
        else:
            doubtful.append(Source(path, fields, forced))
    _settle(found, doubtful, named={path.resolve() for path in paths})
    if not found.logs:
        raise DynoError(
            f"no log below {', '.join(map(str, paths))} has the layout {layout}",
            hint="compare the pattern with a path; docs/IMPORT.md has the language and the presets",
        )
    index = _Index(beside)
    found.logs = [replace(part, beside=index.of(log.fields)) for log in found.logs for part in _parts(log)]
    return found


def _matches(paths: Sequence[Path], layout: Layout) -> Iterator[tuple[Path, dict[str, str]]]:
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise DynoError(f"{path} does not exist", hint="name log files, folders of them, or archives")
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            resolved = file.resolve()
            if file.is_file() and resolved not in seen and (fields := layout.match(resolved)) is not None:
                seen.add(resolved)
                yield file, fields


def _settle(found: Collection, doubtful: list[Source], named: set[Path]) -> None:
    """Files without a known format: logs without a result where no other file is the log of their trial."""
    claimed = {frozenset(log.fields.items()) for log in found.logs}
    for source in doubtful:
        is_trial = source.format is not None or SESSIONS in source.fields or source.path.resolve() in named
        if is_trial and frozenset(source.fields.items()) not in claimed:
            found.logs.append(source)
        else:
            found.left_out.append(source.path)
    tools = {log.format for log in found.logs if log.format}
    if len(tools) == 1:
        # An empty log among logs of one tool is one more cell of the same workload.
        (tool,) = tools
        found.logs = [log if log.format else replace(log, tool=tool) for log in found.logs]
    found.logs.sort(key=lambda log: log.path)


def _parts(log: Source) -> list[Source]:
    """A log as one, or as the several that a sequence wrote into one file."""
    if log.format != hammerdb.NAME or SESSIONS in log.fields:
        return [log]
    with log.path.open(encoding="utf-8", errors="replace") as lines:
        begins = hammerdb.split(lines)
    return [replace(log, lines=part) for part in zip(begins, [*begins[1:], None], strict=True)]


class _Index:
    """Files beside logs by their fields: one belongs to each log that agrees with all of them."""

    def __init__(self, files: list[Beside]) -> None:
        self._groups: dict[frozenset[str], dict[frozenset[tuple[str, str]], list[Beside]]] = {}
        for each in files:
            group = self._groups.setdefault(frozenset(each.fields), defaultdict(list))
            group[frozenset(each.fields.items())].append(each)

    def of(self, fields: dict[str, str]) -> tuple[Beside, ...]:
        found: list[Beside] = []
        for names, group in self._groups.items():
            if names <= fields.keys():
                found += group.get(frozenset((name, fields[name]) for name in names), [])
        return tuple(found)
