"""What must be known to read a comparison: sentences beside its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.findings.words import joined, percent

if TYPE_CHECKING:
    from dyno.compare.model import Difference
    from dyno.compare.sides import Opened

TWO_RUNS = (
    "Two runs: their trials are not paired, and what changed on the host between them is in the ratios and"
    " not in their intervals. For the sharpest answer compare both within one run."
)
CONFOUNDING = {
    "host": "the host",
    "placement": "the placement on CPUs",
    "workload": "the workload",
    "load": "the load",
    "phases": "the length of the phases",
    "settings": "the settings",
}
"""Differences that change numbers by themselves; a version or a plan is usually what is being compared."""


def of_runs(after: Opened, found: list[Difference], threshold: float) -> list[str]:
    """What must be known of two runs."""
    kinds = [words for kind, words in CONFOUNDING.items() if any(each.kind == kind for each in found)]
    notes = [TWO_RUNS, *_of_noise(after, threshold)]
    if kinds:
        notes.insert(0, f"The runs also differ in {joined(kinds)}: a ratio may be due to that.")
    return notes


def of_engines(opened: Opened, threshold: float) -> list[str]:
    """What must be known of the engines of one run."""
    return _of_noise(opened, threshold)


def _of_noise(opened: Opened, threshold: float) -> list[str]:
    noise = opened.analysis.noise_floor
    if noise is None or noise.floor <= threshold:
        return []
    return [f"A threshold of {percent(threshold)} is finer than what the host could show. {noise.sentence}"]
