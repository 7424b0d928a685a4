"""What shows only over several cells: curves, versions, and one condition against another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.findings.curves import find_curves
from dyno.findings.gains import find_gains
from dyno.findings.progressions import find_progressions

if TYPE_CHECKING:
    from dyno.findings.results import Results
    from dyno.report.model import Finding


def find_patterns(results: Results, *, relevant_difference: float) -> list[Finding]:
    """All findings over several cells.

    Args:
        results: The cells and their axes.
        relevant_difference: δ, for example 0.05: smaller changes are not marked.
    """
    return [
        *find_curves(results, relevant_difference=relevant_difference),
        *find_progressions(results, relevant_difference=relevant_difference),
        *find_gains(results, relevant_difference=relevant_difference),
    ]
