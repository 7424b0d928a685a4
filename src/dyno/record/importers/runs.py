"""Logs → a run folder: one cell for each engine, tier, workload and number of sessions; one trial a log."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dyno import __version__
from dyno.errors import DynoError
from dyno.plan.names import cell_id, slug, trial_id
from dyno.record.imported import Imported, ImportedInterval
from dyno.record.importers.layouts import compiled
from dyno.record.importers.sysbench import Log, parse
from dyno.record.layout import RunLayout, timestamp, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from dyno.record.importers.layouts import Layout

US_PER_MS = 1000
_FAMILY_ORDER = ("mariadb", "mysql", "percona")


@dataclass(frozen=True)
class Source:
    """A log and what its path says of it."""

    path: Path
    fields: dict[str, str]

    @property
    def engine(self) -> str:
        """Family and version series: `mysql-8.0`."""
        return slug(f"{self.fields['family']}-{'.'.join(self.fields['version'].split('.')[:2])}")

    @property
    def settings(self) -> str:
        """The memory tier, or `unknown` where the path does not say."""
        return f"{self.fields['tier']}gib" if "tier" in self.fields else "unknown"

    @property
    def workload(self) -> str:
        """The workload's id."""
        return slug(self.fields["workload"])


@dataclass(frozen=True)
class ImportResult:
    """What an import made: the run's folder, how many logs, and how many of them are no result."""

    path: Path
    trials: int
    failed: int


def sources(paths: Sequence[Path], layout: Layout) -> list[Source]:
    """The logs below the paths that the layout knows, in the order of their paths.

    Raises:
        DynoError: A path that is not there, or no log at all.
    """
    found: dict[Path, Source] = {}
    for path in paths:
        if not path.exists():
            raise DynoError(f"{path} does not exist", hint="name log files or folders of logs")
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            fields = layout.match(file.resolve()) if file.is_file() else None
            if fields:
                found[file] = Source(file, fields)
    if not found:
        raise DynoError(
            f"no file below {', '.join(map(str, paths))} has the layout {layout.pattern!r}",
            hint="`--layout` takes a preset or a pattern, see docs/FORMAT.md",
        )
    return list(found.values())


def import_logs(paths: Sequence[Path], layout: Layout, output: Path, *, command: list[str]) -> ImportResult:
    """Turn logs into the run folder `output`; logs are read one by one.

    Raises:
        DynoError: No logs, or `output` cannot be made or is there already.
    """
    logs = sources(paths, layout)
    try:
        output.mkdir(parents=True)
    except OSError as error:
        raise DynoError(
            f"cannot make {output}: {error.strerror}", hint="name a folder that does not exist yet by -o"
        ) from None
    run = RunLayout(output)
    trials, lengths = [], Counter[int]()
    repeats: Counter[str] = Counter()
    states = []
    for number, source in enumerate(logs, start=1):
        imported, sessions = _read(source)
        cell = cell_id(source.engine, source.settings, source.workload, f"s{sessions}")
        repeats[cell] += 1
        trial = trial_id(number, cell, repeats[cell])
        _write_trial(run, trial, cell, repeats[cell], source=source, imported=imported)
        trials.append((trial, cell, repeats[cell], source, sessions))
        states.append((trial, imported.problem))
        lengths[round(imported.measure_s or 0)] += 1
    _write_settings(run, paths, layout)
    _write_journal(run, states)
    manifest = _manifest(run.id, trials, length_s=lengths.most_common(1)[0][0], command=command)
    write_json(run.manifest, manifest)
    return ImportResult(output, len(trials), sum(problem is not None for _, problem in states))


def _read(source: Source) -> tuple[Imported, int]:
    """The log's content and its number of sessions; path and log must not contradict each other."""
    digest = hashlib.sha256()

    def lines() -> Iterator[str]:
        with source.path.open("rb") as file:
            for raw in file:
                digest.update(raw)
                yield raw.decode("utf-8", "replace")

    try:
        log = parse(lines())
    except OSError as error:
        raise DynoError(f"cannot read {source.path}: {error.strerror}", hint="may you read it?") from None
    named = int(source.fields["sessions"]) if "sessions" in source.fields else None
    problem = log.problem
    if problem is None and named is not None and log.threads is not None and named != log.threads:
        problem = f"the path says {named} sessions, the log {log.threads}"
    return _imported(log, source, digest.hexdigest(), problem), named or log.threads or 0


