"""What the load generator can do at most on this host, as `dyno selftest` measured it and kept it.

The figure belongs to one host, one rig and one set of CPUs: for any other it is not known.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from dyno.errors import DynoError
from dyno.hosts.placement import format_cpus

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.hosts.facts import HostFacts

FORMAT = "dyno-ceiling/1"
RIG_FORMAT = "dyno-selftest/1"
SHARE_MAX = 0.50
"""Share of the ceiling from which on the generator is no longer clearly out of the way."""


@dataclass(frozen=True)
class Ceiling:
    """The highest loads that the rig made on its null server.

    Attributes:
        measured: When, UTC.
        rig_version: The rig.
        rig_cpus: The CPUs that it ran on; empty: not pinned.
        host: The facts of the host that must be the same for the figure to hold.
        queries_per_s_max: Point selects a second in a closed loop.
        rate_per_s_max: Highest rate of an open loop that began on time, or None when none did.
    """

    measured: str
    rig_version: str
    rig_cpus: list[int]
    host: dict[str, Any]
    queries_per_s_max: float
    rate_per_s_max: float | None

    def as_dict(self) -> dict[str, Any]:
        """The form of docs/FORMAT.md."""
        return {"format": FORMAT, **asdict(self)}


def ceiling_of(result: dict[str, Any], host: HostFacts, rig_cpus: list[int], measured: str) -> Ceiling:
    """From what `dyno-rig selftest --json` printed when it ran on these CPUs.

    Raises:
        DynoError: It is not the result of a selftest.
    """
    hint = "is dyno-rig of the same version as dyno?"
    if result.get("format") != RIG_FORMAT:
        raise DynoError(f"dyno-rig selftest printed {result.get('format')!r}, not {RIG_FORMAT!r}", hint=hint)
    try:
        rate = result["rate_per_s_max"]
        return Ceiling(
            measured=measured,
            rig_version=str(result["rig_version"]),
            rig_cpus=rig_cpus,
            host=identity(host),
            queries_per_s_max=float(result["queries_per_s_max"]),
            rate_per_s_max=None if rate is None else float(rate),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DynoError(f"dyno-rig selftest printed no figures: {error!r}", hint=hint) from error


def identity(host: HostFacts) -> dict[str, Any]:
    """What makes a host the same one for this purpose."""
    return {
        "hostname": host.hostname,
        "cpu_model": host.cpu_model,
        "cpus": host.cpus,
        "kernel": host.kernel,
    }


def ceiling_path(cache: Path, host: HostFacts, rig_cpus: list[int]) -> Path:
    """Where it is kept."""
    return cache / "selftest" / f"{host.hostname}--{format_cpus(rig_cpus) or 'any'}.json"


def known_ceiling(cache: Path, host: HostFacts, rig_version: str, rig_cpus: list[int]) -> Ceiling | None:
    """The ceiling of exactly this host, rig and placement; None when it was not measured or not readably."""
    try:
        kept = json.loads(ceiling_path(cache, host, rig_cpus).read_text(encoding="utf-8"))
        if kept.pop("format") != FORMAT:
            return None
        ceiling = Ceiling(**kept)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    same = (ceiling.rig_version, ceiling.rig_cpus, ceiling.host) == (rig_version, rig_cpus, identity(host))
    return ceiling if same else None


def demand_warning(rates_per_s: list[float], ceiling: Ceiling | None) -> str | None:
    """A sentence when a plan offers more than `SHARE_MAX` of what the rig can do here; else None.

    A transaction is at least one query, so the true share is at least the one it names.
    """
    highest = max(rates_per_s, default=0.0)
    if ceiling is None or not ceiling.rate_per_s_max or highest <= SHARE_MAX * ceiling.rate_per_s_max:
        return None
    share = 100 * highest / ceiling.rate_per_s_max
    return (
        f"the plan offers {highest:,.0f} transactions/s, at least {share:.0f} % of the"
        f" {ceiling.rate_per_s_max:,.0f} that the rig can start on time on this host"
    )
