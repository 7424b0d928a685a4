"""Durations, shares and CPU lists as people write them in a plan."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

SECONDS_PER_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)")
SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")
CPU_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def parse_duration(value: Any) -> float:
    """Seconds of `"500ms"`, `"2s"`, `"10m"` or `"1h"`.

    Raises:
        ValueError: The value is not a number with one of the units.
    """
    match = DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError('a duration is a number with a unit, such as "500ms", "2s", "10m" or "1h"')
    return float(match[1]) * SECONDS_PER_UNIT[match[2]]


def parse_share(value: Any) -> float:
    """The fraction of `"5%"`, or a number between 0 and 1 as it is.

    Raises:
        ValueError: The value is neither, or not between 0 and 1.
    """
    match = SHARE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is not None:
        share = float(match[1]) / 100
    elif isinstance(value, int | float) and not isinstance(value, bool):
        share = float(value)
    else:
        raise ValueError('a share is written as "5%" or 0.05')
    if not 0 < share < 1:
        raise ValueError("a share lies between 0 % and 100 %, both excluded")
    return share


def parse_cpus(value: Any) -> str | list[int]:
    """CPU numbers of `"0-3,6"` or `[0, 1]`, sorted; `"auto"` and `"none"` as they are.

    Raises:
        ValueError: The value is none of these.
    """
    if value in ("auto", "none"):
        return str(value)
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not parts:
        raise ValueError('CPUs are "auto", "none", a list such as [0, 1] or ranges such as "0-3,6"')
    cpus: set[int] = set()
    for part in parts:
        match = CPU_RANGE.fullmatch(str(part).strip())
        if match is None:
            raise ValueError(f"{part!r} is not a CPU number or a range of them")
        first = int(match[1])
        last = int(match[2] or first)
        if last < first:
            raise ValueError(f"the range {part!r} runs backwards")
        cpus.update(range(first, last + 1))
    return sorted(cpus)


def format_duration(seconds: float) -> str:
    """Seconds for people: `"45 s"`, `"4 min 05 s"`, `"2 h 10 min"`."""
    whole = round(seconds)
    if whole < 60:  # noqa: PLR2004
        return f"{whole} s"
    if whole < 3600:  # noqa: PLR2004
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def format_bytes(count: float) -> str:
    """Bytes for people, in binary units: `"1.5 GiB"`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:  # noqa: PLR2004
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


Duration = Annotated[float, BeforeValidator(parse_duration)]
Share = Annotated[float, BeforeValidator(parse_share)]
Cpus = Annotated[str | list[int], BeforeValidator(parse_cpus)]
