"""What a person sees of a run, on a terminal and off it."""

from __future__ import annotations

import io
import os
import pty
import re
import struct
import subprocess
import sys
import threading
from fcntl import ioctl
from termios import TIOCSWINSZ

import pytest
from rich.console import Console

from dyno.experiment.progress import Watch, figures
from dyno.record.follow import Second

CLOSED = Second(
    t_s=3.0,
    phase="measure",
    throughput_per_s=1234.4,
    p50_us=850.0,
    p99_us=12_345.0,
    errors=2,
    retries=1,
    sessions=16,
    client_cores=0.41,
    server_cores=0.98,
)
OPEN = Second(
    t_s=4.0,
    phase="measure",
    throughput_per_s=1500,
    p50_us=1,
    p99_us=None,
    errors=0,
    retries=0,
    sessions=64,
    client_cores=0.1,
    server_cores=None,
    offered_per_s=2000,
    backlog=3000,
    dropped=12,
)


def written(*, each_second, terminal=False, environment=None):
    file = io.StringIO()
    console = Console(
        file=file,
        force_terminal=terminal,
        width=100,
        soft_wrap=True,
        _environ=environment or {"TERM": "xterm"},
    )
    with Watch(console, total=2, guess_s=8, load_s=5, each_second=each_second) as watch:
        watch.begin()
        watch.now("0001-a: restore and start")
        watch.second(CLOSED)
        watch.finished("0001-a", "ok", 8.0, "1,234 transactions/s")
    return file.getvalue()


def test_a_second_in_words():
    assert figures(CLOSED) == (
        "1,234 transactions/s  p50 0.85 p99 12.35 ms",
        "2 errors, 1 retries  CPU server 0.98, rig 0.41  16 sessions",
    )
    assert figures(OPEN) == (
        "1,500 transactions/s of 2,000 offered  p50 0.00 p99 – ms",
        "0 errors, 0 retries  CPU server –, rig 0.10  3,000 waiting, 12 dropped",
    )


def test_off_a_terminal_bench_has_a_line_a_second_and_run_a_line_a_trial():
    bench = written(each_second=True).splitlines()
    assert bench[0] == f"    3 s measure  {'  '.join(figures(CLOSED))}"
    assert bench[1].startswith("1/2 ok      0001-a  8.0 s  1,234 transactions/s  ETA 8 s")
    assert len(bench) == 2
    run = written(each_second=False)
    assert len(run.splitlines()) == 1
    assert "\x1b" not in run + "".join(bench)


def test_on_a_terminal_figures_are_drawn_and_taken_away_again():
    shown = written(each_second=False, terminal=True)
    assert "1,234 transactions/s  p50 0.85 p99 12.35 ms" in shown
    assert "CPU server 0.98" in shown
    assert "3 of 5 s" in shown
    assert re.search(r"ETA 1\d s", shown)
    # The last thing drawn is the line of the trial; the live view has been erased.
    assert screen(shown, 100)[0].startswith("1/2 ok")
    assert not any("p50" in line for line in screen(shown, 100))


def test_no_color_and_a_dumb_terminal_are_respected():
    plain = written(each_second=False, terminal=True, environment={"TERM": "xterm", "NO_COLOR": "1"})
    assert "p50 0.85" in plain
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", plain)
    assert "\x1b[2K" not in written(each_second=True, terminal=True, environment={"TERM": "dumb"})


def screen(text, width):
    """The lines that a terminal shows in the end: cursor up, erase line, carriage return."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[0-9;?]*[a-zA-Z]|\r|\n|[^\x1b\r\n]+", text):
        if part == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif part == "\r":
            column = 0
        elif part.endswith("A"):
            row = max(0, row - int(part[2:-1] or 1))
        elif part == "\x1b[2K":
            lines[row] = ""
        elif not part.startswith("\x1b"):
            line = lines[row].ljust(column)
            lines[row] = (line[:column] + part + line[column + len(part) :])[:width]
            column += len(part)
    return [line.rstrip() for line in lines]


@pytest.mark.engine
@pytest.mark.parametrize("colour", [True, False])
def test_bench_on_a_real_terminal(real_lab, colour):
    environment = {**real_lab.environment, "TERM": "xterm-256color"}
    if colour:
        environment.pop("NO_COLOR")
    arguments = ("bench", "oltp_point_select", "--engine", "mariadb@10.11", "--seconds", "2")
    small = ("--warmup", "1s", "--tables", "1", "--table-size", "500", "--set", "redo=16MiB")
    command = [sys.executable, "-c", "from dyno.cli.main import main; main()", *arguments, *small]
    text = on_terminal(command, environment, real_lab.root)
    assert re.search(r"[\d,]+ transactions/s  p50 [\d.]+ p99 [\d.]+ ms", text)
    assert re.search(r"CPU server [\d.]+, rig [\d.]+  4 sessions", text)
    assert "2 of 3 s" in text
    assert "report: " in text
    assert bool(re.search(r"\x1b\[[0-9;]*3[0-9]m", text)) == colour


def on_terminal(command, environment, folder):
    """All that a command writes to a terminal of 100 × 30."""
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = subprocess.Popen(
        command, env=environment, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True
    )
    os.close(theirs)
    parts = []
    reader = threading.Thread(target=drain, args=(ours, parts))
    reader.start()
    process.wait(timeout=120)
    reader.join(timeout=10)
    os.close(ours)
    return b"".join(parts).decode()


def drain(descriptor, parts):
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:
            return
        if not part:
            return
        parts.append(part)
