"""In what two runs differ beside their numbers: hosts, versions, settings, plans."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from dyno.compare.model import Difference
from dyno.report.settings import setting_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dyno.compare.sides import Matched, Opened
    from dyno.record.manifest import Load, Settings, SettingsFile, Workload

    Defined = Load | Settings | Workload

Kind = Literal["host", "engine", "settings", "workload", "load", "phases", "placement", "software", "plan"]
BEFORE, AFTER = "before", "after"


def between_runs(before: Opened, after: Opened, matched: Matched) -> list[Difference]:
    """What the matched cells of two runs do not have in common, worst first: hosts before details."""
    a, b = before.run.manifest, after.run.manifest
    found = [*_of_dicts("host", a.host, b.host)]
    found += _of_dicts("placement", a.placement.model_dump(), b.placement.model_dump(), only=("text",))
    found += _of_engines(before, after, matched)
    found += _of_definitions(before, after, matched)
    found += _of_dicts("phases", a.phases.model_dump(), b.phases.model_dump())
    found += _of_settings(before, after, matched)
    software = {key: (getattr(a, key), getattr(b, key)) for key in ("dyno_version", "rig_version")}
    found += [_difference("software", key, *both) for key, both in software.items() if both[0] != both[1]]
    if a.plan_sha256 != b.plan_sha256:
        found.append(_difference("plan", "SHA-256 of the plan", a.plan_sha256[:12], b.plan_sha256[:12]))
    if a.seed != b.seed:
        found.append(_difference("plan", "seed", a.seed, b.seed))
    return found


def within_run(opened: Opened, matched: Matched) -> list[Difference]:
    """The variables that Dyno set and that the compared engines of one run report differently."""
    pairs = {(x.engine, y.engine, x.settings) for x, y in matched.pairs}
    return [
        _difference("settings", f"{row.variable} ({settings})", row.effective.get(x), row.effective.get(y))
        for x, y, settings in sorted(pairs)
        for row in opened.analysis.setting_rows
        if row.settings == settings and row.logical and row.differs
        if row.effective.get(x) != row.effective.get(y)
    ]


def _difference(kind: Kind, what: str, before: Any, after: Any) -> Difference:
    return Difference(kind=kind, what=what, before=_text(before), after=_text(after))


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _of_dicts(
    kind: Kind, a: dict[str, Any], b: dict[str, Any], *, only: tuple[str, ...] | None = None, of: str = ""
) -> Iterator[Difference]:
    for key in only or dict.fromkeys([*a, *b]):
        if a.get(key) != b.get(key):
            yield _difference(kind, f"{of}{key}", a.get(key), b.get(key))


def _of_engines(before: Opened, after: Opened, matched: Matched) -> Iterator[Difference]:
    """Version and content of each pair of engines: usually what is being compared, so it is said."""
    x = {each.id: each for each in before.analysis.engines}
    y = {each.id: each for each in after.analysis.engines}
    for a, b in dict.fromkeys((one.engine, other.engine) for one, other in matched.pairs):
        of = x[a].label if x[a].label == y[b].label else f"{x[a].label} and {y[b].label}"
        versions = [each.server_version or each.version for each in (x[a], y[b])]
        if versions[0] != versions[1]:
            yield _difference("engine", f"version of {of}", *versions)
        hashes = [(each.content_sha256 or "")[:12] or None for each in (x[a], y[b])]
        if hashes[0] != hashes[1]:
            yield _difference("engine", f"content of {of}", *hashes)


def _of_definitions(before: Opened, after: Opened, matched: Matched) -> Iterator[Difference]:
    """Workloads, load levels and requested settings of one id that are not the same thing."""
    a, b = before.run.manifest, after.run.manifest
    used = [cell for cell, _ in matched.pairs]
    parts: list[tuple[Kind, Sequence[Defined], Sequence[Defined], set[str]]] = [
        ("workload", a.workloads, b.workloads, {cell.workload for cell in used}),
        ("load", a.loads, b.loads, {cell.load for cell in used}),
        ("settings", a.settings, b.settings, {cell.settings for cell in used}),
    ]
    for kind, defined, others, ids in parts:
        x = {each.id: each.model_dump(exclude={"id"}) for each in defined}
        y = {each.id: each.model_dump(exclude={"id"}) for each in others}
        for name in sorted(ids):
            yield from _of_dicts(kind, _flat(x[name]), _flat(y[name]), of=f"{name}: ")


def _flat(part: dict[str, Any]) -> dict[str, Any]:
    """Options and requested settings beside the other fields."""
    inner = {key: value for name in ("options", "requested") for key, value in part.get(name, {}).items()}
    return {key: value for key, value in part.items() if key not in {"options", "requested"}} | inner


def _of_settings(before: Opened, after: Opened, matched: Matched) -> Iterator[Difference]:
    """Variables that the servers of a pair report differently, those that Dyno set first."""
    x = {(file.engine, file.settings): file for file in before.run.settings}
    y = {(file.engine, file.settings): file for file in after.run.settings}
    used = dict.fromkeys(((a.engine, a.settings), (b.engine, b.settings)) for a, b in matched.pairs)
    for one, other in used:
        if one not in x or other not in y:
            continue
        files = [_as(x[one], BEFORE), _as(y[other], AFTER)]
        of = one[0] if one == other else f"{one[0]} and {other[0]}"
        for row in setting_rows(files):
            if row.differs:
                values = (row.effective.get(BEFORE), row.effective.get(AFTER))
                yield _difference("settings", f"{row.variable} ({of}, {one[1]})", *values)


def _as(file: SettingsFile, side: str) -> SettingsFile:
    """The file under the name of its side, so that two of one engine can be laid beside each other."""
    return file.model_copy(update={"engine": side, "settings": "both"})
