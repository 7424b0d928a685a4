"""The fit under `scaling`: least squares of ln throughput, and the region of parameters that the data allow.

The interval of any quantity is its profile likelihood interval: all values that it takes over those
parameters whose sum of squares is at most S_min (1 + F(1, df) ÷ df) (Bates & Watts 1988, 6.1). It needs no
formula of its own for N* or X(N), keeps α and β above 0, and is not symmetric where the data are not. A
bootstrap of a level's few trials would be too narrow by √((n − 1) ÷ n), and blind to how far the levels lie
off the law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Flags = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

Quantity = Callable[[Array, Array, Array], Array]
"""What follows from α, β and ln γ, for many of each at once."""

STARTS = ((1e-4, 1e-8), (1e-2, 1e-5), (0.2, 1e-3))
"""Where the search begins: hardly any, some and much contention; the best end counts."""

TOLERANCE = 1e-11

DIRECTIONS = 180
"""Rays from the best parameters to the edge of the region."""

STEPS = 17
"""Points on each ray: the widest γ does not lie on the edge of α and β."""

BISECTIONS = 40


@dataclass(frozen=True)
class LawFit:
    """A fitted law and the region of its parameters.

    Attributes:
        sessions: Load levels.
        logs: ln throughput of each.
        with_beta: Whether β was fitted; else it is 0.
        region: One row a point of the region: α, β, the best ln γ there and half of ln γ's interval there.
            The first row is the best one.
    """

    sessions: Array
    logs: Array
    with_beta: bool
    region: Array

    @property
    def residuals(self) -> Array:
        """Of each level: ln measured − ln fitted."""
        return np.asarray(offsets(self.region[:1, :2], self.sessions, self.logs)[0] - self.region[0, 2])

    @property
    def spread(self) -> float:
        """Standard deviation of the residuals, by the degrees of freedom that the parameters leave."""
        return float(np.sqrt((self.residuals**2).sum() / degrees(self.sessions, with_beta=self.with_beta)))

    def best(self, quantity: Quantity) -> float:
        """The quantity at the best parameters."""
        alpha, beta, log_gamma, _ = self.region[:1].T
        return float(quantity(alpha, beta, log_gamma)[0])

    def extent(self, quantity: Quantity) -> tuple[float, float]:
        """Its least and largest value over the region."""
        alpha, beta, log_gamma, half = self.region.T
        ends = [quantity(alpha, beta, log_gamma + sign * half) for sign in (-1, 1)]
        return float(min(end.min() for end in ends)), float(max(end.max() for end in ends))


def alpha_of(alpha: Array, beta: Array, log_gamma: Array) -> Array:
    """α itself."""
    del beta, log_gamma
    return alpha


def beta_of(alpha: Array, beta: Array, log_gamma: Array) -> Array:
    """β itself."""
    del alpha, log_gamma
    return beta


def gamma_of(alpha: Array, beta: Array, log_gamma: Array) -> Array:
    """γ itself."""
    del alpha, beta
    return np.exp(log_gamma)


def limit_of(alpha: Array, beta: Array, log_gamma: Array) -> Array:
    """γ ÷ α, what Amdahl's law rises to."""
    del beta
    return np.exp(log_gamma) / alpha


def peak_of(alpha: Array, beta: Array, log_gamma: Array) -> Array:
    """N* = √((1 − α) ÷ β), at least one session."""
    del log_gamma
    return np.maximum(np.sqrt((1 - alpha) / beta), 1.0)


def peak_throughput_of(alpha: Array, beta: Array, log_gamma: Array) -> Array:
    """X(N*)."""
    at = peak_of(alpha, beta, log_gamma)
    return np.exp(log_gamma) * at / (1 + alpha * (at - 1) + beta * at * (at - 1))


def throughput_at(sessions: float) -> Quantity:
    """X at a number of sessions."""

    def quantity(alpha: Array, beta: Array, log_gamma: Array) -> Array:
        return np.exp(log_gamma) * sessions / (1 + (sessions - 1) * (alpha + beta * sessions))

    return quantity


def degrees(sessions: Array, *, with_beta: bool) -> int:
    """Degrees of freedom of the residuals."""
    return int(sessions.size) - (3 if with_beta else 2)


def offsets(parameters: Array, sessions: Array, logs: Array) -> Array:
    """What each level says of ln γ, given α and β: a row for each row of parameters (α, or α and β)."""
    alpha = parameters[:, :1]
    beta = parameters[:, 1:2] if parameters.shape[1] > 1 else np.zeros_like(alpha)
    cost = np.log1p((sessions - 1) * (alpha + beta * sessions))
    return np.asarray(logs - np.log(sessions) + cost)


@dataclass(frozen=True)
class Best:
    """The parameters with the least sum of squares: α, or α and β; the Jacobian and the residuals there."""

    parameters: Array
    jacobian: Array
    residuals: Array


