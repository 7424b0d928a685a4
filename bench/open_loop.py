"""Check the open loop's clock on the null server: how late transactions begin, and whether all of them come.

The rig offers constant (or Poisson) arrivals of a point select, pinned to one core, to `dyno-rig null-
server` pinned to another; `dyno-floor timer` sleeps on a bare timerfd at the same rate on the rig's core.
Both take turns in shuffled order, for how late a timer wakes up is the host's doing first. The null server
writes down when each statement came, so the rig's own word is checked from outside: `rate seen` is how many
came a second over how many were asked for, `gap off` is how far from even distances they came, 99th
percentile.

For figures run it on a quiet machine; the medians of the rounds are compared.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from array import array
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import common
import peers
from hdrh.histogram import HdrHistogram

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

RIG, TIMER = "rig", "timer"
LAG_P50_BOUND_US = 50.0
LAG_P99_RATIO_BOUND = 1.5


@dataclass(frozen=True)
class Sample:
    """One turn. Lags in µs; what only the rig has is 0 for the timer."""

    peer: str
    round: int
    lag_p50_us: float
    lag_p99_us: float
    lag_max_us: float
    cpu: float
    due: int
    rate_seen_per_s: float
    gap_off_p99_us: float

    def __str__(self) -> str:
        return f"{self.peer}: lag median {self.lag_p50_us:.1f} µs, p99 {self.lag_p99_us:.1f} µs"


@dataclass(frozen=True)
class Bench:
    """What all turns share. Times in seconds."""

    server_cpu: int
    cpu: int
    rate_per_s: float
    arrivals: str
    sessions: int
    spin_us: int
    warmup_s: float
    measure_s: float
    rig: Path
    floor: Path


def run_timer(bench: Bench, number: int) -> Sample:
    """Run the bare timerfd loop."""
    command: list[object] = [bench.floor, "timer", "--rate", bench.rate_per_s, "--seconds", bench.measure_s]
    result = json.loads(common.run_pinned(bench.cpu, command, bench.measure_s + peers.PATIENCE_S).stdout)
    cpu = result["cpu_us"] / bench.measure_s / 1e6
    p50_us, p99_us, max_us = result["lag_p50_us"], result["lag_p99_us"], result["lag_max_us"]
    return Sample(TIMER, number, p50_us, p99_us, max_us, cpu, result["moments"], 0.0, 0.0)


def run_rig(bench: Bench, number: int) -> Sample:
    """Run one open loop, with a null server of its own that writes down arrivals."""
    with tempfile.TemporaryDirectory() as folder:
        arrivals = Path(folder) / "arrivals"
        server = ["taskset", "-c", str(bench.server_cpu), str(bench.rig), "null-server", "--port", "0"]
        server += ["--arrivals", str(arrivals)]
        with subprocess.Popen(server, stderr=subprocess.PIPE, text=True) as process:
            try:
                address = process.stderr.readline().strip() if process.stderr else ""
                if not address.startswith("serving at"):
                    raise RuntimeError(f"the null server did not start: {address}")
                lines = drive(bench, int(address.rpartition(":")[2]), Path(folder) / "record.ndjson")
                arrived_ns = read_arrivals(arrivals, lines[-1]["issued"]["select"])
            finally:
                process.terminate()
    return judge(bench, number, lines, arrived_ns)


def read_arrivals(path: Path, least: int) -> array[int]:
    """Return when statements came, once the server has written down at least so many of them.

    Raises:
        RuntimeError: It does not.
    """
    # the server writes when it has noticed that its last client is gone
    for _ in range(500):
        if path.stat().st_size >= least * 8:
            return array("Q", path.read_bytes())
        time.sleep(0.01)
    raise RuntimeError(f"the null server wrote down {path.stat().st_size // 8} of {least} statements")


def drive(bench: Bench, port: int, record: Path) -> list[dict[str, Any]]:
    """Run the rig and return its record.

    Raises:
        RuntimeError: It failed, or its record does not end well.
    """
    command: list[object] = [bench.rig, "drive", "--host", "127.0.0.1", "--port", port, "--cpus", bench.cpu]
    command += ["--workload", "oltp_point_select", "--rate", bench.rate_per_s, "--arrivals", bench.arrivals]
    command += ["--sessions", bench.sessions, "--spin-us", bench.spin_us, "--record", record]
    command += ["--warmup", f"{bench.warmup_s}s", "--time", f"{bench.measure_s}s"]
    common.run_pinned(bench.cpu, command, bench.warmup_s + bench.measure_s + peers.PATIENCE_S)
    lines: list[dict[str, Any]] = [json.loads(line) for line in record.read_text().splitlines()]
    if lines[-1]["record"] != "summary" or lines[-1]["outcome"] != "ok":
        raise RuntimeError(f"the rig's record does not end well: {lines[-1]}")
    return lines


def judge(bench: Bench, number: int, lines: Sequence[dict[str, Any]], arrived_ns: array[int]) -> Sample:
    """Return what the rig said of itself, and what the server saw."""
    summary = lines[-1]
    lag = HdrHistogram.decode(summary["open"]["generator_lag"])

    def lag_us(percentile: float) -> float:
        return float(lag.get_value_at_percentile(percentile)) / 1e3

    measured = [line for line in lines if line["record"] == "interval" and line["phase"] == "measure"]
    cpu_us = sum(line["client_cpu_us"] for line in measured)
    # the last statements of all are those of measure: nothing else comes after them
    arrived = arrived_ns[-summary["open"]["due"] :]
    rate_seen_per_s = (len(arrived) - 1) / (arrived[-1] - arrived[0]) * 1e9
    return Sample(
        RIG,
        number,
        lag_us(50),
        lag_us(99),
        lag_us(100),
        cpu_us / summary["measure_us"],
        summary["open"]["due"],
        rate_seen_per_s,
        gap_off_us(bench, arrived),
    )


def gap_off_us(bench: Bench, arrived_ns: Sequence[int]) -> float:
    """Return how far arrivals were from even distances, 99th percentile in µs; 0 for Poisson arrivals."""
    if bench.arrivals != "constant":
        return 0.0
    gap_ns = 1e9 / bench.rate_per_s
    off_ns = [ns - arrived_ns[0] - index * gap_ns for index, ns in enumerate(arrived_ns)]
    # the first one was late itself: the one that was earliest, by its place, is taken to have been on time
    earliest_ns = min(off_ns)
    ordered = sorted(off - earliest_ns for off in off_ns)
    return ordered[round((len(ordered) - 1) * 0.99)] / 1e3


RUN = {RIG: run_rig, TIMER: run_timer}


def turn(peer: str, bench: Bench, number: int) -> Sample:
    """Run one peer once."""
    return RUN[peer](bench, number)


def summarise(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the medians of each peer, and the ratio of their p99 lags."""
    row: dict[str, Any] = {}
    names = ["lag_p50_us", "lag_p99_us", "lag_max_us", "cpu", "due", "rate_seen_per_s", "gap_off_p99_us"]
    for peer in RUN:
        mine = [sample for sample in samples if sample.peer == peer]
        if mine:
            row[peer] = common.medians(mine, names)
    row["lag_p99_ratio"] = common.ratio(row, RIG, TIMER, "lag_p99_us")
    return row


