"""What a person sees of a run: on a terminal a live view of the trial under load, else plain lines.

Nothing is drawn by a clock of its own: each second of load brings one redraw, so that watching takes next to
nothing from what is being measured.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Column, Table
from rich.text import Text

from dyno.plan.units import format_duration

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console, RenderableType

    from dyno.record.follow import Second

STYLES = {"ok": "green", "failed": "red", "invalid": "yellow"}
BAR_WIDTH = 24


class Watch:
    """Progress of one run on a console (stderr).

    Args:
        console: Where to write.
        total: Trials in the whole run.
        done: Trials that an earlier process has finished already.
        guess_s: Expected seconds a trial, until one has been seen.
        load_s: Seconds of load in each trial.
        each_second: Without a terminal, write one line a second of load, not only one a trial.
    """

    def __init__(
        self,
        console: Console,
        total: int,
        done: int = 0,
        guess_s: float = 0.0,
        *,
        load_s: float = 0.0,
        each_second: bool = False,
    ) -> None:
        self._console = console
        self._total = total
        self._done = done
        self._guess_s = guess_s
        self._load_s = load_s
        self._each_second = each_second
        self._seen_s: list[float] = []
        self._text = ""
        self._second: Second | None = None
        self._began = time.monotonic()
        self._live: Live | None = None
        if console.is_terminal and not console.is_dumb_terminal:
            self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False)

    def __enter__(self) -> Self:
        """Show the live view, where there is one."""
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take it away."""
        if self._live is not None:
            self._live.update(Text(""), refresh=True)
            self._live.stop()

    def say(self, text: str, style: str | None = None) -> None:
        """One line that stays."""
        self._console.print(escape(text), style=style)

    def now(self, text: str) -> None:
        """What goes on right now: in the live view only, since it is gone in a moment."""
        self._text = text
        self._second = None
        self._draw()

    def begin(self) -> None:
        """A trial begins."""
        self._began = time.monotonic()

    def second(self, second: Second) -> None:
        """One second of load."""
        self._second = second
        if self._live is not None:
            self._draw()
        elif self._each_second:
            self._console.print(
                f"{second.t_s:5.0f} s {second.phase:<8} {'  '.join(figures(second))}", markup=False
            )

    def finished(self, trial: str, status: str, seconds: float, detail: str) -> None:
        """One trial has ended: count it and say so in one line."""
        self._done += 1
        self._seen_s.append(seconds)
        self._second = None
        self.begin()
        width = len(str(self._total))
        style = STYLES.get(status, "default")
        self._console.print(
            f"[{style}]{self._done:>{width}}/{self._total} {status:<7}[/] {escape(trial)}  {seconds:.1f} s"
            f"  {escape(detail)}  [dim]{self._remaining()}[/]"
        )
        self._draw()

    def skipped(self, count: int, text: str, hint: str | None) -> None:
        """`count` trials that cannot be run have ended."""
        self._done += count
        self._draw()
        self.say(f"{self._done}/{self._total} failed  {text}", "red")
        if hint:
            self.say(f"hint: {hint}")

    def _draw(self) -> None:
        if self._live is not None:
            self._live.update(Group(*self._parts()), refresh=True)

    def _parts(self) -> list[RenderableType]:
        """The run's bar; under load also the trial's bar and its last second."""
        # A long trial id gives way before the counter does.
        rows = Table.grid(
            Column(width=BAR_WIDTH, no_wrap=True),
            Column(no_wrap=True),
            Column(no_wrap=True, overflow="ellipsis", ratio=1),
            padding=(0, 1),
            expand=True,
        )
        rows.add_row(
            ProgressBar(max(self._total, 1), self._done, width=BAR_WIDTH),
            f"{self._done}/{self._total}",
            Text(f"{self._remaining()}  {self._text}"),
        )
        second = self._second
        if second is None:
            return [rows]
        whole_s = max(self._load_s, second.t_s)
        rows.add_row(
            ProgressBar(whole_s, second.t_s, width=BAR_WIDTH),
            second.phase,
            Text(f"{second.t_s:.0f} of {whole_s:.0f} s"),
        )
        work, cost = figures(second)
        return [rows, *(Text(line, no_wrap=True, overflow="ellipsis") for line in (work, cost))]

    def _remaining(self) -> str:
        left = self._total - self._done
        if left == 0:
            return "done"
        # Recent trials only: the first ones may have had a colder cache.
        recent = self._seen_s[-20:]
        each_s = sum(recent) / len(recent) if recent else self._guess_s
        spent_s = min(time.monotonic() - self._began, each_s)
        return f"ETA {format_duration(left * each_s - spent_s)}"


def figures(second: Second) -> tuple[str, str]:
    """One second of load: what was done and how long it took, and what it cost."""
    work = f"{second.throughput_per_s:,.0f} transactions/s"
    if second.offered_per_s is not None:
        work += f" of {second.offered_per_s:,.0f} offered"
    work += f"  p50 {_milliseconds(second.p50_us)} p99 {_milliseconds(second.p99_us)} ms"
    server = "–" if second.server_cores is None else f"{second.server_cores:.2f}"
    cpu = f"CPU server {server}, rig {second.client_cores:.2f}"
    cost = f"{second.errors:,} errors, {second.retries:,} retries  {cpu}  "
    if second.offered_per_s is not None:
        return work, f"{cost}{second.backlog:,} waiting, {second.dropped:,} dropped"
    return work, f"{cost}{second.sessions:,} session{'' if second.sessions == 1 else 's'}"


def _milliseconds(us: float | None) -> str:
    return "–" if us is None else f"{us / 1000:.2f}"
