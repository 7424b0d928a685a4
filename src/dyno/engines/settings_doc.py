"""docs/SETTINGS.md, generated from the settings and the rules: `python -m dyno.engines.settings_doc`."""

from __future__ import annotations

import sys
import typing
from typing import Any

from dyno.engines.rules import RULES, Rule, Target
from dyno.engines.settings import Settings, format_size

_HEAD = """\
# Settings

<!-- Generated from src/dyno/engines: python -m dyno.engines.settings_doc > docs/SETTINGS.md -->

A plan gives every engine the same *logical* settings. Dyno translates them into each engine's own
variables, starts the server with them, and reads every one back. Two engines at their own defaults are
two different experiments: so each knob has one explicit default, the same for all.

Sizes are bytes; `"256MiB"`, `"2G"` and `"1.5 GB"` are accepted, and every prefix is binary.

## The knobs
"""

_MIDDLE = """
## What they become

For one knob, the first row that fits the engine counts. Version ranges include their beginning and
exclude their end. "nothing to set" rows say which values the engine has by itself; asking it for another
is an error before anything starts. Arguments are `--variable-name=value` unless said otherwise. Percona
Server counts as `percona`.
"""

_TAIL = """
## Raw variables

`extra` passes variables that have no knob, by family or by engine; they win over the knobs and are read
back too:

```toml
[settings.extra."mariadb"]
innodb_log_file_buffering = true
[settings.extra."mysql-9.7"]
innodb_log_writer_threads = false
```

## Reading back

After each start every assignment is compared with `SHOW GLOBAL VARIABLES`: numbers as numbers, sizes as
bytes, `ON` = `1` = `TRUE` = `YES`, lists such as `sql_mode` as sets. The verdict of each is in the run's
settings file:

| verdict | meaning |
|---|---|
| equal | the server reports what was asked |
| adjusted | the server reports another value, which is not its built-in one: it clamped or rounded |
| ignored | the server started with the option and it had no effect |
| unknown | the server reports no such variable |

All but *equal* end the trial unless the plan accepts the variable (or the knob) by name; the report
shows what was accepted. A buffer pool that differs is never accepted. A server that refuses an option
does not start at all, and its own words are the error.

## What every server is given besides

Loopback address and a free port, a Unix socket, name resolution off, `local_infile` on (the fast way to
load data in all families), the event scheduler off, `secure_file_priv` in the server's own folder, no X
protocol in MySQL. A new data directory has one account, `root` without a password, which exists on the
Unix socket only.

## What stays different

Things no setting makes equal, to keep in mind when families are compared: page checksums (`full_crc32`
against `crc32`), the native I/O path (`io_uring` or `libaio`), how the redo log is written (MariaDB from
10.9 on bypasses the page cache where it can, MySQL does not), the number of buffer pool parts, and
optimizers.
"""


def settings_markdown() -> str:
    """The whole document."""
    return f"{_HEAD}\n{_knobs_table()}{_MIDDLE}\n{_rules_table()}{_TAIL}"


def _knobs_table() -> str:
    rows = ["| knob | values | default | why |", "|---|---|---|---|"]
    for name, field in Settings.model_fields.items():
        if name != "extra":
            default = _default(name, field.default)
            values = _values(field.annotation, field.metadata)
            rows.append(f"| `{name}` | {values} | {default} | {field.description} |")
    return "\n".join(rows) + "\n"


def _default(name: str, value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if _is_size(name):
        return format_size(value) if value else "0"
    return f"`{value}`"


def _is_size(name: str) -> bool:
    return any("BeforeValidator" in repr(part) for part in Settings.model_fields[name].metadata)


def _values(annotation: Any, metadata: list[Any]) -> str:
    if typing.get_origin(annotation) is typing.Literal:
        return ", ".join(f"`{choice}`" for choice in typing.get_args(annotation))
    if any("BeforeValidator" in repr(part) for part in metadata):
        return "size"
    names = {"bool": "true, false", "int": "number", "str": "text", "int | None": "number or empty"}
    shown = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return names.get(shown, shown)


def _rules_table() -> str:
    rows = ["| knob | engine | versions | variables |", "|---|---|---|---|"]
    rows += [
        f"| `{rule.knob}` | {', '.join(rule.families)} | {_ranges(rule)} | {_targets(rule)} |"
        for rule in RULES
    ]
    return "\n".join(rows) + "\n"


def _ranges(rule: Rule) -> str:
    return ", ".join(_range(since, until) for since, until in rule.ranges)


def _range(since: str | None, until: str | None) -> str:
    if since is None and until is None:
        return "all"
    if until is None:
        return f"≥ {since}"
    return f"< {until}" if since is None else f"{since} – {until}"


def _targets(rule: Rule) -> str:
    if not rule.targets:
        allowed = ", ".join(f"`{value}`" for value in rule.fixed if value is not None)
        return f"nothing to set: {rule.note}" + ("" if len(rule.fixed) > 2 else f" ({allowed} only)")  # noqa: PLR2004
    return "<br>".join(_target(target) for target in rule.targets)


def _target(target: Target) -> str:
    said = f"`{target.variable}`: {target.render.text}"
    return said if target.shown is None else f"{said} ({target.shown})"


if __name__ == "__main__":
    sys.stdout.write(settings_markdown())
