"""What the benchmarks share: peers that take turns in shuffled order, each pinned, and tables of medians."""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
BINARIES = ROOT / "rig/target/release"
TICKS_PER_S = os.sysconf("SC_CLK_TCK")

INSTALL_SYSBENCH = "apt-get install sysbench"
BUILD_RIG = "cd rig && cargo build --release --workspace"

Case = TypeVar("Case")
Sample = TypeVar("Sample")


@dataclass(frozen=True)
class Finished:
    """A program that ended well: its output, CPU time (all threads, user and system) and wall time."""

    stdout: str
    stderr: str
    cpu_us: float
    wall_s: float


def run_pinned(cpu: int, command: Sequence[object], timeout_s: float = 600.0) -> Finished:
    """Run a program on one CPU to its end. Its CPU time is its own only when no other ends meanwhile.

    Raises:
        RuntimeError: It failed; carries its last words.
        subprocess.TimeoutExpired: It took longer than `timeout_s`.
    """
    arguments = ["taskset", "-c", str(cpu), *map(str, command)]
    cpu_before_s = children_cpu_s()
    begun_s = time.monotonic()
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=timeout_s)
    wall_s = time.monotonic() - begun_s
    if done.returncode != 0:
        words = " / ".join((done.stderr or done.stdout).strip().splitlines()[-3:])
        raise RuntimeError(f"{Path(str(command[0])).name} failed ({done.returncode}): {words}")
    return Finished(done.stdout, done.stderr, (children_cpu_s() - cpu_before_s) * 1e6, wall_s)


def children_cpu_s() -> float:
    """Return the CPU time of all programs that this process started and saw end, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def process_cpu_s(pid: int) -> float:
    """Return the CPU time that a process has used, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


class BusyWatch:
    """Watches a process, as a context: `busiest` is the largest share of a core it used in one window."""

    WINDOW_S = 0.5

    def __init__(self, pid: int) -> None:
        self.busiest = 0.0
        self._pid = pid
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        before_s, cpu_before_s = time.monotonic(), process_cpu_s(self._pid)
        while not self._stop.wait(self.WINDOW_S):
            now_s, cpu_s = time.monotonic(), process_cpu_s(self._pid)
            self.busiest = max(self.busiest, (cpu_s - cpu_before_s) / (now_s - before_s))
            before_s, cpu_before_s = now_s, cpu_s


@dataclass(frozen=True)
class Failure:
    """One turn that failed."""

    peer: str
    case: str
    round: int
    error: str


def take_turns(
    options: argparse.Namespace,
    cases: Sequence[Case],
    peers: Sequence[str],
    turn: Callable[[str, Case, int], Sample],
) -> tuple[list[Sample], list[Failure]]:
    """Let every peer run every case in every round, the peers of a case in shuffled order.

    What slows the machine for a while then hits all peers alike. A turn that fails is told and left out.

    Args:
        options: `rounds` and `seed` of the command line.
        cases: What each peer is asked to do.
        peers: Their names.
        turn: Runs one peer on one case in one round.
    """
    shuffled = random.Random(options.seed)
    samples: list[Sample] = []
    failures: list[Failure] = []
    for number in range(1, options.rounds + 1):
        for case in cases:
            for peer in shuffled.sample(peers, len(peers)):
                try:
                    sample = turn(peer, case, number)
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    failures.append(Failure(peer, str(case), number, str(error)))
                    tell(f"round {number}: {peer}, {case}: {error}")
                    continue
                samples.append(sample)
                tell(f"round {number}: {sample}")
    return samples, failures


def medians(samples: Sequence[object], names: Sequence[str]) -> dict[str, float]:
    """Return the median of each named field, and the number of samples as `n`; samples are not empty."""
    found = {name: statistics.median(getattr(sample, name) for sample in samples) for name in names}
    return {"n": len(samples), **found}


def ratio(row: Mapping[str, Any], above: str, below: str, name: str) -> float | None:
    """Return one peer's median over another's, None when either is missing or the lower one is 0."""
    if above not in row or below not in row or not row[below][name]:
        return None
    return float(row[above][name] / row[below][name])


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Return lines of cells as a text table, cells to the right of their columns."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    )


def figure(value: float | None, form: str = ".2f") -> str:
    """Return a number as a cell, a dash for none."""
    return "–" if value is None else format(value, form)


def tell(text: str) -> None:
    """Progress, on standard error: standard output holds the result only."""
    print(text, file=sys.stderr, flush=True)


def command_line(description: str | None, rounds: int) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=rounds, help=f"turns of each peer (default: {rounds})")
    parser.add_argument("--server-cpu", type=int, default=0)
    parser.add_argument("--client-cpu", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1, help="of the order of turns")
    parser.add_argument("--rig", type=Path, default=BINARIES / "dyno-rig")
    parser.add_argument("--json", action="store_true", help="print samples and medians as JSON")
    return parser


def require(parser: argparse.ArgumentParser, programs: Mapping[Path, str]) -> None:
    """End with a hint when a program is missing; `programs` maps each to how one gets it."""
    for program, hint in programs.items():
        if shutil.which(program) is None:
            parser.exit(2, f"error: {program} is not there\nhint: {hint}\n")


def raise_file_limit() -> None:
    """Let this process's children open as many sockets as the system allows."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def publish(
    options: argparse.Namespace,
    rows: Sequence[Mapping[str, Any]],
    samples: Sequence[Any],
    failures: Sequence[Failure],
    text: str,
) -> None:
    """Print the result: `text`, or with --json the medians, every sample and every failure."""
    if not options.json:
        print(text)
        return
    whole = {
        "medians": rows,
        "samples": [asdict(sample) for sample in samples],
        "failures": [asdict(failure) for failure in failures],
    }
    print(json.dumps(whole, indent=1))
