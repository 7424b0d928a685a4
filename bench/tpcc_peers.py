"""The TPC-C-derived load generators that are compared, told to build and to run as many warehouses.

None but sysbench is a Debian package: each is named by where it was put, and takes part when it is.
All of them come over TCP to 127.0.0.1 as an account without a password.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import common

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

ACCOUNT = "bench"
DATABASE = "tpcc"
PATIENCE_S = 3600.0


@dataclass(frozen=True)
class Job:
    """What a peer is asked: on which port, how many warehouses, with how many connections, for how long."""

    port: int
    warehouses: int
    connections: int
    cpu: int
    seconds: float = 0.0
    sql_client: Path | None = None
    socket: Path | None = None

    def finish(self, command: Sequence[object]) -> common.Finished:
        """Run a program on the client's CPU to its end."""
        return common.run_pinned(self.cpu, command, self.seconds + PATIENCE_S)


class Peer(ABC):
    """A load generator: how it builds and how it runs."""

    district = "district"

    @abstractmethod
    def build(self, job: Job) -> common.Finished:
        """Build the warehouses in the empty database."""

    @abstractmethod
    def run(self, job: Job) -> common.Finished:
        """Run the load for `job.seconds`."""


@dataclass(frozen=True)
class Rig(Peer):
    """dyno-rig in one profile and shape."""

    rig: Path
    options: tuple[str, ...]

    @property
    def district(self) -> str:  # type: ignore[override]
        """sysbench-tpcc numbers its tables."""
        return "district1" if "profile=sysbench-tpcc" in self.options else "district"

    def _command(self, name: str, job: Job) -> list[object]:
        place = ["--host", "127.0.0.1", "--port", job.port, "--user", ACCOUNT, "--database", DATABASE]
        options = [f"warehouses={job.warehouses}", *self.options]
        given = [part for option in options for part in ("-o", option)]
        return [self.rig, name, *place, "--workload", "tpcc", "--cpus", job.cpu, *given]

    def build(self, job: Job) -> common.Finished:
        """Run `dyno-rig prepare`."""
        return job.finish([*self._command("prepare", job), "--threads", job.connections])

    def run(self, job: Job) -> common.Finished:
        """Run `dyno-rig drive`, without warm-up: all of the process counts."""
        with tempfile.TemporaryDirectory() as folder:
            length = ["--sessions", job.connections, "--warmup", "0s", "--time", f"{job.seconds}s"]
            record = ["--record", Path(folder) / "record.ndjson"]
            return job.finish([*self._command("drive", job), *length, *record])


@dataclass(frozen=True)
class GoTpc(Peer):
    """go-tpc, as `go install github.com/pingcap/go-tpc/cmd/go-tpc@latest` makes it."""

    program: Path

    def _command(self, name: str, job: Job) -> list[object]:
        place = ["-H", "127.0.0.1", "-P", job.port, "-U", ACCOUNT, "-D", DATABASE]
        return [self.program, "tpcc", *place, "--warehouses", job.warehouses, "-T", job.connections, name]

    def build(self, job: Job) -> common.Finished:
        """Load, without its own check of the result."""
        return job.finish([*self._command("prepare", job), "--no-check"])

    def run(self, job: Job) -> common.Finished:
        """Run without keying and think times."""
        return job.finish([*self._command("run", job), "--time", f"{job.seconds:g}s"])


@dataclass(frozen=True)
class SysbenchTpcc(Peer):
    """Debian's sysbench with the Lua scripts of sysbench-tpcc, which lie in `scripts`."""

    scripts: Path
    district = "district1"

    def _command(self, job: Job) -> list[object]:
        place = ["--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={job.port}"]
        account = [f"--mysql-user={ACCOUNT}", f"--mysql-db={DATABASE}"]
        size = ["--tables=1", f"--scale={job.warehouses}", f"--threads={job.connections}"]
        # the scripts include each other by name
        return ["env", "-C", self.scripts, "sysbench", "./tpcc.lua", *place, *account, *size]

    def build(self, job: Job) -> common.Finished:
        """Load, with foreign keys as it has them by default."""
        return job.finish([*self._command(job), "prepare"])

    def run(self, job: Job) -> common.Finished:
        """Run its mix."""
        return job.finish([*self._command(job), f"--time={job.seconds:g}", "run"])


