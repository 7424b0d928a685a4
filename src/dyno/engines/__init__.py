"""Engines: which there are, how to get one, what it is told, and its life as a process.

The few names that other parts use:

- `find("mariadb@10.11")` → `EngineSpec`; `CATALOG` lists all.
- `install(spec)` → `Installed`: fetched, verified, unpacked, cached.
- `Settings`: the logical configuration; `translate(settings, family, version)` → `Assignment`s.
- `Server(installed, work_dir, settings)`: initialise, start, connect, stop; `reap()` ends what a dead run
left.
- `verify(connection, assignments)` → `SettingCheck`s; `require_verified` raises for what is not accepted.
- `snapshots`: keep a stopped data directory and put it back.

Example:
    >>> installed = install(find("mariadb@10.11"))                    # doctest: +SKIP
    >>> with Server(installed, Path("work"), Settings()) as server:   # doctest: +SKIP
    ...     with server.connect() as connection: ...
"""

from __future__ import annotations

from dyno.engines import snapshots
from dyno.engines.catalog import CATALOG, EngineSpec, find
from dyno.engines.installed import Installed, Package
from dyno.engines.installing import install
from dyno.engines.registry import reap
from dyno.engines.server import Server, StopReport
from dyno.engines.settings import Settings, format_size, parse_size
from dyno.engines.store import Store, cache_root
from dyno.engines.translation import Assignment, arguments, translate
from dyno.engines.verification import (
    SettingCheck,
    describe,
    global_variables,
    require_verified,
    verify,
)

__all__ = [
    "CATALOG",
    "Assignment",
    "EngineSpec",
    "Installed",
    "Package",
    "Server",
    "SettingCheck",
    "Settings",
    "StopReport",
    "Store",
    "arguments",
    "cache_root",
    "describe",
    "find",
    "format_size",
    "global_variables",
    "install",
    "parse_size",
    "reap",
    "require_verified",
    "snapshots",
    "translate",
    "verify",
]
