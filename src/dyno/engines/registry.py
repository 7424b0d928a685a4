"""Servers that Dyno started, on disk: so that a later command can end what a killed one left running.

A record is written before its server is spawned and removed after it has ended. A process is ours only if its
command line holds the record's data directory and, once known, its start time is the recorded one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import pymysql

from dyno.engines.store import cache_root, write_atomically

How = Literal["SHUTDOWN", "SIGTERM", "SIGKILL", "gone"]

TERM_TIMEOUT_S = 15.0
KILL_TIMEOUT_S = 10.0
POLL_S = 0.02

_START_TIME_FIELD = 19  # counted after the closing bracket of the command name, state being 0


@dataclass(frozen=True)
class StopReport:
    """How a server ended.

    Attributes:
        how: `SHUTDOWN` (clean), `SIGTERM` (clean, but it had to be told by signal), `SIGKILL`, or `gone`
            when it had ended before it was asked.
        seconds: Time from asking to the end of the process.
    """

    how: How
    seconds: float

    @property
    def clean(self) -> bool:
        """Whether the data directory was closed in order, so that it may be snapshotted."""
        return self.how in ("SHUTDOWN", "SIGTERM")


@dataclass(frozen=True)
class Record:
    """One server that was started.

    Attributes:
        name: Unique; `dyno engines start` names it, others get one made of the work folder.
        engine: Engine id.
        version: The engine's version.
        pid: Process id, or None while it is being spawned.
        start_ticks: The process's start time (clock ticks since boot), or None while unknown.
        boot_id: Which boot of the machine this was.
        server: Path of the binary.
        client: Path of the engine's own command-line client.
        work_dir: Folder of data, socket and log.
        datadir: Data directory.
        socket: Unix socket.
        port: Loopback TCP port.
        owner_pid: The process that started it, or None for one that is meant to go on by itself.
        owner_start_ticks: That process's start time.
    """

    name: str
    engine: str
    version: str
    pid: int | None
    start_ticks: int | None
    boot_id: str
    server: str
    client: str
    work_dir: str
    datadir: str
    socket: str
    port: int
    owner_pid: int | None
    owner_start_ticks: int | None

    @property
    def kept(self) -> bool:
        """Whether it is meant to outlive the command that started it."""
        return self.owner_pid is None

    def process(self) -> int | None:
        """The pid of this server if it runs, else None."""
        if self.boot_id != boot_id():
            return None
        if self.pid is None:
            return _find_by_datadir(self.datadir)
        ours = _holds_datadir(self.pid, self.datadir)
        return self.pid if ours and start_ticks(self.pid) == self.start_ticks else None

    def orphaned(self) -> bool:
        """Whether the process that started it, and was to stop it, is gone."""
        return self.owner_pid is not None and start_ticks(self.owner_pid) != self.owner_start_ticks

    def path(self) -> Path:
        """The file of this record."""
        return folder() / f"{self.name}.json"

    def save(self) -> None:
        """Write the record."""
        write_atomically(self.path(), json.dumps(asdict(self), indent=1))

    def remove(self) -> None:
        """Forget the server."""
        self.path().unlink(missing_ok=True)


def folder() -> Path:
    """Where the records are."""
    path = cache_root() / "servers"
    path.mkdir(parents=True, exist_ok=True)
    return path


def name_of(work_dir: Path) -> str:
    """The name of a server that nobody named."""
    return "run-" + hashlib.sha256(str(work_dir).encode()).hexdigest()[:12]


def records() -> list[Record]:
    """Every record, those of ended servers included; an unreadable file is no record."""
    found = []
    for path in sorted(folder().glob("*.json")):
        try:
            found.append(Record(**json.loads(path.read_text(encoding="utf-8"))))
        except (ValueError, TypeError, FileNotFoundError):
            continue
    return found


def find(name: str) -> Record | None:
    """The record of that name."""
    return next((record for record in records() if record.name == name), None)


def reap() -> list[Record]:
    """End every server whose starter died without stopping it, and forget all that have ended.

    Servers kept on purpose (`dyno engines start`) and those of a living process are left alone.

    Returns:
        The records of the servers that were ended.
    """
    ended = []
    for record in records():
        pid = record.process()
        if pid is None:
            if record.orphaned() or record.kept:
                record.remove()
        elif record.orphaned():
            end(pid, record.socket, timeout_s=TERM_TIMEOUT_S)
            record.remove()
            ended.append(record)
    return ended


def end(pid: int, socket: str, *, timeout_s: float) -> StopReport:
    """End a server of ours: SQL SHUTDOWN, then SIGTERM, then SIGKILL, each with its own bound.

    The caller has made sure that `pid` is the server. A child of this process is waited for.
    """
    begun = time.monotonic()
    if not _running(pid):
        return StopReport("gone", 0.0)
    if _ask_to_shut_down(socket) and _ended_within(pid, timeout_s):
        return StopReport("SHUTDOWN", time.monotonic() - begun)
    _signal(pid, signal.SIGTERM)
    if _ended_within(pid, TERM_TIMEOUT_S):
        return StopReport("SIGTERM", time.monotonic() - begun)
    _signal(pid, signal.SIGKILL)
    _ended_within(pid, KILL_TIMEOUT_S)
    return StopReport("SIGKILL", time.monotonic() - begun)


def kill(pid: int) -> None:
    """SIGKILL a server of ours, as a power cut would end it, and wait until it is gone."""
    _signal(pid, signal.SIGKILL)
    _ended_within(pid, KILL_TIMEOUT_S)


def boot_id() -> str:
    """The kernel's id of this boot: pids and start times of another boot mean nothing."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def start_ticks(pid: int) -> int | None:
    """Start time of a process in clock ticks since boot; None when there is none or it is a zombie."""
    fields = _stat(pid)
    return None if fields is None or fields[0] in "ZX" else int(fields[_START_TIME_FIELD])


def _stat(pid: int) -> list[str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def _running(pid: int) -> bool:
    # Collect it if it is a child of ours that has ended; for any other process this raises.
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    return start_ticks(pid) is not None


def _ended_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while _running(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _ask_to_shut_down(socket: str) -> bool:
    """Whether the server took SHUTDOWN; it may close the connection instead of answering."""
    try:
        connection: Any = pymysql.connect(unix_socket=socket, user="root", connect_timeout=5, read_timeout=5)
    except (pymysql.MySQLError, OSError):
        return False
    try:
        connection.cursor().execute("SHUTDOWN")
    except pymysql.err.OperationalError as error:
        return error.args[0] in (2006, 2013)
    except pymysql.MySQLError:
        return False
    return True


def _arguments_of(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def _holds_datadir(pid: int, datadir: str) -> bool:
    return f"--datadir={datadir}" in _arguments_of(pid)


def _find_by_datadir(datadir: str) -> int | None:
    pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
    return next((pid for pid in pids if _holds_datadir(pid, datadir)), None)
