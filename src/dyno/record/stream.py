"""Reading `record.ndjson`: the rig's record stream, whole or cut short."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from dyno.errors import DynoError
from dyno.record.lines import (
    MODELS,
    Header,
    Host,
    Interval,
    Line,
    Note,
    PhaseName,
    PhaseStart,
    Process,
    Status,
    Summary,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMAT = "dyno-record/1"
LINE_BYTES_MAX = 64 * 1024 * 1024
"""No line of a rig comes near this; a longer one means that the file is something else."""


@dataclass(frozen=True)
class Span:
    """A phase as it was: from `start_us` up to `end_us` on the rig's clock."""

    phase: PhaseName
    start_us: int
    end_us: int


@dataclass
class Stream:
    """One record stream, its lines sorted by type.

    Attributes:
        header: The first line.
        summary: The last line, or None when the stream was cut short: then it is not a result.
        torn: The file ends within a line, which was left out.
    """

    header: Header
    phases: list[PhaseStart] = field(default_factory=list[PhaseStart])
    intervals: list[Interval] = field(default_factory=list[Interval])
    hosts: list[Host] = field(default_factory=list[Host])
    processes: list[Process] = field(default_factory=list[Process])
    statuses: list[Status] = field(default_factory=list[Status])
    notes: list[Note] = field(default_factory=list[Note])
    summary: Summary | None = None
    torn: bool = False

    @property
    def spans(self) -> list[Span]:
        """The phases with their ends: each lasts until the next, the last until the stream ends."""
        starts = sorted(self.phases, key=lambda phase: phase.t_us)
        ends = [phase.t_us for phase in starts[1:]] + [self.end_us]
        return [Span(s.phase, s.t_us, max(s.t_us, end)) for s, end in zip(starts, ends, strict=True)]

    @property
    def end_us(self) -> int:
        """Time of the last thing that the stream tells, µs."""
        if self.summary:
            return self.summary.t_us
        lasts = (lines[-1].t_us for lines in (self.intervals, self.hosts, self.phases) if lines)
        return max(lasts, default=0)

    def phase_at(self, t_us: float) -> PhaseName:
        """The phase in which the moment lies; before the first phase: `connect`."""
        name: PhaseName = "connect"
        for span in self.spans:
            if t_us >= span.start_us:
                name = span.phase
        return name


def read_stream(path: Path) -> Stream:
    """Read a record stream.

    A torn last line is left out and line types of a newer rig are passed over. Whether the stream is a
    result is for the caller to see: `Stream.summary` is None when it was cut short.

    Raises:
        DynoError: No such file, an empty one, one that does not begin with a header of this format, or a
            whole line that is damaged; the message names the line.
    """
    stream: Stream | None = None
    try:
        with path.open("rb") as file:
            for number, raw in _lines(file, path):
                if not raw.endswith(b"\n"):
                    if stream:
                        stream.torn = True
                    break
                line = _parse(raw, path, number)
                if stream is None:
                    stream = Stream(_first(line, path))
                elif line is not None:
                    _file(stream, line, path, number)
    except OSError as error:
        raise DynoError(
            f"cannot read {path}: {error.strerror}", hint="the trial's rig.log and journal say what happened"
        ) from None
    if stream is None:
        raise DynoError(
            f"{path} is empty: the rig recorded nothing", hint="the trial's rig.log says why the rig stopped"
        )
    return stream


def _lines(file: Any, path: Path) -> Iterator[tuple[int, bytes]]:
    number = 0
    while raw := file.readline(LINE_BYTES_MAX):
        number += 1
        if len(raw) == LINE_BYTES_MAX:
            raise _damaged(path, number, f"longer than {LINE_BYTES_MAX} bytes")
        yield number, raw


def _parse(raw: bytes, path: Path, number: int) -> Line | None:
    """The line as its model; None for a type that this version does not know."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        raise _damaged(path, number, "not JSON") from None
    if not isinstance(value, dict) or not isinstance(value.get("record"), str):
        raise _damaged(path, number, 'not an object with a "record" field')
    model = MODELS.get(value["record"])
    if model is None:
        return None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _damaged(path, number, explain(error)) from None


def explain(error: ValidationError) -> str:
    """The first problem of a validation, in one line: where it is, what is wrong, and the value."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"]) or "the whole"
    return f"{where}: {first['msg'].lower()}, not {textwrap.shorten(repr(first['input']), 80)}"


def _first(line: Line | None, path: Path) -> Header:
    if not isinstance(line, Header):
        raise _damaged(path, 1, "a record stream begins with a header")
    if line.format != FORMAT:
        raise DynoError(
            f"{path} has the format {line.format!r}, this Dyno reads {FORMAT!r}",
            hint="analyse it with the version of Dyno that measured it",
        )
    return line


def _file(stream: Stream, line: Line, path: Path, number: int) -> None:
    """Put a line where it belongs; a second header or anything after the summary means two streams in one."""
    if stream.summary is not None or isinstance(line, Header):
        raise _damaged(path, number, "a second stream follows in the same file")
    match line:
        case PhaseStart():
            stream.phases.append(line)
        case Interval():
            stream.intervals.append(line)
        case Host():
            stream.hosts.append(line)
        case Process():
            stream.processes.append(line)
        case Status():
            stream.statuses.append(line)
        case Note():
            stream.notes.append(line)
        case Summary():
            stream.summary = line
        case _:  # pragma: no cover - MODELS and this match name the same types
            raise AssertionError(type(line))


def _damaged(path: Path, number: int, what: str) -> DynoError:
    return DynoError(
        f"{path}, line {number}: {what}",
        hint="the file is not as the rig wrote it: restore it, or run the trial again (dyno run --resume)",
    )
