# ruff: noqa: PLC0415, TC003, D301 - commands import what they need when they run (numpy takes half a second),
# typer reads annotations at run time; a backspace in a docstring keeps the lines of an example apart.
"""`dyno bench`: one workload, now. A plan made from options, then the same way as every plan."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from dyno.cli import console
from dyno.cli.run import RUNS, AsJson, RunsDir

SESSIONS = "4"

Pairs = Annotated[
    list[str],
    typer.Option("-o", "--option", metavar="NAME=VALUE", help="An option of the workload; repeatable."),
]


def bench(  # noqa: PLR0917 (typer passes options by name)
    workload: Annotated[
        str, typer.Argument(help="Its name, such as oltp_read_write (`dyno-rig workloads` lists them).")
    ],
    engine: Annotated[
        str | None, typer.Option(help="An engine that Dyno installs and runs, such as mariadb@10.11.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="A server that runs already: mysql://USER@HOST:PORT/DATABASE.")
    ] = None,
    sessions: Annotated[
        str | None,
        typer.Option(metavar="N[,N…]", help="Closed loop: sessions, one load level each.  [default: 4]"),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(metavar="N[,N…]", help="Open loop: transactions/s offered, one load level each."),
    ] = None,
    arrivals: Annotated[
        str | None, typer.Option(help="With --rate: poisson (the default) or constant.")
    ] = None,
    connections: Annotated[
        int | None, typer.Option(min=1, help="With --rate: sessions that serve it.  [default: 64]")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Length of the measured phase.")] = 10,
    warmup: Annotated[str, typer.Option(help="Load before it that does not count.")] = "2s",
    trials: Annotated[int, typer.Option(min=1, help="Repeats of each load level.")] = 1,
    tables: Annotated[int | None, typer.Option(min=1, help="Short for -o tables=N.")] = None,
    table_size: Annotated[
        int | None, typer.Option(min=0, help="Short for -o table_size=N: rows a table.")
    ] = None,
    option: Pairs = [],  # noqa: B006 (typer copies it)
    setting: Annotated[
        list[str],
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting, such as buffer_pool=1G (docs/SETTINGS.md)."
        ),
    ] = [],  # noqa: B006
    statement_mode: Annotated[str, typer.Option(help="prepared or text.")] = "prepared",
    tls: Annotated[
        str | None, typer.Option(help="off (the default), required, verify-ca or verify-identity.")
    ] = None,
    tls_ca: Annotated[
        Path | None, typer.Option(help="PEM file of the authority that verify-ca and verify-identity trust.")
    ] = None,
    compression: Annotated[str | None, typer.Option(help="off (the default), zlib or zstd.")] = None,
    isolation: Annotated[
        str | None,
        typer.Option(help="read-uncommitted, read-committed, repeatable-read or serializable."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of data, load and order.")] = 1,
    password_env: Annotated[
        str | None, typer.Option(metavar="NAME", help="Environment variable with the target's password.")
    ] = None,
    password_file: Annotated[
        Path | None, typer.Option(help="File whose first line is the target's password.")
    ] = None,
    keep_data: Annotated[
        bool, typer.Option("--keep-data", help="Leave on the target what was built there.")
    ] = False,
    runs_dir: RunsDir = RUNS,
    as_json: AsJson = False,
) -> None:
    """Run one workload on one engine and show the result.

    It is kept like every run: a folder with its plan, records and report. On a target, data is built only
    when its database has none of the workload's tables, and dropped again unless --keep-data is given.

    \b
      dyno bench oltp_point_select --engine mariadb@10.11
      dyno bench oltp_read_write --engine mysql@9.7 --sessions 1,16,64 --tables 8 --table-size 100000
      dyno bench oltp_read_only --engine mariadb@11.8 --rate 500,1000,2000
      dyno bench oltp_read_only --target mysql://app@db1:3306/sbtest --password-env DB_PASSWORD
    """
    from dyno.cli.ending import show_outcome
    from dyno.experiment.run import Request, start
    from dyno.plan.load import parse

    if (engine is None) == (target is None):
        raise typer.BadParameter("name either --engine or --target")
    options = named_values("-o", option)
    options |= {
        name: value for name, value in (("tables", tables), ("table_size", table_size)) if value is not None
    }
    entry: dict[str, Any] = {"engine": engine} if engine is not None else {"target": target}
    if password_env is not None:
        entry["password_env"] = password_env
    if password_file is not None:
        entry["password_file"] = str(password_file.expanduser().absolute())
    text = _toml(
        {
            "plan": {"name": f"bench-{workload}", "title": f"{workload} on {engine or target}", "seed": seed},
            "engines": [entry],
            "settings": ({"tls": True} if engine and tls not in {None, "off"} else {})
            | named_values("--set", setting),
            "workloads": [{"name": workload, "options": options, "statement_mode": statement_mode}],
            "connection": _connection(tls, tls_ca, compression, isolation),
            "load": _load(sessions, rate, {"arrivals": arrivals, "connections": connections}),
            "phases": {"warmup": warmup, "measure": f"{seconds:g}s", "drain": "1s"},
            "trials": {"count": trials},
        }
    )
    request = Request(
        parse(text, "the command line"), text, runs_dir, ["dyno", *sys.argv[1:]], keep_data, each_second=True
    )
    show_outcome(start(request, console.err), as_json=as_json)


def _connection(
    tls: str | None, tls_ca: Path | None, compression: str | None, isolation: str | None
) -> dict[str, Any]:
    """`[connection]`: what was named."""
    ca = None if tls_ca is None else str(tls_ca.expanduser().absolute())
    table = {"tls": tls, "tls_ca": ca, "compression": compression, "isolation": isolation}
    return {key: value for key, value in table.items() if value is not None}


def _load(sessions: str | None, rate: str | None, only_open: dict[str, Any]) -> dict[str, Any]:
    """`[load]`: closed unless a rate is named; both where both are."""
    table: dict[str, Any] = {}
    if sessions is not None or rate is None:
        table["sessions"] = _numbers("--sessions", sessions or SESSIONS, int)
    if rate is not None:
        table["rate_per_s"] = _numbers("--rate", rate, float)
    named = {key: value for key, value in only_open.items() if value is not None}
    if named and rate is None:
        raise typer.BadParameter(f"--{next(iter(named))} goes with --rate")
    return table | named


def _numbers(flag: str, text: str, kind: type[int | float]) -> list[int | float]:
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"{flag} {text!r}: numbers with commas between them, such as 1,4,16"
        ) from None


def named_values(flag: str, pairs: list[str]) -> dict[str, Any]:
    """`NAME=VALUE` texts as a table; numbers and booleans become what they look like."""
    table: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise typer.BadParameter(f"{flag} {pair!r}: NAME=VALUE is needed")
        table[name.strip().replace("-", "_")] = _scalar(value.strip())
    return table


def _scalar(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | bool) else text


def _toml(document: dict[str, Any]) -> str:
    """A plan as TOML: tables, and arrays of tables, whose values JSON and TOML write alike."""
    lines: list[str] = []
    for name, content in document.items():
        for table in content if isinstance(content, list) else [content]:
            lines += [f"[[{name}]]" if isinstance(content, list) else f"[{name}]"]
            lines += [f"{key} = {_value(value)}" for key, value in table.items()]
            lines += [""]
    return "\n".join(lines)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{key} = {_value(inner)}" for key, inner in value.items()) + " }"
            if value
            else "{}"
        )
    return json.dumps(value, ensure_ascii=False)