def _imported(log: Log, source: Source, digest: str, problem: str | None) -> Imported:
    def us(ms: float | None) -> float | None:
        return None if ms is None else ms * US_PER_MS

    return Imported(
        tool="sysbench",
        tool_version=log.version,
        source=source.path.name,
        source_sha256=digest,
        threads=log.threads,
        problem=problem,
        transactions=log.transactions,
        throughput_per_s=log.throughput_per_s,
        measure_s=log.total_time_s,
        errors=log.ignored_errors,
        latency_mean_us=us(log.latency_mean_ms),
        latency_max_us=us(log.latency_max_ms),
        latency_percentile=log.percentile,
        latency_percentile_us=us(log.latency_percentile_ms),
        intervals=[
            ImportedInterval.model_construct(
                t_s=each.t_s,
                throughput_per_s=each.tps,
                latency_us=us(each.latency_ms),
                errors_per_s=each.errors_per_s,
            )
            for each in log.intervals
        ],
    )


def _write_trial(
    run: RunLayout, trial: str, cell: str, block: int, *, source: Source, imported: Imported
) -> None:
    layout = run.trial(trial)
    layout.path.mkdir(parents=True)
    # Not synced one by one: an import can be repeated, and the manifest that makes it a run is written last.
    (layout.path / "imported.json").write_text(imported.model_dump_json() + "\n", encoding="utf-8")
    ended = {
        "format": "dyno-trial/1",
        "trial": trial,
        "cell": cell,
        "block": block,
        "status": "failed" if imported.problem else "ok",
        "reason": imported.problem,
        "server_version": source.fields["version"],
        "marks": [],
    }
    layout.trial.write_text(json.dumps(ended, indent=1) + "\n", encoding="utf-8")


def _write_journal(run: RunLayout, states: list[tuple[str, str | None]]) -> None:
    now = timestamp()
    lines = [
        {"t": now, "trial": trial, "state": "failed" if problem else "ok", "reason": problem}
        for trial, problem in states
    ]
    run.journal.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _write_settings(run: RunLayout, paths: Sequence[Path], layout: Layout) -> None:
    """SHOW VARIABLES of each engine and tier, where they lie beside the logs."""
    if layout.variables is None:
        return
    pattern = compiled(layout.variables)
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else []:
            found = pattern.search(file.resolve().as_posix())
            if found and file.is_file():
                fields = layout.match(file) or found.groupdict() | {"workload": layout.workload}
                fields["family"] = {"percona-server": "percona"}.get(fields["family"], fields["family"])
                source = Source(file, fields)
                lines = file.read_text("utf-8", "replace").splitlines()
                effective = {name: value for name, tab, value in (li.partition("\t") for li in lines) if tab}
                content = {
                    "format": "dyno-settings/1",
                    "engine": source.engine,
                    "settings": source.settings,
                    "requested": {},
                    "arguments": [],
                    "checks": [],
                    "effective": effective,
                }
                write_json(run.settings(source.engine, source.settings), content)


def _version_key(source: Source) -> tuple[int, list[int], str]:
    family = source.fields["family"]
    place = _FAMILY_ORDER.index(family) if family in _FAMILY_ORDER else len(_FAMILY_ORDER)
    numbers = [int(n) for n in source.fields["version"].split("-")[0].split(".") if n.isdigit()]
    return place, numbers, family


def _manifest(
    run_id: str, trials: list[tuple[str, str, int, Source, int]], *, length_s: int, command: list[str]
) -> dict[str, Any]:
    logs = sorted((source for _, _, _, source, _ in trials), key=_version_key)
    engines = {each.engine: each for each in logs}
    tiers = {each.settings: each.fields.get("tier") for each in logs}
    by_size = sorted(tiers, key=lambda tier: -int(tiers[tier] or 0))
    cells = {cell: (source, sessions) for _, cell, _, source, sessions in trials}
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
        "trials_per_cell": max(block for _, _, block, _, _ in trials),
        "phases": {"warmup_s": 0, "measure_s": length_s, "drain_s": 0},
        "placement": {"text": "imported: placement not known"},
        "engines": [
            {
                "id": name,
                "family": each.fields["family"],
                "version": each.fields["version"],
                "server_version": each.fields["version"],
                "source": "imported logs",
            }
            for name, each in engines.items()
        ],
        "settings": [
            {"id": tier, "requested": {"buffer_pool": int(size) * 2**30} if (size := tiers[tier]) else {}}
            for tier in by_size
        ],
        "workloads": [
            {"id": name, "name": name, "options": {}} for name in sorted({each.workload for each in logs})
        ],
        "loads": [{"id": f"s{n}", "kind": "closed", "sessions": n} for n in sorted({t[4] for t in trials})],
        "cells": [
            {
                "id": cell,
                "engine": source.engine,
                "settings": source.settings,
                "workload": source.workload,
                "load": f"s{sessions}",
            }
            for cell, (source, sessions) in cells.items()
        ],
        "order": [{"trial": trial, "cell": cell, "block": block} for trial, cell, block, _, _ in trials],
    }
