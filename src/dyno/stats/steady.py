"""Was the measured window steady? Drift, steps, oscillation and stalls of one trial's seconds.

These describe one trial. They never compare engines: a second is not a repeat of anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import stats

from dyno.stats.changepoints import change_points
from dyno.stats.sawtooth import Sawtooth, sawtooth

if TYPE_CHECKING:
    from collections.abc import Sequence

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

State = Literal["steady", "drifting", "stepped", "oscillating", "too short"]

WINDOW_MIN = 60
"""Samples below which nothing is said of a window."""
BATCH = 5
"""MSER-5 (White 1997) takes means of five samples."""
BATCHES = 30
"""Batches of the change point and drift tests: long enough that neighbours hardly depend on each other."""
DRIFT_MIN = 0.10
"""Change from end to end of the fitted line, as a share of the mean, that matters."""
STEP_MIN = 0.10
"""Change of level between neighbouring segments, as a share of the mean, that matters."""
STALL_SHARE = 0.10
"""A stalled second: below this share of the median."""
OSCILLATION_MIN = 0.35
"""Coefficient of variation of the seconds around their slow trend from which on a window oscillates."""
SAWTOOTH_MIN = 0.20
"""Depth of a periodic swing, as a share of the mean, from which on a window oscillates."""
SIGNIFICANCE = 0.01
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Steadiness:
    """The verdict on one window.

    Attributes:
        state: The first of drifting, stepped, oscillating that holds, else steady.
        reasons: Everything found, a clause each; empty for a steady window.
        drift: Change of the fitted line over the window ÷ mean.
        variation: Coefficient of variation around the slow trend.
        stalls: Samples below a tenth of the median.
        changes: Sample indices where a new level begins.
        effective_n: Effective sample size by batch means.
        half_width: Of the 95 % interval of the window's mean with that many samples, as a share of the mean.
            It says how precise the window is, never how far two engines differ.
        swing: A periodic swing of any depth.
    """

    state: State
    reasons: list[str]
    drift: float = 0.0
    variation: float = 0.0
    stalls: int = 0
    changes: tuple[int, ...] = ()
    effective_n: float = 0.0
    half_width: float | None = None
    swing: Sawtooth | None = None


def mser5(values: Sequence[float]) -> int | None:
    """Samples to cut off the start, by MSER-5; None at its limit of half the series: never steady.

    White (1997), Spratt (1998): of batches Z of five, d* minimises Σ_{j>d}(Z_j − Z̄_d)² ÷ (k − d)², d ≤ k ÷ 2.
    """
    z = batch_means(values, len(values) // BATCH) if len(values) >= 2 * BATCH else np.empty(0)
    k = int(z.size)
    if k == 0:
        return None
    scores = [float(((z[d:] - z[d:].mean()) ** 2).sum()) / (k - d) ** 2 for d in range(k // 2 + 1)]
    best = int(np.argmin(scores))
    return None if best == k // 2 else best * BATCH


def batch_means(values: Sequence[float], batches: int) -> Floats:
    """Means of `batches` equal runs of neighbours; what is left over is left out at the start.

    Raises:
        ValueError: Fewer values than batches, or no batch.
    """
    series = np.asarray(values, dtype=np.float64)
    if batches < 1 or series.size < batches:
        raise ValueError(f"{series.size} values do not make {batches} batches")
    size = series.size // batches
    rows = series[series.size - size * batches :].reshape(batches, size)
    return np.asarray(rows.mean(axis=1), dtype=np.float64).ravel()


def effective_sample_size(values: Sequence[float], *, batches: int | None = None) -> float:
    """How many independent samples would have a mean as precise as this one's, by batch means; 1…n.

    Args:
        values: The series in order.
        batches: Default: the square root of the length.
    """
    series = np.asarray(values, dtype=np.float64)
    count = batches or max(2, math.isqrt(series.size))
    spread = float(series.var(ddof=1))
    means = batch_means(series.tolist(), count)
    of_mean = float(means.var(ddof=1)) / count
    if spread == 0 or of_mean == 0:
        return float(series.size)
    return float(min(max(spread / of_mean, 1.0), series.size))


def slope(values: Sequence[float]) -> tuple[float, float]:
    """Change of the least-squares line over the whole series, and its two-sided p.

    The error of the slope is widened by the effective sample size of the residuals, because neighbouring
    seconds are not independent.
    """
    series = np.asarray(values, dtype=np.float64)
    n = series.size
    x = np.arange(n) - (n - 1) / 2
    rate = float(x @ series / (x @ x))
    residuals = series - series.mean() - rate * x
    effective = max(effective_sample_size(residuals.tolist()), 3.0)
    error = math.sqrt(float(residuals @ residuals) / (n - 2) / float(x @ x) * n / effective)
    if error == 0:
        return rate * (n - 1), 0.0 if rate else 1.0
    return rate * (n - 1), float(2 * stats.t.sf(abs(rate / error), max(effective - 2, 1.0)))


def audit(values: Sequence[float]) -> Steadiness:
    """The verdict on one window of samples at equal distances (usually 1 s throughputs)."""
    series = np.asarray(values, dtype=np.float64)
    if series.size < WINDOW_MIN:
        return Steadiness("too short", [f"{series.size} samples, no verdict below {WINDOW_MIN}"])
    mean, median = float(series.mean()), float(np.median(series))
    if mean <= 0:
        return Steadiness("steady", [])
    found: list[tuple[State, str]] = []
    change, p = slope(values)
    drift = change / mean
    if abs(drift) >= DRIFT_MIN and p < SIGNIFICANCE:
        thirds = series.size // 3
        ratio = float(series[-thirds:].mean() / max(series[:thirds].mean(), 1e-9))
        word = "rises" if drift > 0 else "falls"
        found.append(("drifting", f"throughput {word}: its last third is {ratio:.2f}× its first"))
    changes = _steps(series, mean)
    if changes:
        found.append(("stepped", f"its level changes at {', '.join(f'{at} s' for at in changes[:5])}"))
    variation = _variation(series, mean)
    if variation >= OSCILLATION_MIN:
        found.append(("oscillating", f"seconds scatter by {variation:.0%} of the mean"))
    stalls = int((series < STALL_SHARE * median).sum())
    if stalls:
        found.append(
            ("oscillating", f"{stalls} of {series.size} seconds under {STALL_SHARE:.0%} of the median")
        )
    swing = sawtooth(values)
    if swing is not None and swing.depth >= SAWTOOTH_MIN:
        text = f"a saw-tooth: about every {swing.period:.0f} s by {swing.depth:.0%} of the mean"
        found.append(("oscillating", text))
    if mser5(values) is None and found:
        found.append(("drifting", "MSER-5 finds no steady part"))
    effective_n = effective_sample_size(values)
    return Steadiness(
        state=found[0][0] if found else "steady",
        reasons=[text for _, text in found],
        drift=drift,
        variation=variation,
        stalls=stalls,
        changes=tuple(changes),
        effective_n=effective_n,
        half_width=_half_width(series, effective_n) / mean,
        swing=swing,
    )


def _half_width(series: Floats, effective_n: float) -> float:
    """Half-width of Student's t interval of the mean of so many independent samples with this spread."""
    n = max(effective_n, 2.0)
    quantile = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1))
    return quantile * float(series.std(ddof=1)) / math.sqrt(n)


def _steps(series: Floats, mean: float) -> list[int]:
    """Change points of long batches whose level moves by enough to matter, as sample indices."""
    means = batch_means(series.tolist(), BATCHES)
    size = series.size // BATCHES
    offset = series.size - size * BATCHES
    points = change_points(means.tolist(), significance=SIGNIFICANCE, permutations=99, segment_min=3)
    edges = [0, *points, BATCHES]
    kept = []
    for before, at, after in zip(edges, edges[1:], edges[2:], strict=False):
        if abs(means[at:after].mean() - means[before:at].mean()) >= STEP_MIN * mean:
            kept.append(offset + at * size)
    return kept


def _variation(series: Floats, mean: float) -> float:
    """Coefficient of variation of the samples around the means of their batches: drift is not scatter."""
    size = series.size // BATCHES
    rows = series[series.size - size * BATCHES :].reshape(BATCHES, size)
    return float(np.sqrt(rows.var(axis=1, ddof=1).mean())) / mean if size > 1 else 0.0
