"""Sentences and validity marks computed from the numbers of a run, each with its evidence.

Pure functions over the vocabulary of `dyno.report.model`: no file, no socket, nothing typed by hand.
"""

from dyno.findings.comparisons import compare_with_baseline, find_comparisons
from dyno.findings.conditions import find_warmups
from dyno.findings.fairness import weigh_settings
from dyno.findings.leaders import find_leaders, find_peaks
from dyno.findings.limits import find_limits
from dyno.findings.marks import cell_marks, trial_marks
from dyno.findings.names import Names
from dyno.findings.patterns import find_patterns
from dyno.findings.results import Results
from dyno.findings.scaling import find_scaling, fit_curve, fit_curves
from dyno.findings.tpcc import find_tpcc
from dyno.findings.validity import find_cautions

__all__ = [
    "Names",
    "Results",
    "cell_marks",
    "compare_with_baseline",
    "find_cautions",
    "find_comparisons",
    "find_leaders",
    "find_limits",
    "find_patterns",
    "find_peaks",
    "find_scaling",
    "find_tpcc",
    "find_warmups",
    "fit_curve",
    "fit_curves",
    "trial_marks",
    "weigh_settings",
]
