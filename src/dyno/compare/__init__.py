"""Two runs, or the engines of one, against each other: is anything slower by more than a threshold?"""

from dyno.compare.gate import compare_engines, compare_runs
from dyno.compare.model import Compared, Difference, Pair

__all__ = ["Compared", "Difference", "Pair", "compare_engines", "compare_runs"]
