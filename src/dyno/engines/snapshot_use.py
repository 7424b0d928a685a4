"""Who uses which snapshot, when it was used last, and making room: never under a run that needs it.

A process holds a shared lock on every snapshot that it builds or restores, until it ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import time
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from dyno.engines import snapshots

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.engines.snapshots import Snapshot

_LOCKS = ".in-use"
_held: dict[Path, IO[str]] = {}
"""The locks of this process: closing one of these files would let it go."""


@dataclass(frozen=True)
class Use:
    """A snapshot with its use.

    Attributes:
        snapshot: Which.
        used: When a process last began to use it (or made it), seconds since the epoch.
        in_use: Whether a process that still lives holds it.
    """

    snapshot: Snapshot
    used: float
    in_use: bool


def hold(store: Path, key: str) -> None:
    """Keep `key` from being pruned as long as this process lives; it need not be there yet."""
    path = store / _LOCKS / key
    if path in _held:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a", encoding="utf-8")
    fcntl.flock(file, fcntl.LOCK_SH)
    os.utime(path)
    _held[path] = file


def uses(store: Path) -> list[Use]:
    """Every whole snapshot of the store with its use, the longest unused first."""
    found = [_use(store, snapshot) for snapshot in snapshots.listed(store)]
    return sorted(found, key=lambda use: use.used)


def prune(store: Path, *, unused_s: float) -> list[Use]:
    """Remove every snapshot that was not used for that long and that nobody holds; returns those removed.

    Args:
        store: Folder of snapshots.
        unused_s: Least time since its last use, seconds; 0 removes all that are free.
    """
    removed = []
    for use in uses(store):
        if time.time() - use.used < unused_s:
            continue
        with _lock_file(store, use.snapshot.key) as file:
            # A run that comes now waits for us, finds no snapshot and builds its data again.
            if _locked(file):
                snapshots.remove(store, use.snapshot.key)
                removed.append(use)
    return removed


def _use(store: Path, snapshot: Snapshot) -> Use:
    path = store / _LOCKS / snapshot.key
    if not path.exists():
        return Use(snapshot, snapshot.created, in_use=False)
    with path.open("r", encoding="utf-8") as file:
        used = max(snapshot.created, path.stat().st_mtime)
        return Use(snapshot, used, in_use=not _locked(file))


def _lock_file(store: Path, key: str) -> IO[str]:
    path = store / _LOCKS / key
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("a", encoding="utf-8")


def _locked(file: IO[str]) -> bool:
    """Whether nobody else holds it: then this process does, until the file is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
