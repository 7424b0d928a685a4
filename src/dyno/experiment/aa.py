"""The A/A test: a run that compares an engine with itself, and what it says of the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.engines import cache_root, find
from dyno.errors import DynoError
from dyno.experiment.run import Request, start
from dyno.hosts.ceiling import identity
from dyno.hosts.facts import host_facts
from dyno.hosts.noise import NoiseFloor, noise_path
from dyno.plan.load import parse
from dyno.record.layout import timestamp, write_json
from dyno.record.run import open_run

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from dyno.record.run import Run
    from dyno.stats.noise import AATest

WORKLOAD = "oltp_read_write"
SIDES = ("a", "b")
DIGITS = 5
"""Digits behind the point that are kept of shares and ratios: more than a host repeats."""

# Both sides are the same settings under two names, so that they share one snapshot and meet in every block.
PLAN = """\
[plan]
name = "selftest-aa"
title = "{engine} against itself: the noise floor of this host"

[[engines]]
engine = "{engine}"

[settings]
buffer_pool = "256MiB"
redo = "96MiB"

[[tiers]]
name = "a"

[[tiers]]
name = "b"

[[workloads]]
name = "{workload}"
options = {{ tables = 4, table_size = {table_size} }}

[load]
sessions = [{sessions}]

[phases]
warmup = "{warmup_s:g}s"
measure = "{measure_s:g}s"
drain = "1s"

[trials]
count = {trials}
"""


@dataclass(frozen=True)
class Wanted:
    """How large an A/A test is."""

    engine: str = "mariadb@10.11"
    sessions: int = 4
    trials: int = 6
    measure_s: float = 5.0
    warmup_s: float = 2.0
    table_size: int = 10_000

    @property
    def plan(self) -> str:
        """The plan's text.

        Raises:
            DynoError: There is no such engine.
        """
        # Names go by the catalog: what it does not know never comes into the text.
        return PLAN.format(workload=WORKLOAD, **(vars(self) | {"engine": find(self.engine).name}))


def measure_noise(wanted: Wanted, runs: Path, command: list[str], console: Console) -> NoiseFloor:
    """Run the test and keep its result for this host.

    Raises:
        DynoError: Nothing can be run, or too few trials were good.
        InterruptedRunError: Ctrl-C; the message says how to go on.
    """
    text = wanted.plan
    request = Request(parse(text, "the A/A test"), text, runs, command)
    outcome = start(request, console)
    noise = noise_of(open_run(outcome.layout.path))
    write_json(noise_path(cache_root(), host_facts(cache_root())), noise.as_dict())
    return noise


def noise_of(run: Run) -> NoiseFloor:
    """The noise floor that a run of this plan shows, of the host that it is read on.

    Raises:
        DynoError: Too few of its trials were good.
    """
    # scipy comes with it: loaded when the load is over, not beside it.
    from dyno.report.analysis import analyse  # noqa: PLC0415
    from dyno.stats.noise import aa_test  # noqa: PLC0415

    analysis = analyse(run)
    sides = {
        cell.settings: {
            trial.block: trial.throughput_per_s
            for trial in cell.trials
            if trial.status == "ok" and trial.throughput_per_s is not None
        }
        for cell in analysis.cells
    }
    try:
        test = aa_test(sides[SIDES[0]], sides[SIDES[1]])
    except ValueError as error:
        raise DynoError(
            f"the A/A test gives no noise floor: {error}",
            hint=f"`dyno show {run.path} -t trials` says what became of each trial",
        ) from error
    return _noise(run, test, analysis.engines[0].label)


def _noise(run: Run, test: AATest, engine: str) -> NoiseFloor:
    plan = run.manifest
    figures = {
        "floor": test.floor,
        "spread": test.spread,
        "ratio": test.ratio.value,
        "ratio_low": test.ratio.low or 0.0,
        "ratio_high": test.ratio.high or 0.0,
    }
    return NoiseFloor(
        measured=timestamp(),
        run=plan.id,
        rig_version=plan.rig_version,
        host=identity(host_facts(cache_root())),
        engine=engine,
        workload=plan.workloads[0].name,
        sessions=plan.loads[0].sessions or 0,
        trials=test.ratio.n,
        measure_s=plan.phases.measure_s,
        false_alarm=test.false_alarm,
        **{name: round(value, DIGITS) for name, value in figures.items()},
    )
