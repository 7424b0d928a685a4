"""Whether the conditions of a comparison were equal: settings, hosts, and the warm-up before each window."""

from __future__ import annotations

from operator import itemgetter
from statistics import fmean
from typing import TYPE_CHECKING

from dyno.findings.fairness import by_weight
from dyno.findings.knowledge import knowledge_of
from dyno.findings.words import joined, number, plural, size
from dyno.report.model import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dyno.findings.names import Names
    from dyno.report.model import Cell, Series, SettingRow

SHOWN_MAX = 3
"""Items named in one sentence; the tables have them all."""

ENTRIES_MAX = 8
"""Kinds of differing settings with a sentence of their own, the gravest first."""

SAMPLES_MIN = 60
"""Samples of a measured window below which nothing is said of its course."""

RISE_MIN = 1.25
"""Last third of the window against its first from which on the warm-up had not finished its work."""

_MIB = 2**20


def _caution(rule: str, sentence: str) -> Finding:
    return Finding(rule=rule, sentence=sentence, strength="caution")


def find_settings(rows: list[SettingRow], names: Names) -> list[Finding]:
    """Settings not taken, asked alike but different, and different ones that matter for the workloads."""
    findings = []
    ignored = [
        f"{joined([names.engine(e) for e in row.ignored])}: {row.variable}" for row in rows if row.ignored
    ]
    ignored += [
        f"{joined([names.engine(e) for e in unknown])}: {row.variable}, which there is not"
        for row in rows
        if (unknown := _asked_in_vain(row))
    ]
    if ignored:
        findings.append(
            _caution("settings_ignored", f"Not taken as asked: {_shown(dict.fromkeys(ignored))}.")
        )
    differing = [row for row in rows if row.differs]
    asked = [row for row in differing if row.logical and row.weight in {"unknown", None}]
    if asked:
        different = [f"{row.variable} ({_values(row, names)})" for row in asked]
        findings.append(_caution("settings_differ", f"The engines ran with different {_shown(different)}."))
    others = [row for row in differing if row not in asked]
    return [*findings, *_mattering(by_weight(differing), rows, names), *_cosmetic(others)]


def _asked_in_vain(row: SettingRow) -> list[str]:
    """Engines that were asked for a variable that their server does not have."""
    return [
        engine
        for engine, asked in row.requested.items()
        if asked is not None and row.effective.get(engine) is None
    ]


def _mattering(rows: list[SettingRow], everything: list[SettingRow], names: Names) -> list[Finding]:
    """A sentence for each of the gravest kinds of difference, and one for all others."""
    kinds: dict[str, list[SettingRow]] = {}
    for row in rows:
        found = knowledge_of(row.variable)
        kinds.setdefault(found.reason if found else "", []).append(row)
    sets = list(dict.fromkeys(row.settings for row in everything))
    groups = list(kinds.values())
    findings = [_kind(group, sets, names) for group in groups[:ENTRIES_MAX]]
    rest = list(dict.fromkeys(row.variable for group in groups[ENTRIES_MAX:] for row in group))
    if rest:
        head = f"{plural(len(rest), 'other variable')} that may matter, different between the engines"
        findings.append(_caution("settings_matter", f"{head}: {', '.join(rest)}."))
    return findings


def _kind(group: list[SettingRow], sets: Sequence[str], names: Names) -> Finding:
    """Variables that matter for one reason, with their values; settings sets where not all have them."""
    by_values: dict[str, list[str]] = {}
    for row in group:
        by_values.setdefault(f"{row.variable} ({_values(row, names)})", []).append(row.settings)
    parts = [
        text + ("" if len(where) == len(sets) else f" in {joined(where)}")
        for text, where in by_values.items()
    ]
    verb = "differs" if len({row.variable for row in group}) == 1 else "differ"
    return _caution("settings_matter", f"{_shown(parts)} {verb} between the engines: {group[0].reason}.")


