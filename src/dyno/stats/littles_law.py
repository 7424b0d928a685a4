"""Little's law as a check of a closed loop: sessions = throughput × (response time + think time).

It holds for any system in which sessions neither appear nor vanish, whatever the distributions (Little 1961).
A trial that breaks it has counted wrongly, or its sessions did something else than they are said to do.
"""

from __future__ import annotations

from dataclasses import dataclass

TOLERANCE = 0.05
"""Share of the sessions that may be missing or too many: what is under way at the ends of the window."""
RESPONSE_SHARE_MAX = 0.01
"""Mean response time ÷ window above which the ends of the window alone may break the law."""


@dataclass(frozen=True)
class LittlesLaw:
    """The law on one trial.

    Attributes:
        sessions: Sessions that the load had, on average over the window.
        accounted: Throughput × (response + think time): sessions that the measured transactions account for.
    """

    sessions: float
    accounted: float

    @property
    def ratio(self) -> float:
        """Accounted ÷ sessions; 1 where the law holds exactly."""
        return self.accounted / self.sessions

    @property
    def holds(self) -> bool:
        """Whether it holds within the tolerance."""
        return abs(self.ratio - 1) <= TOLERANCE


def littles_law(
    *,
    sessions: float,
    throughput_per_s: float,
    response_mean_us: float,
    window_s: float,
    think_mean_us: float = 0,
) -> LittlesLaw | None:
    """The law on a closed loop, or None where the window is too short to tell.

    Args:
        sessions: Mean number of sessions at work.
        throughput_per_s: Transactions that ended in the window, a second.
        response_mean_us: Their mean time from start to end, retries included.
        window_s: Length of the window.
        think_mean_us: Mean pause between two transactions of a session.

    Raises:
        ValueError: No session, or a quantity below 0.
    """
    if sessions <= 0 or window_s <= 0 or min(throughput_per_s, response_mean_us, think_mean_us) < 0:
        given = f"{throughput_per_s}/s, {response_mean_us} µs, {think_mean_us} µs, {window_s} s"
        raise ValueError(f"{sessions} sessions, {given}: a quantity is below 0, or the first or last is 0")
    cycle_s = (response_mean_us + think_mean_us) / 1e6
    if cycle_s > RESPONSE_SHARE_MAX * window_s:
        return None
    return LittlesLaw(sessions, throughput_per_s * cycle_s)
