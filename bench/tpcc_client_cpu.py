"""Compare what a TPC-C-derived transaction and statement cost the client, on a real server.

- `rig …`: dyno-rig, profile standard in its three shapes, then the other profiles;
- `go-tpc`, `sysbench-tpcc`, `tpcc-mysql`, `hammerdb`: each when its place is given.

Every peer builds its own tables, then runs on them without keying and think times, pinned to one core, the
server to another; peers take turns in shuffled order within each round, each turn on the data that the peer
built, and the medians are compared.

All are measured by one yardstick, the server's: transactions are the growth of the districts' order counters
over the share of New-Orders in the mix, 10 of 23, which all peers have; statements are Questions, where a
CALL is one. CPU is that of the whole client process, from its start to its end (rusage: user and system).
`server` is the share of its core that the server used in its busiest half second.
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

NEW_ORDER_SHARE = 10 / 23
SHAPES = ["procedures", "batched", "statements"]
PROFILES = ["hammerdb", "sysbench-tpcc", "tpcc-mysql"]
FIGURES = ["cpu_us_per_transaction", "cpu_us_per_statement", "transactions_per_s", "server_busy"]
# what the rig is compared with, peer by peer: the same work in the same form
COMPARED = {
    "hammerdb": "rig procedures",
    "go-tpc": "rig batched",
    "sysbench-tpcc": "rig statements",
    "tpcc-mysql": "rig statements",
}


@dataclass(frozen=True)
class Sample:
    """One peer's run."""

    client: str
    round: int
    transactions: float
    statements: int
    transactions_per_s: float
    cpu_us_per_transaction: float
    cpu_us_per_statement: float
    server_busy: float

    def __str__(self) -> str:
        text = f"{self.client}: {self.cpu_us_per_transaction:.0f} µs/transaction"
        return f"{text}, {self.cpu_us_per_statement:.1f} µs/statement"


class Bench:
    """One server's place, and a data directory for each peer."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options = options
        self.snapshots = folder / "snapshots"
        self.peers = {**rigs(options), **tpcc_peers.found(options)}
        settings = Settings.model_validate({"buffer_pool": "2GiB", "redo": "1GiB", "durability": "none"})
        installed = install(find(options.engine))
        self.server = Server(installed, folder / "server", settings, cpus=[options.server_cpu])
        self.server.initialise()
        with self.server, self.server.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {tpcc_peers.DATABASE}")
            cursor.execute(f"CREATE USER {tpcc_peers.ACCOUNT}@'%'")
            cursor.execute(f"GRANT ALL ON *.* TO {tpcc_peers.ACCOUNT}@'%'")
        snapshots.save(self.server.datadir, self.snapshots, "empty")

    def job(self, server: Server) -> tpcc_peers.Job:
        """What every peer is asked."""
        return tpcc_peers.Job(
            port=server.port,
            warehouses=self.options.warehouses,
            connections=self.options.connections,
            cpu=self.options.client_cpu,
            seconds=self.options.seconds,
            sql_client=server.installed.client,
            socket=server.socket,
        )

    def build(self) -> None:
        """Let every peer build its tables, and keep them."""
        for name, peer in self.peers.items():
            common.tell(f"build: {name}")
            snapshots.restore(self.snapshots, "empty", self.server.datadir)
            with self.server as server:
                peer.build(self.job(server))
            snapshots.save(self.server.datadir, self.snapshots, key(name))

    def turn(self, client: str, _: object, number: int) -> Sample:
        """Let one peer run on its own tables."""
        snapshots.restore(self.snapshots, key(client), self.server.datadir)
        peer = self.peers[client]
        with self.server as server:
            assert server.pid is not None
            before = self.counters(peer)
            with common.BusyWatch(server.pid) as busy:
                done = peer.run(self.job(server))
            after = self.counters(peer)
        transactions = (after[0] - before[0]) / NEW_ORDER_SHARE
        # the second reading counts itself and its connection's own statements
        statements = after[1] - before[1]
        if not transactions:
            raise RuntimeError("no new order was entered")
        return Sample(
            client,
            number,
            transactions,
            statements,
            transactions / done.wall_s,
            done.cpu_us / transactions,
            done.cpu_us / statements,
            busy.busiest,
        )

    def counters(self, peer: tpcc_peers.Peer) -> tuple[int, int]:
        """Read the sum of the districts' order counters, and Questions."""
        with self.server.connect(tpcc_peers.DATABASE) as connection, connection.cursor() as cursor:
            cursor.execute(f"SELECT SUM(d_next_o_id) FROM {peer.district}")  # noqa: S608
            orders = cursor.fetchone()
            cursor.execute("SHOW GLOBAL STATUS LIKE 'Questions'")
            questions = cursor.fetchone()
        assert orders is not None
        assert questions is not None
        return int(orders[0]), int(questions[1])


def key(client: str) -> str:
    """The name of a peer's data directory."""
    return client.replace(" ", "-")


def rigs(options: argparse.Namespace) -> dict[str, tpcc_peers.Peer]:
    """dyno-rig in every shape and profile."""
    shapes = {f"rig {name}": tpcc_peers.Rig(options.rig, (f"shape={name}",)) for name in SHAPES}
    others = {f"rig {name}": tpcc_peers.Rig(options.rig, (f"profile={name}",)) for name in PROFILES}
    return {**shapes, **others}


def summarise(samples: list[Sample], clients: list[str]) -> dict[str, Any]:
    """Return the medians of each peer, and the cost of the rig's counterpart over each."""
    row: dict[str, Any] = {}
    for client in clients:
        mine = [sample for sample in samples if sample.client == client]
        if mine:
            row[client] = common.medians(mine, FIGURES)
    for client, counterpart in COMPARED.items():
        for unit in ("transaction", "statement"):
            ratio = common.ratio(row, counterpart, client, f"cpu_us_per_{unit}")
            row[f"rig_over_{client}_per_{unit}"] = ratio
    return row


def table(row: dict[str, Any], clients: list[str]) -> str:
    """Return the medians as a text table."""
    head = ["client", "µs/transaction", "µs/statement", "transactions/s", "server"]
    lines = [[*head, "rig is, a transaction", "a statement"]]
    for client in clients:
        median = row.get(client, {})
        cells = [client]
        for name, form in zip(FIGURES, [",.0f", ".1f", ",.0f", ".0%"], strict=True):
            cells.append(common.figure(median.get(name), form))
        ratios = [row.get(f"rig_over_{client}_per_{unit}") for unit in ("transaction", "statement")]
        lines.append([*cells, *map(common.figure, ratios)])
    return common.aligned(lines)


def parse_arguments() -> argparse.Namespace:
    """Read the command line, and say what is missing before anything runs."""
    parser = common.command_line(__doc__, rounds=5)
    tpcc_peers.add_places(parser)
    parser.add_argument("--connections", type=int, default=8, help="sessions (default: 8)")
    parser.add_argument("--seconds", type=float, default=30.0, help="length of a run (default: 30)")
    options = parser.parse_args()
    common.require(parser, {options.rig: common.BUILD_RIG})
    return options


def main() -> int:
    """Build every peer's tables, run the rounds, print the comparison."""
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, Path(folder))
        bench.build()
        clients = list(bench.peers)
        samples, failures = common.take_turns(options, ["run"], clients, partial(Bench.turn, bench))
    row = summarise(samples, clients)
    common.publish(options, [row], samples, failures, table(row, clients))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
