"""An A/A test: one engine against itself, to see what a comparison on this host calls a difference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dyno.stats.comparison import SMALLEST_SAMPLE, compare
from dyno.stats.estimate import CONFIDENCE, checked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dyno.stats.estimate import Estimate


@dataclass(frozen=True)
class AATest:
    """What two sides that are the same came out as.

    Attributes:
        ratio: A ÷ B, truly 1, with its interval.
        p_value: Of "the ratio is 1".
        floor: The noise floor, a share: the end of the interval that is farther from 1, as a difference from
            it. So many trials on this host cannot tell a true difference below it from none.
        spread: Standard deviation of ln of the trials around the mean of their side, pooled; a share.
        false_alarm: Whether the interval leaves out 1: of 20 such tests one does on a perfect host.
    """

    ratio: Estimate
    p_value: float
    floor: float
    spread: float
    false_alarm: bool


def aa_test(a: Mapping[int, float], b: Mapping[int, float], *, confidence: float = CONFIDENCE) -> AATest:
    """Compare two sides that are the same, exactly as two engines would be compared.

    Args:
        a: Block → value of a trial of the first side, above 0, any unit.
        b: The same of the second.
        confidence: Nominal coverage of the interval, 0…1.

    Raises:
        ValueError: A side has fewer than two trials, or a value that is not above 0; or the trials scatter so
            much that the ratio has no bounded interval.
    """
    if min(len(a), len(b)) < SMALLEST_SAMPLE:
        raise ValueError(f"an A/A test needs two good trials a side, not {len(a)} and {len(b)}")
    result = compare(a, b, confidence=confidence)
    ratio = result.ratio
    if result.p_value is None or ratio.low is None or ratio.high is None or ratio.low <= 0:
        raise ValueError("the trials scatter too much for an interval of their ratio")
    farthest = max(abs(math.log(ratio.low)), abs(math.log(ratio.high)))
    return AATest(
        ratio=ratio,
        p_value=result.p_value,
        floor=math.expm1(farthest),
        spread=_pooled_spread(a, b),
        false_alarm=not ratio.low <= 1 <= ratio.high,
    )


def _pooled_spread(a: Mapping[int, float], b: Mapping[int, float]) -> float:
    sides = [np.log(checked(list(side.values()), positive=True)) for side in (a, b)]
    squares = sum(float(((logs - logs.mean()) ** 2).sum()) for logs in sides)
    return math.sqrt(squares / (len(a) + len(b) - 2))
