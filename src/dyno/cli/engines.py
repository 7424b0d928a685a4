"""`dyno engines`: which engines there are, fetching them, and servers to play with."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError
from rich.table import Table

from dyno.cli import console
from dyno.engines import (
    CATALOG,
    Server,
    Settings,
    Store,
    cache_root,
    describe,
    find,
    install,
    reap,
    registry,
)
from dyno.errors import DynoError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dyno.engines import EngineSpec, Installed
    from dyno.engines.registry import Record

STOP_TIMEOUT_S = 60.0

app = typer.Typer(
    name="engines",
    help="List, install, start and stop database engines.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@app.command("list")
def list_engines(as_json: AsJson = False) -> None:
    """Every engine that can be fetched, what is here already, and the servers that run."""
    _reap()
    entries = Store().entries()
    rows = [_engine_row(spec, entries) for spec in CATALOG]
    servers = [_server_row(record) for record in registry.records() if record.process() is not None]
    if as_json:
        console.print_json({"engines": rows, "servers": servers})
        return
    _print_table(rows, {"name": "engine", "version": "installed", "source": "source", "size": "disk"})
    if servers:
        console.out.print()
        _print_table(
            servers,
            {"name": "server", "engine": "engine", "version": "version", "pid": "pid", "port": "port"}
            | {"owner": "started by"},
        )


@app.command("install")
def install_engines(
    engines: Annotated[list[str], typer.Argument(help="Engines, such as mariadb@10.11.")],
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask the source for a newer build even if the cache is fresh.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Fetch engines into the cache: verified, unpacked without root, reused offline."""
    specs = [find(name) for name in engines]
    installed = [_install(spec, refresh=refresh) for spec in specs]
    if as_json:
        console.print_json([engine.as_dict() for engine in installed])
        return
    for engine in installed:
        console.out.print(f"{engine.id}: {engine.version} in {engine.prefix}", markup=False)


@app.command("start")
def start(
    engine: Annotated[str, typer.Argument(help="The engine, such as mariadb@10.11.")],
    *,
    name: Annotated[
        str | None, typer.Option(help="Name of the server; the engine's id when left out.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KNOB=VALUE", help="A logical setting, such as buffer_pool=1GiB."),
    ] = None,
    variables: Annotated[
        list[str] | None,
        typer.Option("--variable", metavar="NAME=VALUE", help="A raw server variable of this engine."),
    ] = None,
    port: Annotated[int | None, typer.Option(help="TCP port on loopback; a free one when left out.")] = None,
    cpus: Annotated[str | None, typer.Option(help="CPUs to pin it to, such as 0,2-3.")] = None,
    as_json: AsJson = False,
) -> None:
    """Start a server that stays until `dyno engines stop`; its data is kept under its name."""
    _reap()
    spec = find(engine)
    label = _require_name(name or spec.id)
    wanted = _settings(spec, settings or [], variables or [])
    server = Server(
        _install(spec),
        _work_dir(label),
        wanted,
        cpus=None if cpus is None else parse_cpus(cpus),
        port=port,
        name=label,
        keep=True,
    )
    if not server.datadir.exists():
        server.initialise(_say)
    seconds = server.start()
    for check in server.verify():
        if check.verdict != "equal":
            console.warn(describe(check))
    record = registry.find(label)
    assert record is not None
    _show_started(record, server, seconds, as_json=as_json)


@app.command("stop")
def stop(
    names: Annotated[
        list[str] | None, typer.Argument(help="Servers, as `dyno engines list` shows them.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Stop every server that was started by name.")] = False,
    purge: Annotated[bool, typer.Option("--purge", help="Remove the server's data as well.")] = False,
    as_json: AsJson = False,
) -> None:
    """Stop servers that were started with `dyno engines start`."""
    _reap()
    kept = [record.name for record in registry.records() if record.kept]
    chosen = kept if every else list(names or [])
    if not chosen and not every:
        raise DynoError("no server named", hint="name one, or give --all; `dyno engines list` shows them")
    rows = [_stop(name, purge=purge) for name in chosen]
    if as_json:
        console.print_json(rows)
    else:
        for row in rows:
            console.out.print(f"{row['name']}: {row['text']}", markup=False)


@app.command("shell", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def shell(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="The server; the only one that runs when left out.")
    ] = None,
) -> None:
    """Open the engine's own client on a running server; what follows `--` goes to the client."""
    record = running(name)
    # Clients of 11.8 and later insist on TLS, which a Unix socket does not need.
    tls = ["--skip-ssl"] if record.engine.startswith("mariadb") else []
    command = [
        record.client,
        "--no-defaults",
        *tls,
        f"--socket={record.socket}",
        "--user=root",
        *context.args,
    ]
    os.execv(command[0], command)  # noqa: S606 - becoming the client is the point


def parse_cpus(text: str) -> list[int]:
    """CPUs of a list such as `0,2-3`.

    Raises:
        DynoError: The text is no such list.
    """
    cpus: list[int] = []
    try:
        for part in text.split(","):
            first, dash, last = part.partition("-")
            cpus += range(int(first), int(last if dash else first) + 1)
    except ValueError:
        raise DynoError(f"{text!r} is not a list of CPUs", hint="write it such as 0,2-3") from None
    return cpus


