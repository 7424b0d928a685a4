"""Dyno's cache on disk: packages by hash, prefixes by content, and which request each prefix satisfies."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dyno.engines.installed import Installed
from dyno.errors import DynoError

Progress = Callable[[str], None]
"""Called with one short line whenever a slow step begins."""

LOCK_TIMEOUT_S = 900.0


def silent(_: str) -> None:
    """A `Progress` that says nothing."""


def cache_root() -> Path:
    """`$DYNO_CACHE`, else `$XDG_CACHE_HOME/dyno`, else `~/.cache/dyno`."""
    explicit = os.environ.get("DYNO_CACHE")
    if explicit:
        return Path(explicit).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "dyno"


def write_atomically(path: Path, text: str) -> None:
    """Replace `path` with `text`: a reader sees the old or the new file, and a crash leaves one of them."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


@dataclass(frozen=True)
class Entry:
    """A prefix that satisfied a request, and when its source last confirmed that."""

    installed: Installed
    checked_epoch_s: float


class Store:
    """The cache folder.

    Args:
        root: Where; `cache_root()` when None.

    Raises:
        DynoError: The folder cannot be made.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = cache_root() if root is None else root
        self.debs = self.root / "debs"
        self.prefixes = self.root / "prefixes"
        self.index = self.root / "index.json"
        try:
            for folder in (self.debs, self.prefixes):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DynoError(
                f"the cache folder {self.root} cannot be made: {error.strerror}",
                hint="set DYNO_CACHE to a folder that you may write to",
            ) from error

    def entries(self) -> dict[str, Entry]:
        """Requests (`<engine id> <source>`) and the prefixes that satisfy them, but for vanished prefixes."""
        try:
            record = json.loads(self.index.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise DynoError(
                f"{self.index} is not readable: {error}", hint="remove it; what is unpacked is found again"
            ) from error
        entries = {key: _entry(value) for key, value in record["requests"].items()}
        return {key: entry for key, entry in entries.items() if entry.installed.server.exists()}

    def lookup(self, engine_id: str, source: str) -> Entry | None:
        """The prefix that last satisfied that request, if it still exists."""
        return self.entries().get(f"{engine_id} {source}")

    def remember(self, installed: Installed) -> None:
        """Record, under the lock, that this prefix satisfies its engine's request as of now."""
        known = replace(installed, notices=())
        entries = self.entries() | {f"{installed.id} {installed.source}": Entry(known, time.time())}
        requests = {
            key: {"installed": entry.installed.as_dict(), "checked_epoch_s": entry.checked_epoch_s}
            for key, entry in sorted(entries.items())
        }
        write_atomically(self.index, json.dumps({"format": "dyno-engines/1", "requests": requests}, indent=1))

    @contextmanager
    def locked(self, progress: Progress = silent) -> Generator[None, None, None]:
        """Hold the store for one installer; a second one waits, and says for what.

        Raises:
            DynoError: Another process held it for more than 15 minutes.
        """
        path = self.root / "lock"
        with path.open("a+", encoding="utf-8") as file:
            _acquire(file.fileno(), path, progress)
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield


def _entry(record: dict[str, Any]) -> Entry:
    return Entry(Installed.from_dict(record["installed"]), float(record["checked_epoch_s"]))


def _acquire(descriptor: int, path: Path, progress: Progress) -> None:
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    told = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                holder = path.read_text(encoding="utf-8") or "unknown"
                raise DynoError(
                    f"another process (pid {holder}) has been installing engines for {LOCK_TIMEOUT_S:.0f} s",
                    hint="end it, or set DYNO_CACHE to another folder",
                ) from None
            if not told:
                progress("waiting for another process that is installing engines")
                told = True
            time.sleep(0.2)
        else:
            return