@dataclass(frozen=True)
class TpccMysql(Peer):
    """tpcc-mysql, built in `folder`."""

    folder: Path

    def build(self, job: Job) -> common.Finished:
        """Make the tables, load them with its one thread, then make indexes and foreign keys."""
        load = [self.folder / "tpcc_load", "-h127.0.0.1", f"-P{job.port}", f"-d{DATABASE}", f"-u{ACCOUNT}"]
        begun = job.finish(self._sql(job, "create_table.sql"))
        loaded = job.finish([*load, "-p", "", "-w", job.warehouses])
        ended = job.finish(self._sql(job, "add_fkey_idx.sql"))
        steps = [begun, loaded, ended]
        cpu_us, wall_s = sum(step.cpu_us for step in steps), sum(step.wall_s for step in steps)
        return common.Finished(loaded.stdout, loaded.stderr, cpu_us, wall_s)

    def _sql(self, job: Job, script: str) -> list[object]:
        assert job.sql_client is not None
        source = f"source {self.folder / script}"
        place = [f"--socket={job.socket}", "--user=root", f"--database={DATABASE}"]
        return [job.sql_client, "--no-defaults", *place, "--execute", source]

    def run(self, job: Job) -> common.Finished:
        """Run without ramp-up."""
        place = ["-h127.0.0.1", f"-P{job.port}", f"-d{DATABASE}", f"-u{ACCOUNT}", "-p", ""]
        work = ["-w", job.warehouses, f"-c{job.connections}", "-r0", f"-l{job.seconds:.0f}"]
        return job.finish([self.folder / "tpcc_start", *place, *work])


@dataclass(frozen=True)
class HammerDb(Peer):
    """HammerDB's command line, unpacked in `folder`."""

    folder: Path

    def build(self, job: Job) -> common.Finished:
        """Build the TPROC-C schema with one virtual user a connection."""
        return self._auto(job, [f"diset tpcc maria_num_vu {job.connections}", "buildschema"])

    def run(self, job: Job) -> common.Finished:
        """Run the timed driver, which counts in whole minutes, without ramp-up."""
        minutes = max(1, round(job.seconds / 60))
        steps = ["diset tpcc maria_driver timed", "diset tpcc maria_rampup 0"]
        steps += [f"diset tpcc maria_duration {minutes}", "loadscript", f"vuset vu {job.connections}"]
        return self._auto(job, [*steps, "vucreate", "vurun", "vudestroy"])

    def _auto(self, job: Job, steps: list[str]) -> common.Finished:
        settings = ["dbset db maria", "dbset bm TPC-C", "diset connection maria_host 127.0.0.1"]
        settings += [f"diset connection maria_port {job.port}", "diset connection maria_socket null"]
        settings += [f"diset tpcc maria_user {ACCOUNT}", "diset tpcc maria_pass {}"]
        settings += [f"diset tpcc maria_dbase {DATABASE}", f"diset tpcc maria_count_ware {job.warehouses}"]
        with tempfile.NamedTemporaryFile("w", suffix=".tcl") as script:
            script.write("\n".join([*settings, *steps, ""]))
            script.flush()
            return job.finish(["env", "-C", self.folder, "./hammerdbcli", "auto", script.name])


def add_places(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where the peers are."""
    parser.add_argument("--engine", default="mariadb@10.11", help="as `dyno engines list` names it")
    parser.add_argument("--warehouses", type=int, default=4)
    parser.add_argument("--go-tpc", type=Path, metavar="PROGRAM")
    parser.add_argument("--sysbench-tpcc", type=Path, metavar="FOLDER", help="of its Lua scripts")
    parser.add_argument("--tpcc-mysql", type=Path, metavar="FOLDER")
    parser.add_argument("--hammerdb", type=Path, metavar="FOLDER")


def found(options: argparse.Namespace) -> dict[str, Peer]:
    """The peers whose places were given, by name."""
    given: dict[str, Peer | None] = {
        "go-tpc": options.go_tpc and GoTpc(options.go_tpc.resolve()),
        "sysbench-tpcc": options.sysbench_tpcc and SysbenchTpcc(options.sysbench_tpcc.resolve()),
        "tpcc-mysql": options.tpcc_mysql and TpccMysql(options.tpcc_mysql.resolve()),
        "hammerdb": options.hammerdb and HammerDb(options.hammerdb.resolve()),
    }
    return {name: peer for name, peer in given.items() if peer is not None}
