"""Knees at the borders of the host: does throughput bend where the sessions fill a cache, a node or all CPUs?

A law bends smoothly everywhere. A knee is a bend beside that: from a border B on, throughput follows the law
times (N ÷ B)^c. It counts only where c differs from 0 by an F test, corrected by Holm over the borders tried:
a curve is not searched for its most striking place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from dyno.stats.correction import holm
from dyno.stats.estimate import CONFIDENCE, checked
from dyno.stats.law import offsets, search

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dyno.stats.law import Array

LEVELS_MIN = 7
"""Load levels below which four parameters leave too little to test with."""

SIDE_MIN = 2
"""Levels that must lie at or below a border, and above it."""

ROUNDING = 1e-18
"""A sum of squares below this is rounding, not scatter."""


@dataclass(frozen=True)
class Border:
    """A number of sessions at which a part of the host is full, and what it is called."""

    sessions: float
    name: str


@dataclass(frozen=True)
class Knee:
    """The test of one border.

    Attributes:
        border: Where.
        exponent: c: below 0 throughput falls behind the law from there on, above 0 it runs ahead.
        p_value: Of "c is 0", by the F test of one more parameter.
        p_holm: Corrected for the other borders.
        confidence: 1 − the error that is accepted.
    """

    border: Border
    exponent: float
    p_value: float
    p_holm: float
    confidence: float

    @property
    def found(self) -> bool:
        """Whether the data show a knee there."""
        return self.p_holm < 1 - self.confidence


def find_knees(
    levels: Mapping[float, Sequence[float]],
    borders: Sequence[Border],
    *,
    confidence: float = CONFIDENCE,
) -> list[Knee]:
    """Test each border that has two levels on either side; none where fewer than seven levels were run.

    Args:
        levels: Sessions → throughput of its trials, one value a trial.
        borders: Where the host has them (`dyno.hosts`), fixed before the data are seen.
        confidence: 1 − the error that is accepted over all borders together.

    Raises:
        ValueError: A throughput that is not above 0.
    """
    sessions = np.asarray(sorted(levels), dtype=np.float64)
    inside = [
        border
        for border in borders
        if min((sessions <= border.sessions).sum(), (sessions > border.sessions).sum()) >= SIDE_MIN
    ]
    if sessions.size < LEVELS_MIN or not inside:
        return []
    logs = np.asarray([np.log(checked(levels[n], positive=True)).mean() for n in sessions])
    tests = [_bend(sessions, logs, border.sessions) for border in inside]
    corrected = holm([p for _, p in tests])
    return [
        Knee(border, exponent, p, p_holm, confidence)
        for border, (exponent, p), p_holm in zip(inside, tests, corrected, strict=True)
    ]


def _bend(sessions: Array, logs: Array, border: float) -> tuple[float, float]:
    """c, and p of the F test of the law with a bend against the law alone."""
    beyond = np.log(np.maximum(sessions / border, 1.0))
    alone = search(sessions, logs, with_beta=True)
    bent = search(sessions, logs, with_beta=True, factors=beyond)
    freed = offsets(bent.parameters[None, :], sessions, logs)[0]
    exponent = float(np.polynomial.polynomial.polyfit(beyond, freed, 1)[1])
    df = int(sessions.size) - 4
    least = float((bent.residuals**2).sum())
    gain = max(float((alone.residuals**2).sum()) - least, 0.0)
    if least < ROUNDING:
        return exponent, 0.0 if gain > ROUNDING else 1.0
    return exponent, float(stats.f.sf(gain / (least / df), 1, df))
