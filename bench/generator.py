"""Compare load generators on the null server: the floor (through epoll or io_uring), the rig and sysbench.

Each client runs the same prepared point select over loopback TCP, pinned to one core, against
`dyno-rig null-server` pinned to another. Clients take turns in shuffled order within each round, and
the medians over the rounds are compared.

Queries per second is what each client reports for its measured time. CPU per query is the client's own:
the measured window of the floor and the rig; the whole process of sysbench, which reports none. `server`
is the share of its core that the null server used in its busiest half second: near 100 % it may be the
server that limits, and CPU per query is the figure to compare.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import common
import peers

if TYPE_CHECKING:
    import argparse

SERVER_BUSY = 0.97


@dataclass(frozen=True)
class Sample:
    """One client run once."""

    client: str
    connections: int
    round: int
    queries_per_s: float
    cpu_us_per_query: float
    server_busy: float

    def __str__(self) -> str:
        text = f"{self.client} at {self.connections}: {self.queries_per_s:,.0f} queries/s"
        return f"{text}, {self.cpu_us_per_query:.2f} µs"


@dataclass(frozen=True)
class Bench:
    """What all runs share. Times in seconds."""

    port: int
    server_pid: int
    cpu: int
    warmup_s: float
    measure_s: float
    rig: Path
    floor: Path

    def work(self, connections: int) -> peers.Work:
        """The work of the rig and of sysbench."""
        return peers.Work("oltp_point_select", 1, 10000, connections, self.measure_s, self.warmup_s)

    @property
    def target(self) -> peers.Target:
        """The null server."""
        return peers.Target("bench", port=self.port)


def run_floor(bench: Bench, connections: int, io: str = "epoll") -> tuple[float, float]:
    """Return the floor's queries/s and client CPU µs a query."""
    command: list[object] = [bench.floor, "--port", bench.port, "--connections", connections, "--io", io]
    command += ["--warmup", bench.warmup_s, "--seconds", bench.measure_s]
    done = common.run_pinned(bench.cpu, command, bench.warmup_s + bench.measure_s + peers.PATIENCE_S)
    result = json.loads(done.stdout)
    return result["queries_per_s"], result["cpu_us_per_query"]


def run_uring(bench: Bench, connections: int) -> tuple[float, float]:
    """Return the same of the floor's io_uring form."""
    return run_floor(bench, connections, "uring")


def run_rig(bench: Bench, connections: int) -> tuple[float, float]:
    """Return the rig's queries/s and client CPU µs a query in its measured phase."""
    _, lines = peers.drive(bench.rig, bench.cpu, bench.target, bench.work(connections))
    summary = lines[-1]
    queries = sum(statement["count"] for statement in summary["statements"])
    measured = [line for line in lines if line["record"] == "interval" and line["phase"] == "measure"]
    cpu_us = sum(line["client_cpu_us"] for line in measured)
    return queries / summary["measure_us"] * 1e6, cpu_us / queries


def run_sysbench(bench: Bench, connections: int) -> tuple[float, float]:
    """Return sysbench's queries/s and client CPU µs a query, its start included."""
    done, queries, queries_per_s = peers.sysbench(bench.cpu, bench.target, bench.work(connections))
    return queries_per_s, done.cpu_us / queries


CLIENTS = {"floor": run_floor, "uring": run_uring, "rig": run_rig, "sysbench": run_sysbench}


def measure(bench: Bench, client: str, connections: int, number: int) -> Sample:
    """Run one client once."""
    with common.BusyWatch(bench.server_pid) as server:
        queries_per_s, cpu_us_per_query = CLIENTS[client](bench, connections)
    return Sample(client, connections, number, queries_per_s, cpu_us_per_query, server.busiest)


def summarise(samples: list[Sample], connections: int) -> dict[str, Any]:
    """Return the medians of each client at one number of connections, and the rig's ratios to the others."""
    row: dict[str, Any] = {"connections": connections}
    for client in CLIENTS:
        mine = [sample for sample in samples if (sample.client, sample.connections) == (client, connections)]
        if mine:
            row[client] = common.medians(mine, ["queries_per_s", "cpu_us_per_query", "server_busy"])
    for other in ("floor", "sysbench"):
        row[f"rig_over_{other}"] = common.ratio(row, "rig", other, "queries_per_s")
    return row


def table(rows: list[dict[str, Any]], clients: list[str]) -> str:
    """Return the medians as a text table."""
    head = ["connections"]
    for client in clients:
        head += [f"{client} q/s", "µs/q", "server"]
    head += ["rig/floor", "rig/sysbench"]
    lines = [head]
    for row in rows:
        cells = [f"{row['connections']:,}"]
        for client in clients:
            if client in row:
                median = row[client]
                mark = "*" if median["server_busy"] > SERVER_BUSY else ""
                cells += [f"{median['queries_per_s']:,.0f}", f"{median['cpu_us_per_query']:.2f}"]
                cells += [f"{median['server_busy']:.0%}{mark}"]
            else:
                cells += ["–", "–", "–"]
        cells += [common.figure(row["rig_over_floor"]), common.figure(row["rig_over_sysbench"])]
        lines.append(cells)
    text = common.aligned(lines)
    return f"{text}\n* the server's core was full: the server may be what limits" if "*" in text else text


def parse_arguments() -> argparse.Namespace:
    """Read the command line, and say what is missing before anything runs."""
    parser = common.command_line(__doc__, rounds=5)
    parser.add_argument(
        "--connections", type=int, nargs="+", default=[16, 128, 512, 2000, 10000], metavar="N"
    )
    parser.add_argument("--clients", nargs="+", choices=list(CLIENTS), default=list(CLIENTS))
    parser.add_argument("--seconds", type=float, default=5.0, help="measured time of a run (default: 5)")
    parser.add_argument(
        "--warmup", type=float, default=1.0, help="warm-up of floor and rig in seconds (default: 1)"
    )
    parser.add_argument("--floor", type=Path, default=common.BINARIES / "dyno-floor")
    options = parser.parse_args()
    # the rig's binary is the server as well
    needed = {options.rig: common.BUILD_RIG}
    if {"floor", "uring"} & set(options.clients):
        needed[options.floor] = common.BUILD_RIG
    if "sysbench" in options.clients:
        needed[Path("sysbench")] = common.INSTALL_SYSBENCH
    common.require(parser, needed)
    return options


def main() -> int:
    """Start the null server, run the rounds, print the comparison."""
    options = parse_arguments()
    common.raise_file_limit()
    command = ["taskset", "-c", str(options.server_cpu), str(options.rig), "null-server", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            address = server.stderr.readline().strip() if server.stderr else ""
            if not address.startswith("serving at"):
                print(f"error: the null server did not start: {address}", file=sys.stderr)
                return 1
            bench = Bench(
                port=int(address.rpartition(":")[2]),
                server_pid=server.pid,
                cpu=options.client_cpu,
                warmup_s=options.warmup,
                measure_s=options.seconds,
                rig=options.rig,
                floor=options.floor,
            )
            samples, failures = common.take_turns(
                options, options.connections, options.clients, partial(measure, bench)
            )
        finally:
            server.terminate()
    rows = [summarise(samples, connections) for connections in options.connections]
    shown = [client for client in CLIENTS if client in options.clients]
    common.publish(options, rows, samples, failures, table(rows, shown))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
