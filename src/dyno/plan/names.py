"""The ids of settings, workloads, loads, cells and trials: slugs that are folder names too."""

from __future__ import annotations

import re

SLUG = re.compile(r"[a-z0-9._][a-z0-9._-]*")


def slug(text: str) -> str:
    """`text` in lower case with everything but `[a-z0-9._]` as one `-` (docs/FORMAT.md).

    Raises:
        ValueError: Nothing of the text remains.
    """
    made = re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-.")
    if not made:
        raise ValueError(f"{text!r} has no letter or digit to name a folder with")
    return made


def sessions_id(sessions: int) -> str:
    """The id of a closed loop at one number of sessions: `s16`."""
    return f"s{sessions}"


def rate_id(rate_per_s: float) -> str:
    """The id of an open loop at one rate: `r2000`, `r0.5`; rates are told apart to a thousandth."""
    return "r" + f"{rate_per_s:.3f}".rstrip("0").rstrip(".")


def cell_id(engine: str, settings: str, workload: str, load: str) -> str:
    """The id of one cell."""
    return f"{engine}~{settings}~{workload}~{load}"


def trial_id(order: int, cell: str, block: int) -> str:
    """The id of one trial; `order` counts from 1 over the whole run."""
    return f"{order:04d}-{cell}-b{block}"
