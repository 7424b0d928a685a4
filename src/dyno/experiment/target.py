"""A server that somebody else runs: reached over the network, never started, stopped or configured."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pymysql

from dyno.engines import Settings, global_variables, translate, verify
from dyno.engines.versions import parse_version
from dyno.errors import DynoError
from dyno.experiment.rig import RigError
from dyno.experiment.spec import data_spec
from dyno.experiment.stand import Context, Data, Live
from dyno.plan import names
from dyno.plan.resolved import ResolvedConnection, ResolvedEngine, ResolvedSettings, ResolvedWorkload
from dyno.record.layout import TrialLayout, write_json

if TYPE_CHECKING:
    from pymysql.connections import Connection
    from pymysql.cursors import Cursor

TPCC_TABLES = (
    *("warehouse", "district", "customer", "history", "new_order", "orders", "order_line"),
    *("item", "stock"),
)
DEFAULT_PORT = 3306
DEFAULT_DATABASE = "sbtest"
CONNECT_TIMEOUT_S = 10
NOT_RESTORED = "the data was not restored before this trial: Dyno does not own this server's files"


@dataclass(frozen=True)
class Address:
    """`mysql://user@host:port/database`, and where the password is."""

    user: str
    host: str
    port: int
    database: str
    password_env: str | None
    password_file: str | None
    line: ResolvedConnection = field(default_factory=ResolvedConnection)

    @classmethod
    def parse(
        cls,
        url: str,
        password_env: str | None = None,
        password_file: str | None = None,
        line: ResolvedConnection | None = None,
    ) -> Address:
        """From a URL; `line` says whether connections are encrypted.

        Raises:
            DynoError: The URL is not one of a target.
        """
        parts = urlsplit(url)
        try:
            port = parts.port or DEFAULT_PORT
        except ValueError as error:
            raise DynoError(f"target {url!r}: {error}", hint="mysql://USER@HOST:PORT/DATABASE") from error
        if parts.scheme != "mysql" or not parts.hostname:
            raise DynoError(f"{url!r} is not a target", hint="mysql://USER@HOST:PORT/DATABASE")
        return cls(
            user=unquote(parts.username or "root"),
            host=parts.hostname,
            port=port,
            database=unquote(parts.path.lstrip("/")) or DEFAULT_DATABASE,
            password_env=password_env,
            password_file=password_file,
            line=line or ResolvedConnection(),
        )

    @property
    def spec(self) -> dict[str, Any]:
        """`target` of spec.json."""
        return {
            "socket": None,
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "password_env": self.password_env,
            "password_file": self.password_file,
            "database": self.database,
        }

    def password(self) -> str:
        """The password, from where the target says; empty when it says nothing.

        Raises:
            DynoError: The place holds none.
        """
        if self.password_env is not None:
            value = os.environ.get(self.password_env)
            if value is None:
                raise DynoError(
                    f"the environment variable {self.password_env} is not set",
                    hint=f"export {self.password_env} before the run",
                )
            return value
        if self.password_file is not None:
            try:
                lines = Path(self.password_file).read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                raise DynoError(
                    f"cannot read the password file {self.password_file}: {error}",
                    hint="its first line is the password",
                ) from error
            return lines[0] if lines else ""
        return ""

    def connect(self) -> Connection[Cursor]:
        """A connection without a database.

        Raises:
            DynoError: The server does not answer or refuses.
        """
        try:
            return pymysql.connect(
                host=self.host,
                port=self.port,
                user=self.user,
                password=self.password(),
                ssl=self._tls(),
                connect_timeout=CONNECT_TIMEOUT_S,
            )
        except pymysql.MySQLError as error:
            untrusted = isinstance(getattr(error, "original_exception", None), ssl.SSLError)
            raise DynoError(
                f"{self.user}@{self.host}:{self.port} does not let us in: {error.args[-1]}",
                hint="tls_ca holds the authority that signed the server's certificate; verify-identity also "
                "wants the host's name in it"
                if untrusted
                else "check host, port and user; the password comes by --password-env or --password-file",
            ) from error

    def _tls(self) -> ssl.SSLContext | None:
        """For the lab's own few statements; None leaves it to the client, which prefers TLS."""
        if self.line.tls == "off":
            return None
        try:
            context = ssl.create_default_context(cafile=self.line.tls_ca)
        except OSError as error:
            raise DynoError(
                f"cannot read connection.tls_ca = {self.line.tls_ca}: {error}",
                hint="it is the PEM file of the authority that signed the server's certificate",
            ) from error
        context.check_hostname = self.line.tls == "verify-identity"
        if self.line.tls == "required":
            context.verify_mode = ssl.CERT_NONE
        return context


