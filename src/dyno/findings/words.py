"""Numbers and lists as a reader expects them. Rounding never changes what a number says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dyno.report.model import Estimate

KIBI = 1024
RATIO_DIGITS_MAX = 6


def joined(items: Sequence[str]) -> str:
    """Items as a list in words: "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def plural(n: int, noun: str, many: str | None = None) -> str:
    """`n` with its noun: "1 trial", "3 trials"; `many` where the plural is not formed by an s."""
    return f"{n:,} {noun if n == 1 else many or noun + 's'}"


def number(value: float) -> str:
    """A quantity with thousands separators: all of its integer part, else three significant digits."""
    size = abs(value)
    if 0 < size < 1:
        return f"{value:.3g}"
    digits = 0 if size >= 100 or value == 0 else 1 if size >= 10 else 2  # noqa: PLR2004
    return f"{value:,.{digits}f}"


def with_error(value: float, half_width: float) -> str:
    """A value and half its interval, to the same decimals: "391 ± 15"; a tiny half keeps its own digits."""
    text = number(value)
    digits = len(text.partition(".")[2])
    half = f"{half_width:,.{digits}f}"
    return f"{text} ± {half if float(half.replace(',', '')) or not half_width else number(half_width)}"


def percent(share: float) -> str:
    """A share of 1 as a percentage, with a decimal below 10 %."""
    value = 100 * share
    return f"{value:.0f} %" if value >= 10 or value == 0 else f"{value:.2g} %"  # noqa: PLR2004


def duration(us: float) -> str:
    """Microseconds in the unit that reads best: "850 µs", "1.25 ms", "2.00 s"."""
    for limit, divisor, unit in ((1e3, 1, "µs"), (1e6, 1e3, "ms")):
        if us < limit:
            return f"{number(us / divisor)} {unit}"
    return f"{number(us / 1e6)} s"


def size(size_bytes: float) -> str:
    """Bytes in binary units: "256 MiB"."""
    value = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < KIBI:
            return f"{value:g} {unit}" if value == int(value) else f"{value:.1f} {unit}"
        value /= KIBI
    return f"{value:.1f} TiB"


def _digits(ratio: Estimate) -> int:
    """Decimals of a ratio and its ends such that none is rounded to, or over, 1."""
    ends = [end for end in (ratio.value, ratio.low, ratio.high) if end is not None and end != 1]
    for digits in range(2, RATIO_DIGITS_MAX):
        if all(round(end, digits) != 1 for end in ends):
            return digits
    return RATIO_DIGITS_MAX


def ratio_value(ratio: Estimate) -> str:
    """A ratio: "0.93×"; with more decimals where two would show a 1 that it is not."""
    return f"{ratio.value:.{_digits(ratio)}f}×"


def ratio_interval(ratio: Estimate) -> str | None:
    """The interval of a ratio: "[0.91, 0.95]"; None when it has none."""
    if ratio.low is None or ratio.high is None:
        return None
    digits = _digits(ratio)
    return f"[{ratio.low:.{digits}f}, {ratio.high:.{digits}f}]"


def ratio_phrase(ratio: Estimate, of: str = "") -> str:
    """A ratio with its interval: "0.93× MariaDB 10.11, 95 % CI [0.91, 0.95]"; `of` may be left out."""
    interval = ratio_interval(ratio)
    return f"{ratio_value(ratio)} {of}".rstrip() + (
        f", {percent(ratio.confidence)} CI {interval}" if interval else ""
    )
