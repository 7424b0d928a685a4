"""Numbers in words: rounding never changes what they say."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.findings import words
from dyno.report.model import Estimate

near_one = st.floats(min_value=0.2, max_value=5).filter(lambda x: abs(x - 1) > 2e-6)


@given(st.lists(near_one, min_size=3, max_size=3).map(sorted))
def test_a_ratio_is_never_rounded_to_or_over_one(ends: list[float]) -> None:
    low, value, high = ends
    ratio = Estimate(value=value, low=low, high=high, n=3, method="given")
    shown = [
        float(text)
        for text in re.findall(r"[\d.]+", f"{words.ratio_value(ratio)} {words.ratio_interval(ratio)}")
    ]
    for text, true in zip(shown, (value, low, high), strict=True):
        assert (text > 1) == (true > 1)
        assert (text < 1) == (true < 1)


def test_ratio() -> None:
    ratio = Estimate(value=0.9312, low=0.91, high=0.952, n=3, method="given")
    assert words.ratio_phrase(ratio) == "0.93×, 95 % CI [0.91, 0.95]"
    narrow = Estimate(value=0.9971, low=0.9951, high=0.9991, n=3, method="given")
    assert words.ratio_phrase(narrow) == "0.997×, 95 % CI [0.995, 0.999]"
    assert words.ratio_phrase(Estimate(value=2, n=1, method="given")) == "2.00×"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.00412, "0.00412"),
        (0.5, "0.5"),
        (1.234, "1.23"),
        (56.78, "56.8"),
        (391.4, "391"),
        (1234567.8, "1,234,568"),
    ],
)
def test_number(value: float, text: str) -> None:
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("us", "text"),
    [(0.5, "0.5 µs"), (850, "850 µs"), (1250, "1.25 ms"), (999_999, "1,000 ms"), (2_000_000, "2.00 s")],
)
def test_duration(us: float, text: str) -> None:
    assert words.duration(us) == text


def test_small_words() -> None:
    assert words.joined([]) == ""
    assert words.joined(["a"]) == "a"
    assert words.joined(["a", "b", "c"]) == "a, b and c"
    assert words.plural(1, "trial") == "1 trial"
    assert words.plural(2, "retry", "retries") == "2 retries"
    assert words.percent(0.05) == "5 %"
    assert words.percent(0.0123) == "1.2 %"
    assert words.percent(0.59) == "59 %"
    assert words.size(256 * 2**20) == "256 MiB"
    assert words.size(1.5 * 2**30) == "1.5 GiB"
    assert words.with_error(391.2, 14.6) == "391 ± 15"
    assert words.with_error(391.2, 0.2) == "391 ± 0.2"
    assert words.with_error(391.2, 0) == "391 ± 0"
