# ruff: noqa: PLC0415, D301 - commands import what they need when they run; a backspace in a docstring keeps the lines
# of an example apart.
"""`dyno selftest`: what the generator and this host can show at all, kept for the plans to come."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from dyno.cli import console
from dyno.cli.run import RUNS, RunsDir
from dyno.engines import cache_root
from dyno.experiment.rig import Rig, find_rig
from dyno.hosts.ceiling import ceiling_of, ceiling_path, identity
from dyno.hosts.facts import host_facts
from dyno.hosts.placement import place
from dyno.plan.units import parse_cpus
from dyno.record.layout import timestamp, write_json

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.experiment.aa import Wanted
    from dyno.hosts.noise import NoiseFloor


def selftest(  # noqa: PLR0917 (typer passes options by name)
    rig_cpus: Annotated[
        str, typer.Option(help="CPUs of the rig, as in a plan: auto, none, or such as 2-3.")
    ] = "auto",
    aa: Annotated[
        bool, typer.Option("--aa", help="Measure the noise floor instead: an engine against itself.")
    ] = False,
    engine: Annotated[str, typer.Option(help="With --aa: the engine.")] = "mariadb@10.11",
    sessions: Annotated[int, typer.Option(min=1, help="With --aa: sessions of its load.")] = 4,
    trials: Annotated[int, typer.Option(min=2, help="With --aa: trials of each of the two sides.")] = 6,
    seconds: Annotated[float, typer.Option(min=1, help="With --aa: measured seconds of a trial.")] = 5,
    *,
    runs_dir: RunsDir = RUNS,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was measured as JSON.")] = False,
) -> None:
    """Measure how much load the rig can make on this host, on a server that only answers.

    The result is kept for this host, this rig and these CPUs: `dyno run` and `dyno bench` warn when a plan
    asks for more than half of it, and mark trials that sent more than half. Let the host be idle meanwhile.

    With --aa: an A/A test. One engine stands as A and as B, in randomised blocks like any two; whatever the
    comparison finds between them is noise. The noise floor is kept for this host and shown in its reports.

    \b
      dyno selftest                          what the rig can do here
      dyno selftest --aa                     the noise floor, in about two minutes
      dyno selftest --aa --engine mysql@9.7 --sessions 16 --trials 10 --seconds 30
    """
    if aa:
        from dyno.experiment.aa import Wanted

        _measure_noise(Wanted(engine, sessions, trials, seconds), runs_dir, as_json=as_json)
        return
    _measure_ceiling(rig_cpus, as_json=as_json)


def _measure_ceiling(rig_cpus: str, *, as_json: bool) -> None:
    try:
        wanted = parse_cpus(rig_cpus)
    except ValueError as error:
        raise typer.BadParameter(f"--rig-cpus {rig_cpus!r}: {error}") from None
    placement = place("auto", wanted)
    server_cpu = next(iter(set(placement.server_cpus) - set(placement.rig_cpus)), None)
    result = Rig(find_rig()).selftest(placement.rig_cpus, server_cpu)
    cache = cache_root()
    host = host_facts(cache)
    ceiling = ceiling_of(result, host, placement.rig_cpus, timestamp())
    path = ceiling_path(cache, host, placement.rig_cpus)
    write_json(path, ceiling.as_dict())
    if as_json:
        console.print_json(result)
        return
    say = console.out.print
    say(f"{placement.text}", markup=False)
    say(f"closed loop: {ceiling.queries_per_s_max:,.0f} point selects/s at most", markup=False)
    rate = ceiling.rate_per_s_max
    opened = f"{rate:,.0f} transactions/s start on time" if rate else "at no rate that was tried in time"
    say(f"open loop: {opened}", markup=False)
    say(f"kept in {path}", markup=False)


def _measure_noise(wanted: Wanted, runs_dir: Path, *, as_json: bool) -> None:
    from dyno.experiment.aa import run_aa
    from dyno.findings.words import percent
    from dyno.hosts.noise import noise_path

    noise = _noise(run_aa(wanted, runs_dir, ["dyno", *sys.argv[1:]], console.err))
    path = noise_path(cache_root(), host_facts(cache_root()))
    write_json(path, noise.as_dict())
    if as_json:
        console.print_json(noise.as_dict())
        return
    say = console.out.print
    said = f"{noise.trials} trials a side at {noise.sessions} sessions"
    say(f"{noise.engine} against itself, {said}", markup=False)
    interval = f"[{noise.ratio_low:.3f}, {noise.ratio_high:.3f}]"
    say(f"A ÷ B: {noise.ratio:.3f}, 95 % CI {interval}; truly 1", markup=False)
    say(f"trials of one side scatter by {percent(noise.spread)}", markup=False)
    say(f"noise floor: ±{percent(noise.floor)}; such a test cannot see a smaller difference", markup=False)
    say(f"kept in {path}; the run is {runs_dir / noise.run}", markup=False)
    if noise.false_alarm:
        console.warn(
            "false alarm: the test called the engine different from itself",
            hint="1 of 20 such tests does that by chance; if the next does too, `dyno doctor` may say why",
        )


def _noise(path: Path) -> NoiseFloor:
    """What a finished A/A test says of this host."""
    from dyno.hosts.noise import NoiseFloor
    from dyno.record.run import open_run
    from dyno.report.noise import self_comparison

    run = open_run(path)
    found = self_comparison(run)
    plan, test = run.manifest, found.test
    assert test.ratio.low is not None
    assert test.ratio.high is not None
    return NoiseFloor(
        measured=timestamp(),
        run=plan.id,
        rig_version=plan.rig_version,
        host=identity(host_facts(cache_root())),
        engine=found.engine,
        workload=plan.workloads[0].name,
        sessions=plan.loads[0].sessions or 0,
        trials=test.ratio.n,
        measure_s=plan.phases.measure_s,
        ratio=test.ratio.value,
        ratio_low=test.ratio.low,
        ratio_high=test.ratio.high,
        floor=test.floor,
        spread=test.spread,
        false_alarm=test.false_alarm,
    )
