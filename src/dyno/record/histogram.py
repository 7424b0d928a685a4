"""HdrHistograms of a record stream as NumPy counts: decode, merge, ask for percentiles.

A histogram is a row of counts. Bucket *i* holds the values `lowest(i)`…`highest(i)`; the layout is fixed by
the number of significant digits and the unit, so histograms of one layout merge by adding counts, exactly.
"""

from __future__ import annotations

import binascii
import math
import zlib
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from hdrh.codec import HdrCookieException, HdrHistogramSettingsException, HdrLengthException
from hdrh.histogram import HdrHistogram

from dyno.errors import DynoError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_DECODE_ERRORS = (
    HdrCookieException,
    HdrLengthException,
    HdrHistogramSettingsException,
    binascii.Error,
    zlib.error,
    ValueError,
    TypeError,
    IndexError,
    OverflowError,
    MemoryError,
    RuntimeError,
)


@dataclass(frozen=True)
class Layout:
    """How bucket numbers map to values: `2^half_bits` buckets an octave, the first octave twice that."""

    unit_bits: int
    half_bits: int

    def lowest(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """Smallest value that falls into each bucket."""
        octave, within = self._split(index)
        return within << (octave + self.unit_bits)

    def highest(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """Largest value that falls into each bucket."""
        octave, within = self._split(index)
        return ((within + 1) << (octave + self.unit_bits)) - 1

    def middle(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """The value that HdrHistogram takes for a bucket in a mean: its lowest plus half its width."""
        octave, within = self._split(index)
        width = np.int64(1) << (octave + self.unit_bits)
        return (within << (octave + self.unit_bits)) + (width >> 1)

    def _split(self, index: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        half = 1 << self.half_bits
        octave = np.maximum((index >> self.half_bits) - 1, 0)
        return octave, index - octave * half


NANOSECONDS_PER_US = 1000
NANOSECONDS = Layout(unit_bits=0, half_bits=10)
"""The layout of every latency that the rig records: 3 significant digits, from 1 ns."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts by bucket, without the zeros after the last used one.

    Attributes:
        layout: Which values the buckets stand for.
        counts: int64, one count a bucket; empty for a histogram of nothing.
    """

    layout: Layout = NANOSECONDS
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def total(self) -> int:
        """Number of recorded values."""
        return int(self.counts.sum())

    @property
    def maximum(self) -> int:
        """Largest recorded value, as the upper end of its bucket (at most 0.1 % above it); 0 when empty."""
        return int(self.layout.highest(np.array([self.counts.size - 1]))[0]) if self.counts.size else 0

    @property
    def mean(self) -> float:
        """Mean of the recorded values, each taken as the middle of its bucket; 0 when empty."""
        if not self.counts.size:
            return 0.0
        used = np.flatnonzero(self.counts)
        return float(np.average(self.layout.middle(used), weights=self.counts[used]))

    def percentiles(self, wanted: Iterable[float]) -> list[int]:
        """The values below which the wanted percentages of the recorded values lie, same order.

        A percentile is the smallest bucket that together with those before it holds at least that share
        (nearest rank), given as its upper end: HdrHistogram's convention, exact to the layout's digits.

        Args:
            wanted: Percentages, 0…100.

        Raises:
            ValueError: The histogram is empty, or a percentage is outside 0…100.
        """
        total = self.total
        if total == 0:
            raise ValueError("an empty histogram has no percentiles")
        cumulated = np.cumsum(self.counts)
        ranks = [_rank(percent, total) for percent in wanted]
        index = np.searchsorted(cumulated, ranks)
        return [int(value) for value in self.layout.highest(index)]


def _rank(percent: float, total: int) -> int:
    """How many values a percentage stands for, rounded up; exact, because 99.9 % of 1000 is 999."""
    if not 0 <= percent <= 100:  # noqa: PLR2004
        raise ValueError(f"a percentage lies in 0…100, not {percent}")
    return max(1, math.ceil(Fraction(str(percent)) * total / 100))


def decode(text: str) -> Histogram:
    """The histogram of a `HISTFAAA…` text (HdrHistogram V2, deflated, base64).

    Raises:
        DynoError: The text is not such a histogram.
    """
    try:
        source = HdrHistogram.decode(text)
        # Only up to the last used bucket: most of the 33,000 are empty, and copying them costs the most.
        end = source.get_counts_array_index(source.max_value) + 1 if source.total_count else 0
        counts = np.frombuffer(memoryview(source.counts), dtype=np.int64)[:end].copy()
        layout = Layout(source.unit_magnitude, source.sub_bucket_half_count_magnitude)
    except _DECODE_ERRORS as error:
        shown = text if len(text) <= 40 else text[:37] + "…"  # noqa: PLR2004
        raise DynoError(
            f"not a latency histogram: {shown!r} ({type(error).__name__})",
            hint="the record is damaged: restore it, or run the trial again (dyno run --resume)",
        ) from None
    if (counts < 0).any():
        raise DynoError("a latency histogram holds negative counts", hint="the record is damaged")
    return Histogram(layout, counts)


def merge(histograms: Iterable[Histogram]) -> Histogram:
    """All histograms as one: counts are added, so that nothing is lost; of none: an empty one.

    Raises:
        DynoError: The histograms have different layouts.
    """
    parts = list(histograms)
    filled = [part for part in parts if part.counts.size] or parts[:1]
    layouts = {part.layout for part in filled}
    if len(layouts) > 1:
        raise DynoError(
            f"histograms of different layouts cannot be merged: {sorted(map(str, layouts))}",
            hint="compare only records of the same significant digits and unit",
        )
    if not filled:
        return Histogram()
    counts = np.zeros(max(part.counts.size for part in filled), dtype=np.int64)
    for part in filled:
        counts[: part.counts.size] += part.counts
    return Histogram(filled[0].layout, counts)


def decode_all(texts: Iterable[str | None]) -> Histogram:
    """The merged histogram of encoded ones; None stands for an empty one, as in the record stream."""
    return merge(decode(text) for text in texts if text is not None)


def percentile_us(histogram: Histogram, percent: float) -> float | None:
    """One percentile of a histogram of nanoseconds, in microseconds; None when it is empty."""
    return histogram.percentiles([percent])[0] / NANOSECONDS_PER_US if histogram.total else None
