"""What the seconds of a measured window show: was it steady, do its counts agree, did it end early?

All of it describes one trial; none of it decides between engines.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dyno.findings.words import percent
from dyno.record.series import rate_per_s
from dyno.report.model import Mark, Stopping, Swing, Window
from dyno.stats.littles_law import LittlesLaw, littles_law
from dyno.stats.steady import Steadiness, audit
from dyno.stats.stopping import StoppingRule, reach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dyno.record.lines import Interval, Summary
    from dyno.record.manifest import Phases
    from dyno.record.stream import Stream

MICROSECONDS_PER_S = 1_000_000
TOO_SHORT = "too short"
GAPS_SHARE = 0.99
"""Share of its intervals that a log has at least: the last, cut off, is often missing."""
PAUSES = ("keying", "think")
"""Options of a workload whose sessions pause between transactions, for a time that no record holds."""


def measured_intervals(stream: Stream) -> list[Interval]:
    """The intervals of measure, of whole length: a last one that was cut off is no sample like the others."""
    found = [each for each in stream.intervals if each.phase == "measure" and each.duration_us > 0]
    whole_us = max((each.duration_us for each in found), default=0)
    return [each for each in found if 2 * each.duration_us >= whole_us]


def audited(stream: Stream) -> Steadiness | None:
    """The verdict on a closed loop at one level; other loads have no throughput of their own to judge."""
    load = stream.header.spec.get("load", {})
    closed = load.get("closed", {}) if isinstance(load, dict) else {}
    if stream.header.loop != "closed" or closed.get("stages"):
        return None
    return audit([rate_per_s(each) for each in measured_intervals(stream)])


def window_of(verdict: Steadiness, law: LittlesLaw | None, samples: int) -> Window:
    """The verdict as the report holds it; samples are seconds."""
    told = verdict.state != TOO_SHORT
    swing = verdict.swing
    return Window(
        state=verdict.state,
        reasons=verdict.reasons,
        samples=samples,
        effective_n=verdict.effective_n if told else None,
        half_width=verdict.half_width,
        drift=verdict.drift if told else None,
        stalls=verdict.stalls,
        changes_s=[float(at) for at in verdict.changes],
        swing=Swing(period_s=swing.period, depth=swing.depth) if swing else None,
        littles_law=law.ratio if law else None,
    )


def window_marks(verdict: Steadiness, law: LittlesLaw | None) -> list[Mark]:
    """Why the window's mean is to be read with care."""
    marks: list[Mark] = []
    if verdict.reasons and verdict.state != TOO_SHORT:
        text = f"{verdict.state}: {'; '.join(verdict.reasons)}"
        marks.append(Mark(kind="steady", severity="warn", text=text))
    if law is not None and not law.holds:
        text = (
            f"throughput × response time accounts for {law.accounted:.3g} of {law.sessions:.3g} sessions"
            " (Little's law): the others did something that was not measured"
            if law.ratio < 1
            else f"throughput × response time makes {law.accounted:.3g} sessions of {law.sessions:.3g}"
            " (Little's law): the record counts wrongly"
        )
        marks.append(Mark(kind="invalid", severity="warn", text=text))
    return marks


def law_of(stream: Stream, summary: Summary, response_mean_us: float) -> LittlesLaw | None:
    """Little's law on a closed loop; None where it cannot be applied, as where users pause."""
    intervals = measured_intervals(stream)
    length_us = sum(each.duration_us for each in intervals)
    sessions = sum(each.sessions * each.duration_us for each in intervals) / length_us if length_us else 0.0
    if stream.header.loop != "closed" or not sessions or _pauses(stream.header.spec):
        return None
    done = sum(each.ok for each in summary.transactions)
    return littles_law(
        sessions=sessions,
        throughput_per_s=done / summary.measure_us * MICROSECONDS_PER_S,
        response_mean_us=response_mean_us,
        window_s=summary.measure_us / MICROSECONDS_PER_S,
    )


def _pauses(spec: dict[str, Any]) -> bool:
    options = spec.get("workload", {}).get("options", {})
    return any(str(options.get(name, "off")).lower() in {"on", "true", "1"} for name in PAUSES)


def stopping_of(phases: Phases, stream: Stream, summary: Summary) -> Stopping | None:
    """How the plan's target was met; None where trials had one length."""
    planned = phases.stopping
    if planned is None:
        return None
    rates = [rate_per_s(each) for each in measured_intervals(stream)]
    asked = summary.measure_end == "asked"
    return Stopping(
        rule=planned.rule,
        precision=planned.precision,
        ended_early=asked,
        measured_s=summary.measure_us / MICROSECONDS_PER_S,
        measure_max_s=phases.measure_s,
        reach=_reach(rates, planned.precision, phases.measure_s) if asked else None,
    )


def _reach(rates: Sequence[float], precision: float, measure_max_s: float) -> float:
    """How far the mean may lie from that of the longest window when the trial ended, as a share."""
    rule = StoppingRule(precision, len(rates), max(round(measure_max_s), len(rates)))
    return reach(rates, rule).half_width


def stopping_mark(stopping: Stopping, verdict: Steadiness | None) -> Mark:
    """How long a trial took to know its mean, or that it never did."""
    target = f"the plan asks for ±{percent(stopping.precision)}"
    if stopping.reach is not None:
        text = (
            f"ended after {stopping.measured_s:g} s of at most {stopping.measure_max_s:g} s: its mean lies"
            f" within ±{percent(stopping.reach)} of that of the longest window; {target}"
        )
        return Mark(kind="steady", severity="info", text=text)
    known = verdict.half_width if verdict else None
    reached = "" if known is None else f" (interval of its mean: ±{percent(known)})"
    text = f"measured for its longest, {stopping.measured_s:g} s, and never settled{reached}; {target}"
    return Mark(kind="steady", severity="warn", text=text)


def gap_mark(times_s: Sequence[float], measure_s: float | None) -> Mark | None:
    """That a log has not all of the intervals that it should, or None where it has.

    Args:
        times_s: Ends of the intervals that are there, ascending, from the start of the measured time.
        measure_s: Length of the measured time; None: not known.
    """
    if len(times_s) < 2 or measure_s is None:  # noqa: PLR2004 - two ends make a distance
        return None
    step_s = min(later - earlier for earlier, later in pairwise(times_s))
    expected = int(measure_s / step_s) if step_s > 0 else 0
    if len(times_s) >= GAPS_SHARE * expected:
        return None
    text = f"{len(times_s)} of {expected} intervals: the log is not whole"
    return Mark(kind="steady", severity="warn", text=text)
