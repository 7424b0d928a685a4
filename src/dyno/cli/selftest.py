"""`dyno selftest`: how much load the generator can make on this host, kept for the plans to come."""

from __future__ import annotations

from typing import Annotated

import typer

from dyno.cli import console
from dyno.engines import cache_root
from dyno.experiment.rig import Rig, find_rig
from dyno.hosts.ceiling import ceiling_of, ceiling_path
from dyno.hosts.facts import host_facts
from dyno.hosts.placement import place
from dyno.plan.units import parse_cpus
from dyno.record.layout import timestamp, write_json


def selftest(
    rig_cpus: Annotated[
        str, typer.Option(help="CPUs of the rig, as in a plan: auto, none, or such as 2-3.")
    ] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print what the rig measured as JSON.")] = False,
) -> None:
    """Measure how much load the rig can make on this host, on a server that only answers.

    The result is kept for this host, this rig and these CPUs: `dyno run` and `dyno bench` warn when a plan
    asks for more than half of it, and mark trials that sent more than half. Let the host be idle meanwhile.
    """
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
