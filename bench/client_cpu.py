"""Compare what a query costs the client: the rig against sysbench, on a real server.

Both drive the same tables of the same server with prepared statements and uniform keys, pinned to one core,
the server to another. They take turns in shuffled order within each round; the medians are compared.

`µs/query` is the CPU time of the whole client process, from its start to its end (rusage: user and
system, all threads), over all statements that it sent, BEGIN and COMMIT among them. `server` is the share of
its core that the server used in its busiest half second: near 100 % on a quiet machine.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import common
import peers

from dyno.engines import Server, Settings, find, install

if TYPE_CHECKING:
    import argparse

WORKLOADS = ["oltp_read_only", "oltp_read_write"]
CLIENTS = ["rig", "sysbench"]
ACCOUNT = "bench"


@dataclass(frozen=True)
class Case:
    """One cell of the comparison."""

    workload: str
    sessions: int

    def __str__(self) -> str:
        return f"{self.workload} at {self.sessions}"


@dataclass(frozen=True)
class Sample:
    """One client run once."""

    client: str
    workload: str
    sessions: int
    round: int
    queries: int
    queries_per_s: float
    cpu_us_per_query: float
    server_busy: float

    def __str__(self) -> str:
        text = f"{self.client}, {self.workload} at {self.sessions}: {self.cpu_us_per_query:.2f} µs/query"
        return f"{text}, {self.queries_per_s:,.0f} queries/s"


@dataclass(frozen=True)
class Bench:
    """What all runs share."""

    options: argparse.Namespace
    target: peers.Target
    server_pid: int

    def work(self, case: Case) -> peers.Work:
        """The work of both clients. No warm-up: sysbench has none, and all of the process counts."""
        given = self.options
        return peers.Work(case.workload, given.tables, given.table_size, case.sessions, given.seconds)


def run_rig(bench: Bench, work: peers.Work) -> tuple[common.Finished, int, float]:
    """Return how the rig ended, the statements of its whole life, and its queries/s."""
    done, lines = peers.drive(bench.options.rig, bench.options.client_cpu, bench.target, work)
    summary = lines[-1]
    # what the server counts in Questions, without the goodbye of each session
    queries = summary["issued"]["questions"] - work.connections
    measured = sum(statement["count"] for statement in summary["statements"])
    return done, queries, measured / summary["measure_us"] * 1e6


def measure(bench: Bench, client: str, case: Case, number: int) -> Sample:
    """Run one client once."""
    work = bench.work(case)
    with common.BusyWatch(bench.server_pid) as server:
        if client == "rig":
            done, queries, queries_per_s = run_rig(bench, work)
        else:
            done, queries, queries_per_s = peers.sysbench(bench.options.client_cpu, bench.target, work)
    cost_us = done.cpu_us / queries
    return Sample(
        client, case.workload, case.sessions, number, queries, queries_per_s, cost_us, server.busiest
    )


def summarise(samples: list[Sample], case: Case) -> dict[str, Any]:
    """Return the medians of each client in one cell, and the rig's cost over sysbench's."""
    row: dict[str, Any] = {"workload": case.workload, "sessions": case.sessions}
    for client in CLIENTS:
        cell = (client, case.workload, case.sessions)
        mine = [sample for sample in samples if (sample.client, sample.workload, sample.sessions) == cell]
        if mine:
            row[client] = common.medians(mine, ["cpu_us_per_query", "queries_per_s", "server_busy"])
    row["cpu_rig_over_sysbench"] = common.ratio(row, "rig", "sysbench", "cpu_us_per_query")
    return row


def table(rows: list[dict[str, Any]]) -> str:
    """Return the medians as a text table."""
    head = ["workload", "sessions"]
    for client in CLIENTS:
        head += [f"{client} µs/query", "queries/s", "server"]
    lines = [[*head, "rig/sysbench"]]
    for row in rows:
        cells = [row["workload"], str(row["sessions"])]
        for client in CLIENTS:
            median = row.get(client, {})
            cells.append(common.figure(median.get("cpu_us_per_query")))
            cells.append(common.figure(median.get("queries_per_s"), ",.0f"))
            cells.append(common.figure(median.get("server_busy"), ".0%"))
        lines.append([*cells, common.figure(row["cpu_rig_over_sysbench"])])
    return common.aligned(lines)


def parse_arguments() -> argparse.Namespace:
    """Read the command line, and say what is missing before anything runs."""
    parser = common.command_line(__doc__, rounds=5)
    parser.add_argument("--engine", default="mariadb@10.11", help="as `dyno engines list` names it")
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=WORKLOADS)
    parser.add_argument("--sessions", type=int, nargs="+", default=[16, 64], metavar="N")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of a run (default: 10)")
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--table-size", type=int, default=100_000)
    parser.add_argument("--transport", choices=["tcp", "socket"], default="tcp")
    options = parser.parse_args()
    common.require(parser, {options.rig: common.BUILD_RIG, Path("sysbench"): common.INSTALL_SYSBENCH})
    return options


def build(server: Server, options: argparse.Namespace) -> None:
    """Make the tables, and the account that may come over TCP."""
    command: list[object] = [options.rig, "prepare", "--socket", server.socket]
    command += ["--workload", "oltp_read_write", "--tables", options.tables]
    command += ["--table-size", options.table_size]
    common.run_pinned(options.client_cpu, command)
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE USER {ACCOUNT}@'%'")
        cursor.execute(f"GRANT ALL ON sbtest.* TO {ACCOUNT}@'%'")


def main() -> int:
    """Start the server, build the tables, run the rounds, print the comparison."""
    options = parse_arguments()
    cases = [Case(workload, sessions) for workload in options.workloads for sessions in options.sessions]
    settings = Settings.model_validate({"buffer_pool": "1GiB", "redo": "1GiB", "durability": "none"})
    installed = install(find(options.engine))
    with (
        tempfile.TemporaryDirectory() as folder,
        Server(installed, Path(folder) / "server", settings, cpus=[options.server_cpu]) as server,
    ):
        build(server, options)
        assert server.pid is not None
        tcp = options.transport == "tcp"
        target = peers.Target(ACCOUNT, port=server.port) if tcp else peers.Target(ACCOUNT, server.socket)
        bench = Bench(options, target, server.pid)
        samples, failures = common.take_turns(options, cases, CLIENTS, partial(measure, bench))
    rows = [summarise(samples, case) for case in cases]
    common.publish(options, rows, samples, failures, table(rows))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
