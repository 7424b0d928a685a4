"""Compare how fast TPC-C-derived warehouses are built, on a real server.

- `rig`: `dyno-rig prepare`, profile standard, then the three others;
- `go-tpc`, `sysbench-tpcc`, `tpcc-mysql`, `hammerdb`: each when its place is given.

Each turn starts the server on the same fresh data directory, pinned to one core, the client to another. Peers
take turns in shuffled order within each round; the medians are compared.

`whole` is the time from the start of the client's process to its end, and `warehouses/min` counts it:
dyno-rig verifies its rows and renews the statistics in that time. `server CPU` is what the server used until
then.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import common
import tpcc_peers

from dyno.engines import Server, Settings, find, install, snapshots

if TYPE_CHECKING:
    import argparse

EMPTY = "empty"
BASE = "rig"
FIGURES = ["warehouses_per_min", "whole_s", "server_cpu_s", "client_cpu_s"]


@dataclass(frozen=True)
class Sample:
    """One peer's build. Times in seconds."""

    client: str
    round: int
    warehouses_per_min: float
    whole_s: float
    server_cpu_s: float
    client_cpu_s: float

    def __str__(self) -> str:
        return f"{self.client}: {self.warehouses_per_min:.1f} warehouses/min, {self.whole_s:.1f} s"


class Bench:
    """One server's place and its fresh data directory."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options = options
        self.snapshots = folder / "snapshots"
        self.peers = {**rigs(options), **tpcc_peers.found(options)}
        settings = Settings.model_validate({"buffer_pool": "1GiB", "redo": "1GiB", "durability": "none"})
        installed = install(find(options.engine))
        self.server = Server(installed, folder / "server", settings, cpus=[options.server_cpu])
        self.server.initialise()
        with self.server, self.server.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {tpcc_peers.DATABASE}")
            cursor.execute(f"CREATE USER {tpcc_peers.ACCOUNT}@'%'")
            cursor.execute(f"GRANT ALL ON *.* TO {tpcc_peers.ACCOUNT}@'%'")
            cursor.execute("SET GLOBAL local_infile = ON")
        snapshots.save(self.server.datadir, self.snapshots, EMPTY)

    def turn(self, client: str, warehouses: int, number: int) -> Sample:
        """Let one peer build on a fresh server."""
        snapshots.restore(self.snapshots, EMPTY, self.server.datadir)
        peer = self.peers[client]
        with self.server as server:
            assert server.pid is not None
            job = tpcc_peers.Job(
                port=server.port,
                warehouses=warehouses,
                connections=self.options.connections,
                cpu=self.options.client_cpu,
                sql_client=server.installed.client,
                socket=server.socket,
            )
            before_s = common.process_cpu_s(server.pid)
            done = peer.build(job)
            server_cpu_s = common.process_cpu_s(server.pid) - before_s
            self.require_built(peer, warehouses)
        rate = 60 * warehouses / done.wall_s
        return Sample(client, number, rate, done.wall_s, server_cpu_s, done.cpu_us / 1e6)

    def require_built(self, peer: tpcc_peers.Peer, warehouses: int) -> None:
        """Look whether the districts are there, after the clock was stopped.

        Raises:
            RuntimeError: They are not.
        """
        with self.server.connect(tpcc_peers.DATABASE) as connection, connection.cursor() as cursor:
            cursor.execute(f"SELECT COUNT(*) FROM {peer.district} WHERE d_next_o_id = 3001")  # noqa: S608
            row = cursor.fetchone()
            if row is None or row[0] != 10 * warehouses:
                raise RuntimeError(f"{row} districts are there, not {10 * warehouses}")


def rigs(options: argparse.Namespace) -> dict[str, tpcc_peers.Peer]:
    """dyno-rig in every profile."""
    profiles = ["hammerdb", "sysbench-tpcc", "tpcc-mysql"]
    others = {f"rig {name}": tpcc_peers.Rig(options.rig, (f"profile={name}",)) for name in profiles}
    return {BASE: tpcc_peers.Rig(options.rig, ()), **others}


def summarise(samples: list[Sample], clients: list[str]) -> dict[str, Any]:
    """Return the medians of each peer, and the rig's rate over each."""
    row: dict[str, Any] = {}
    for client in clients:
        mine = [sample for sample in samples if sample.client == client]
        if mine:
            row[client] = common.medians(mine, FIGURES)
    for client in clients:
        row[f"rig_over_{client}"] = common.ratio(row, BASE, client, "warehouses_per_min")
    return row


def table(row: dict[str, Any], clients: list[str]) -> str:
    """Return the medians as a text table."""
    lines = [["client", "warehouses/min", "whole s", "server CPU s", "client CPU s", "rig is"]]
    for client in clients:
        median = row.get(client, {})
        cells = [common.figure(median.get(name), ".1f") for name in FIGURES]
        lines.append([client, *cells, common.figure(row[f"rig_over_{client}"])])
    return common.aligned(lines)


def parse_arguments() -> argparse.Namespace:
    """Read the command line, and say what is missing before anything runs."""
    parser = common.command_line(__doc__, rounds=3)
    tpcc_peers.add_places(parser)
    parser.add_argument("--connections", type=int, default=4, help="or threads (default: 4)")
    options = parser.parse_args()
    common.require(parser, {options.rig: common.BUILD_RIG})
    return options


def main() -> int:
    """Make the data directory, run the rounds, print the comparison."""
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, Path(folder))
        clients = list(bench.peers)
        turn = partial(Bench.turn, bench)
        samples, failures = common.take_turns(options, [options.warehouses], clients, turn)
    row = summarise(samples, clients)
    common.publish(options, [row], samples, failures, table(row, clients))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
