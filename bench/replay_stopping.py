"""Replay the stopping rule on whole trials: how often would it have stopped rightly, and after which time?

    dyno import LOGS --layout percona-2026 -o RUN && python bench/replay_stopping.py RUN

A stop is right when the mean of the shortened window lies within the target of the mean of the whole one. The
engines, in the order of their names, are dealt in turn to a half on which the constants of
`dyno.stats.stopping` were chosen and to one that confirms them. Beside the rule stands the naive one: the
interval of 20 batch means, looked at every second from the 60th on.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import pandas as pd
from rich.console import Console
from rich.table import Table

import dyno
from dyno.stats.stopping import BATCHES, MEASURE_MIN, T_QUANTILE, StoppingRule, batch_means, stopped_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TARGETS = (0.02, 0.03, 0.05)
NAIVE_MIN = 60
SAMPLES_MIN = 600
"""A shorter series is not the whole window that a stop is held against."""


@dataclass(frozen=True)
class Window:
    """The measured window of one trial, samples at equal distances."""

    trial: str
    engine: str
    half: str
    samples: list[float]


@dataclass(frozen=True)
class Stop:
    """Where a rule would have stopped one trial; `error` is shortened mean ÷ whole mean − 1."""

    rule: str
    target: float
    trial: str
    half: str
    samples: int
    share: float
    error: float

    @property
    def right(self) -> bool:
        """Whether the shortened mean lies within the target."""
        return abs(self.error) <= self.target


def windows(run: Path) -> list[Window]:
    """The measured windows of a run's good trials."""
    data = dyno.open(run)
    trials = data.trials[data.trials.status == "ok"].set_index("trial")
    engines = sorted(trials.engine.unique())
    half = {engine: ("choice", "confirmation")[place % 2] for place, engine in enumerate(engines)}
    series = data.series
    label = series.label.astype("string").fillna("")
    whole = series[(series.metric == "throughput_per_s") & (label == "") & (series.phase == "measure")]
    found = []
    for trial, rows in whole.sort_values("t_s").groupby("trial", observed=True):
        values = pd.to_numeric(rows.value).dropna().tolist()
        if trial in trials.index and len(values) >= SAMPLES_MIN:
            engine = str(trials.engine[trial])
            found.append(Window(str(trial), engine, half[engine], values))
    return found


def naive_stop(values: Sequence[float], rule: StoppingRule) -> int:
    """The first second at which the interval of 20 batch means is inside the target."""
    for n in range(NAIVE_MIN, len(values)):
        means = batch_means(values[:n], BATCHES)
        half = T_QUANTILE * means.std(ddof=1) / math.sqrt(BATCHES)
        if half <= rule.precision * means.mean():
            return n
    return len(values)


RULES: dict[str, Callable[[Sequence[float], StoppingRule], int]] = {"dyno": stopped_at, "naive": naive_stop}


def replay(window: Window, targets: Sequence[float]) -> list[Stop]:
    """Every rule at every target on one trial."""
    stops = []
    whole = fmean(window.samples)
    for name, rule in RULES.items():
        for target in targets:
            length = len(window.samples)
            at = rule(window.samples, StoppingRule(target, MEASURE_MIN, length))
            error = fmean(window.samples[:at]) / whole - 1
            stops.append(Stop(name, target, window.trial, window.half, at, at / length, error))
    return stops


def summaries(stops: Sequence[Stop]) -> list[dict[str, object]]:
    """Right stops and share of the time, by rule, target and half."""
    frame = pd.DataFrame([{**asdict(stop), "right": stop.right} for stop in stops])
    parts = [frame, frame.assign(half="all")]
    grouped = pd.concat(parts).groupby(["rule", "target", "half"], sort=False)
    rows = grouped.agg(trials=("trial", "size"), right=("right", "mean"), time=("share", "mean"))
    found: list[dict[str, object]] = json.loads(rows.reset_index().to_json(orient="records"))
    return found


def show(rows: Sequence[dict[str, object]], wrong: Sequence[Stop]) -> None:
    """The table, and every wrong stop of the rule."""
    console = Console()
    table = Table("rule", "target", "half", "trials", "right", "time", title="stopping rule, replayed")
    for row in rows:
        shares = [f"{row['right']:.1%}", f"{row['time']:.3f}"]
        table.add_row(str(row["rule"]), f"{row['target']:.0%}", str(row["half"]), str(row["trials"]), *shares)
    console.print(table)
    for stop in wrong:
        console.print(
            f"wrong at {stop.target:.0%}, {stop.half}: {stop.trial} after {stop.samples} s, {stop.error:+.1%}"
        )


def main() -> int:
    """Replay every trial of the run, print or write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("run", type=Path, help="a run folder, imported or measured")
    parser.add_argument("--half", choices=("choice", "confirmation"), help="only the engines of this half")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args()
    chosen = [each for each in windows(options.run) if options.half in {None, each.half}]
    if not chosen:
        parser.error(f"{options.run} has no trial of {SAMPLES_MIN} measured seconds or more")
    with ProcessPoolExecutor() as pool:
        found = pool.map(partial(replay, targets=TARGETS), chosen, chunksize=4)
        stops = [stop for stops in found for stop in stops]
    wrong = [stop for stop in stops if stop.rule == "dyno" and not stop.right]
    if options.json:
        print(json.dumps({"rules": summaries(stops), "wrong": [asdict(stop) for stop in wrong]}, indent=1))
    else:
        show(summaries(stops), wrong)
    return 0


if __name__ == "__main__":
    sys.exit(main())