def table(bench: Bench, row: dict[str, Any]) -> str:
    """Return the medians as a text table with the bounds that they should meet."""
    lines = [["", "lag p50 µs", "p99 µs", "max µs", "cpu", "rate seen", "gap off p99 µs"]]
    for peer in RUN:
        if peer not in row:
            continue
        found = row[peer]
        share = found["rate_seen_per_s"] / bench.rate_per_s if peer == RIG else None
        cells = [peer, *(f"{found[name]:.1f}" for name in ("lag_p50_us", "lag_p99_us", "lag_max_us"))]
        cells += [f"{found['cpu']:.0%}", common.figure(share, ".4f"), f"{found['gap_off_p99_us']:.1f}"]
        lines.append(cells)
    ratio = row["lag_p99_ratio"]
    bounds = f"lag p50 at most {LAG_P50_BOUND_US:g} µs; p99 at most {LAG_P99_RATIO_BOUND:g} times the timer's"
    head = f"{bench.rate_per_s:g} transactions/s, {bench.arrivals} arrivals"
    return (
        f"{head}\n{common.aligned(lines)}\nrig p99 / timer p99: {common.figure(ratio)}\nasked for: {bounds}"
    )


def parse_arguments() -> argparse.Namespace:
    """Read the command line, and say what is missing before anything runs."""
    parser = common.command_line(__doc__, rounds=5)
    parser.add_argument("--rate", type=float, default=20_000.0, help="transactions a second (default: 20000)")
    parser.add_argument("--arrivals", choices=["constant", "poisson"], default="constant")
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--spin-us", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5.0, help="measured time of a turn (default: 5)")
    parser.add_argument("--warmup", type=float, default=1.0, help="warm-up in seconds (default: 1)")
    parser.add_argument("--floor", type=Path, default=common.BINARIES / "dyno-floor")
    options = parser.parse_args()
    common.require(parser, {options.rig: common.BUILD_RIG, options.floor: common.BUILD_RIG})
    return options


def main() -> int:
    """Run the rounds, print the comparison."""
    options = parse_arguments()
    bench = Bench(
        server_cpu=options.server_cpu,
        cpu=options.client_cpu,
        rate_per_s=options.rate,
        arrivals=options.arrivals,
        sessions=options.sessions,
        spin_us=options.spin_us,
        warmup_s=options.warmup,
        measure_s=options.seconds,
        rig=options.rig,
        floor=options.floor,
    )
    samples, failures = common.take_turns(options, [bench], list(RUN), partial(turn))
    row = summarise(samples)
    common.publish(options, [row], samples, failures, table(bench, row))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
