"""Compare three ways to build the OLTP tables with their secondary index, on a real server.

- `rig`: `dyno-rig prepare`;
- `sysbench`: `sysbench prepare`, one thread a table;
- `unchecked`: for each table a LOAD DATA LOCAL of a file that was made before, all at the same time, unique
  and foreign key checks off, then CREATE INDEX likewise, each through the server's own command-line client;
- `checked`: the same with the checks left on, which some servers load faster.

The faster of the last two is the ceiling: what the server can take.

Each turn starts the server on the same fresh data directory, pinned to one core, the client to another. Peers
take turns in shuffled order within each round; the medians are compared.

`rows/s` counts the time until the tables have their rows and indexes, from the start of the client's process:
the same work for all three. `whole` is the time until the client has ended: dyno-rig also counts the rows,
reads them back and renews the statistics. `server CPU` is what the server used until then, which other load
on the machine changes least.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import common
import peers

from dyno.engines import Server, Settings, find, install, snapshots

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from dyno.engines import Installed

EMPTY = "empty"
FILES = ["unchecked", "checked"]


@dataclass(frozen=True)
class Sample:
    """One client run once. Times in seconds."""

    client: str
    round: int
    rows_per_s: float
    build_s: float
    whole_s: float
    server_cpu_s: float
    client_cpu_s: float
    method: str

    def __str__(self) -> str:
        text = (
            f"{self.client}: {self.rows_per_s:,.0f} rows/s, {self.build_s:.2f} s, whole {self.whole_s:.2f} s"
        )
        return f"{text}, server CPU {self.server_cpu_s:.2f} s ({self.method})"


@dataclass(frozen=True)
class Built:
    """What a client's run came to: seconds until rows and indexes were there, and in all; how it loads."""

    build_s: float
    whole_s: float
    method: str


class Bench:
    """One server's place, and the files that the ceiling loads."""

    def __init__(self, options: argparse.Namespace, installed: Installed, folder: Path) -> None:
        self.options = options
        self.folder = folder
        self.tables = [f"sbtest{number}" for number in range(1, options.tables + 1)]
        self.ddl: list[str] = []
        settings = Settings.model_validate(
            {"buffer_pool": "1GiB", "redo": "1GiB", "durability": options.durability}
        )
        self.server = Server(installed, folder / "server", settings, cpus=[options.server_cpu])
        self.server.initialise()
        with self.server, self.server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE IF NOT EXISTS sbtest")
        snapshots.save(self.server.datadir, folder / "snapshots", EMPTY)

    @property
    def target(self) -> peers.Target:
        """The server's socket, as root."""
        return peers.Target("root", self.server.socket)

    def restore(self) -> None:
        """Put the fresh data directory back; the server is stopped."""
        snapshots.restore(self.folder / "snapshots", EMPTY, self.server.datadir)

    def file(self, table: str) -> Path:
        """The rows of a table, as LOAD DATA takes them."""
        return self.server.work_dir / "files" / f"{table}.tsv"

    def make_files(self) -> None:
        """Write the rows that the rig makes to files, and note how it defines the tables."""
        self.restore()
        with self.server:
            run_rig(self)
            with self.server.connect("sbtest") as connection, connection.cursor() as cursor:
                for table in self.tables:
                    cursor.execute(f"SELECT * FROM {table} ORDER BY id INTO OUTFILE '{self.file(table)}'")  # noqa: S608
                    cursor.execute(f"DROP INDEX {index(table)} ON {table}")
                    cursor.execute(f"SHOW CREATE TABLE {table}")
                    row = cursor.fetchone()
                    assert row is not None
                    # without the counter, so that no key is skipped
                    self.ddl.append(re.sub(r" AUTO_INCREMENT=\d+", "", str(row[1])))

    def require_built(self) -> None:
        """Look whether the tables are whole, after the clock was stopped.

        Raises:
            RuntimeError: They are not.
        """
        with self.server.connect("sbtest") as connection, connection.cursor() as cursor:
            for table in self.tables:
                counts = f"SELECT COUNT(*), COUNT(DISTINCT k) FROM {table}"  # noqa: S608
                cursor.execute(f"{counts} FORCE INDEX ({index(table)})")
                row = cursor.fetchone()
                if row is None or row[0] != self.options.table_size or not row[1]:
                    raise RuntimeError(f"{table} has {row} rows and different k")

    def client(self, sql: str) -> common.Finished:
        """Run SQL through the server's own command-line client."""
        command: list[object] = [
            self.server.installed.client,
            "--no-defaults",
            "--local-infile=1",
            "--user=root",
        ]
        command += [f"--socket={self.server.socket}", "--database=sbtest", "--execute", sql]
        return common.run_pinned(self.options.client_cpu, command)

    def each_table(self, sql: Callable[[str], str]) -> None:
        """Run a statement for each table, all at once."""
        with ThreadPoolExecutor(len(self.tables)) as pool:
            for _ in pool.map(lambda table: self.client(sql(table)), self.tables):
                pass


def index(table: str) -> str:
    """The secondary index of a table."""
    return f"k_{table.removeprefix('sbtest')}"


