"""What a trial needs of an engine, whether Dyno runs it or somebody else does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dyno.engines import SettingCheck
    from dyno.experiment.rig import Rig
    from dyno.plan.resolved import ResolvedEngine, ResolvedPlan, ResolvedSettings, ResolvedWorkload
    from dyno.record.follow import Second
    from dyno.record.layout import RunLayout, TrialLayout


@dataclass(frozen=True)
class Context:
    """What every step of a run may use.

    Attributes:
        layout: The run's folder.
        resolved: The resolved plan.
        rig: The rig's binary.
        now: Tells a person what goes on at this moment.
        say: Tells a person something that stays.
        second: Shows a person one second of load.
    """

    layout: RunLayout
    resolved: ResolvedPlan
    rig: Rig
    now: Callable[[str], None]
    say: Callable[[str], None]
    second: Callable[[Second], None]


@dataclass(frozen=True)
class Data:
    """One data set of one engine: what it is made from."""

    settings: ResolvedSettings
    workload: ResolvedWorkload


@dataclass
class Live:
    """A server that answers, holding the data of one trial.

    Attributes:
        target: How the rig reaches it (`target` of spec.json).
        version: Its own VERSION().
        pid: Its process on this host, or None when it runs elsewhere.
        checks: Every setting asked for, read back.
        arguments: What it was started with.
        variables: SHOW GLOBAL VARIABLES.
        marks: Reasons for care that belong to this stand, such as data that was not restored.
        gone: Whether its process has ended.
    """

    target: dict[str, Any]
    version: str
    pid: int | None
    checks: list[SettingCheck]
    arguments: list[str]
    variables: dict[str, str]
    marks: list[str]
    gone: Callable[[], bool]


class Stand(Protocol):
    """One engine under test."""

    @property
    def engine(self) -> ResolvedEngine:
        """Which."""
        ...

    def prepare(self, data: Data, context: Context) -> None:
        """Have the data ready, building it when it is not.

        Raises:
            DynoError: It cannot be built; the trials on it cannot run.
        """

    def open(self, data: Data, trial: TrialLayout, context: Context, spent_s: dict[str, float]) -> Live:
        """Bring data and server to the state in which every trial begins.

        Args:
            data: What the server is to hold.
            trial: The trial's folder.
            context: The run.
            spent_s: Receives the seconds that restoring and starting took.

        Raises:
            DynoError: The server did not come up.
        """
        ...

    def close(self, trial: TrialLayout, *, healthy: bool) -> str | None:
        """End what `open` began, also when it failed half-way; keep the server's log in the trial's folder.

        Args:
            trial: The trial's folder.
            healthy: Nothing went wrong so far, so the server should stop cleanly.

        Returns:
            What was wrong with the end of the server, or None.
        """

    def finish(self, context: Context) -> None:
        """The run has ended: leave nothing behind that it does not need."""

    def log_tail(self, trial: TrialLayout) -> str | None:
        """The last lines of the server's log of this trial, where there is one."""


def run_work(cache: Path, layout: RunLayout) -> Path:
    """Where the servers of a run live while they run: in the cache, so that restoring can share blocks."""
    return cache / "work" / layout.id