def _cosmetic(rows: list[SettingRow]) -> list[Finding]:
    matter = {row.variable for row in rows if row.weight == "matters"}
    cosmetic = {row.variable for row in rows if row.weight == "cosmetic"} - matter
    unknown = {row.variable for row in rows if row.weight in {"unknown", None}}
    parts = []
    if cosmetic:
        parts.append(f"{plural(len(cosmetic), 'other difference')} of settings should have no effect here")
    if unknown:
        parts.append(f"of {plural(len(unknown), 'other difference')} Dyno does not know the effect")
    if not parts:
        return []
    sentence = f"{'; '.join(parts)}: the settings list them, each with its reason."
    return [_caution("settings_other", sentence[0].upper() + sentence[1:])]


def _values(row: SettingRow, names: Names) -> str:
    """Each value with the engines that have it: "2 GiB on A and B; 4 GiB on C"."""
    engines: dict[str, list[str]] = {}
    for engine, value in row.effective.items():
        if value is not None:
            engines.setdefault(readable(value), []).append(names.engine(engine))
    return "; ".join(f"{value} on {joined(having)}" for value, having in engines.items())


def readable(value: str) -> str:
    """Round numbers of bytes in binary units; anything else as it is, long lists cut."""
    if value.isdigit() and int(value) >= _MIB and int(value) % _MIB == 0:
        return size(int(value))
    shown = value or "empty"
    return shown if len(shown) <= 40 else shown[:37] + "…"  # noqa: PLR2004


def find_hosts(rows: list[SettingRow], names: Names) -> list[Finding]:
    """Servers that say they ran on different hosts."""
    hosts: dict[str, set[str]] = {}
    for row in rows:
        if row.variable == "hostname":
            for engine, host in row.effective.items():
                if host:
                    hosts.setdefault(host, set()).add(engine)
    if len(hosts) < 2:  # noqa: PLR2004
        return []
    parts = [
        f"{host} ({joined([names.engine(e) for e in sorted(on)])})" for host, on in sorted(hosts.items())
    ]
    sentence = f"The servers ran on {len(hosts)} hosts: {'; '.join(parts)}."
    return [_caution("hosts", f"{sentence} A difference between engines may be one between hosts.")]


def find_warmups(cells: list[Cell], series: Mapping[str, Series], names: Names) -> list[Finding]:
    """Cells that still gained speed while they were measured: their warm-up had not led there."""
    rising: list[tuple[float, Cell]] = []
    for cell in cells:
        rises = [rise for trial in cell.trials if trial.series and (rise := _rise(series.get(trial.series)))]
        if rises and max(rises) >= RISE_MIN:
            rising.append((max(rises), cell))
    if not rising:
        return []
    rising.sort(key=itemgetter(0), reverse=True)
    parts = [f"{names.cell(cell)} {number(rise)}×" for rise, cell in rising]
    sentence = (
        f"The warm-up did not lead to what was measured in {len(rising)} of {plural(len(cells), 'cell')}:"
        f" throughput still rose from the first third of the window to the last ({_shown(parts)})."
        " It was too short, or it warmed other data than the measured statements read."
    )
    found = [cell for _, cell in rising]
    trials = [trial.id for cell in found for trial in cell.trials if trial.status == "ok"]
    return [
        Finding(
            rule="warmup", sentence=sentence, strength="caution", cells=[c.id for c in found], trials=trials
        )
    ]


def _rise(series: Series | None) -> float | None:
    """Mean throughput of the last third of the measured window ÷ that of the first; None where unknown."""
    window = (
        next(((start, end) for name, start, end in series.phases if name == "measure"), None)
        if series
        else None
    )
    if series is None or window is None:
        return None
    metric = next((m for m in series.metrics if (m.metric, m.label) == ("throughput_per_s", "")), None)
    inside = [
        value
        for t, value in zip(series.t_s, metric.values if metric else [], strict=False)
        if window[0] < t <= window[1] and value is not None
    ]
    third = len(inside) // 3
    if len(inside) < SAMPLES_MIN or not (first := fmean(inside[:third])):
        return None
    return fmean(inside[-third:]) / first


def _shown(items: Iterable[str]) -> str:
    found = list(items)
    rest = len(found) - SHOWN_MAX
    return "; ".join(found[:SHOWN_MAX]) + (f"; and {rest} more" if rest > 0 else "")
