"""The journal of a run: one line a change of state, appended and fsynced, read again on resume.

Only one process may write a journal: it holds a lock on the file, which the kernel releases when it dies.
"""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING, Literal, Self, get_args

from dyno.errors import DynoError
from dyno.record.layout import timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import TracebackType

State = Literal["planned", "running", "ok", "failed", "invalid"]
STATES: tuple[State, ...] = get_args(State)
FINISHED: frozenset[State] = frozenset({"ok", "failed", "invalid"})


class Journal:
    """An open journal; `states` holds the last state of each trial.

    Args:
        path: `journal.ndjson`; made when it is not there. A torn last line, left by a crash, is cut off.

    Raises:
        DynoError: Another process holds it, or a line of it is not a journal line.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise DynoError(
                f"another process is working on {path.parent}", hint="let it finish, or stop it with Ctrl-C"
            ) from error
        self._file.seek(0)
        content = self._file.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            self._file.truncate(whole)
        self.states: dict[str, State] = dict(_entries(content[:whole], path))

    def __enter__(self) -> Self:
        """The journal itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """As `close`."""
        self.close()

    def close(self) -> None:
        """Close it and give the lock back."""
        self._file.close()

    def write(self, trial: str, state: State, reason: str | None = None) -> None:
        """Record a state; on return it is on disk."""
        self.write_all([trial], state, reason)

    def write_all(self, trials: Iterable[str], state: State, reason: str | None = None) -> None:
        """Record one state of many trials with a single fsync."""
        now = timestamp()
        named = list(trials)
        lines = [
            json.dumps({"t": now, "trial": trial, "state": state, "reason": reason}, ensure_ascii=False)
            for trial in named
        ]
        try:
            self._file.write("".join(line + "\n" for line in lines).encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise DynoError(
                f"cannot write the journal {self._file.name}: {error.strerror}",
                hint="make room on the disk, then `dyno run --resume` continues",
            ) from error
        self.states.update(dict.fromkeys(named, state))

    def unfinished(self, order: Iterable[str]) -> list[str]:
        """Those trials of `order` that have no final state yet, in that order."""
        return [trial for trial in order if self.states.get(trial) not in FINISHED]


def _entries(content: bytes, path: Path) -> Iterable[tuple[str, State]]:
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            entry = json.loads(line)
            trial, state = entry["trial"], entry["state"]
        except (ValueError, KeyError, TypeError) as error:
            raise DynoError(
                f"{path}:{number} is not a journal line: {line[:80]!r}",
                hint="the file was changed by something else than Dyno; start a new run",
            ) from error
        if state not in STATES:
            raise DynoError(f"{path}:{number}: {state!r} is not a state", hint=f"states: {', '.join(STATES)}")
        yield trial, state
