"""Where the command line writes: data on stdout, everything said about it on stderr.

rich drops colour by itself when the stream is no terminal or `NO_COLOR` is set.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console

out = Console(soft_wrap=True, highlight=False)
err = Console(stderr=True, soft_wrap=True, highlight=False)


def print_json(value: Any) -> None:
    """Write `value` as indented JSON to stdout, for programs: no colour, no wrapping."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n")


def warn(text: str, *, hint: str | None = None) -> None:
    """Write one `warning:` line, and its hint, to stderr."""
    say("warning", "yellow", text, hint)


def error(text: str, *, hint: str | None = None) -> None:
    """Write one `error:` line, and its hint, to stderr."""
    say("error", "bold red", text, hint)


def say(word: str, style: str, text: str, hint: str | None) -> None:
    """Write `word: text` and, when there is one, `hint: …` to stderr; the words alone carry the meaning."""
    err.print(f"[{style}]{word}:[/] ", end="")
    err.print(text, markup=False)
    if hint:
        err.print("[cyan]hint:[/] ", end="")
        err.print(hint, markup=False)
