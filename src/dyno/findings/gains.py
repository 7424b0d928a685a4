"""One condition against another for the same engines: memory tiers, read-only against read-write, network."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from dyno.findings.progressions import signed_percent
from dyno.findings.results import good_trials, peak_of, single_runs, value_of
from dyno.findings.words import number, plural, size
from dyno.report.model import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dyno.findings.results import Results
    from dyno.report.model import Cell

GIB = 2**30

READ_WRITE_PAIRS = (("ro-", "rw-"), ("read_only", "read_write"))
"""Part of a read-only workload's name, and what stands there in the name of its read-write twin."""

NETWORK_PAIR = ("-network", "-local")
"""End of the name of a workload over a network, and of its local twin."""


def find_gains(results: Results, *, relevant_difference: float) -> list[Finding]:
    """Gain by memory, read-only to read-write ratio, and network overhead, where a run has both sides."""
    return [
        *_memory(results),
        *_read_only(results),
        *_network(results, relevant_difference),
    ]


def _finding(rule: str, sentence: str, cells: Iterable[Cell], *, contradicted: bool = False) -> Finding:
    used = list(cells)
    strength = "untested" if single_runs(used) else "measured"
    return Finding(
        rule=rule,
        sentence=sentence,
        strength="contradicted" if contradicted else strength,
        cells=[cell.id for cell in used],
        trials=good_trials(used),
    )


def _peaks(results: Results, settings: str, workload: str) -> dict[str, Cell]:
    return {engine: peak_of(curve) for engine, curve in results.curves(settings, workload).items()}


def _ratios(results: Results, over: dict[str, Cell], under: dict[str, Cell]) -> list[tuple[float, str]]:
    """Peak ÷ peak of the engines that have both, largest first, with their names."""
    both = [engine for engine in over if engine in under]
    ratios = [(value_of(over[e]) / value_of(under[e]), results.names.engine(e)) for e in both]
    return sorted(ratios, reverse=True)


def _memory(results: Results) -> list[Finding]:
    """Peak with the largest buffer pool against peak with the smallest, and what each added GiB gave."""
    tiers = sorted(
        (pool, settings) for settings, pool in results.buffer_pools.items() if settings in results.settings
    )
    if len({pool for pool, _ in tiers}) < 2:  # noqa: PLR2004 - one size is no gain
        return []
    (small, low), (large, high) = tiers[0], tiers[-1]
    findings = []
    for workload in results.workloads:
        over, under = _peaks(results, high, workload), _peaks(results, low, workload)
        ratios = _ratios(results, over, under)
        if not ratios:
            continue
        both = [engine for engine in over if engine in under]
        added = [(value_of(over[e]) - value_of(under[e])) / ((large - small) / GIB) for e in both]
        parts = [f"{name} {number(ratio)}×" for ratio, name in ratios]
        where = f" ({results.names.workloads.get(workload, workload)})" if len(results.workloads) > 1 else ""
        sentence = (
            f"A buffer pool of {size(large)} instead of {size(small)} multiplies the peak{where}:"
            f" {', '.join(parts)}."
            f" Each added GiB gave {number(min(added))} to {number(max(added))} transactions/s."
        )
        findings.append(_finding("memory_gain", sentence, [c for e in both for c in (over[e], under[e])]))
    return findings


def _read_only(results: Results) -> list[Finding]:
    """Peak of a read-only workload against that of its read-write twin."""
    findings = []
    for read_only in results.workloads:
        twins = [read_only.replace(*pair, 1) for pair in READ_WRITE_PAIRS if pair[0] in read_only]
        twin = next((name for name in twins if name in results.workloads), None)
        if twin is None:
            continue
        for settings in results.settings:
            over, under = _peaks(results, settings, read_only), _peaks(results, settings, twin)
            ratios = _ratios(results, over, under)
            if not ratios:
                continue
            where = f" ({settings})" if len(results.settings) > 1 else ""
            parts = ", ".join(f"{name} {number(ratio)}×" for ratio, name in ratios)
            sentence = f"Peak of {read_only} against {twin}{where}: {parts}."
            used = [c for e in over if e in under for c in (over[e], under[e])]
            findings.append(_finding("read_only_ratio", sentence, used))
    return findings


def _network(results: Results, delta: float) -> list[Finding]:
    """Every cell over a network against the local one of the same place."""
    findings = []
    for remote in results.workloads:
        local = remote.replace(*NETWORK_PAIR)
        if local == remote or local not in results.workloads:
            continue
        pairs = _same_places(results, remote, local)
        if not pairs:
            continue
        changes = [value_of(over) / value_of(near) - 1 for over, near in pairs]
        slower = sum(change < 0 for change in changes)
        faster = sum(change > 0 for change in changes)
        contradicted = min(changes) < -delta and max(changes) > delta
        sentence = (
            f"{remote} against {local}: slower in {slower} of {plural(len(changes), 'cell')},"
            f" faster in {faster}; from {signed_percent(min(changes))} to {signed_percent(max(changes))},"
            f" median {signed_percent(median(changes))}."
        )
        if contradicted:
            sentence += " No one figure describes what the network costs."
        used = [cell for pair in pairs for cell in pair]
        findings.append(_finding("network", sentence, used, contradicted=contradicted))
    return findings


def _same_places(results: Results, remote: str, local: str) -> list[tuple[Cell, Cell]]:
    """Cells with a number of both workloads that differ in nothing else."""
    near: dict[tuple[str, str, str], Cell] = {}
    pairs = []
    for settings in results.settings:
        for curve in results.curves(settings, local).values():
            near.update({(cell.engine, settings, cell.load): cell for cell in curve})
        for curve in results.curves(settings, remote).values():
            pairs += [
                (cell, near[place]) for cell in curve if (place := (cell.engine, settings, cell.load)) in near
            ]
    return pairs
