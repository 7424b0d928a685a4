"""Trials that are watched while they run."""

from __future__ import annotations

import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from blackbox.stand import Stand

# nothing here may run to its end by itself
ENDLESS = {"warmup_s": 0.2, "measure_s": 600.0, "drain_s": 2.0}
# what a trial in trouble may take to end on the busiest machine; far below ENDLESS
PATIENCE_S = 60.0


@contextmanager
def driving(stand: Stand, **fields: Any) -> Iterator[subprocess.Popen[str]]:
    """A trial that has begun to measure and would go on for ever."""
    stand.record.unlink(missing_ok=True)
    spec = stand.spec("oltp_read_write", **{"phases": ENDLESS, **fields})
    command = stand.command("drive", spec, "--record", str(stand.record))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as rig:
        try:
            wait_until(rig, lambda: any(line.get("phase") == "measure" for line in stand.lines()))
            yield rig
        finally:
            rig.kill()


def wait_until(rig: subprocess.Popen[str], done: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not done():
        assert rig.poll() is None, rig.communicate()
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def ended(rig: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and what it said on standard error."""
    stderr = rig.communicate(timeout=PATIENCE_S)[1]
    assert "panicked" not in stderr
    return rig.returncode, stderr
