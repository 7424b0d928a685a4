"""One running server and the built rig in front of it, for tests that see both only from outside."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from dyno.experiment.rig import find_rig

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.engines import Server

ENGINES = ["mariadb@10.11", "mysql@9.7"]
SETTINGS = {"buffer_pool": "128MiB", "redo": "96MiB", "durability": "none"}
DATA = {"tables": 2, "table_size": 2000}
COUNTERS = ["select", "insert", "update", "delete", "begin", "commit", "rollback"]
# time stamp, connection id, command, statement: MySQL writes a stamp on every line, MariaDB once a second
LOGGED = re.compile(r"^(?:\S+\t|\d{6}\s+[\d:]+\t|\t\t|\t)?\s*(\d+) (Query|Execute)\s+(.*)$")


class Stand:
    """One running server and the rig in front of it."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self.folder = folder

    def spec(self, workload: str, options: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
        """A spec as the lab writes it; `fields` replace its own."""
        return {
            "format": "dyno-spec/1",
            "target": {"socket": str(self.server.socket), "user": "root", "database": "sbtest"},
            "workload": {"name": workload, "options": {**DATA, **(options or {})}},
            "load": {"closed": {"sessions": 4}},
            "phases": {"warmup_s": 0.2, "measure_s": 0.8, "drain_s": 5.0},
            "probe": {"host": False, "status": False, "server_pid": None},
            "seed": 7,
            **fields,
        }

    def command(self, command: str, spec: dict[str, Any], *arguments: str) -> list[str]:
        """`dyno-rig COMMAND --spec …`, the spec written to a file."""
        path = self.folder / f"{command}.spec.json"
        path.write_text(json.dumps(spec))
        return [str(find_rig()), command, "--spec", str(path), *arguments]

    def rig(
        self, command: str, spec: dict[str, Any], *arguments: str, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `dyno-rig COMMAND --spec …`; the caller looks at how it ended."""
        return subprocess.run(
            self.command(command, spec, *arguments),
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, **environment},
        )

    def counters(self) -> dict[str, int]:
        """The server's statement counters, all read at once; this reading adds to Questions only."""
        names = ", ".join(f"'Com_{name}'" for name in COUNTERS)
        with self.server.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', {names})")
            return {name: int(value) for name, value in cursor.fetchall()}

    @property
    def record(self) -> Path:
        """Where `drive` writes."""
        return self.folder / "record.ndjson"

    def lines(self) -> list[dict[str, Any]]:
        """The record as far as it was written."""
        whole = self.record.read_text().rpartition("\n")[0] if self.record.exists() else ""
        return [json.loads(line) for line in whole.splitlines()]

    def drive(self, spec: dict[str, Any], **environment: str) -> list[dict[str, Any]]:
        """The record stream of a trial that must succeed."""
        done = self.rig("drive", spec, "--record", str(self.record), **environment)
        assert done.returncode == 0, done.stderr
        return self.lines()

    def prepare(self, workload: str = "oltp_read_write", *arguments: str, **fields: Any) -> dict[str, Any]:
        """Fresh tables; what the build says of itself. `fields` are those of the spec."""
        spec = self.spec(workload, **fields)
        self.rig("cleanup", spec)
        done = self.rig("prepare", spec, *arguments)
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    def contents(self) -> dict[str, str]:
        """A hash over all rows of each table, as an independent client reads them."""
        tables = [f"sbtest{number}" for number in range(1, DATA["tables"] + 1)]
        rows = {
            table: self.query(f"SELECT id, k, c, pad FROM sbtest.{table} ORDER BY id") for table in tables
        }
        assert all(rows.values())
        return {table: hashlib.sha256(repr(found).encode()).hexdigest() for table, found in rows.items()}

    def capture(self, spec: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[int, list[str]]]:
        """Drive, and return the record and the statements of each connection as the server logged them."""
        log = self.server.datadir / "general.log"
        log.unlink(missing_ok=True)
        self.query(f"SET GLOBAL general_log_file = '{log}'")
        self.query("SET GLOBAL general_log = ON")
        try:
            record = self.drive(spec)
        finally:
            self.query("SET GLOBAL general_log = OFF")
        statements: dict[int, list[str]] = defaultdict(list)
        for line in log.read_text().splitlines():
            found = LOGGED.match(line)
            if found and not found[3].startswith("SET GLOBAL"):
                statements[int(found[1])].append(found[3])
        return record, statements

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """All rows of a statement, on a connection of its own."""
        with self.server.connect() as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())
