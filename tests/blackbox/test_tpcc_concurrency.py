"""No update is lost, whatever shape of SQL and isolation level, and every repeated attempt is counted.

`DYNO_TPCC_S` is how long the closed loops of 32 sessions are driven; 60 is a thorough test.
"""

from __future__ import annotations

import os
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from blackbox import tpcc

if TYPE_CHECKING:
    from blackbox.stand import Stand
    from blackbox.tpcc import Compared

pytestmark = pytest.mark.engine

LEVELS = ["read-uncommitted", "read-committed", "repeatable-read"]
# MariaDB then refuses to change what was changed after the snapshot (error 1020)
STRICT = {"isolation": "repeatable-read", "init": ["SET SESSION innodb_snapshot_isolation = ON"]}
# 16 sessions on two warehouses meet all the time
SESSIONS = 16
LONG_S = float(os.environ.get("DYNO_TPCC_S", "1"))


def each_shape(stand: Stand, **fields: Any) -> list[dict[str, Any]]:
    """One trial in each shape; the data must hold the orders that were counted."""
    before = tpcc.orders(stand)
    ends = [tpcc.drive(stand, tpcc.spec(stand, shape, **fields)) for shape in tpcc.SHAPES]
    assert tpcc.orders(stand) - before == sum(tpcc.committed_orders(end) for end in ends), fields
    return ends


def errors(ends: list[dict[str, Any]]) -> dict[int, int]:
    """How often each error was met; each must have been repeated, and its time must be known."""
    met: dict[int, int] = defaultdict(int)
    for end in ends:
        for error in end["errors"]:
            met[error["code"]] += error["count"]
        retries = sum(kind["retries"] for kind in end["transactions"])
        assert retries == sum(error["count"] for error in end["errors"])
        assert (end["retry_us"] > 0) == (retries > 0)
    return met


def test_no_update_is_lost(compared: Compared) -> None:
    """Sums, counters and orders are those of the transactions that the client saw committed."""
    load = tpcc.burst(transactions=250, sessions=SESSIONS)
    for level in LEVELS:
        for end in each_shape(compared.stand, load=load, connection={"isolation": level}):
            assert sum(kind["ok"] for kind in end["transactions"]) == 250
    tpcc.check(compared.stand)


@pytest.mark.parametrize("compared", ["mariadb@10.11"], indirect=True)
def test_no_update_is_lost_where_snapshots_are_strict(compared: Compared) -> None:
    """What the server refuses is repeated."""
    load = tpcc.burst(transactions=1000, sessions=SESSIONS)
    ends = each_shape(compared.stand, load=load, connection=STRICT, options={"warehouses": 1})
    assert errors(ends)[1020] > 0
    tpcc.check(compared.stand)


def test_deadlocks_are_repeated_and_counted(compared: Compared) -> None:
    """At SERIALIZABLE a New-Order waits for a Payment with its warehouse, and that for its district."""
    load = tpcc.burst(transactions=500, sessions=SESSIONS)
    level = {"isolation": "serializable"}
    ends = each_shape(compared.stand, load=load, connection=level, options={"warehouses": 1})
    assert errors(ends)[1213] > 0
    tpcc.check(compared.stand)


def test_a_closed_loop_of_32_sessions(compared: Compared) -> None:
    """The form in which results are published; what ends in drain is in the data and is not counted."""
    sessions = 32
    phases = {"warmup_s": 0.0, "measure_s": LONG_S, "drain_s": 60.0}
    load = {"closed": {"sessions": sessions}}
    for shape in tpcc.SHAPES:
        before = tpcc.orders(compared.stand)
        end = tpcc.drive(compared.stand, {**tpcc.spec(compared.stand, shape, load=load), "phases": phases})
        drained = tpcc.orders(compared.stand) - before - tpcc.committed_orders(end)
        assert 0 <= drained <= sessions
    tpcc.check(compared.stand)
