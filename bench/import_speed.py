"""How fast `dyno import` reads logs, and with how much memory: by default 1,000 logs of 900 intervals each.

The logs are sysbench 1.0's, made by a seeded generator: each its own sessions, rates and percentiles. Time is
of the whole command; CPU is of all its processes; memory is the largest sum of their
proportional shares (PSS), sampled twenty times a second. `--report` then times `dyno report` on the run.

Aim: 1,000 logs in at most 10 s on 2 cores with at most 1 GiB.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import common
import psutil

SAMPLE_S = 0.05
SESSIONS = (1, 4, 16, 32, 64, 128, 256, 512)
HEAD = """sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)

Running the test with following options:
Number of threads: {sessions}
Report intermediate results every 1 second(s)
Initializing random number generator from current time


Initializing worker threads...

Threads started!

"""
INTERVAL = (
    "[ {t}s ] thds: {sessions} tps: {tps:.2f} qps: {qps:.2f} (r/w/o: {reads:.2f}/{writes:.2f}/{other:.2f})"
    " lat (ms,95%): {latency:.2f} err/s: 0.00 reconn/s: 0.00\n"
)
SUMMARY = """SQL statistics:
    queries performed:
        read:                            {reads}
        write:                           {writes}
        other:                           {other}
        total:                           {queries}
    transactions:                        {transactions} ({tps:.2f} per sec.)
    queries:                             {queries} ({qps:.2f} per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          {seconds:.4f}s
    total number of events:              {transactions}

Latency (ms):
         min:                                    1.23
         avg:                                   18.28
         max:                                  277.49
         95th percentile:                       44.98
         sum:                               899932.28

Threads fairness:
    events (avg/stddev):           1000.0000/0.00
    execution time (avg/stddev):   {seconds:.4f}/0.00
"""


@dataclass(frozen=True)
class Timing:
    """One command: wall and CPU time, s, and the most memory that all its processes had at once, bytes."""

    command: str
    wall_s: float
    cpu_s: float
    memory_bytes: int


def write_logs(folder: Path, logs: int, intervals: int) -> int:
    """Write that many logs of that many seconds and return their size in bytes."""
    rng = random.Random(1)
    for number in range(logs):
        sessions = SESSIONS[number % len(SESSIONS)]
        path = folder / "mysql" / "8.0.45" / f"b{number // len(SESSIONS) + 1}_{sessions}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        rates = [abs(rng.gauss(50 * sessions**0.5, 10)) for _ in range(intervals)]
        transactions = max(round(sum(rates)), 1)
        tps = transactions / intervals
        lines = [
            INTERVAL.format(
                t=second,
                sessions=sessions,
                tps=rate,
                qps=20 * rate,
                reads=14 * rate,
                writes=4 * rate,
                other=2 * rate,
                latency=rng.uniform(5, 90),
            )
            for second, rate in enumerate(rates, start=1)
        ]
        summary = SUMMARY.format(
            reads=14 * transactions,
            writes=4 * transactions,
            other=2 * transactions,
            queries=20 * transactions,
            transactions=transactions,
            tps=tps,
            qps=20 * tps,
            seconds=float(intervals),
        )
        path.write_text(HEAD.format(sessions=sessions) + "".join(lines) + summary)
    return sum(path.stat().st_size for path in folder.rglob("*.txt"))


def timed(arguments: list[str]) -> Timing:
    """Run one `dyno` command to its end.

    Raises:
        RuntimeError: It failed; carries its last words.
    """
    cpu_before_s = common.children_cpu_s()
    begun_s = time.monotonic()
    with tempfile.TemporaryFile("w+") as said:
        command = [sys.executable, "-c", "from dyno.cli.main import main; main()", *arguments]
        with subprocess.Popen(command, stdout=said, stderr=said) as process:
            most = 0
            while process.poll() is None:
                most = max(most, _memory_bytes(process.pid))
                time.sleep(SAMPLE_S)
        wall_s = time.monotonic() - begun_s
        if process.returncode != 0:
            said.seek(0)
            raise RuntimeError(f"dyno {arguments[0]} failed ({process.returncode}): {said.read()[-500:]}")
    return Timing(arguments[0], wall_s, common.children_cpu_s() - cpu_before_s, most)


def _memory_bytes(pid: int) -> int:
    """Proportional share of memory of a process and all below it; one that has just ended has none."""
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    total = 0
    for each in family:
        try:
            total += int(each.memory_full_info().pss)
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return total


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--logs", type=int, default=1000, help="how many logs")
    parser.add_argument("--intervals", type=int, default=900, help="seconds of each")
    parser.add_argument("--jobs", type=int, default=2, help="processes of the import")
    parser.add_argument("--report", action="store_true", help="time `dyno report` on the run too")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dyno-bench-") as folder:
        logs, run = Path(folder) / "logs", Path(folder) / "run"
        size = write_logs(logs, arguments.logs, arguments.intervals)
        layout = "{family}/{version}/b{block}_{sessions}.txt"
        command = ["import", str(logs), "-o", str(run), "--layout", layout, "--jobs", str(arguments.jobs)]
        timings = [timed(command)]
        if arguments.report:
            timings.append(timed(["report", str(run)]))
    if arguments.json:
        print(json.dumps({"bytes": size, "timings": [asdict(each) for each in timings]}, indent=2))
        return
    print(f"{arguments.logs:,} logs of {arguments.intervals:,} intervals, {size / 1e6:,.0f} MB")
    for each in timings:
        mib = each.memory_bytes / 2**20
        print(f"{each.command:8} {each.wall_s:6.1f} s   CPU {each.cpu_s:6.1f} s   memory {mib:6.0f} MiB")


if __name__ == "__main__":
    main()
