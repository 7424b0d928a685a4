"""An engine that Dyno runs itself: data built once, restored before every trial, server pinned."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from typing import TYPE_CHECKING

import pymysql

from dyno.engines import (
    Installed,
    Server,
    Settings,
    arguments,
    cache_root,
    global_variables,
    snapshots,
    verify,
)
from dyno.engines.snapshot_use import hold
from dyno.errors import DynoError
from dyno.experiment.spec import data_spec
from dyno.experiment.stand import Context, Data, Live, run_work
from dyno.plan.units import format_bytes, format_duration
from dyno.record.layout import TrialLayout, write_json

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.plan.resolved import ResolvedEngine

# Knobs that leave no trace in a data directory that was shut down cleanly; every other one is part of a
# snapshot's key, so that a knob nobody thought of builds its own data.
NOT_ON_DISK = frozenset(
    {
        "buffer_pool",
        "buffer_pool_instances",
        "log_buffer",
        "durability",
        "isolation",
        "snapshot_isolation",
        "max_connections",
        "max_prepared_stmt_count",
        "table_open_cache",
        "table_open_cache_instances",
        "table_definition_cache",
        "thread_cache",
        "thread_handling",
        "io_capacity",
        "io_capacity_max",
        "io_threads_read",
        "io_threads_write",
        "flush_method",
        "flush_neighbors",
        "dirty_pages_pct",
        "dirty_pages_lwm_pct",
        "purge_threads",
        "page_cleaners",
        "adaptive_hash_index",
        "performance_schema",
        "query_cache",
        "sort_buffer",
        "tls",
    }
)
DATA_FORMAT = 1


class BuildError(DynoError):
    """Data could not be built; `log_tail` is the end of the server's log."""

    def __init__(self, message: str, *, hint: str | None, log_tail: str | None) -> None:
        super().__init__(message, hint=hint)
        self.log_tail = log_tail


def snapshot_store() -> Path:
    """Where built data is kept, across runs."""
    return cache_root() / "snapshots"


def snapshot_key(engine: ResolvedEngine, data: Data, seed: int) -> str:
    """The name of a data set: a hash of everything that it is made from."""
    on_disk = {name: value for name, value in data.settings.requested.items() if name not in NOT_ON_DISK}
    made_from = {
        "format": DATA_FORMAT,
        "engine": engine.content_sha256,
        "settings": on_disk,
        "workload": data.workload.name,
        "version": data.workload.version,
        "options": data.workload.options,
        "seed": seed,
    }
    digest = hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()
    return f"{engine.id}-{data.workload.id}-{digest[:24]}"


