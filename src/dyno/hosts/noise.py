"""The noise floor of this host, as `dyno selftest --aa` measured it and kept it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from dyno.hosts.ceiling import identity

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.hosts.facts import HostFacts

FORMAT = "dyno-noise/1"


@dataclass(frozen=True)
class NoiseFloor:
    """What an A/A test of one engine against itself showed.

    Attributes:
        measured: When, UTC.
        run: The id of the run that it was.
        rig_version: The rig.
        host: The facts of the host that must be the same for the figure to hold.
        engine: What was compared with itself, such as "MariaDB 10.11".
        workload: The load that it was under.
        sessions: Sessions of its closed loop.
        trials: Good trials of the side that has fewer.
        measure_s: Measured seconds of a trial.
        ratio: A ÷ B, truly 1.
        ratio_low: Lower end of its 95 % confidence interval.
        ratio_high: Upper end.
        floor: The end of the interval farther from 1, as a share.
        spread: Standard deviation of trials around the mean of their side, as a share.
        false_alarm: Whether the interval left out 1.
    """

    measured: str
    run: str
    rig_version: str
    host: dict[str, Any]
    engine: str
    workload: str
    sessions: int
    trials: int
    measure_s: float
    ratio: float
    ratio_low: float
    ratio_high: float
    floor: float
    spread: float
    false_alarm: bool

    def as_dict(self) -> dict[str, Any]:
        """The form of docs/FORMAT.md."""
        return {"format": FORMAT, **asdict(self)}


def noise_path(cache: Path, host: HostFacts) -> Path:
    """Where it is kept."""
    return cache / "selftest" / f"{host.hostname}--aa.json"


def known_noise(cache: Path, host: HostFacts) -> NoiseFloor | None:
    """The noise floor of exactly this host; None when it was not measured, or is not readable."""
    try:
        kept = json.loads(noise_path(cache, host).read_text(encoding="utf-8"))
        if kept.pop("format") != FORMAT:
            return None
        noise = NoiseFloor(**kept)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return noise if noise.host == identity(host) else None
