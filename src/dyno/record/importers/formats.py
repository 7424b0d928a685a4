"""Every format that an import reads, and which of them a file has: decided by its content."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dyno.errors import DynoError
from dyno.record.importers import gotpc, hammerdb, sysbench, tpcc_mysql
from dyno.record.importers.telemetry import dstat, iostat, mpstat, vmstat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from dyno.record.importers.logs import Log
    from dyno.record.importers.telemetry import Telemetry

# pt-mysql-summary quotes my.cnf, variables and status among much else: it is none of them.
_SUMMARY = re.compile(r"\s*# Percona Toolkit MySQL Summary Report")
HEAD_BYTES = 65_536
"""How much of a file decides on its format."""

Role = Literal["log", "telemetry", "settings", "profile"]


@dataclass(frozen=True)
class Format:
    """One format.

    Attributes:
        name: As `--format` and the field `kind` of a layout take it.
        role: `log`: one trial. The others lie beside logs.
        title: What it is, for the listing.
        content: What some line of such a file looks like.
        tested: `real logs`, or `samples` written after the tool's documentation and source.
        aliases: Other words for it in file names.
    """

    name: str
    role: Role
    title: str
    content: re.Pattern[str]
    tested: str
    aliases: tuple[str, ...] = ()


def _lines(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.MULTILINE)


FORMATS = (
    Format(
        "sysbench",
        "log",
        "sysbench 0.4.12, 0.5 (both dialects), 1.0, 1.1: text, CSV, JSON, histogram; sysbench-tpcc",
        _lines(
            r"^sysbench v?\d",
            r"^Running the test with following options",
            r"^\[ *\d+s ?\] (?:thds|threads|queue|eps)",
            r"^OLTP test statistics|^SQL statistics|^General statistics|^Test execution summary",
            r"^(?:\d+,){2}(?:\d+\.\d+,){7}\d+\.\d+\s*$",
            r'^\s*"reconnects":\s',
            r"^FATAL: ",
        ),
        "real logs: 1.0; samples: the others",
    ),
    Format(
        "hammerdb",
        "log",
        "HammerDB TPROC-C timed runs: NOPM, TPM, transaction counter, xtprof",
        _lines(
            r"^(?:hammerdb>)?\s*Vuser \d+:", r"^HammerDB\s+(?:CLI )?v\d", r"TEST RESULT : System achieved"
        ),
        "samples",
    ),
    Format(
        "go-tpc",
        "log",
        "go-tpc TPC-C: plain, table and JSON output",
        _lines(
            r"^[>\s]*\[(?:Current|Summary)\]\s+\w+\s+- Takes",
            r"^[|│]\s*(?:PREFIX|Prefix)\s*[|│]",
            r'^\[\{.*"Prefix":',
            r"^tpmC: ",
        ),
        "samples",
    ),
    Format(
        "tpcc-mysql",
        "log",
        "tpcc-mysql (tpcc_start): old and new interval lines",
        _lines(r"TPC-C Load Generator", r"^<TpmC>", r"^<Raw Results>", r"^\s*\d+, trx: \d+, 95%: "),
        "samples",
    ),
    Format(
        "xtprof",
        "profile",
        "HammerDB's time profile in a file of its own (hdbxtprofile.log)",
        _lines(r"^>{3,} PROC: \w", r"^>{3,} (?:SUMMARY OF|VIRTUAL USER) "),
        "samples",
        ("hdbxtprofile",),
    ),
    Format(
        "iostat",
        "telemetry",
        "iostat: basic, extended, wide, human-readable (-h), JSON; all releases of sysstat",
        _lines(
            r"^avg-cpu:\s", r"^Device:?\s+(?:tps|r/s|rrqm/s)", r"/s.*\sDevice\s*$", r'^\s*\{"disk_device":'
        ),
        "real logs: 12.x; samples: older columns",
    ),
    Format(
        "mpstat",
        "telemetry",
        "mpstat, all CPUs or each, text or JSON",
        _lines(r"\sCPU\s+%us(?:r|er)\s", r'^\s*"cpu-load":', r'^\s*\{"cpu":'),
        "real logs",
    ),
    Format(
        "vmstat",
        "telemetry",
        "vmstat, also with -t and -w",
        _lines(r"^\s*-*procs[ -]+memory", r"^\s*r\s+b\s+swpd\s"),
        "real logs",
    ),
    Format(
        "dstat",
        "telemetry",
        "dstat and pcp-dstat: terminal output and CSV",
        _lines(r"Dstat .* CSV output", r"-total-(?:cpu-)?usage-", r"^You did not select any stats"),
        "real logs",
    ),
    Format(
        "cnf",
        "settings",
        "my.cnf: what was asked of the server",
        _lines(r"^\s*\[(?:mysqld|mariadbd?|server|client|mysqld_safe)[^\]]*\]"),
        "real files",
        ("my", "ini"),
    ),
    Format(
        "status",
        "settings",
        "SHOW GLOBAL STATUS, by tab, as a table or by \\G",
        _lines(r"^\|?\s*Aborted_connects\s*[|\t]", r"Variable_name: Aborted_connects\b", r"^Uptime\t"),
        "real files",
    ),
    Format(
        "variables",
        "settings",
        "SHOW GLOBAL VARIABLES, by tab, as a table or by \\G",
        _lines(
            r"^\|?\s*(?:auto_increment_increment|autocommit|basedir|datadir|innodb_buffer_pool_size)\s*[|\t]",
            r"Variable_name: (?:autocommit|basedir|datadir)\b",
        ),
        "real files",
        ("vars",),
    ),
)
_BY_WORD = {word: each for each in FORMATS for word in (each.name, *each.aliases)}
LOG_PARSERS: dict[str, Callable[[Iterable[str]], Log]] = {
    "sysbench": sysbench.parse,
    "hammerdb": hammerdb.parse,
    "go-tpc": gotpc.parse,
    "tpcc-mysql": tpcc_mysql.parse,
}
TELEMETRY_PARSERS: dict[str, Callable[[Iterable[str]], Telemetry]] = {
    "mpstat": mpstat.parse,
    "iostat": iostat.parse,
    "dstat": dstat.parse,
    "vmstat": vmstat.parse,
}
"""In the order in which they are believed where two of them say the same."""


def by_word(word: str) -> Format | None:
    """The format that a word in a file's name stands for, or None."""
    return _BY_WORD.get(word.lower())


def log_format(name: str) -> Format:
    """A format of logs by its name.

    Raises:
        DynoError: There is none of that name.
    """
    found = by_word(name)
    if found is None or found.role != "log":
        raise DynoError(
            f"there is no format of logs {name!r}",
            hint=f"--format takes {', '.join(LOG_PARSERS)}; `dyno import --formats` describes them",
        )
    return found


def detect(path: Path) -> Format | None:
    """The format of a file by its first lines; None for an empty file or one of no known format.

    Raises:
        DynoError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise DynoError(f"cannot read {path}: {error.strerror}", hint="may you read it?") from None
    if _SUMMARY.match(head):
        return None
    return next((each for each in FORMATS if each.content.search(head)), None)
