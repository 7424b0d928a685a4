"""The load generators that are compared, asked for the same work: the rig and Debian's sysbench 1.0.20."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common

# a run may wait for its connections and for the last transaction beside its measured time
PATIENCE_S = 120


@dataclass(frozen=True)
class Target:
    """Where the server is: a Unix socket, or a port of 127.0.0.1. The account has no password."""

    user: str
    socket: Path | None = None
    port: int | None = None

    def rig_options(self) -> list[object]:
        """How the rig is told."""
        place = ["--socket", self.socket] if self.socket else ["--host", "127.0.0.1", "--port", self.port]
        return [*place, "--user", self.user]

    def sysbench_options(self) -> list[object]:
        """How sysbench is told."""
        place = (
            [f"--mysql-socket={self.socket}"]
            if self.socket
            else ["--mysql-host=127.0.0.1", f"--mysql-port={self.port}"]
        )
        return ["--db-driver=mysql", *place, f"--mysql-user={self.user}", "--mysql-db=sbtest"]


@dataclass(frozen=True)
class Work:
    """What a generator is asked to do: a workload on uniform keys, prepared statements, a closed loop."""

    workload: str
    tables: int
    table_size: int
    connections: int
    measure_s: float
    warmup_s: float = 0.0


def drive(rig: Path, cpu: int, target: Target, work: Work) -> tuple[common.Finished, list[dict[str, Any]]]:
    """Run the rig; return how it ended and its record.

    Raises:
        RuntimeError: It failed, or its record does not end well.
    """
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.ndjson"
        command = [rig, "drive", *target.rig_options(), "--workload", work.workload, "--cpus", cpu]
        command += ["--tables", work.tables, "--table-size", work.table_size]
        command += ["--sessions", work.connections, "--record", record]
        command += ["--warmup", f"{work.warmup_s}s", "--time", f"{work.measure_s}s"]
        done = common.run_pinned(cpu, command, work.warmup_s + work.measure_s + PATIENCE_S)
        lines = [json.loads(line) for line in record.read_text().splitlines()]
    summary = lines[-1]
    if summary["record"] != "summary" or summary["outcome"] != "ok":
        raise RuntimeError(f"the rig's record does not end well: {summary}")
    return done, lines


def sysbench(cpu: int, target: Target, work: Work) -> tuple[common.Finished, int, float]:
    """Run sysbench; return how it ended, the queries it counted, and its queries/s.

    Raises:
        RuntimeError: It failed.
    """
    command: list[object] = ["sysbench", work.workload, *target.sysbench_options()]
    command += [f"--tables={work.tables}", f"--table-size={work.table_size}", "--rand-type=uniform"]
    command += [f"--threads={work.connections}", f"--time={work.measure_s:g}", "run"]
    done = common.run_pinned(cpu, command, work.measure_s + PATIENCE_S)
    match = re.search(r"queries:\s+(\d+)\s+\(([\d.]+) per sec\.\)", done.stdout)
    if match is None:
        raise RuntimeError("sysbench printed no queries")
    return done, int(match[1]), float(match[2])
