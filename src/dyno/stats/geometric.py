"""Several cells as one number: geometric means over cells, of one engine or of a ratio of two."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from dyno.stats.comparison import SMALLEST_SAMPLE, Comparison
from dyno.stats.estimate import CONFIDENCE, Estimate, checked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


def geometric_mean(cells: Sequence[Mapping[int, float]], *, confidence: float = CONFIDENCE) -> Estimate:
    """Geometric mean over cells, each given as block → trial value, with a t interval on the logarithms.

    The cells are those of the plan, not a sample of all that could have been run: the interval is of their
    mean, and says nothing of other cells.

    - All cells have the same blocks: the mean of a block over the cells is one value a block, whose spread
      holds whatever a block does to all of its cells.
    - Otherwise: the cells' own errors add up, with Satterthwaite's degrees of freedom, as if cells were
      independent. A cell with a single trial then leaves the mean without an interval.

    Raises:
        ValueError: No cell, a cell without trials, or a value that is not above 0.
    """
    estimate, _ = _over_cells([_logs(cell) for cell in cells], confidence)
    return estimate


def geometric_mean_ratio(
    pairs: Sequence[tuple[Mapping[int, float], Mapping[int, float]]],
    *,
    paired: bool = True,
    confidence: float = CONFIDENCE,
) -> Comparison:
    """Geometric mean over cells of the ratio a ÷ b, each cell given as two maps of block → trial value.

    Ratios are averaged geometrically because only then a ÷ b and b ÷ a say the same (Fleming & Wallace 1986).

    Args:
        pairs: The cells that both sides have.
        paired: Whether blocks of the same number are the same block: False for two different runs.
        confidence: Nominal coverage, 0…1.

    Raises:
        ValueError: No cell, a cell without trials, or a value that is not above 0.
    """
    if paired and all(a.keys() == b.keys() for a, b in pairs):
        ratios = [{block: a[block] / b[block] for block in a} for a, b in pairs]
        estimate, p_value = _over_cells([_logs(ratio) for ratio in ratios], confidence)
        return Comparison(estimate, p_value)
    if not pairs:
        raise ValueError("a geometric mean needs at least one cell")
    sides = [(list(_logs(a).values()), list(_logs(b).values())) for a, b in pairs]
    centre = float(np.mean([np.mean(x) - np.mean(y) for x, y in sides]))
    return Comparison(*_summed([each for pair in sides for each in pair], len(pairs), centre, confidence))


def _logs(cell: Mapping[int, float]) -> dict[int, float]:
    values = checked(list(cell.values()), positive=True)
    return dict(zip(cell, np.log(values).tolist(), strict=True))


def _over_cells(cells: Sequence[Mapping[int, float]], confidence: float) -> tuple[Estimate, float | None]:
    """The mean over cells of their logarithms, exponentiated, its interval, and p of "it is 1"."""
    if not cells:
        raise ValueError("a geometric mean needs at least one cell")
    if any(cell.keys() != cells[0].keys() for cell in cells):
        centre = float(np.mean([np.mean(list(cell.values())) for cell in cells]))
        return _summed([list(cell.values()) for cell in cells], len(cells), centre, confidence)
    by_block = np.asarray([[cell[block] for block in sorted(cell)] for cell in cells]).mean(axis=0)
    n = int(by_block.size)
    variance = float(by_block.var(ddof=1)) / n if n >= SMALLEST_SAMPLE else None
    method = f"geometric mean of {len(cells)} cells by block: t interval, {n - 1} degrees of freedom"
    return _interval(float(by_block.mean()), variance, n - 1, n=n, method=method, confidence=confidence)


def _summed(
    groups: Sequence[Sequence[float]], cells: int, centre: float, confidence: float
) -> tuple[Estimate, float | None]:
    """The errors of groups that share no blocks, added; `cells` divides them."""
    n = min(len(group) for group in groups)
    method = f"geometric mean of {cells} cells, their errors added"
    if n < SMALLEST_SAMPLE:
        return _interval(centre, None, 0, n=n, method=method, confidence=confidence)
    parts = np.asarray([np.var(group, ddof=1) / len(group) for group in groups])
    frees = np.asarray([len(group) - 1 for group in groups])
    shares = parts / parts.sum() if parts.sum() > 0 else np.full(parts.shape, 1 / parts.size)
    df = float(1 / (shares**2 / frees).sum())
    method += f": t interval, {df:.1f} degrees of freedom (Satterthwaite)"
    return _interval(centre, float(parts.sum()) / cells**2, df, n=n, method=method, confidence=confidence)


def _interval(
    centre: float, variance: float | None, df: float, *, n: int, method: str, confidence: float
) -> tuple[Estimate, float | None]:
    """The estimate on the plain scale; `variance` is of the mean of logarithms, None for a single trial."""
    if variance is None:
        few = "a cell has a single trial: no interval"
        return Estimate(math.exp(centre), None, None, n, few, confidence), None
    error = math.sqrt(variance)
    half = float(stats.t.ppf((1 + confidence) / 2, df)) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        t = float(np.float64(centre) / np.float64(error))
    p_value = 1.0 if math.isnan(t) else float(2 * stats.t.sf(abs(t), df))
    ends = math.exp(centre - half), math.exp(centre + half)
    return Estimate(math.exp(centre), *ends, n, method, confidence), p_value
