"""One server: its data directory, its process, its log."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket as sockets
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pymysql

from dyno.engines import launch, registry
from dyno.engines.registry import Record, StopReport
from dyno.engines.store import Progress, silent
from dyno.engines.translation import Assignment, translate
from dyno.engines.verification import SettingCheck, verify
from dyno.errors import DynoError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from types import TracebackType

    from pymysql.connections import Connection
    from pymysql.cursors import Cursor

    from dyno.engines.installed import Installed
    from dyno.engines.settings import Settings

INITIALISE_TIMEOUT_S = 300.0
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 120.0
POLL_S = 0.02
LOG_TAIL_LINES = 30
SOCKET_PATH_MAX = 100  # the kernel's bound is 108 bytes with the closing zero
PORT_TRIES = 5

__all__ = ["Server", "StopReport"]


class Server:
    """A database server in a folder of its own.

    Everything it writes is below `work_dir`: `data/`, `tmp/`, `files/`, the socket and `error.log`. Root has
    no password and exists on the Unix socket only. The server listens on a free loopback port too, for
    accounts that you create.

    Args:
        installed: From `install`.
        work_dir: Its folder; made if need be, readable by the owner only.
        settings: The logical configuration.
        cpus: CPUs to pin it to, or None for all.
        port: TCP port, or None for a free one.
        extra_arguments: Further command-line arguments, after all others.
        environment: Further environment variables.
        name: Name in the registry; made from the folder when None.
        keep: It goes on when this process ends (`dyno engines start`).
        error_log: Where its error log goes; `work_dir/error.log` when None.

    Raises:
        DynoError: The settings ask for what this engine cannot do, or `cpus` names a CPU that is not ours.

    Example:
        >>> with Server(installed, Path("work"), Settings(), cpus=[0]) as server:  # doctest: +SKIP
        ...     require_verified(server.verify())
    """

    def __init__(
        self,
        installed: Installed,
        work_dir: Path,
        settings: Settings,
        *,
        cpus: Sequence[int] | None = None,
        port: int | None = None,
        extra_arguments: Sequence[str] = (),
        environment: dict[str, str] | None = None,
        name: str | None = None,
        keep: bool = False,
        error_log: Path | None = None,
    ) -> None:
        self.installed = installed
        self.work_dir = work_dir.absolute()
        self.settings = settings
        self.cpus = None if cpus is None else tuple(cpus)
        self.assignments: list[Assignment] = translate(
            settings, installed.family, installed.version, installed.id
        )
        self.port = 0
        self._wanted_port = port
        self._extra = tuple(extra_arguments)
        self._environment = launch.environment(installed, environment or {})
        self._name = name or registry.name_of(self.work_dir)
        self._keep = keep
        self._process: subprocess.Popen[bytes] | None = None
        self._record: Record | None = None
        self._log_start = 0
        self._exit_code: int | None = None
        self._places = launch.Places(
            datadir=self.work_dir / "data",
            tmpdir=self.work_dir / "tmp",
            files=self.work_dir / "files",
            socket=_socket_path(self.work_dir),
            pid_file=self.work_dir / "server.pid",
            error_log=(error_log or self.work_dir / "error.log").absolute(),
        )
        _require_cpus(self.cpus)

    @property
    def datadir(self) -> Path:
        """The data directory; replace it only while the server is stopped."""
        return self._places.datadir

    @property
    def socket(self) -> Path:
        """The Unix socket, at most 100 bytes long wherever `work_dir` is."""
        return self._places.socket

    @property
    def error_log(self) -> Path:
        """The server's error log; it is appended to at each start."""
        return self._places.error_log

    @property
    def pid(self) -> int | None:
        """The process id while the server runs, else None."""
        return self._process.pid if self._process is not None and self.running else None

    @property
    def running(self) -> bool:
        """Whether the process is alive."""
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """How the process ended: its exit code, or minus the signal; None while it runs or before."""
        return self._exit_code if self._process is None else self._process.poll()

    @property
    def command(self) -> list[str]:
        """The whole command line of the last (or, with port 0, the next) start."""
        server = launch.start_command(self.installed, self._places, self.port, self.assignments, self._extra)
        pin = [] if self.cpus is None else ["taskset", "-c", ",".join(map(str, self.cpus))]
        return pin + server

    def initialise(self, progress: Progress = silent) -> None:
        """Make a new data directory: system tables, and root without password on the socket.

        It appears whole or not at all.

        Raises:
            DynoError: There is one already, or the engine's own initialisation failed (with its last words).
        """
        if self.datadir.exists():
            raise DynoError(f"{self.datadir} exists already", hint="remove it, or start the server as it is")
        self._make_folders()
        building = self.work_dir / "data.building"
        shutil.rmtree(building, ignore_errors=True)
        if self.installed.family == "mariadb":
            building.mkdir(mode=0o700)
        progress(f"initialising a data directory of {self.installed.id}")
        tmpdir = self._places.tmpdir
        self._run(launch.initialise_command(self.installed, building, tmpdir, self.assignments))
        if self.installed.family == "mariadb":
            sql = launch.keep_only_local_root(self.installed)
            self._run(launch.bootstrap_command(self.installed, building, tmpdir), sql)
        building.replace(self.datadir)

    def start(self, timeout_s: float = START_TIMEOUT_S) -> float:
        """Start the server and wait until it answers.

        Args:
            timeout_s: Bound on the wait, crash recovery included.

        Returns:
            Seconds from spawn to the first answer.

        Raises:
            DynoError: There is no data directory; another server uses it, the socket or the port; the server
                ended or did not answer in time (with the tail of its error log).
        """
        if not self.datadir.is_dir():
            raise DynoError(
                f"{self.datadir} does not exist", hint="initialise() makes it, or restore a snapshot"
            )
        self._refuse_second_server()
        self._make_folders()
        if self._wanted_port is not None:
            self.port = _require_free(self._wanted_port)
            return self._start_once(timeout_s)
        for _ in range(PORT_TRIES - 1):
            self.port = _free_port()
            try:
                return self._start_once(timeout_s)
            except DynoError:
                # Another process may take a free port between our look and the server's bind.
                if not self._port_was_taken():
                    raise
        self.port = _free_port()
        return self._start_once(timeout_s)

    def connect(
        self, database: str | None = None, *, read_timeout_s: float | None = None
    ) -> Connection[Cursor]:
        """A new connection as root over the Unix socket, in autocommit mode; the caller closes it.

        Raises:
            pymysql.MySQLError: The server does not take it.
        """
        return pymysql.connect(
            unix_socket=str(self.socket),
            user="root",
            database=database,
            autocommit=True,
            connect_timeout=10,
            read_timeout=read_timeout_s,
            local_infile=True,
        )

    def server_version(self) -> str:
        """What the running server answers to SELECT VERSION()."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT VERSION()")
            row = cursor.fetchone()
        assert row is not None
        return str(row[0])

    def verify(self, accept: Collection[str] = ()) -> list[SettingCheck]:
        """Read every setting back from the running server; see `dyno.engines.verify`."""
        with self.connect() as connection:
            return verify(connection, self.assignments, accept=accept, error_log=self.log_text())

    def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> StopReport:
        """End the server: SHUTDOWN, then SIGTERM, then SIGKILL, each bounded; says which it took.

        Args:
            timeout_s: How long a clean SHUTDOWN may take before signals follow.
        """
        if self._process is None:
            return StopReport("gone", 0.0)
        if not self.running:
            report = StopReport("gone", 0.0)
        else:
            report = registry.end(self._process.pid, str(self.socket), timeout_s=timeout_s)
        self._forget()
        return report

    def kill(self) -> None:
        """SIGKILL, as a power cut would end it; the next start recovers."""
        if self._process is not None and self.running:
            registry.kill(self._process.pid)
        self._forget()

    def log_text(self) -> str:
        """What the server wrote to its error log since its last start."""
        try:
            with self.error_log.open("rb") as file:
                file.seek(self._log_start)
                return file.read().decode(errors="replace")
        except FileNotFoundError:
            return ""

    def log_tail(self, lines: int = LOG_TAIL_LINES) -> str:
        """The last lines of `log_text()`."""
        return "\n".join(self.log_text().splitlines()[-lines:])

    def __enter__(self) -> Self:
        """Initialise unless there is a data directory, then start."""
        if not self.datadir.exists():
            self.initialise()
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _make_folders(self) -> None:
        self.work_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self._places.tmpdir, self._places.files, self.socket.parent):
            folder.mkdir(mode=0o700, exist_ok=True)
        self.error_log.parent.mkdir(parents=True, exist_ok=True)

    def _run(self, command: Sequence[str], stdin: str = "") -> None:
        try:
            done = subprocess.run(
                command,
                input=stdin,
                capture_output=True,
                text=True,
                errors="replace",
                env=self._environment,
                cwd=self.work_dir,
                timeout=INITIALISE_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise DynoError(
                f"initialising {self.installed.id} did not end within {INITIALISE_TIMEOUT_S:.0f} s",
                hint="is the disk of the work folder very slow or full?",
            ) from error
        if done.returncode != 0:
            whole = (done.stdout + done.stderr).strip()
            said = _causes(whole) or "\n".join(whole.splitlines()[-LOG_TAIL_LINES:])
            raise DynoError(
                f"initialising {self.installed.id} failed (exit {done.returncode}):\n{said}",
                hint="a full disk and a refused setting are the usual causes",
            )

    def _refuse_second_server(self) -> None:
        known = registry.find(self._name)
        pid = None if known is None else known.process()
        if pid is not None:
            raise DynoError(
                f"a server (pid {pid}) is already running on {self.datadir}",
                hint=f"stop it first: dyno engines stop {self._name}",
            )
        if _answers(self.socket):
            raise DynoError(
                f"another server already answers on the socket {self.socket}",
                hint="stop that server, or use another work folder",
            )
        self.socket.unlink(missing_ok=True)

    def _spawn(self) -> None:
        owner = None if self._keep else os.getpid()
        record = Record(
            name=self._name,
            engine=self.installed.id,
            version=self.installed.version,
            pid=None,
            start_ticks=None,
            boot_id=registry.boot_id(),
            server=str(self.installed.server),
            client=str(self.installed.client),
            work_dir=str(self.work_dir),
            datadir=str(self.datadir),
            socket=str(self.socket),
            port=self.port,
            owner_pid=owner,
            owner_start_ticks=None if owner is None else registry.start_ticks(owner),
        )
        record.save()
        self._record = record
        self._log_start = self.error_log.stat().st_size if self.error_log.exists() else 0
        command = self.command
        with self.error_log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment,
                cwd=self.work_dir,
                # Ctrl-C at the terminal is for us; we stop the server in order.
                start_new_session=True,
            )
        pid = self._process.pid
        self._record = replace(record, pid=pid, start_ticks=registry.start_ticks(pid))
        self._record.save()

    def _start_once(self, timeout_s: float) -> float:
        begun = time.monotonic()
        self._spawn()
        try:
            self._wait_until_answering(begun + timeout_s, timeout_s)
        except BaseException:
            self.kill()
            raise
        return time.monotonic() - begun

    def _wait_until_answering(self, deadline: float, timeout_s: float) -> None:
        assert self._process is not None
        while not self._ready():
            code = self._process.poll()
            if code is not None:
                ended = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
                raise DynoError(
                    f"{self.installed.id} ended {ended} while starting:\n{self._last_words()}",
                    hint=f"the whole log is {self.error_log}",
                )
            if time.monotonic() > deadline:
                raise DynoError(
                    f"{self.installed.id} did not answer within {timeout_s:.0f} s:\n{self._last_words()}",
                    hint=f"the whole log is {self.error_log}",
                )
            time.sleep(POLL_S)

    def _ready(self) -> bool:
        if not self.socket.exists():
            return False
        try:
            self.connect().close()
        except (pymysql.MySQLError, OSError):
            return False
        return True

    def _last_words(self) -> str:
        """The log's errors if it has any, else its tail: the cause is often far above the last line."""
        return _causes(self.log_text()) or self.log_tail() or "(the server wrote nothing)"

    def _port_was_taken(self) -> bool:
        text = self.log_text()
        return "Address already in use" in text or "Bind on TCP/IP port" in text

    def _forget(self) -> None:
        if self._process is not None:
            self._exit_code = self._process.wait()
        self._process = None
        if self._record is not None:
            self._record.remove()
        self._record = None


