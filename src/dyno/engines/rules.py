"""The table: which variables a logical knob becomes, by family and version.

Everything that Dyno knows about spelling is here; `translate` only walks it, and docs/SETTINGS.md is
generated from it. For one knob the first rule that fits the family and the version counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dyno.engines.versions import Version, in_range

if TYPE_CHECKING:
    from collections.abc import Callable

MARIADB = ("mariadb",)
MYSQL = ("mysql", "percona")
ALL = MARIADB + MYSQL
FAMILIES = ALL


@dataclass(frozen=True)
class Render:
    """How a knob's value becomes a variable's text; None means that nothing is set."""

    text: str
    function: Callable[[Any], str | None]


def _choice(table: dict[Any, str | None]) -> Render:
    shown = ", ".join(f"{_plain(key)} → {value}" for key, value in table.items() if value is not None)
    return Render(shown, lambda value: table[value])


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


AS_IS = Render("the value", lambda value: None if value is None else str(value))
ON_OFF = Render("ON or OFF", lambda value: "ON" if value else "OFF")
ONE_ZERO = Render("1 or 0", lambda value: "1" if value else "0")
HALF = Render("half of the value", lambda value: str(value // 2))
TWO_FILES = Render("2", lambda _: "2")


def _long_option(variable: str, value: str) -> tuple[str, ...]:
    return (f"--{variable.replace('_', '-')}={value}",)


@dataclass(frozen=True)
class Target:
    """One server variable.

    Attributes:
        variable: Its name in SHOW GLOBAL VARIABLES.
        render: The knob's value as the server reports it.
        arguments: Reported value → command-line arguments, where they are not `--variable=value`.
        shown: Those arguments in words, for the documentation.
    """

    variable: str
    render: Render = AS_IS
    arguments: Callable[[str], tuple[str, ...]] | None = None
    shown: str | None = None

    def command_line(self, value: str) -> tuple[str, ...]:
        """The arguments that make the server report `value`."""
        return _long_option(self.variable, value) if self.arguments is None else self.arguments(value)


def _switch(table: dict[str, tuple[str, ...]]) -> tuple[Callable[[str], tuple[str, ...]], str]:
    shown = "; ".join(
        f"{value}: {' '.join(f'`{a}`' for a in args) or 'nothing'}" for value, args in table.items()
    )
    return (lambda value: table[value]), shown


@dataclass(frozen=True)
class Rule:
    """One row: a knob, for some families, in some version ranges.

    Attributes:
        knob: Field of `Settings`.
        families: Families it holds for.
        targets: Variables it sets; none when the engine has nothing to set.
        ranges: `(since, until)` pairs, since inclusive, until exclusive, None for no bound.
        fixed: With no targets: the values that the engine can satisfy without setting anything.
        note: Why there is nothing to set.
    """

    knob: str
    families: tuple[str, ...]
    targets: tuple[Target, ...] = ()
    ranges: tuple[tuple[str | None, str | None], ...] = ((None, None),)
    fixed: tuple[Any, ...] = ()
    note: str = ""

    def fits(self, family: str, version: Version) -> bool:
        """Whether this rule speaks about that family and version."""
        return family in self.families and any(in_range(version, *bounds) for bounds in self.ranges)


def _same(knob: str, variable: str, render: Render = AS_IS) -> Rule:
    return Rule(knob, ALL, (Target(variable, render),))


def _since(version: str) -> tuple[tuple[str | None, str | None], ...]:
    return ((version, None),)


def _before(version: str) -> tuple[tuple[str | None, str | None], ...]:
    return ((None, version),)


_TWO_REDO_FILES = (Target("innodb_log_file_size", HALF), Target("innodb_log_files_in_group", TWO_FILES))
_ISOLATION_OLD = (
    Target(
        "tx_isolation",
        AS_IS,
        lambda value: (f"--transaction-isolation={value}",),
        "`--transaction-isolation=value`",
    ),
)
_BINLOG_MARIADB = _switch({"ON": ("--log-bin=binlog", "--server-id=1"), "OFF": ()})
_BINLOG_MYSQL = _switch({"ON": ("--log-bin=binlog", "--server-id=1"), "OFF": ("--skip-log-bin",)})
_TLS_MARIADB = _switch({"YES": (), "DISABLED": ("--skip-ssl",)})
_TLS_OLD_MYSQL = _switch({"YES": (), "DISABLED": ("--skip-ssl",)})
_ROW = _choice({True: "ROW", False: None})
_QUERY_CACHE = (
    Target("query_cache_type", Render("ON, or OFF for 0", lambda value: "ON" if value else "OFF")),
    Target("query_cache_size"),
)
_SNAPSHOT_ISOLATION_RANGES: tuple[tuple[str | None, str | None], ...] = (
    ("10.6.18", "10.7"),
    ("10.11.8", "11.0"),
    ("11.0.6", "11.1"),
    ("11.1.5", "11.2"),
    ("11.2.4", "11.3"),
    ("11.4.2", None),
)

RULES: tuple[Rule, ...] = (
    _same("buffer_pool", "innodb_buffer_pool_size"),
    Rule(
        "buffer_pool_instances",
        MARIADB,
        ranges=_since("10.5"),
        fixed=(None, 1),
        note="one buffer pool, not split",
    ),
    _same("buffer_pool_instances", "innodb_buffer_pool_instances"),
    Rule("redo", MYSQL, (Target("innodb_redo_log_capacity"),), _since("8.0.30")),
    Rule("redo", MARIADB, (Target("innodb_log_file_size"),), _since("10.5")),
    Rule("redo", ALL, _TWO_REDO_FILES),
    _same("log_buffer", "innodb_log_buffer_size"),
    Rule(
        "durability",
        ALL,
        (
            Target("innodb_flush_log_at_trx_commit", _choice({"full": "1", "relaxed": "2", "none": "0"})),
            Target("sync_binlog", _choice({"full": "1", "relaxed": "0", "none": "0"})),
        ),
    ),
    _same("doublewrite", "innodb_doublewrite", ON_OFF),
    Rule("binlog", MARIADB, (Target("log_bin", ON_OFF, *_BINLOG_MARIADB), Target("binlog_format", _ROW))),
    Rule(
        "binlog",
        MYSQL,
        (Target("log_bin", ON_OFF, *_BINLOG_MYSQL), Target("binlog_format", _ROW)),
        _since("8.0"),
    ),
    Rule("binlog", MYSQL, (Target("log_bin", ON_OFF, *_BINLOG_MARIADB), Target("binlog_format", _ROW))),
    _same("charset", "character_set_server"),
    Rule(
        "collation",
        MARIADB,
        (
            Target("collation_server"),
            Target(
                "character_set_collations",
                Render(
                    "the value, as the default of its character set",
                    lambda value: f"{value.split('_')[0]}={value}",
                ),
            ),
        ),
        _since("11.3"),
    ),
    _same("collation", "collation_server"),
    Rule("isolation", MARIADB, _ISOLATION_OLD, _before("11.1")),
    Rule("isolation", MYSQL, _ISOLATION_OLD, _before("5.7.20")),
    _same("isolation", "transaction_isolation"),
    Rule(
        "snapshot_isolation",
        MARIADB,
        (Target("innodb_snapshot_isolation", ON_OFF),),
        _SNAPSHOT_ISOLATION_RANGES,
    ),
    Rule("snapshot_isolation", ALL, fixed=(False,), note="has no such mode"),
    _same("sql_mode", "sql_mode"),
    _same("max_connections", "max_connections"),
    _same("max_prepared_stmt_count", "max_prepared_stmt_count"),
    _same("table_open_cache", "table_open_cache"),
    Rule(
        "table_open_cache_instances",
        MARIADB,
        ranges=_before("10.2.2"),
        fixed=tuple(range(1, 65)),
        note="one table cache; any value is taken as read",
    ),
    _same("table_open_cache_instances", "table_open_cache_instances"),
    _same("table_definition_cache", "table_definition_cache"),
    _same("thread_cache", "thread_cache_size"),
    _same("io_capacity", "innodb_io_capacity"),
    _same("io_capacity_max", "innodb_io_capacity_max"),
    _same("io_threads_read", "innodb_read_io_threads"),
    _same("io_threads_write", "innodb_write_io_threads"),
    _same("flush_method", "innodb_flush_method"),
    _same("flush_neighbors", "innodb_flush_neighbors", ONE_ZERO),
    _same("dirty_pages_pct", "innodb_max_dirty_pages_pct"),
    _same("dirty_pages_lwm_pct", "innodb_max_dirty_pages_pct_lwm"),
    _same("purge_threads", "innodb_purge_threads"),
    Rule("page_cleaners", MARIADB, ranges=_since("10.5"), fixed=(None, 1), note="one page cleaner"),
    Rule("page_cleaners", MARIADB, ranges=_before("10.2"), fixed=(None, 1), note="one page cleaner"),
    Rule("page_cleaners", MYSQL, ranges=_before("5.7"), fixed=(None, 1), note="one page cleaner"),
    _same("page_cleaners", "innodb_page_cleaners"),
    Rule("change_buffering", MARIADB, ranges=_since("11.0"), fixed=("none",), note="has no change buffer"),
    _same("change_buffering", "innodb_change_buffering"),
    _same("adaptive_hash_index", "innodb_adaptive_hash_index", ON_OFF),
    _same("performance_schema", "performance_schema", ON_OFF),
    Rule("query_cache", MYSQL, ranges=_since("8.0"), fixed=(0,), note="has no query cache"),
    Rule("query_cache", ALL, _QUERY_CACHE),
    _same("sort_buffer", "sort_buffer_size"),
    Rule(
        "thread_handling",
        ("mysql",),
        fixed=("one-thread-per-connection",),
        note="the community server has no thread pool",
    ),
    _same("thread_handling", "thread_handling"),
    Rule("tls", MARIADB, (Target("have_ssl", _choice({True: "YES", False: "DISABLED"}), *_TLS_MARIADB),)),
    Rule(
        "tls",
        MYSQL,
        (
            Target(
                "tls_version",
                _choice({True: "TLSv1.2,TLSv1.3", False: ""}),
                lambda value: (f"--tls-version={value}",),
                "`--tls-version=value`, empty when off",
            ),
        ),
        _since("8.0.16"),
    ),
    Rule("tls", MYSQL, (Target("have_ssl", _choice({True: "YES", False: "DISABLED"}), *_TLS_OLD_MYSQL),)),
)


def rule_for(knob: str, family: str, version: Version) -> Rule | None:
    """The first rule for that knob, family and version; None when the table has none."""
    return next((rule for rule in RULES if rule.knob == knob and rule.fits(family, version)), None)
