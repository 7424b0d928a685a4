"""Scaling laws: how throughput depends on the number of sessions, and whether the data follow a law at all.

Universal Scalability Law (Gunther 2007):  X(N) = γN ÷ (1 + α(N − 1) + βN(N − 1))

γ is the throughput of one session alone, α the share of work that is serial (contention), β the cost of
keeping two sessions coherent. β = 0 is Amdahl's law (1967), which rises towards γ ÷ α; with β > 0 there is a
peak at N* = √((1 − α) ÷ β).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from dyno.stats.estimate import CONFIDENCE, Estimate, checked
from dyno.stats.law import (
    LawFit,
    alpha_of,
    beta_of,
    fit_law,
    gamma_of,
    limit_of,
    peak_of,
    peak_throughput_of,
    throughput_at,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dyno.stats.law import Array, Quantity

Law = Literal["usl", "amdahl"]
Refused = Literal["few levels", "past the peak", "bad fit", "no curvature"]

LEVELS_MIN = 6
"""Load levels below which three parameters leave too little to judge the fit by."""

RESIDUAL_SPREAD_MAX = 0.15
"""Scatter of the levels around the curve, as a share of it, above which they do not follow the law."""

EXTRAPOLATION_MAX = 2.0
"""A peak further out than this × the highest level run is not given."""

CURVE_POINTS = 49
"""Points of the drawn curve, at equal distances of the logarithm."""


@dataclass(frozen=True)
class CurvePoint:
    """The fitted throughput at a number of sessions, with the interval of the curve at that point."""

    sessions: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ScalingFit:
    """A law that the data follow, with intervals.

    Attributes:
        law: `usl` where the data show a β above 0, else `amdahl`, the simpler one.
        sessions: Load levels, ascending.
        throughput: Geometric mean of each level's trials.
        residuals: Measured ÷ fitted − 1 of each level.
        residual_spread: Standard deviation of ln measured ÷ fitted, about a share of 1.
        gamma: γ, in the unit of the throughput.
        alpha: α, 0…1.
        beta: β; None under Amdahl's law.
        peak_sessions: N*; None where the data show none.
        peak_throughput: X(N*).
        extrapolated: N* lies beyond the highest level run.
        limit: Amdahl's γ ÷ α, which lies beyond every level run; None under the USL, and where α may be 0.
        peak_note: Why there is no N*, or how far out it lies.
        curve: The law over the levels run.
    """

    law: Law
    sessions: tuple[float, ...]
    throughput: tuple[float, ...]
    residuals: tuple[float, ...]
    residual_spread: float
    gamma: Estimate
    alpha: Estimate
    beta: Estimate | None
    peak_sessions: Estimate | None
    peak_throughput: Estimate | None
    extrapolated: bool
    limit: Estimate | None
    peak_note: str | None
    curve: tuple[CurvePoint, ...]


@dataclass(frozen=True)
class ScalingRefusal:
    """Why no law is given for a curve."""

    code: Refused
    reason: str


def fit_scaling(
    levels: Mapping[float, Sequence[float]], *, confidence: float = CONFIDENCE
) -> ScalingFit | ScalingRefusal:
    """Fit the USL, or Amdahl's law where its β is not shown to be above 0, or refuse.

    A level is one observation, the mean of its trials' logarithms: levels scatter around a law by more than
    trials do within a level, because no engine follows a law exactly, and that scatter is what the intervals
    must hold. So they need no repeated trials, and more trials narrow them only as far as the law is right.

    Args:
        levels: Sessions → throughput of its trials, one value a trial.
        confidence: Nominal coverage of each single interval, 0…1.

    Raises:
        ValueError: Sessions or a throughput that is not above 0.
    """
    sessions = np.asarray(sorted(levels), dtype=np.float64)
    if sessions.size < LEVELS_MIN:
        reason = f"{sessions.size} load levels have a number, a law needs {LEVELS_MIN}"
        return ScalingRefusal("few levels", reason)
    if sessions[0] <= 0:
        raise ValueError(f"a load level has {sessions[0]:g} sessions")
    logs = np.asarray([np.log(checked(levels[n], positive=True)).mean() for n in sessions])
    n = sum(len(values) for values in levels.values())
    usl = fit_law(sessions, logs, with_beta=True, confidence=confidence)
    refusal = _refusal(usl, sessions, logs)
    if refusal:
        return refusal
    if usl.extent(beta_of)[0] > 0:
        return _fitted(usl, sessions, logs, n, confidence)
    amdahl = fit_law(sessions, logs, with_beta=False, confidence=confidence)
    if amdahl.extent(alpha_of)[0] <= 0:
        reason = (
            f"throughput is proportional to the sessions up to {sessions[-1]:g}, within the scatter of the"
            " levels: nothing limits it yet"
        )
        return ScalingRefusal("no curvature", reason)
    return _refusal(amdahl, sessions, logs) or _fitted(amdahl, sessions, logs, n, confidence)


def _refusal(law: LawFit, sessions: Array, logs: Array) -> ScalingRefusal | None:
    """Why a fitted law means nothing."""
    if int(np.argmax(logs)) == 0:
        lowest = f"{sessions[0]:g} session{'' if sessions[0] == 1 else 's'}"
        reason = f"throughput is highest at the lowest level, {lowest}: the rise was not run"
        return ScalingRefusal("past the peak", reason)
    if law.spread > RESIDUAL_SPREAD_MAX:
        residuals = np.expm1(law.residuals)
        worst = int(np.argmax(np.abs(residuals)))
        worst_level = f"the level of {sessions[worst]:g} is off by {residuals[worst]:+.0%}"
        much = f"more than {RESIDUAL_SPREAD_MAX:.0%}"
        reason = f"the levels scatter by {law.spread:.1%} around the best curve, {much}; {worst_level}"
        return ScalingRefusal("bad fit", reason)
    return None


def _fitted(law: LawFit, sessions: Array, logs: Array, n: int, confidence: float) -> ScalingFit:
    method = f"profile likelihood over {sessions.size} load levels"

    def estimate(quantity: Quantity) -> Estimate:
        low, high = law.extent(quantity)
        return Estimate(law.best(quantity), low, high, n, method, confidence)

    peak, peak_throughput, note = _peak(law, estimate)
    grid = np.geomspace(sessions[0], sessions[-1], CURVE_POINTS)
    return ScalingFit(
        law="usl" if law.with_beta else "amdahl",
        sessions=tuple(sessions.tolist()),
        throughput=tuple(np.exp(logs).tolist()),
        residuals=tuple(np.expm1(law.residuals).tolist()),
        residual_spread=law.spread,
        gamma=estimate(gamma_of),
        alpha=estimate(alpha_of),
        beta=estimate(beta_of) if law.with_beta else None,
        peak_sessions=peak,
        peak_throughput=peak_throughput,
        extrapolated=peak is not None and peak.value > float(sessions[-1]),
        limit=None if law.with_beta else estimate(limit_of),
        peak_note=note,
        curve=tuple(
            CurvePoint(float(at), law.best(throughput_at(float(at))), *law.extent(throughput_at(float(at))))
            for at in grid
        ),
    )


def _peak(
    law: LawFit, estimate: Callable[[Quantity], Estimate]
) -> tuple[Estimate | None, Estimate | None, str | None]:
    """N*, X(N*) and what must be said of them."""
    if not law.with_beta:
        return None, None, "Amdahl's law has no peak: it rises towards its limit"
    last = float(law.sessions[-1])
    peak = estimate(peak_of)
    if peak.value > EXTRAPOLATION_MAX * last:
        return None, None, f"the peak lies beyond twice the highest level run, {last:g} sessions"
    note = f"extrapolated: the highest level run is {last:g} sessions" if peak.value > last else None
    return peak, estimate(peak_throughput_of), note
