"""Does a series swing with a period? The largest peak of its spectrum against red noise.

Servers that let work pile up and then clear it (checkpoints, purge, a full redo log) go up and down again and
again. Throughput that merely wanders has no peak in its spectrum above that of a first-order autoregression,
which is the usual null hypothesis for such series (Mann & Lees 1996; Torrence & Compo 1998).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import signal, stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

SEGMENTS = 4
"""Welch's method: the length of a segment is the series ÷ this; segments overlap by half."""
PERIOD_MIN = 4.0
"""Samples: two neighbours cannot tell an oscillation from noise."""
CYCLES_MIN = 2
"""A segment holds at least so many cycles, so the series holds at least eight."""
SIGNIFICANCE = 0.01
BAND = (0.7, 1.4)
"""The swing is what lies within these multiples of the peak's frequency: cycles are never of one length."""
SAMPLES_MIN = 120


@dataclass(frozen=True)
class Sawtooth:
    """A periodic swing.

    Attributes:
        period: Samples from crest to crest.
        depth: Crest to trough of the swing, as a share of the mean: 2√2 · σ of what lies in its band.
        share: Of the variance around the trend, how much lies in its band.
        p: Chance that red noise has as high a peak at any period looked at.
    """

    period: float
    depth: float
    share: float
    p: float


def sawtooth(values: Sequence[float]) -> Sawtooth | None:
    """The periodic swing of a series of samples at equal distances, or None where there is none.

    The spectrum is Welch's with Hann windows, linear trends of the segments removed. Its peak counts when it
    stands out of the red noise of the same lag-1 autocorrelation and variance at p ≤ 1 %, corrected for the
    number of frequencies (Šidák).
    """
    series = np.asarray(values, dtype=np.float64)
    mean = float(series.mean()) if series.size else 0.0
    if series.size < SAMPLES_MIN or mean <= 0 or np.ptp(series) == 0:
        return None
    size = series.size // SEGMENTS
    frequency, power = signal.welch(series, nperseg=size, detrend=signal.detrend)
    kept = (frequency >= CYCLES_MIN / size) & (frequency <= 1 / PERIOD_MIN)
    ratio = power / _red_noise(series, frequency, power)
    ratio[~kept] = 0
    peak = int(np.argmax(ratio))
    p = _chance(float(ratio[peak]), int(kept.sum()))
    if p > SIGNIFICANCE:
        return None
    band = (frequency >= BAND[0] * frequency[peak]) & (frequency <= BAND[1] * frequency[peak])
    variance = float(power[band].sum() * frequency[1])
    return Sawtooth(
        period=float(power[band].sum() / (power[band] * frequency[band]).sum()),
        depth=2 * float(np.sqrt(2 * variance)) / mean,
        share=float(power[band].sum() / power[1:].sum()),
        p=p,
    )


def _red_noise(series: Floats, frequency: Floats, power: Floats) -> Floats:
    """Expected spectrum of an AR(1) series with this one's lag-1 autocorrelation and power."""
    rest = signal.detrend(series)
    lag1 = float(np.clip(rest[1:] @ rest[:-1] / (rest @ rest), 0.0, 0.99))
    shape = 1 / (1 - 2 * lag1 * np.cos(2 * np.pi * frequency) + lag1**2)
    return np.asarray(shape * (power[1:].sum() / shape[1:].sum()), dtype=np.float64)


def _chance(ratio: float, frequencies: int) -> float:
    """Chance of such a peak among so many frequencies: power ÷ its expectation is χ² ÷ degrees of freedom."""
    segments = 2 * SEGMENTS - 1
    freedom = 36 * segments**2 / (19 * segments - 1)  # Welch (1967), Hann windows that overlap by half
    single = float(stats.chi2.sf(ratio * freedom, freedom))
    return float(-np.expm1(frequencies * np.log1p(-single))) if single < 1 else 1.0
