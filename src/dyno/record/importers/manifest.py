"""The manifest of an imported run: engines, tiers, workloads, load levels, cells, as the paths tell them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from dyno import __version__
from dyno.errors import DynoError
from dyno.plan.names import cell_id, sessions_id, trial_id
from dyno.plan.names import slug as strict_slug
from dyno.record.layout import timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dyno.record.importers.collect import Source
    from dyno.record.importers.telemetry.samples import HostFacts
    from dyno.record.importers.trial import Outcome

_FAMILY_ORDER = ("mariadb", "mysql", "percona")
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SERIES_PARTS = 2


def slug(text: str) -> str:
    """`text` as part of an id.

    Raises:
        DynoError: It has nothing that an id may have.
    """
    try:
        return strict_slug(text)
    except ValueError as error:
        raise DynoError(
            f"a path or option says {text!r}, which gives no id: {error}",
            hint="ids have Latin letters, digits, `.` and `_`: say it by --family, --workload, --mode",
        ) from None


@dataclass(frozen=True)
class Entry:
    """One trial of the run: a log with the place it was given."""

    source: Source
    outcome: Outcome
    engine: str
    sessions: int

    @property
    def block(self) -> int:
        """Number of the repeat."""
        return int(self.source.fields.get("block", 1))

    @property
    def cell(self) -> str:
        """Id of its cell."""
        settings, workload = slug(self.source.settings), slug(self.source.workload)
        return cell_id(self.engine, settings, workload, sessions_id(self.sessions))

    def trial(self, number: int) -> str:
        """Id of the trial, `number` being its place in the run."""
        return trial_id(number, self.cell, self.block)


def engine_ids(sources: Iterable[Source]) -> dict[tuple[str, str], str]:
    """(family, version) → engine: family and version series, as `mysql-8.0`.

    Where two versions of one series are there, both keep their whole version.
    """
    series: dict[tuple[str, str], set[str]] = defaultdict(set)
    for source in sources:
        family, version = source.fields["family"], source.fields["version"]
        series[family, _series(version)].add(version)
    return {
        (family, version): slug(f"{family}-{each if len(versions) == 1 else version}")
        for (family, each), versions in series.items()
        for version in versions
    }


def _series(version: str) -> str:
    return ".".join(version.split(".")[:_SERIES_PARTS])


def build(run_id: str, entries: Sequence[Entry], command: list[str]) -> dict[str, Any]:
    """`manifest.json` (docs/FORMAT.md, 1) of trials in their order."""
    ordered = sorted(entries, key=_engine_key)
    engines = {each.engine: each.source.fields for each in ordered}
    tiers = {slug(each.source.settings): each.source.fields.get("tier") for each in ordered}
    cells = {each.cell: each for each in entries}
    lengths = Counter(round(each.outcome.measure_s or 0) for each in entries)
    return {
        "format": "dyno-run/1",
        "id": run_id,
        "name": run_id,
        "title": f"Imported: {run_id}",
        "question": None,
        "created": timestamp(),
        "dyno_version": __version__,
        "imported": True,
        "order_method": "imported: order not known",
        "command": command,
        "trials_per_cell": max(Counter(each.cell for each in entries).values()),
        **_hosts(entries),
        "phases": {"warmup_s": 0, "measure_s": lengths.most_common(1)[0][0], "drain_s": 0},
        "placement": {"text": "imported: placement not known"},
        "engines": [
            {
                "id": name,
                "family": fields["family"],
                "version": fields["version"],
                "server_version": fields["version"],
                "source": "imported logs",
            }
            for name, fields in engines.items()
        ],
        "settings": [
            {"id": tier, "requested": {"buffer_pool": size} if (size := _bytes(tiers[tier])) else {}}
            for tier in sorted(tiers, key=lambda tier: -_bytes(tiers[tier]))
        ],
        "workloads": [
            {"id": name, "name": name, "options": {}}
            for name in sorted({slug(each.source.workload) for each in entries})
        ],
        "loads": [
            {"id": sessions_id(n), "kind": "closed", "sessions": n}
            for n in sorted({each.sessions for each in entries})
        ],
        "cells": [
            {
                "id": cell,
                "engine": each.engine,
                "settings": slug(each.source.settings),
                "workload": slug(each.source.workload),
                "load": sessions_id(each.sessions),
            }
            for cell, each in cells.items()
        ],
        "order": [
            {"trial": each.trial(number), "cell": each.cell, "block": each.block}
            for number, each in enumerate(entries, start=1)
        ],
    }


def _hosts(entries: Sequence[Entry]) -> dict[str, Any]:
    """The host, where the monitors name one; a complaint of the doctor, where they name several."""
    workloads: dict[HostFacts, set[str]] = defaultdict(set)
    for each in entries:
        if each.outcome.host:
            workloads[each.outcome.host].add(slug(each.source.workload))
    hosts = sorted(workloads, key=lambda host: host.hostname)
    if len(hosts) == 1:
        return {"host": asdict(hosts[0])}
    if not hosts:
        return {}
    where = "; ".join(
        f"{', '.join(sorted(workloads[host]))} on {host.hostname} ({host.cpus} CPUs, {host.kernel})"
        for host in hosts
    )
    text = f"the logs are of {len(hosts)} hosts: {where}"
    hint = "compare only what ran on one host"
    return {"doctor": [{"check": "hosts", "verdict": "warn", "text": text, "hint": hint}]}


def _bytes(tier: str | None) -> int:
    """Size of a memory tier: a number of GiB, or one with its unit; 0 where it is not known."""
    if tier is None:
        return 0
    return int(tier) * _UNITS["G"] if tier.isdigit() else int(tier[:-1]) * _UNITS[tier[-1]]


def _engine_key(entry: Entry) -> tuple[int, str, list[int]]:
    family = entry.source.fields["family"]
    place = _FAMILY_ORDER.index(family) if family in _FAMILY_ORDER else len(_FAMILY_ORDER)
    return place, family, [int(n) for n in re.findall(r"\d{1,9}", entry.source.fields["version"])]
