"""What an A/A test says: the two settings sets of its run are the same under two names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.errors import DynoError
from dyno.findings.words import percent
from dyno.report.analysis import analyse
from dyno.stats.noise import aa_test

if TYPE_CHECKING:
    from dyno.record.run import Run
    from dyno.stats.noise import AATest

SIDES = 2
FLOOR_MAX = 1.0
"""Where an engine may be twice itself there is no floor: the host was not idle, or few trials were good."""


@dataclass(frozen=True)
class SelfComparison:
    """The test, and the name of the engine that stood against itself."""

    engine: str
    test: AATest


def self_comparison(run: Run) -> SelfComparison:
    """The A/A test that a run of one engine under two equal settings sets is.

    Raises:
        DynoError: The run is none, or too few of its trials were good.
    """
    analysis = analyse(run)
    sides = [
        {
            trial.block: trial.throughput_per_s
            for trial in cell.trials
            if trial.status == "ok" and trial.throughput_per_s is not None
        }
        for cell in analysis.cells
    ]
    if len(sides) != SIDES:
        raise DynoError(
            f"{run.path} is no A/A test: it has {len(sides)} cells", hint="`dyno selftest --aa` makes one"
        )
    try:
        test = aa_test(sides[0], sides[1])
    except ValueError as error:
        raise DynoError(
            f"the A/A test gives no noise floor: {error}",
            hint=f"`dyno show {run.path} -t trials` says what became of each trial",
        ) from error
    if test.floor > FLOOR_MAX:
        raise DynoError(
            f"the A/A test gives no noise floor: with {test.ratio.n} good trials a side, which scatter by"
            f" {percent(test.spread)}, an engine may be more than twice itself",
            hint="let the host be idle, or take more and longer trials: --trials 10 --seconds 30",
        )
    return SelfComparison(analysis.engines[0].label, test)
