"""Estimates and comparisons: pure functions of trial values. No file, no socket.

The trial is the unit: every function takes one value a trial, never one a second.
"""

from dyno.stats.comparison import Comparison, Verdict, compare, ratio_paired, ratio_unpaired, verdict
from dyno.stats.correction import holm
from dyno.stats.estimate import Estimate, mean_interval
from dyno.stats.generator import GeneratorUse, generator_limits, generator_reason, generator_use

__all__ = [
    "Comparison",
    "Estimate",
    "GeneratorUse",
    "Verdict",
    "compare",
    "generator_limits",
    "generator_reason",
    "generator_use",
    "holm",
    "mean_interval",
    "ratio_paired",
    "ratio_unpaired",
    "verdict",
]
