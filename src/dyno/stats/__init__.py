"""Estimates and comparisons: pure functions of trial values. No file, no socket.

The trial is the unit: every function takes one value a trial, never one a second.
"""

from dyno.stats.bootstrap import mean_bootstrap, ratio_bootstrap, ratio_paired_bootstrap
from dyno.stats.comparison import Comparison, Verdict, compare, ratio_paired, ratio_unpaired, verdict
from dyno.stats.correction import holm
from dyno.stats.equivalence import Equivalence, equivalence, equivalence_paired, equivalence_unpaired
from dyno.stats.estimate import Estimate, mean_interval
from dyno.stats.generator import GeneratorUse, generator_limits, generator_reason, generator_use
from dyno.stats.geometric import geometric_mean, geometric_mean_ratio
from dyno.stats.knees import Border, Knee, find_knees
from dyno.stats.power import (
    Design,
    detectable_effect,
    equivalence_power,
    equivalence_trials_needed,
    power,
    spread_of,
    trials_needed,
)
from dyno.stats.ranks import RankTest, hodges_lehmann, hodges_lehmann_ratio, mann_whitney
from dyno.stats.scaling import ScalingFit, ScalingRefusal, fit_scaling

__all__ = [
    "Border",
    "Comparison",
    "Design",
    "Equivalence",
    "Estimate",
    "GeneratorUse",
    "Knee",
    "RankTest",
    "ScalingFit",
    "ScalingRefusal",
    "Verdict",
    "compare",
    "detectable_effect",
    "equivalence",
    "equivalence_paired",
    "equivalence_power",
    "equivalence_trials_needed",
    "equivalence_unpaired",
    "find_knees",
    "fit_scaling",
    "generator_limits",
    "generator_reason",
    "generator_use",
    "geometric_mean",
    "geometric_mean_ratio",
    "hodges_lehmann",
    "hodges_lehmann_ratio",
    "holm",
    "mann_whitney",
    "mean_bootstrap",
    "mean_interval",
    "power",
    "ratio_bootstrap",
    "ratio_paired",
    "ratio_paired_bootstrap",
    "ratio_unpaired",
    "spread_of",
    "trials_needed",
    "verdict",
]
