"""The A/A test: a run in which an engine stands against itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.engines import find
from dyno.experiment.run import Request, start
from dyno.plan.load import parse

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

WORKLOAD = "oltp_read_write"
# Both sides are the same settings under two names, so that they share one snapshot and meet in every block.
PLAN = """\
[plan]
name = "selftest-aa"
title = "{engine} against itself: the noise floor of this host"

[[engines]]
engine = "{engine}"

[settings]
buffer_pool = "256MiB"
redo = "96MiB"

[[tiers]]
name = "a"

[[tiers]]
name = "b"

[[workloads]]
name = "{workload}"
options = {{ tables = 4, table_size = {table_size} }}

[load]
sessions = [{sessions}]

[phases]
warmup = "{warmup_s:g}s"
measure = "{measure_s:g}s"
drain = "1s"

[trials]
count = {trials}
"""


@dataclass(frozen=True)
class Wanted:
    """How large an A/A test is."""

    engine: str = "mariadb@10.11"
    sessions: int = 4
    trials: int = 6
    measure_s: float = 5.0
    warmup_s: float = 2.0
    table_size: int = 10_000

    @property
    def plan(self) -> str:
        """The plan's text.

        Raises:
            DynoError: There is no such engine.
        """
        # Names go by the catalog: what it does not know never comes into the text.
        return PLAN.format(workload=WORKLOAD, **(vars(self) | {"engine": find(self.engine).name}))


def run_aa(wanted: Wanted, runs: Path, command: list[str], console: Console) -> Path:
    """Run the test in a new run folder, and return that.

    Raises:
        DynoError: There is no such engine, or nothing can be run.
        InterruptedRunError: Ctrl-C; the message says how to go on.
    """
    text = wanted.plan
    return start(Request(parse(text, "the A/A test"), text, runs, command), console).layout.path
