"""The durability audit: kill a server under load, restart it, and look for what it had acknowledged.

Each round runs the TPC-C-derived load, whose sessions write down every New-Order and Payment as the server
acknowledges it (`ack_log`, docs/FORMAT.md §4), ends the server by SIGKILL at a random moment, starts it
again, and compares: every acknowledged transaction must be in the data (durability, 3.5 of the TPC-C
specification), and no half of any (atomicity, by the consistency conditions).
"""

from __future__ import annotations

import random
import shutil
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from dyno.engines import Server, Settings, cache_root, find, global_variables, install, require_verified
from dyno.errors import DynoError
from dyno.experiment.acks import Acknowledged, State, compare, read_acks
from dyno.experiment.check import complaint
from dyno.experiment.installed import socket_target
from dyno.experiment.rig import Rig, find_rig, said_in_log
from dyno.findings.words import plural
from dyno.record.layout import write_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dyno.experiment.acks import Loss

Durability = Literal["full", "relaxed", "none"]

EARLIEST = 0.2
"""Share of a round's seconds before which it is not killed: some transactions must have been acknowledged."""

LOAD_BEYOND_S = 60.0
"""The load is planned to last this much longer than the latest kill."""

SHOWN_VARIABLES = ("innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin", "innodb_flush_method")


@dataclass(frozen=True)
class AuditRequest:
    """What to audit.

    Attributes:
        engine: Its name in the catalog, such as `mariadb@10.11`.
        durability: The logical setting of that name.
        rounds: How often the server is killed.
        seconds: The latest moment of a kill, after the first acknowledged transaction.
        sessions: Of the load.
        warehouses: Of the data.
        options: Further options of the workload, such as its shape.
        seed: Of the data, the load and the moments of the kills.
    """

    engine: str
    durability: Durability = "full"
    rounds: int = 3
    seconds: float = 5.0
    sessions: int = 8
    warehouses: int = 1
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    seed: int = 1


@dataclass(frozen=True)
class Round:
    """One kill.

    Attributes:
        number: From 1.
        killed_after_s: After the first acknowledged transaction.
        recovery_s: From the restart to the first answer.
        acknowledged: Transactions that the server had acknowledged.
        loss: What of them is not there, and what is there beyond them.
        half: The complaint of the consistency conditions, or None: no half transaction was found.
    """

    number: int
    killed_after_s: float
    recovery_s: float
    acknowledged: Acknowledged
    loss: Loss
    half: str | None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "round": self.number,
            "killed_after_s": round(self.killed_after_s, 3),
            "recovery_s": round(self.recovery_s, 3),
            "acknowledged": {
                "new_orders": len(self.acknowledged.orders),
                "payments": self.acknowledged.payments.total(),
            },
            "lost": {"new_orders": len(self.loss.orders), "payments": self.loss.payments.total()},
            "lost_examples": self.loss.examples(),
            "unacknowledged": self.loss.unacknowledged,
            "half_transactions": self.half,
        }


@dataclass(frozen=True)
class Audit:
    """All rounds, with what the server really ran with."""

    request: AuditRequest
    server_version: str
    variables: dict[str, str]
    rounds: list[Round]