def _say(text: str) -> None:
    console.err.print(text, markup=False)


def _reap() -> None:
    for record in reap():
        _say(f"ended {record.name} (pid {record.pid}), which a command that died had left running")


def _install(spec: EngineSpec, *, refresh: bool = False) -> Installed:
    def progress(text: str) -> None:
        _say(f"{spec.id}: {text}")

    return install(spec, progress=progress, refresh=refresh)


def _work_dir(name: str) -> Path:
    return cache_root() / "named" / name


def _require_name(name: str) -> str:
    if not name or not all(letter.isalnum() or letter in "._-" for letter in name) or name.startswith("."):
        raise DynoError(f"{name!r} cannot name a server", hint="use letters, digits, dots, - and _")
    return name


def _settings(spec: EngineSpec, settings: Sequence[str], variables: Sequence[str]) -> Settings:
    given: dict[str, Any] = dict(_pair(text, "--set") for text in settings)
    given["extra"] = {spec.id: dict(_pair(text, "--variable") for text in variables)}
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        knob = ".".join(str(part) for part in first["loc"])
        raise DynoError(
            f"--set {knob}={first['input']}: {first['msg']}",
            hint=f"knobs are {', '.join(field for field in Settings.model_fields if field != 'extra')}",
        ) from error


def _pair(text: str, option: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise DynoError(f"{option} {text}: no value", hint=f"write {option} name=value")
    return key.strip(), value.strip()


def _engine_row(spec: EngineSpec, entries: dict[str, Any]) -> dict[str, Any]:
    entry = entries.get(f"{spec.id} {spec.source}")
    installed = None if entry is None else entry.installed
    size = None if installed is None else _disk_bytes(installed.prefix)
    return {
        "id": spec.id,
        "name": spec.name,
        "family": spec.family,
        "source": spec.source,
        "version": None if installed is None else installed.version,
        "prefix": None if installed is None else str(installed.prefix),
        "size_bytes": size,
        "size": None if size is None else f"{size / 1e6:.0f} MB",
    }


def _disk_bytes(folder: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


def _server_row(record: Record) -> dict[str, Any]:
    return {
        "name": record.name,
        "engine": record.engine,
        "version": record.version,
        "pid": record.process(),
        "port": record.port,
        "socket": record.socket,
        "datadir": record.datadir,
        "kept": record.kept,
        "owner": "dyno engines start" if record.kept else f"pid {record.owner_pid}",
    }


def _show_started(record: Record, server: Server, seconds: float, *, as_json: bool) -> None:
    row = _server_row(record) | {
        "server_version": server.server_version(),
        "start_s": round(seconds, 3),
        "error_log": str(server.error_log),
        "command": server.command,
    }
    if as_json:
        console.print_json(row)
        return
    say = console.out.print
    say(f"{record.name}: {row['server_version']} answers after {seconds:.1f} s", markup=False)
    say(f"  socket    {record.socket}", markup=False)
    say(f"  port      {record.port} on 127.0.0.1 (root is on the socket only)", markup=False)
    say(f"  log       {server.error_log}", markup=False)
    say(f"  shell     dyno engines shell {record.name}", markup=False)
    say(f"  stop      dyno engines stop {record.name}", markup=False)


def _stop(name: str, *, purge: bool) -> dict[str, Any]:
    record = registry.find(_require_name(name))
    pid = None if record is None else record.process()
    if record is not None and not record.kept:
        raise DynoError(
            f"{name} belongs to a running command (pid {record.owner_pid})",
            hint="end that command: it stops its servers itself",
        )
    folder = _work_dir(name)
    if (record is None or pid is None) and not (purge and folder.exists()):
        running = ", ".join(each.name for each in registry.records() if each.kept) or "none"
        raise DynoError(f"no server {name!r} is running", hint=f"running servers: {running}")
    row: dict[str, Any] = {"name": name, "pid": pid, "how": "gone", "seconds": 0.0, "purged": purge}
    if record is not None and pid is not None:
        report = registry.end(pid, record.socket, timeout_s=STOP_TIMEOUT_S)
        row |= {"how": report.how, "seconds": round(report.seconds, 3)}
    if record is not None:
        record.remove()
    if purge:
        shutil.rmtree(folder, ignore_errors=True)
    kept = "its data is removed" if purge else f"its data is kept in {folder}"
    ended = "was not running" if pid is None else f"stopped by {row['how']} in {row['seconds']:.1f} s"
    return row | {"text": f"{ended}; {kept}"}


def running(name: str | None) -> Record:
    """The running server of that name; without one, the only server that runs.

    Raises:
        DynoError: There is none, or not exactly one.
    """
    alive = [record for record in registry.records() if record.process() is not None]
    chosen = [record for record in alive if name in (None, record.name)]
    if len(chosen) == 1:
        return chosen[0]
    shown = ", ".join(record.name for record in alive) or "none"
    problem = f"no server {name!r} is running" if name else "there is not exactly one running server"
    raise DynoError(problem, hint=f"running servers: {shown}; `dyno engines start` starts one")


def _print_table(rows: Sequence[dict[str, Any]], columns: dict[str, str]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in columns.values():
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*("–" if row[key] is None else str(row[key]) for key in columns))
    console.out.print(table)