def look_at(address: Address, label: str | None, url: str) -> ResolvedEngine:
    """Ask a target what it is."""
    with address.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT VERSION(), @@version_comment")
        version, comment = (str(value) for value in cursor.fetchone() or ("", ""))
    if "mariadb" in version.lower():
        family = "mariadb"
    else:
        family = "percona" if "percona" in comment.lower() else "mysql"
    engine_id = names.slug(label or f"{address.host}-{address.port}")
    return ResolvedEngine(
        id=engine_id,
        label=label or f"{address.host}:{address.port}",
        request=url,
        kind="target",
        family=family,
        version=".".join(str(part) for part in parse_version(version)),
        server_version=version,
        source="target",
        content_sha256=None,
        password_env=address.password_env,
        password_file=address.password_file,
    )


class TargetStand:
    """A stand around a server that runs already."""

    def __init__(self, engine: ResolvedEngine, line: ResolvedConnection) -> None:
        self._engine = engine
        self._address = Address.parse(engine.request, engine.password_env, engine.password_file, line)
        self._built: list[Path] = []

    @property
    def engine(self) -> ResolvedEngine:
        """Which."""
        return self._engine

    def prepare(self, data: Data, context: Context) -> None:
        """Build the data when none of the workload's tables is there; what is there is used as it is."""
        present = self._tables()
        wanted = tables_of(data.workload)
        missing = sorted(wanted - present)
        where = f"{self._address.database} on {self._engine.label}"
        if not missing:
            context.say(f"{self._engine.id}: using the {len(wanted)} tables that are in {where}, as they are")
            return
        if wanted & present:
            raise DynoError(
                f"{where} has only some of the workload's tables: {', '.join(missing)} missing",
                hint="drop them (dyno-rig cleanup), name another database, or lower the workload's `tables`",
            )
        context.say(f"{self._engine.id}: {where} lacks {', '.join(missing)}: building the data")
        layout = context.layout
        names_of_build = (self._engine.id, data.settings.id, data.workload.id)
        spec = layout.prepare(*names_of_build, "spec.json")
        resolved = context.resolved
        write_json(spec, data_spec(data.workload, self._address.spec, resolved.seed, [], resolved.connection))
        self._built.append(spec)
        log = layout.prepare(*names_of_build, "log")
        context.rig.prepare(
            spec, log, layout.prepare(*names_of_build, "ndjson"), context.resolved.placement.rig_cpus
        )

    def open(self, data: Data, trial: TrialLayout, context: Context, spent_s: dict[str, float]) -> Live:
        """Read back what the server runs with; only what the plan itself names is compared."""
        del trial, spent_s
        with self._address.connect() as connection:
            variables = global_variables(connection)
            assignments = self._asked(data.settings)
            checks = verify(connection, assignments, accept=context.resolved.accept)
        version = variables.get("version", self._engine.server_version or "")
        return Live(
            target=self._address.spec,
            version=version,
            pid=None,
            checks=checks,
            arguments=[],
            variables=variables,
            marks=[NOT_RESTORED],
            gone=lambda: False,
        )

    def close(self, trial: TrialLayout, *, healthy: bool) -> str | None:
        """Nothing: the server is not ours."""
        del trial, healthy
        return None

    def finish(self, context: Context) -> None:
        """Drop what this run built, unless the plan keeps it."""
        for spec in self._built:
            if context.resolved.keep_data:
                context.say(f"{self._engine.id}: the data stays in {self._address.database}")
                continue
            try:
                context.rig.cleanup(spec, spec.with_suffix(".cleanup.log"))
                context.say(f"{self._engine.id}: the data that this run built is dropped again")
            except RigError as error:
                context.say(f"{self._engine.id}: the data could not be dropped: {error.message}")
        self._built.clear()

    def log_tail(self, trial: TrialLayout) -> str | None:
        """A target's log is out of reach."""
        del trial
        return None

    def _asked(self, settings: ResolvedSettings) -> list[Any]:
        asked = set(settings.asked)
        wanted = translate(
            Settings.model_validate(settings.requested),
            self._engine.family,
            self._engine.version,
            self._engine.id,
        )
        return [assignment for assignment in wanted if assignment.logical in asked]

    def _tables(self) -> set[str]:
        with self._address.connect() as connection, connection.cursor() as cursor:
            cursor.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = %s",
                (self._address.database,),
            )
            return {str(row[0]) for row in cursor.fetchall()}


def tables_of(workload: ResolvedWorkload) -> set[str]:
    """The tables that a workload works on; those of the OLTP kind are `sbtest1` … `sbtest<tables>`."""
    if "warehouses" in workload.options:
        return set(TPCC_TABLES)
    return {f"sbtest{number}" for number in range(1, int(workload.options.get("tables", 1)) + 1)}