class Auditor:
    """Runs an audit on a server of its own.

    Args:
        request: What to audit.
        folder: Where logs of acknowledged transactions, checks and the server's log are kept.
        say: Tells a person what goes on.
    """

    def __init__(self, request: AuditRequest, folder: Path, say: Callable[[str], None]) -> None:
        self._request = request
        self._folder = folder
        self._say = say
        self._rig = Rig(find_rig())
        self._random = random.Random(request.seed)
        self._work = cache_root() / "work" / f"audit-{folder.name}"

    def run(self) -> Audit:
        """Build, then kill and look, round by round; leaves no server behind.

        Raises:
            DynoError: The engine cannot be had, the data not be built, the load not run, or the server does
                not come up again.
        """
        installed = install(find(self._request.engine), progress=self._say)
        self._work.mkdir(parents=True, mode=0o700)
        log = self._folder / "engine.log"
        try:
            self._build(Server(installed, self._work, _settings("none"), error_log=log))
            server = Server(installed, self._work, _settings(self._request.durability), error_log=log)
            try:
                server.start()
                require_verified(server.verify())
                with closing(server.connect()) as connection:
                    known = global_variables(connection)
                rounds = [self._round(server, number) for number in range(1, self._request.rounds + 1)]
            finally:
                server.kill()
        finally:
            shutil.rmtree(self._work, ignore_errors=True)
        shown = {name: known[name] for name in SHOWN_VARIABLES if name in known}
        return Audit(self._request, known["version"], shown, rounds)

    def _build(self, server: Server) -> None:
        self._say(f"{self._request.engine}: build {plural(self._request.warehouses, 'warehouse')}")
        server.initialise()
        server.start()
        try:
            spec = self._spec(server, "prepare")
            self._rig.prepare(spec, beside(spec, "log"), beside(spec, "json"), [])
        except BaseException:
            server.kill()
            raise
        server.stop()

    def _round(self, server: Server, number: int) -> Round:
        before = _state(server)
        acks, killed_after_s = self._load_and_kill(server, number)
        acknowledged = read_acks(acks)
        recovery_s = server.start()
        loss = compare(before, acknowledged, _state(server))
        spec = self._spec(server, f"round-{number}.check")
        checked = self._rig.check(spec, beside(spec, "log"), beside(spec, "json"))
        half = complaint(checked, "after the restart")
        done = Round(number, killed_after_s, recovery_s, acknowledged, loss, half)
        self._say(
            f"round {number} of {self._request.rounds}: killed {killed_after_s:.2f} s after the first commit,"
            f" {acknowledged.total:,} acknowledged, {loss.total:,} of them lost"
        )
        return done

    def _load_and_kill(self, server: Server, number: int) -> tuple[Path, float]:
        """Run load until the server is killed under it; the log of acknowledged transactions, and when."""
        acks = self._folder / f"round-{number}.acks.ndjson"
        latest_s = self._request.seconds
        delay_s = self._random.uniform(EARLIEST * latest_s, latest_s)
        first: list[float] = []
        killed: list[float] = []

        def look() -> None:
            now = time.monotonic()
            if not first and acks.exists() and acks.stat().st_size:
                first.append(now)
            if first and not killed and now - first[0] >= delay_s:
                server.kill()
                killed.append(now - first[0])

        spec = self._spec(
            server,
            f"round-{number}",
            load={"closed": {"sessions": self._request.sessions}},
            phases={"warmup_s": 0.0, "measure_s": latest_s + LOAD_BEYOND_S, "drain_s": 0.0},
            seed=self._request.seed + number,
            ack_log=str(acks),
        )
        log = beside(spec, "log")
        self._rig.drive(
            spec,
            beside(spec, "record.ndjson"),
            log,
            cpus=[],
            limit_s=latest_s + LOAD_BEYOND_S,
            server_gone=lambda: not server.running,
            look=look,
        )
        if not killed:
            message, hint = said_in_log(log.read_text(encoding="utf-8", errors="replace"))
            raise DynoError(message or "the load ended before the server was killed", hint=hint)
        return acks, killed[0]

    def _spec(self, server: Server, name: str, **fields: Any) -> Path:
        """A spec for this server's data, in the audit's folder."""
        path = self._folder / f"{name}.spec.json"
        options = {"warehouses": self._request.warehouses, **self._request.options}
        spec = {
            "format": "dyno-spec/1",
            "target": socket_target(server),
            "workload": {"name": "tpcc", "options": options},
            "seed": self._request.seed,
            **fields,
        }
        write_json(path, spec)
        return path


def beside(spec: Path, kind: str) -> Path:
    """A file that belongs to a spec's file: `round-1.spec.json` → `round-1.<kind>`."""
    return spec.with_name(spec.name.removesuffix("spec.json") + kind)


def _settings(durability: Durability) -> Settings:
    return Settings.model_validate({"buffer_pool": "256MiB", "redo": "256MiB", "durability": durability})


def _state(server: Server) -> State:
    """What the data holds of orders and payments."""
    with closing(server.connect("sbtest")) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT o_w_id, o_d_id, o_id FROM orders")
        orders = {(int(w), int(d), int(o)) for w, d, o in cursor.fetchall()}
        cursor.execute(
            "SELECT h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, CAST(h_amount * 100 AS SIGNED), COUNT(*)"
            " FROM history GROUP BY 1, 2, 3, 4, 5, 6"
        )
        payments = {tuple(int(value) for value in row[:-1]): int(row[-1]) for row in cursor.fetchall()}
    return State.of(orders, payments)
