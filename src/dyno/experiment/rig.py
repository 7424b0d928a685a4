"""The rig's process: found, asked what it knows, started pinned, watched, ended in bounded time."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from dyno.errors import DynoError
from dyno.hosts.placement import format_cpus
from dyno.plan.resolve import WorkloadKind
from dyno.record.checked import Checked

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

POLL_S = 0.25
TERMINATE_S = 5.0
SERVER_DEATH_GRACE_S = 10.0
SELFTEST_S = 120.0
CHECK_LIMIT_S = 60.0


@dataclass(frozen=True)
class RigExit:
    """How a rig process ended: its exit code, and what the lab had to do about it (None: nothing)."""

    code: int
    complaint: str | None


class RigError(DynoError):
    """The rig ended with an error of its own; `message` and `hint` are the rig's."""


def find_rig() -> Path:
    """The rig's binary: `$DYNO_RIG`, else beside the running Python, else on the PATH.

    Raises:
        DynoError: There is none.
    """
    named = os.environ.get("DYNO_RIG")
    if named:
        if os.access(named, os.X_OK):
            return Path(named).resolve()
        raise DynoError(f"DYNO_RIG = {named}: not a program", hint="unset it, or name a dyno-rig binary")
    beside = Path(sys.executable).parent / "dyno-rig"
    if os.access(beside, os.X_OK):
        return beside
    found = shutil.which("dyno-rig")
    if found is None:
        raise DynoError("dyno-rig is not installed", hint="`make build` makes it, or DYNO_RIG names it")
    return Path(found)