class InstalledStand:
    """A stand around an engine's own server."""

    def __init__(self, engine: ResolvedEngine, installed: Installed) -> None:
        self._engine = engine
        self._installed = installed
        self._server: Server | None = None

    @property
    def engine(self) -> ResolvedEngine:
        """Which."""
        return self._engine

    def prepare(self, data: Data, context: Context) -> None:
        """Build the data unless a snapshot of exactly this data is there already."""
        key = snapshot_key(self._engine, data, context.resolved.seed)
        hold(snapshot_store(), key)
        if snapshots.exists(snapshot_store(), key):
            return
        began = time.monotonic()
        work = run_work(cache_root(), context.layout) / "build"
        build = (self._engine.id, data.settings.id, data.workload.id)
        try:
            server = self._build_server(data, work, context.layout.prepare(*build, "engine.log"))
            try:
                self._load(server, data, context, build)
            except BaseException as error:
                server.kill()
                if isinstance(error, DynoError):
                    raise BuildError(error.message, hint=error.hint, log_tail=server.log_tail()) from error
                raise
            context.now(f"{self._engine.id}: keep the data")
            about = {"engine": self._engine.id, "workload": data.workload.id}
            kept = snapshots.save(server.datadir, snapshot_store(), key, about=about)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        took = format_duration(time.monotonic() - began)
        context.say(f"{self._engine.id}: built {data.workload.id}, {format_bytes(kept.size_bytes)} in {took}")

    def open(self, data: Data, trial: TrialLayout, context: Context, spent_s: dict[str, float]) -> Live:
        """Restore the data, start the server pinned, read back every setting."""
        work = run_work(cache_root(), context.layout) / trial.path.name.partition("-")[0]
        work.mkdir(parents=True, mode=0o700)
        server = Server(
            self._installed,
            work,
            Settings.model_validate(data.settings.requested),
            cpus=context.resolved.placement.server_cpus or None,
            error_log=trial.engine_log,
        )
        self._server = server
        key = snapshot_key(self._engine, data, context.resolved.seed)
        spent_s["restore"] = snapshots.restore(snapshot_store(), key, server.datadir).seconds
        spent_s["start"] = server.start()
        try:
            with server.connect() as connection:
                variables = global_variables(connection)
                checks = verify(
                    connection,
                    server.assignments,
                    accept=context.resolved.accept,
                    error_log=server.log_text(),
                )
        except pymysql.MySQLError as error:
            raise DynoError(f"{self._engine.id} does not answer after its start: {error}") from error
        return Live(
            target=socket_target(server),
            version=variables["version"],
            pid=server.pid,
            checks=checks,
            arguments=arguments(server.assignments),
            variables=variables,
            marks=[],
            gone=lambda: not server.running,
        )

    def close(self, trial: TrialLayout, *, healthy: bool) -> str | None:
        """Stop the server (kill it when something was wrong) and remove its files."""
        del trial
        server = self._server
        if server is None:
            return None
        try:
            if not healthy:
                server.kill()
            elif server.stop().how == "gone":
                return "the server's process had ended before it was stopped"
        finally:
            shutil.rmtree(server.work_dir, ignore_errors=True)
        return None

    def finish(self, context: Context) -> None:
        """Nothing outlives a trial."""
        del context

    def log_tail(self, trial: TrialLayout) -> str | None:
        """The end of the log of the trial's server, where one was started."""
        del trial
        return self._server.log_tail() if self._server is not None else None

    def _build_server(self, data: Data, work: Path, log: Path) -> Server:
        """A server for building: the same settings, but no waiting for the disk at each commit."""
        settings = Settings.model_validate({**data.settings.requested, "durability": "none"})
        shutil.rmtree(work, ignore_errors=True)
        return Server(self._installed, work, settings, error_log=log)

    def _load(self, server: Server, data: Data, context: Context, build: tuple[str, str, str]) -> None:
        """Initialise, fill and stop the server so that its data directory is complete and at rest."""
        context.now(f"{self._engine.id}: build {data.workload.id}")
        server.initialise()
        server.start()
        layout = context.layout
        spec = layout.prepare(*build, "spec.json")
        write_json(spec, data_spec(data.workload, socket_target(server), context.resolved.seed, []))
        context.rig.prepare(spec, layout.prepare(*build, "log"), layout.prepare(*build, "ndjson"), [])
        _prepare_for_rest(server)
        stopped = server.stop()
        if stopped.how != "SHUTDOWN":
            raise DynoError(
                f"{self._engine.id} did not shut down cleanly after the build ({stopped.how})",
                hint="its log is beside the run's prepare log",
            )


def _prepare_for_rest(server: Server) -> None:
    """Have the server leave nothing to do behind: what it does after a start would disturb the trials.

    A slow shutdown purges and merges everything; without a dump of the buffer pool no start reads one back in
    the background.
    """
    try:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SET GLOBAL innodb_fast_shutdown = 0")
            cursor.execute("SET GLOBAL innodb_buffer_pool_dump_at_shutdown = OFF")
    except pymysql.MySQLError as error:
        raise DynoError(f"{server.installed.id} does not answer after the build: {error}") from error


def socket_target(server: Server) -> dict[str, object]:
    """`target` of spec.json for a server of ours: root, over its socket."""
    return {
        "socket": str(server.socket),
        "host": None,
        "port": None,
        "user": "root",
        "password_env": None,
        "password_file": None,
        "database": "sbtest",
    }
