"""What a TPC-C-derived load shows beside its throughput: NOPM, TPM, the mix, and whether the load was valid.

New orders a minute (NOPM) are orders that were entered: a New-Order that was rolled back, as 1 of 100 must
be, is none. Transactions a minute (TPM) are all that the client saw end, those rolled back included. Both are
over the measured time, and are no result of the benchmark that the load is derived from. Smallest shares,
limits of response time and validity ranges are those of the TPC-C specification 5.11: 5.2.3 to 5.2.5
and 2.4 to 2.8.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from scipy.stats import binomtest

from dyno.record.histogram import NANOSECONDS_PER_US, merge
from dyno.report.model import Estimate, TpccFigures, TpccShare, TpccType
from dyno.stats import mean_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dyno.record.histogram import Histogram
    from dyno.record.lines import Summary
    from dyno.record.manifest import Workload
    from dyno.record.stream import Stream

US_PER_MINUTE = 60e6
S = 1e6

LIMITS_P90_US = {
    "new_order": 5 * S,
    "payment": 5 * S,
    "order_status": 5 * S,
    "delivery": 5 * S,
    "stock_level": 20 * S,
}
"""Response time that 90 of 100 transactions of a type must stay below, µs (5.2.5.7)."""

SHARES_MIN = {"payment": 0.43, "order_status": 0.04, "delivery": 0.04, "stock_level": 0.04}
"""The least share of the mix (5.2.3); New-Order has none."""

PROFILE_SHAPES = {"hammerdb": "procedures", "sysbench-tpcc": "statements", "tpcc-mysql": "statements"}

CONFIDENCE = 0.999
"""Of the interval by which a share counts as outside: a report looks at some hundred of them."""


@dataclass(frozen=True)
class Range:
    """A share that must lie in a range: what is counted, of what, and the range itself."""

    name: str
    part: str
    whole: str
    low: float
    high: float
    remote: bool = False


RANGES = (
    Range("rolled-back New-Orders", "new_order.rolled_back", "new_order", 0.009, 0.011),
    Range("lines of an order", "new_order.lines", "new_order", 9.5, 10.5),
    Range("remote order lines", "new_order.remote_lines", "new_order.lines", 0.0095, 0.0105, remote=True),
    Range("remote Payments", "payment.remote", "payment", 0.14, 0.16, remote=True),
    Range("Payments by name", "payment.by_name", "payment", 0.57, 0.63),
    Range("Order-Status by name", "order_status.by_name", "order_status", 0.57, 0.63),
)
"""Validity ranges over the measured time (5.2.4, 2.4.1.4, 2.5.1.2, 2.6.1.2)."""


@dataclass(frozen=True)
class TpccTrial:
    """One trial's counts over the measured time, and the server's own.

    Attributes:
        counts: Type → transactions, and `type.counter` → what else was counted of them.
        measure_us: The measured time.
        server_tpm: Commits and rollbacks a minute as the server counted them, or None without its status.
    """

    counts: Counter[str]
    measure_us: int
    server_tpm: float | None

    @property
    def nopm(self) -> float:
        """New orders entered a minute."""
        entered = self.counts["new_order"] - self.counts["new_order.rolled_back"]
        return entered / self.measure_us * US_PER_MINUTE

    @property
    def tpm(self) -> float:
        """Transactions of all types a minute."""
        return sum(self.counts[name] for name in LIMITS_P90_US) / self.measure_us * US_PER_MINUTE


def read(stream: Stream, summary: Summary) -> TpccTrial | None:
    """The counts of a trial; None when its load is of another kind."""
    if not set(LIMITS_P90_US) <= {each.type for each in summary.transactions}:
        return None
    counts: Counter[str] = Counter()
    for each in summary.transactions:
        counts[each.type] += each.ok
        counts.update({f"{each.type}.{name}": count for name, count in each.counters.items()})
    return TpccTrial(counts, summary.measure_us, _server_tpm(stream))


def _server_tpm(stream: Stream) -> float | None:
    """Com_commit and Com_rollback over those samples that lie in measure as a whole."""
    spans = [span for span in stream.spans if span.phase == "measure"]
    inside = [
        status
        for status in stream.statuses
        if any(s.start_us <= status.t_us - status.duration_us and status.t_us <= s.end_us for s in spans)
    ]
    sampled_us = sum(status.duration_us for status in inside)
    if not sampled_us:
        return None
    ended = sum(status.counters.get(name, 0) for status in inside for name in ("Com_commit", "Com_rollback"))
    return ended / sampled_us * US_PER_MINUTE


def figures(
    workload: Workload, trials: list[TpccTrial], latency: Mapping[str, list[Histogram]]
) -> TpccFigures | None:
    """The good trials of a cell together: rates averaged over trials, counts added, histograms merged.

    Args:
        workload: Its options say profile, shape and warehouses.
        trials: Of the cell, those that count.
        latency: Type → histograms of the same trials, ns.
    """
    if not trials:
        return None
    counts: Counter[str] = sum((trial.counts for trial in trials), Counter())
    # A rig that counts only transactions says nothing of their shares.
    shares: Counter[str] = sum((t.counts for t in trials if t.counts["new_order.lines"]), Counter())
    server = [trial.server_tpm for trial in trials if trial.server_tpm is not None]
    return TpccFigures(
        profile=profile_of(workload),
        shape=shape_of(workload),
        nopm=_estimate([trial.nopm for trial in trials]),
        tpm=_estimate([trial.tpm for trial in trials]),
        server_tpm=_estimate(server) if server else None,
        nopm_trials=[trial.nopm for trial in trials],
        types=_types(counts, sum(trial.measure_us for trial in trials), latency),
        shares=[_share(each, shares, warehouses=_warehouses(workload)) for each in RANGES],
    )


def profile_of(workload: Workload) -> str:
    """Whose TPC-C-derived load it is."""
    return str(workload.options.get("profile", "standard"))


def shape_of(workload: Workload) -> str:
    """How its SQL is sent; profiles of other programs send it as those do, whatever the option says."""
    return PROFILE_SHAPES.get(profile_of(workload)) or str(workload.options.get("shape", "statements"))


def _warehouses(workload: Workload) -> int | None:
    count = workload.options.get("warehouses")
    return count if isinstance(count, int) else None


def _estimate(values: list[float]) -> Estimate:
    found = Estimate(**asdict(mean_interval(values)))
    if found.low is not None:
        found.low = max(found.low, 0.0)
    return found


def _types(counts: Counter[str], measure_us: int, latency: Mapping[str, list[Histogram]]) -> list[TpccType]:
    whole = sum(counts[name] for name in LIMITS_P90_US)
    types = []
    for name, limit_us in LIMITS_P90_US.items():
        merged = merge(latency.get(name, []))
        some = merged.total > 0
        values = merged.percentiles((50, 90, 99)) if some else (0, 0, 0)
        p50, p90, p99 = (value / NANOSECONDS_PER_US for value in values)
        missed: list[Literal["share", "p90"]] = []
        if _interval(counts[name], whole)[1] < SHARES_MIN.get(name, 0.0):
            missed.append("share")
        if p90 >= limit_us:
            missed.append("p90")
        types.append(
            TpccType(
                name=name,
                count=counts[name],
                per_minute=counts[name] / measure_us * US_PER_MINUTE,
                share=counts[name] / whole if whole else 0.0,
                share_min=SHARES_MIN.get(name),
                p50_us=p50 if some else None,
                p90_us=p90 if some else None,
                p99_us=p99 if some else None,
                max_us=merged.maximum / NANOSECONDS_PER_US if some else None,
                p90_limit_us=limit_us,
                missed=missed,
            )
        )
    return types


def _share(wanted: Range, counts: Counter[str], *, warehouses: int | None) -> TpccShare:
    part, whole = counts[wanted.part], counts[wanted.whole]
    value = part / whole if whole else None
    return TpccShare(
        name=wanted.name,
        value=value,
        low=wanted.low,
        high=wanted.high,
        verdict=_verdict(wanted, part, whole, value, alone=warehouses == 1),
    )


Verdict = Literal["within", "outside", "too few to say", "not counted", "one warehouse"]


def _verdict(wanted: Range, part: int, whole: int, value: float | None, *, alone: bool) -> Verdict:
    """Outside only when the share's Wilson interval lies outside as a whole: a short trial proves little."""
    if value is None:
        return "not counted"
    if wanted.remote and alone:
        return "one warehouse"
    if wanted.low <= value <= wanted.high:
        return "within"
    if wanted.high > 1:
        return "outside"
    low, high = _interval(part, whole)
    return "outside" if high < wanted.low or low > wanted.high else "too few to say"


def _interval(part: int, whole: int) -> tuple[float, float]:
    """Wilson's interval of a share; all of 0 to 1 where there is nothing to share."""
    if not whole:
        return 0.0, 1.0
    interval = binomtest(part, whole).proportion_ci(CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)
