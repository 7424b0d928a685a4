"""The logical configuration: one set of words for every engine.

A `Settings` says what is wanted; `dyno.engines.translate` says how one engine spells it. Every knob has one
explicit default, the same for all engines, because two engines at their own defaults are two experiments.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", re.IGNORECASE)
_FACTOR = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

Scalar = bool | int | float | str


def parse_size(value: object) -> int:
    """Bytes from an int or a text such as `256MiB`, `2G`, `1.5 GB` (every prefix is binary).

    Raises:
        ValueError: The value is no size, is negative, or is not a whole number of bytes.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        msg = f'{value!r} is not a size; write bytes or a text such as "256MiB" or "2G"'
        raise ValueError(msg)
    size = float(match.group(1)) * _FACTOR[match.group(2).upper()]
    if not size.is_integer():
        msg = f"{value!r} is not a whole number of bytes"
        raise ValueError(msg)
    return int(size)


def format_size(size_bytes: int) -> str:
    """The shortest exact binary spelling: 268435456 is `256 MiB`."""
    for suffix, factor in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size_bytes and size_bytes % factor == 0:
            return f"{size_bytes // factor} {suffix}"
    return f"{size_bytes} B"


Size = Annotated[int, BeforeValidator(parse_size)]
"""A number of bytes; texts such as `256MiB` are accepted."""

MiB = 2**20


class Settings(BaseModel):
    """What every engine is asked for, in words that belong to none of them.

    Sizes are bytes and may be written as `256MiB` or `2G`. An unknown name is an error. `docs/SETTINGS.md`
    says for each knob which variables it becomes.

    Example:
        >>> Settings(buffer_pool="2G", durability="relaxed").buffer_pool
        2147483648
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    buffer_pool: Size = Field(
        256 * MiB,
        ge=5 * MiB,
        description="InnoDB buffer pool. Small enough for any machine; a plan sets its memory tier here. "
        "A server that reports another size is never measured.",
    )
    buffer_pool_instances: int | None = Field(
        None,
        ge=1,
        le=64,
        description="Parts the pool is split into. Empty leaves the engine's own choice: newer MariaDB has "
        "one "
        "pool by design, so no number is equal for all.",
    )
    redo: Size = Field(
        512 * MiB,
        ge=8 * MiB,
        description="Total redo log capacity, however many files an engine keeps it in. Equal capacity means "
        "equal room before a checkpoint must be forced.",
    )
    log_buffer: Size = Field(
        64 * MiB,
        ge=1 * MiB,
        description="Redo buffer in memory; the families' defaults differ (16 and 64 MiB).",
    )
    durability: Literal["full", "relaxed", "none"] = Field(
        "full",
        description="full: redo (and binary log) reach the disk at each commit. relaxed: written at each "
        "commit, "
        "synced each second. none: written and synced about each second.",
    )
    doublewrite: bool = Field(True, description="Torn-page protection; on in production.")
    binlog: bool = Field(
        False,
        description="Binary log (row format). MySQL 8 and later turn it on by themselves and MariaDB does "
        "not, "
        "so it is always said; off unless a plan is about replication.",
    )
    charset: str = Field("utf8mb4", description="Server character set; the one every version has.")
    collation: str = Field(
        "utf8mb4_general_ci",
        description="Server collation. The families' own defaults differ and cost differently in ORDER BY "
        "and "
        "DISTINCT; this one is in every version of both.",
    )
    isolation: Literal["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"] = Field(
        "REPEATABLE-READ", description="Default isolation level, by name the default of both families."
    )
    snapshot_isolation: bool = Field(
        False,
        description="MariaDB's stricter REPEATABLE READ, which makes transactions fail with error 1020. Off, "
        "because MySQL has none and MariaDB's default changed between versions.",
    )
    sql_mode: str = Field(
        "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
        description="The strictness that both families' defaults share.",
    )
    max_connections: int = Field(
        1024, ge=10, le=100000, description="Above the largest session count in use."
    )
    max_prepared_stmt_count: int = Field(
        1048576,
        ge=0,
        description="The largest value that every version takes: a limit that cannot be the finding.",
    )
    table_open_cache: int = Field(2000, ge=1, description="Open table handles; fits common file limits.")
    table_open_cache_instances: int = Field(
        4,
        ge=1,
        le=64,
        description="Parts of the table cache; defaults differ (8 and 16). MariaDB reserves two file "
        "handles for "
        "every entry of every part, so more parts than this do not fit common file limits.",
    )
    table_definition_cache: int = Field(2000, ge=400, description="Table definitions kept.")
    thread_cache: int = Field(256, ge=0, description="Idle threads kept for new connections.")
    io_capacity: int = Field(
        2000, ge=100, description="Background page writes a second. Defaults range from 200 to 10000."
    )
    io_capacity_max: int = Field(4000, ge=100, description="The same when flushing falls behind.")
    io_threads_read: int = Field(4, ge=1, le=64, description="Read I/O threads.")
    io_threads_write: int = Field(4, ge=1, le=64, description="Write I/O threads.")
    flush_method: Literal["O_DIRECT", "O_DIRECT_NO_FSYNC", "fsync"] = Field(
        "O_DIRECT",
        description="How data files are written. O_DIRECT keeps the page cache from being a second buffer "
        "pool "
        "that a memory tier does not count.",
    )
    flush_neighbors: bool = Field(
        False, description="Write neighbouring dirty pages too: for rotating disks; the defaults differ."
    )
    dirty_pages_pct: int = Field(
        90, ge=1, le=99, description="Share of dirty pages that flushing aims to stay below."
    )
    dirty_pages_lwm_pct: int = Field(
        10,
        ge=0,
        le=99,
        description="Share at which early flushing begins (0: never); defaults differ (0 and 10).",
    )
    purge_threads: int = Field(4, ge=1, le=32, description="Threads that remove old row versions.")
    page_cleaners: int | None = Field(
        None,
        ge=1,
        le=64,
        description="Flushing threads. Empty leaves the engine's own: newer MariaDB has one.",
    )
    change_buffering: Literal["none", "all"] = Field(
        "none",
        description="Delayed changes of secondary indexes. None, because MariaDB 11 and later have no such "
        "thing.",
    )
    adaptive_hash_index: bool = Field(
        False,
        description="Off in every current default; on only in MySQL before 8.4 and MariaDB before 10.5.8.",
    )
    performance_schema: bool = Field(
        False,
        description="Instrumentation costs throughput; MySQL has it on and MariaDB off by default, so it is "
        "off "
        "for both unless a plan measures it.",
    )
    query_cache: Size = Field(0, description="Query cache; 0 is off. MySQL 8 and later have none.")
    sort_buffer: Size = Field(
        256 * 1024, ge=32 * 1024, description="Per-sort memory; defaults differ (2 MiB and 256 KiB)."
    )
    thread_handling: Literal["one-thread-per-connection", "pool-of-threads"] = Field(
        "one-thread-per-connection", description="MySQL (community) has no thread pool."
    )
    tls: bool = Field(
        False,
        description="TLS on the server. Off: some versions make a key at each start, and an encrypted "
        "connection is another experiment. MariaDB before 11.4 makes no key: name ssl_cert and ssl_key in "
        "extra.",
    )
    extra: dict[str, dict[str, Scalar]] = Field(
        default_factory=dict,
        description='Raw variables for one family ("mysql") or one engine ("mariadb-10.11"); they win over '
        "the "
        "logical knobs and are read back like them.",
    )