class Rig:
    """The rig's binary and the ways to call it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def version(self) -> str:
        """Its version, such as `0.1.0`."""
        return self._ask("--version").split()[-1]

    def workloads(self) -> list[WorkloadKind]:
        """The workloads that it knows, with their options' defaults."""
        entries = json.loads(self._ask("workloads", "--json"))
        return [
            WorkloadKind(
                name=entry["name"],
                version=entry["version"],
                defaults={option["name"]: option["default"] for option in entry["options"]},
                aliases={alias: option["name"] for option in entry["options"] for alias in option["aliases"]},
            )
            for entry in entries
        ]

    def prepare(self, spec: Path, log: Path, result: Path, cpus: list[int]) -> dict[str, Any]:
        """Build and verify data; returns the rig's closing line (rows, seconds, method).

        Args:
            spec: The spec's file.
            log: Where its stderr (progress, errors) goes.
            result: Where its stdout goes.
            cpus: CPUs it may use; empty for all.

        Raises:
            RigError: The build failed; the message is the rig's.
        """
        self._run(["prepare", "--spec", str(spec)], log, result, cpus)
        lines = result.read_text(encoding="utf-8").splitlines()
        closing = json.loads(lines[-1]) if lines else None
        if not isinstance(closing, dict):
            raise RigError("dyno-rig prepare did not say what it built", hint=f"see {log}")
        return closing

    def check(self, spec: Path, log: Path, result: Path, *, limit_s: float = CHECK_LIMIT_S) -> Checked:
        """Check the data of a workload; returns what was found, also when some condition does not hold.

        Args:
            spec: The spec's file.
            log: Where its stderr goes.
            result: Where its stdout, what was found as JSON, goes.
            limit_s: Seconds that the server may spend on one condition.

        Raises:
            RigError: The conditions could not be asked; the message is the rig's.
        """
        try:
            self._run(["check", "--spec", str(spec), "--limit", f"{limit_s:g}s"], log, result, [])
        except RigError:
            # A violation ends the rig with an error too, but not before it has said what it found.
            if not result.stat().st_size:
                raise
        try:
            return Checked.model_validate_json(result.read_bytes())
        except ValidationError as error:
            raise RigError(
                f"dyno-rig check did not say what it found: {error.errors()[0]['msg']}", hint=f"see {log}"
            ) from error

    def cleanup(self, spec: Path, log: Path) -> None:
        """Drop the tables of a workload."""
        self._run(["cleanup", "--spec", str(spec)], log, log.with_suffix(".out"), [])

    def drive(
        self,
        spec: Path,
        record: Path,
        log: Path,
        *,
        cpus: list[int],
        limit_s: float,
        server_gone: Callable[[], bool],
        look: Callable[[], bool | None],
    ) -> RigExit:
        """Run one trial's load and wait for its end, which always comes.

        Args:
            spec: The spec's file.
            record: Where the record stream goes.
            log: Where the rig's stderr goes.
            cpus: CPUs it may use; empty for all.
            limit_s: Seconds after which the rig counts as hung and is killed.
            server_gone: Whether the server's process has ended.
            look: Called a few times a second while it runs; once it says so, measure ends early.
        """
        command = [*self._pinned(cpus), "drive", "--spec", str(spec), "--record", str(record)]
        began = time.monotonic()
        died_at: float | None = None
        asked = False
        with _child(command, log, subprocess.DEVNULL) as process:
            while True:
                try:
                    code = process.wait(POLL_S)
                except subprocess.TimeoutExpired:
                    pass
                else:
                    return RigExit(code, "the server's process died" if server_gone() else None)
                if look() and not asked:
                    asked = True
                    process.send_signal(signal.SIGUSR1)
                now = time.monotonic()
                if died_at is None and server_gone():
                    died_at = now
                if died_at is not None and now - died_at > SERVER_DEATH_GRACE_S:
                    return RigExit(_end(process), "the server's process died and the rig did not notice")
                if now - began > limit_s:
                    return RigExit(_end(process), f"the rig ran over its time limit of {limit_s:.0f} s")

    def selftest(self, rig_cpus: list[int], server_cpu: int | None) -> dict[str, Any]:
        """How much load it can make here, on its own null server; its progress goes to our stderr.

        Args:
            rig_cpus: CPUs of its workers; empty: its own choice.
            server_cpu: CPU of the null server; None: its own choice.

        Raises:
            RigError: It did not come to a result.
        """
        command = [str(self.path), "selftest", "--json"]
        command += ["--cpus", format_cpus(rig_cpus)] if rig_cpus else []
        command += ["--server-cpu", str(server_cpu)] if server_cpu is not None else []
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=SELFTEST_S)
            if done.returncode != 0:
                raise RigError(f"dyno-rig selftest ended with exit code {done.returncode}")
            result = json.loads(done.stdout)
        except (OSError, subprocess.TimeoutExpired, ValueError) as error:
            raise RigError(f"dyno-rig selftest gave no result: {error}") from error
        return dict(result)

    def _ask(self, *arguments: str) -> str:
        try:
            done = subprocess.run(
                [str(self.path), *arguments], capture_output=True, text=True, check=False, timeout=30
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RigError(f"cannot run {self.path}: {error}", hint="`make build` makes it anew") from error
        if done.returncode != 0:
            raise rig_error(done.stderr, f"{self.path.name} {' '.join(arguments)} failed")
        return done.stdout

    def _run(self, arguments: list[str], log: Path, result: Path, cpus: list[int]) -> None:
        with result.open("wb") as stdout, _child([*self._pinned(cpus), *arguments], log, stdout) as process:
            code = process.wait()
        if code != 0:
            said = log.read_text(encoding="utf-8", errors="replace")
            raise rig_error(said, f"dyno-rig {arguments[0]} ended with exit code {code}")

    def _pinned(self, cpus: list[int]) -> list[str]:
        """The command line: pinned, and ended by the kernel when the lab itself is killed."""
        leash = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
        pin = ["taskset", "--cpu-list", format_cpus(cpus)] if cpus and shutil.which("taskset") else []
        return [*leash, *pin, str(self.path)]


def rig_error(stderr: str, fallback: str) -> RigError:
    """The rig's own `error:` and `hint:` lines as an exception."""
    message, hint = said_in_log(stderr)
    return RigError(message or fallback, hint=hint)


def said_in_log(stderr: str) -> tuple[str | None, str | None]:
    """The last `error:` and `hint:` of a rig's stderr."""
    message = hint = None
    for line in stderr.splitlines():
        if line.startswith("error:"):
            message = line.removeprefix("error:").strip()
        elif line.startswith("hint:"):
            hint = line.removeprefix("hint:").strip()
    return message, hint


@contextmanager
def _child(command: list[str], log: Path, stdout: Any) -> Generator[subprocess.Popen[bytes], None, None]:
    """A child in its own session, so that Ctrl-C reaches only the lab, which ends the child in order."""
    with log.open("wb") as stderr:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True
            )
        except OSError as error:
            raise RigError(f"cannot start {command[0]}: {error.strerror}") from error
        try:
            yield process
        finally:
            if process.poll() is None:
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> int:
    process.terminate()
    try:
        return process.wait(TERMINATE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()