def run_rig(bench: Bench) -> Built:
    """Build with `dyno-rig prepare`; what follows the index is not counted as building."""
    options = bench.options
    command: list[object] = [options.rig, "prepare", *bench.target.rig_options()]
    command += ["--cpus", options.client_cpu, "--threads", options.tables, "--workload", "oltp_read_write"]
    command += ["--tables", options.tables, "--table-size", options.table_size]
    done = common.run_pinned(options.client_cpu, command)
    told = json.loads(done.stdout)
    return Built(done.wall_s - told["verify_seconds"], done.wall_s, told["method"])


def run_sysbench(bench: Bench) -> Built:
    """Build with `sysbench prepare`, which inserts many rows a statement."""
    options = bench.options
    command: list[object] = ["sysbench", "oltp_read_write", *bench.target.sysbench_options()]
    command += [f"--tables={options.tables}", f"--table-size={options.table_size}"]
    command += [f"--threads={options.tables}", "prepare"]
    done = common.run_pinned(options.client_cpu, command)
    return Built(done.wall_s, done.wall_s, "multi_row_insert")


def run_files(bench: Bench, checks: int) -> Built:
    """Build from files that are there; `checks` is 1 or 0."""
    begun_s = time.monotonic()
    bench.client("; ".join(bench.ddl))
    load = f"SET unique_checks = {checks}, foreign_key_checks = {checks}; LOAD DATA LOCAL INFILE"
    bench.each_table(lambda table: f"{load} '{bench.file(table)}' INTO TABLE {table}")
    bench.each_table(lambda table: f"CREATE INDEX {index(table)} ON {table} (k)")
    whole_s = time.monotonic() - begun_s
    return Built(whole_s, whole_s, "load_data_local")


CLIENTS: dict[str, Callable[[Bench], Built]] = {
    "rig": run_rig,
    "sysbench": run_sysbench,
    "unchecked": partial(run_files, checks=0),
    "checked": partial(run_files, checks=1),
}


def measure(bench: Bench, client: str, rows: int, number: int) -> Sample:
    """Run one client once, on a fresh server."""
    bench.restore()
    with bench.server as server:
        assert server.pid is not None
        server_before_s, client_before_s = common.process_cpu_s(server.pid), common.children_cpu_s()
        built = CLIENTS[client](bench)
        server_cpu_s = common.process_cpu_s(server.pid) - server_before_s
        client_cpu_s = common.children_cpu_s() - client_before_s
        bench.require_built()
    rate = rows / built.build_s
    return Sample(
        client, number, rate, built.build_s, built.whole_s, server_cpu_s, client_cpu_s, built.method
    )


def summarise(samples: list[Sample], rows: int) -> dict[str, Any]:
    """Return the medians of each client, and the rig's rate over the others' and over the ceiling."""
    figures = ["rows_per_s", "build_s", "whole_s", "server_cpu_s", "client_cpu_s"]
    row: dict[str, Any] = {"rows": rows}
    for client in CLIENTS:
        mine = [sample for sample in samples if sample.client == client]
        if mine:
            row[client] = {**common.medians(mine, figures), "method": mine[0].method}
    for other in ("sysbench", *FILES):
        row[f"rig_over_{other}"] = common.ratio(row, "rig", other, "rows_per_s")
    over = [row[f"rig_over_{name}"] for name in FILES if row[f"rig_over_{name}"] is not None]
    row["rig_over_ceiling"] = min(over, default=None)
    return row


def table(row: dict[str, Any]) -> str:
    """Return the medians as a text table."""
    lines = [["client", "rows/s", "build s", "whole s", "server CPU s", "client CPU s", "rig is", "method"]]
    for client in CLIENTS:
        median = row.get(client, {})
        cells = [client, common.figure(median.get("rows_per_s"), ",.0f")]
        cells += [
            common.figure(median.get(name)) for name in ("build_s", "whole_s", "server_cpu_s", "client_cpu_s")
        ]
        times = common.figure(row.get(f"rig_over_{client}"), ".2f")
        lines.append([*cells, times, median.get("method", "–")])
    ceiling = common.figure(row["rig_over_ceiling"])
    return f"{common.aligned(lines)}\n\nrig over the ceiling: {ceiling}"


def parse_arguments() -> argparse.Namespace:
    """Read the command line, and say what is missing before anything runs."""
    parser = common.command_line(__doc__, rounds=3)
    parser.add_argument("--engine", default="mariadb@10.11", help="as `dyno engines list` names it")
    parser.add_argument("--tables", type=int, default=4, help="and as many threads (default: 4)")
    parser.add_argument("--table-size", type=int, default=500_000, help="rows a table (default: 500000)")
    parser.add_argument("--clients", nargs="+", choices=list(CLIENTS), default=list(CLIENTS))
    parser.add_argument(
        "--durability",
        choices=["full", "relaxed", "none"],
        default="none",
        help="none (the default) leaves the disk out, and helps sysbench, which commits most often",
    )
    options = parser.parse_args()
    common.require(parser, {options.rig: common.BUILD_RIG, Path("sysbench"): common.INSTALL_SYSBENCH})
    return options


def main() -> int:
    """Make the data directory and the files, run the rounds, print the comparison."""
    options = parse_arguments()
    rows = options.tables * options.table_size
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, install(find(options.engine)), Path(folder))
        if set(FILES) & set(options.clients):
            bench.make_files()
        samples, failures = common.take_turns(options, [rows], options.clients, partial(measure, bench))
    row = summarise(samples, rows)
    common.publish(options, [row], samples, failures, table(row))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
