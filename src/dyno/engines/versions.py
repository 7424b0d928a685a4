"""Server versions as tuples that compare the way people mean it."""

from __future__ import annotations

import re

from dyno.errors import DynoError

Version = tuple[int, ...]

_LEADING_NUMBERS = re.compile(r"\s*(\d+(?:\.\d+)*)")


def parse_version(text: str) -> Version:
    """The leading numbers of a version text: `10.11.14-MariaDB-log` is `(10, 11, 14)`.

    Raises:
        DynoError: The text does not begin with a number.
    """
    match = _LEADING_NUMBERS.match(text)
    if match is None:
        raise DynoError(
            f"{text!r} is not a server version", hint="write the numbers first, such as 10.11 or 9.7.4"
        )
    return tuple(int(part) for part in match.group(1).split("."))


def in_range(version: Version, since: str | None, until: str | None) -> bool:
    """Whether `since` ≤ version < `until`; None is no bound."""
    if since is not None and version < parse_version(since):
        return False
    return until is None or version < parse_version(until)