def _causes(log: str) -> str:
    """The lines of an engine's output that are errors."""
    return "\n".join([line for line in log.splitlines() if "ERROR" in line][-LOG_TAIL_LINES:])


def _socket_path(work_dir: Path) -> Path:
    inside = work_dir / "server.sock"
    if len(os.fsencode(inside)) <= SOCKET_PATH_MAX:
        return inside
    folder = Path(tempfile.gettempdir()) / f"dyno-{os.getuid()}"
    return folder / f"{hashlib.sha256(os.fsencode(work_dir)).hexdigest()[:16]}.sock"


def _answers(path: Path) -> bool:
    with sockets.socket(sockets.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with sockets.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _require_free(port: int) -> int:
    with sockets.socket() as probe:
        probe.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise DynoError(
                f"port {port} cannot be used: {error.strerror}",
                hint="choose another port, or none for a free one",
            ) from error
    return port


def _require_cpus(cpus: Sequence[int] | None) -> None:
    if cpus is None:
        return
    ours = os.sched_getaffinity(0)
    wrong = [cpu for cpu in cpus if cpu not in ours]
    if wrong or not cpus:
        raise DynoError(
            f"cannot pin a server to CPU {wrong or 'none'}",
            hint=f"this process may use {', '.join(map(str, sorted(ours)))}",
        )
    if shutil.which("taskset") is None:
        raise DynoError("taskset is not installed, so servers cannot be pinned", hint="install util-linux")