def search(sessions: Array, logs: Array, *, with_beta: bool, factors: Array | None = None) -> Best:
    """Least squares of ln throughput with 0 ≤ α ≤ 1 and β ≥ 0.

    Logarithms, because the scatter of a level grows with its throughput. What is linear in them, ln γ and the
    exponents of further factors, is projected out.

    Args:
        sessions: Load levels, above 0.
        logs: ln throughput of each.
        with_beta: Whether to fit β; else it is 0.
        factors: ln of what the law is multiplied with to a fitted power; one value a level.
    """
    width = 2 if with_beta else 1
    linear = np.ones((sessions.size, 1)) if factors is None else np.column_stack([factors**0, factors])
    basis = np.linalg.qr(linear)[0]

    def residuals(parameters: Array) -> Array:
        found = offsets(parameters[None, :], sessions, logs)[0]
        return np.asarray(found - basis @ (basis.T @ found))

    def jacobian(parameters: Array) -> Array:
        alpha, beta = parameters[0], parameters[1] if with_beta else 0.0
        slope = (sessions - 1) / (1 + (sessions - 1) * (alpha + beta * sessions))
        found = np.column_stack([slope, slope * sessions])[:, :width]
        return np.asarray(found - basis @ (basis.T @ found))

    fits = [
        optimize.least_squares(
            residuals,
            start[:width],
            jac=jacobian,
            bounds=(np.zeros(width), np.asarray([1.0, np.inf])[:width]),
            x_scale=start[:width],
            xtol=TOLERANCE,
            ftol=TOLERANCE,
            gtol=TOLERANCE,
        )
        for start in STARTS
    ]
    chosen = min(fits, key=lambda fit: float(fit.cost))
    return Best(np.asarray(chosen.x), np.asarray(chosen.jac), np.asarray(chosen.fun))


def fit_law(sessions: Array, logs: Array, *, with_beta: bool, confidence: float) -> LawFit:
    """The best law and the region around it.

    Args:
        sessions: Load levels, above 0; more of them than parameters.
        logs: ln throughput of each.
        with_beta: Whether to fit β; else it is 0.
        confidence: Of the region, for one quantity at a time.
    """
    best = search(sessions, logs, with_beta=with_beta)
    df = degrees(sessions, with_beta=with_beta)
    least = float((best.residuals**2).sum())
    slack = least * float(stats.f.ppf(confidence, 1, df)) / df
    points = _region(best, sessions, logs, slack=slack)
    spare = np.maximum(least + slack - _squares(points, sessions, logs), 0.0)
    beta = points[:, 1] if with_beta else np.zeros(len(points))
    log_gamma = offsets(points, sessions, logs).mean(axis=1)
    region = np.column_stack([points[:, 0], beta, log_gamma, np.sqrt(spare / sessions.size)])
    return LawFit(sessions, logs, with_beta, region)


def _squares(parameters: Array, sessions: Array, logs: Array) -> Array:
    found = offsets(parameters, sessions, logs)
    return np.asarray(((found - found.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))


def _region(best: Best, sessions: Array, logs: Array, *, slack: float) -> Array:
    """Points with at most `slack` more than the least sum of squares, the best first, on rays around it."""
    centre = best.parameters
    if slack == 0:
        return centre[None, :]
    around = np.asarray([[1.0], [-1.0]])
    if centre.size > 1:
        angles = np.linspace(0, 2 * np.pi, DIRECTIONS, endpoint=False)
        around = np.column_stack([np.cos(angles), np.sin(angles)])
    root = np.linalg.cholesky(best.jacobian.T @ best.jacobian)
    rays = np.sqrt(slack) * np.linalg.solve(root.T, around.T).T
    limit = float((best.residuals**2).sum()) + slack
    reach = _reach(centre, rays, sessions, logs, limit)
    shares = np.linspace(0, 1, STEPS)[1:]
    points = centre + (shares[:, None, None] * reach[None, :, None]) * rays[None, :, :]
    inside = np.clip(points.reshape(-1, centre.size), 0.0, np.asarray([1.0, np.inf])[: centre.size])
    return np.vstack([centre[None, :], inside])


def _reach(best: Array, rays: Array, sessions: Array, logs: Array, limit: float) -> Array:
    """How far each ray stays inside the region and the bounds of α and β, by bisection."""
    with np.errstate(divide="ignore", invalid="ignore"):
        to_zero = np.where(rays < 0, -best / rays, np.inf)
        to_one = np.where(rays[:, 0] > 0, (1 - best[0]) / rays[:, 0], np.inf)
    bound = np.minimum(to_zero.min(axis=1), to_one)

    def outside(at: Array) -> Flags:
        points = best + at[:, None] * rays
        return np.asarray(_squares(np.maximum(points, 0.0), sessions, logs) > limit)

    high = np.minimum(1.0, bound)
    for _ in range(BISECTIONS):
        growing = ~outside(high) & (high < bound)
        if not growing.any():
            break
        high = np.where(growing, np.minimum(2 * high, bound), high)
    low = np.zeros_like(high)
    done = ~outside(high)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        beyond = outside(middle)
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.asarray(np.where(done, np.maximum(low, high), low), dtype=np.float64)
