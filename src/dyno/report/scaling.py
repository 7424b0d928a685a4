"""Where a host's CPUs may make throughput bend, and the table of scaling laws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.findings.scaling import off_by, with_interval
from dyno.findings.words import number, plural
from dyno.report.model import Table
from dyno.stats import Border

if TYPE_CHECKING:
    from dyno.record.manifest import Manifest
    from dyno.report.model import Estimate, Scaling

NONE = "–"
LAWS = {"usl": "USL", "amdahl": "Amdahl"}
NOTE = (
    "X(N) = γN ÷ (1 + α(N − 1) + βN(N − 1)), 95 % intervals by profile likelihood over the load levels."
    " USL where the levels show a β above 0, else Amdahl (β = 0). Off by: standard deviation of measured ÷"
    " fitted."
)


def borders(plan: Manifest) -> list[Border]:
    """Numbers of sessions that fill a part of the server's CPUs: one cache, one NUMA node, all of them.

    Parts are taken to be equally large; on a server with CPUs of its own only those smaller than these count.
    An imported run has no host of its own, so it has no borders.
    """
    total = _count(plan, "cpus")
    if total is None:
        return []
    mine = len(plan.placement.server_cpus) or total
    found = {float(mine): "all CPUs of the server"}
    cores = _count(plan, "cpu_cores")
    if cores and mine == total and cores < total:
        found[float(cores)] = "all cores, one thread each"
    for fact, name in (("numa_nodes", "the CPUs of one NUMA node"), ("cpu_caches", "the CPUs of one cache")):
        parts = _count(plan, fact)
        if parts and parts > 1 and total / parts < mine:
            found.setdefault(total / parts, name)
    return [Border(sessions, name) for sessions, name in sorted(found.items())]


def _count(plan: Manifest, fact: str) -> int | None:
    value = plan.host.get(fact)
    return value if isinstance(value, int) and value > 0 else None


def worth_showing(curves: list[Scaling]) -> list[Scaling]:
    """Those that had levels enough to be asked."""
    return [curve for curve in curves if curve.refused != "few levels"]


def scaling_table(curves: list[Scaling]) -> Table:
    """A row a curve: the law with its parameters, or why there is none."""
    rows = [_row(curve) for curve in curves]
    return Table(
        id="scaling",
        title="Scaling over sessions",
        columns=["Engine", "Law", "γ, 1/s", "α", "β", "Peak N*", "X(N*), 1/s", "Off by", "What"],
        rows=rows,
        note=NOTE,
    )


def _row(curve: Scaling) -> list[str]:
    if curve.law is None:
        return [curve.label, *[NONE] * 7, f"none: {curve.reason}"]
    spread = NONE if curve.residual_spread is None else off_by(curve.residual_spread)
    return [
        curve.label,
        LAWS[curve.law],
        *(_text(each) for each in (curve.gamma_per_s, curve.alpha, curve.beta)),
        *(_text(each) for each in (curve.peak_sessions, curve.peak_per_s)),
        spread,
        _what(curve),
    ]


def _text(estimate: Estimate | None) -> str:
    return NONE if estimate is None else with_interval(estimate)


def _what(curve: Scaling) -> str:
    said = [plural(len(curve.sessions), "level")]
    if curve.limit_per_s is not None:
        said.append(f"rises towards {with_interval(curve.limit_per_s)}/s")
    elif curve.peak_note:
        said.append(curve.peak_note)
    said += [f"bends at {knee.sessions:g}: {knee.name}" for knee in curve.knees if knee.found]
    return "; ".join(said)


def residual_table(curves: list[Scaling]) -> Table:
    """A row a level of each curve that follows a law: measured, fitted, and how far apart."""
    rows = [
        [curve.label, f"{sessions:g}", number(measured), number(measured / (1 + off)), f"{off:+.1%}"]
        for curve in curves
        for sessions, measured, off in zip(
            curve.sessions, curve.throughput_per_s, curve.residuals, strict=False
        )
    ]
    columns = ["Engine", "Sessions", "Measured, 1/s", "Fitted, 1/s", "Off by"]
    return Table(id="scaling_residuals", title="Levels against their law", columns=columns, rows=rows)
