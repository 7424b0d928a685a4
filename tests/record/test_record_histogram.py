"""Histograms: against the HdrHistogram package, against sorted values, and merged without loss."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno.errors import DynoError
from dyno.record.histogram import NANOSECONDS, Histogram, decode, decode_all, merge
from fixtures.synthetic_run import HIGHEST_NS

values = st.lists(st.integers(min_value=1, max_value=HIGHEST_NS), min_size=1, max_size=60)
PERCENTS = (1, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100)


def recorded(numbers: list[int]) -> HdrHistogram:
    source = HdrHistogram(1, HIGHEST_NS, 3)
    for number in numbers:
        source.record_value(number)
    return source


def encoded(numbers: list[int]) -> str:
    return recorded(numbers).encode().decode()


@settings(max_examples=60, deadline=None)
@given(values)
def test_buckets_are_those_of_the_package(numbers: list[int]) -> None:
    source = recorded(numbers)
    ours = decode(encoded(numbers))
    assert ours.layout == NANOSECONDS
    assert ours.total == len(numbers)
    index = np.flatnonzero(ours.counts)
    assert ours.layout.lowest(index).tolist() == [source.get_value_from_index(int(i)) for i in index]
    for number in numbers:
        bucket = np.array([source.get_counts_array_index(number)])
        assert ours.layout.lowest(bucket)[0] == source.get_lowest_equivalent_value(number)
        assert ours.layout.highest(bucket)[0] == source.get_highest_equivalent_value(number)
    assert ours.maximum == source.get_highest_equivalent_value(max(numbers))
    assert ours.mean == pytest.approx(source.get_mean_value())


@settings(max_examples=60, deadline=None)
@given(values, st.sampled_from(PERCENTS))
def test_percentile_is_the_nearest_rank_of_the_sorted_values(numbers: list[int], percent: float) -> None:
    source = recorded(numbers)
    rank = math.ceil(Fraction(str(percent)) * len(numbers) / 100)
    expected = source.get_highest_equivalent_value(sorted(numbers)[rank - 1])
    assert decode(encoded(numbers)).percentiles([percent]) == [expected]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(min_value=1, max_value=10**10), min_size=100, max_size=100))
def test_percentiles_of_the_package_where_ranks_are_whole(numbers: list[int]) -> None:
    """With 100 values each whole percentage is a whole rank, and rounding conventions cannot differ."""
    source = recorded(numbers)
    wanted = [1, 10, 50, 95, 99, 100]
    assert decode(encoded(numbers)).percentiles(wanted) == [source.get_value_at_percentile(p) for p in wanted]


def test_a_thousandth_is_counted_exactly() -> None:
    """99.9 % of 1,000 values is the 999th: in binary fractions it would come out as the 1,000th."""
    assert decode(encoded(list(range(1, 1001)))).percentiles([99.9, 100]) == [999, 1000]


@settings(max_examples=40, deadline=None)
@given(st.lists(values, min_size=1, max_size=4))
def test_merging_loses_nothing(parts: list[list[int]]) -> None:
    merged = merge(decode(encoded(part)) for part in parts)
    together = decode(encoded([number for part in parts for number in part]))
    assert merged.counts.tolist() == together.counts.tolist()
    assert merged.layout == together.layout


def test_merging_averages_no_percentile() -> None:
    """Nine trials at 1 ms and one at 100 ms: p99 of all is 100 ms, the mean of their p99s is 10.9 ms."""
    trials = [encoded([1_000_000] * 100)] * 9 + [encoded([100_000_000] * 100)]
    assert decode_all(trials).percentiles([99])[0] == pytest.approx(100_000_000, rel=1e-3)


def test_nothing() -> None:
    assert decode_all([None, None]).total == 0
    assert merge([]).total == 0
    assert Histogram().mean == 0
    assert Histogram().maximum == 0
    assert decode(HdrHistogram(1, HIGHEST_NS, 3).encode().decode()).total == 0
    with pytest.raises(ValueError, match="empty histogram"):
        Histogram().percentiles([50])
    with pytest.raises(ValueError, match="0…100"):
        decode(encoded([5])).percentiles([101])


def test_other_layouts_do_not_merge() -> None:
    coarse = HdrHistogram(1, HIGHEST_NS, 2)
    coarse.record_value(5)
    with pytest.raises(DynoError, match="different layouts"):
        merge([decode(encoded([5])), decode(coarse.encode().decode())])


GOOD = encoded([1_000_000, 2_000_000])


@pytest.mark.parametrize(
    "text", ["", "?", "AAAA", "HISTFAAA", GOOD[:-12], "SElTVA==", GOOD[:20] + "A" * 40, "é" * 30]
)
def test_damaged_texts_are_errors_that_teach(text: str) -> None:
    with pytest.raises(DynoError, match="not a latency histogram") as caught:
        decode(text)
    assert caught.value.hint


@settings(max_examples=200, deadline=None)
@given(st.integers(min_value=0, max_value=len(GOOD) - 1), st.characters(codec="ascii"))
def test_a_changed_character_never_escapes_as_another_error(position: int, character: str) -> None:
    with contextlib.suppress(DynoError):
        assert decode(GOOD[:position] + character + GOOD[position + 1 :]).total >= 0
