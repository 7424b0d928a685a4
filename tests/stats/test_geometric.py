"""Geometric means over cells: against scipy, by symmetry and by coverage."""

import math

import numpy as np
import pytest
from scipy import stats

from dyno.stats import geometric_mean, geometric_mean_ratio, ratio_paired


def cell(*values: float) -> dict[int, float]:
    return dict(enumerate(values, start=1))


def test_one_cell_is_the_paired_ratio() -> None:
    a, b = [10.0, 12, 11], [5.0, 5.5, 6]
    one = geometric_mean_ratio([(cell(*a), cell(*b))])
    expected = ratio_paired(a, b)
    assert one.ratio.value == pytest.approx(expected.ratio.value)
    assert (one.ratio.low, one.ratio.high) == pytest.approx((expected.ratio.low, expected.ratio.high))
    assert one.p_value == pytest.approx(expected.p_value)


def test_value_is_the_geometric_mean_of_the_ratios() -> None:
    """SPEC's way (Fleming & Wallace 1986): 2, 8 and 1 make 2.52, whichever side is the base."""
    pairs = [(cell(2, 2), cell(1, 1)), (cell(8, 8), cell(1, 1)), (cell(3, 3), cell(3, 3))]
    ratio = geometric_mean_ratio(pairs).ratio
    assert ratio.value == pytest.approx(stats.gmean([2, 8, 1]))
    inverse = geometric_mean_ratio([(b, a) for a, b in pairs]).ratio
    assert ratio.value * inverse.value == pytest.approx(1)


def test_what_a_block_does_to_all_cells_cancels_in_a_ratio_only() -> None:
    slow = [1.0, 0.5, 1.1, 0.7]
    a = cell(*(10 * f for f in slow))
    b = cell(*(5 * f for f in slow))
    ratio = geometric_mean_ratio([(a, b), (a, b)]).ratio
    assert (ratio.low, ratio.high) == pytest.approx((2, 2))
    mean = geometric_mean([a, b])
    assert mean.low is not None
    assert mean.low < 0.9 * mean.value


def test_different_blocks_add_their_errors() -> None:
    """Two cells with blocks of their own: Satterthwaite's degrees of freedom, by hand."""
    a, b = {1: 10.0, 2: 11.0, 3: 12.0}, {4: 20.0, 5: 25.0}
    estimate = geometric_mean([a, b])
    logs = [np.log(list(a.values())), np.log(list(b.values()))]
    parts = [x.var(ddof=1) / x.size for x in logs]
    df = sum(parts) ** 2 / sum(p**2 / (x.size - 1) for p, x in zip(parts, logs, strict=True))
    half = stats.t.ppf(0.975, df) * math.sqrt(sum(parts)) / 2
    centre = np.mean([x.mean() for x in logs])
    assert estimate.value == pytest.approx(math.exp(centre))
    assert estimate.high == pytest.approx(math.exp(centre + half))
    assert "Satterthwaite" in estimate.method


def test_two_runs_are_not_paired() -> None:
    a, b = cell(10, 11, 12), cell(5, 6, 5.5)
    apart = geometric_mean_ratio([(a, b)], paired=False)
    reference = stats.ttest_ind(np.log(list(a.values())), np.log(list(b.values())), equal_var=False)
    assert apart.p_value == pytest.approx(reference.pvalue)
    low, high = reference.confidence_interval()
    assert (apart.ratio.low, apart.ratio.high) == pytest.approx((math.exp(low), math.exp(high)))


def test_a_single_trial_leaves_no_interval() -> None:
    assert geometric_mean([cell(5), cell(6)]).low is None
    assert geometric_mean([cell(5, 6), {3: 7.0}]).low is None
    lone = geometric_mean_ratio([(cell(5), cell(6))])
    assert (lone.ratio.n, lone.ratio.low, lone.p_value) == (1, None, None)


def test_refuses_nothing_and_zero() -> None:
    with pytest.raises(ValueError, match="at least one cell"):
        geometric_mean([])
    with pytest.raises(ValueError, match="at least one cell"):
        geometric_mean_ratio([], paired=False)
    with pytest.raises(ValueError, match="above 0"):
        geometric_mean([cell(1, 0)])


@pytest.mark.parametrize("paired", [True, False])
def test_coverage(paired: bool) -> None:
    """2,000 experiments of 4 cells × 5 blocks with a block effect; 95 % ± 3.5 standard errors when paired.

    Unpaired, the block effect of a run is in all of its cells: the test leaves it out there.
    """
    rng = np.random.default_rng(20261121)
    covered = 0
    for _ in range(2000):
        block = np.exp(rng.normal(0, 0.05, 5)) if paired else np.ones(5)
        pairs = []
        for k in range(4):
            a = 3 * (k + 1) * block * np.exp(rng.normal(0, 0.02, 5))
            b = 2 * (k + 1) * block * np.exp(rng.normal(0, 0.02, 5))
            pairs.append((cell(*a.tolist()), cell(*b.tolist())))
        ratio = geometric_mean_ratio(pairs, paired=paired).ratio
        covered += ratio.low is not None and ratio.high is not None and ratio.low <= 1.5 <= ratio.high
    assert 0.933 <= covered / 2000 <= 0.967
