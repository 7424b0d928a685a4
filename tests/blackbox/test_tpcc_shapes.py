"""The shapes of the TPC-C-derived workload: the same data from a seed, and clear errors before any load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from blackbox import tpcc
from blackbox.stand import COUNTERS
from blackbox.tpcc import database

if TYPE_CHECKING:
    from blackbox.stand import Stand
    from blackbox.tpcc import Compared

pytestmark = pytest.mark.engine

PROCEDURES = (
    "SELECT ROUTINE_NAME, ROUTINE_COMMENT FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = '{}'"
)


def test_the_shapes_do_the_same(compared: Compared) -> None:
    """The same transactions of one seed leave the same data, and were something."""
    mixes = [
        [(kind["type"], kind["ok"], kind.get("counters")) for kind in end["transactions"]]
        for end in compared.ends.values()
    ]
    assert mixes[0] == mixes[1] == mixes[2]
    statements, batched, procedures = (compared.contents[shape] for shape in tpcc.SHAPES)
    assert statements == batched == procedures
    tpcc.check(compared.stand, database("batched"))
    end = compared.ends["statements"]
    assert tpcc.counts(end, "new_order")["rolled_back"] > 0
    assert tpcc.counts(end, "new_order")["remote_lines"] > 0
    assert tpcc.counts(end, "delivery")["delivered"] > 0
    assert statements["orders"][0] == 60_000 + tpcc.committed_orders(end)


def test_a_shape_has_its_round_trips(compared: Compared) -> None:
    """One a transaction with procedures; fewer in batches than with a statement a step."""
    transactions = tpcc.COMPARED
    issued = {shape: end["issued"] for shape, end in compared.ends.items()}
    assert issued["procedures"]["call"] == transactions
    once = issued["procedures"]["questions"] - transactions
    assert once < 10
    assert transactions * 6 < issued["batched"]["questions"] < transactions * 10
    assert issued["statements"]["questions"] > 2.5 * issued["batched"]["questions"]


@pytest.mark.parametrize("mode", ["prepared", "text"])
@pytest.mark.parametrize("shape", ["batched", "procedures"])
def test_the_server_counted_what_the_rig_issued(compared: Compared, shape: str, mode: str) -> None:
    """Com_* of what is sent; with procedures it is the calls, for their statements count too."""
    shaped = compared.stand
    load = tpcc.burst(transactions=100, sessions=2)
    call = "SHOW GLOBAL STATUS LIKE 'Com_call_procedure'"
    calls_before, before = int(shaped.query(call)[0][1]), shaped.counters()
    end = tpcc.drive(shaped, tpcc.spec(shaped, shape, database(shape), load=load, statement_mode=mode))
    after, calls_after = shaped.counters(), int(shaped.query(call)[0][1])
    assert calls_after - calls_before == end["issued"]["call"]
    if shape == "batched":
        seen = {name: after[f"Com_{name}"] - before[f"Com_{name}"] for name in COUNTERS}
        assert seen == {name: end["issued"][name] for name in COUNTERS}


def test_procedures_are_renewed(compared: Compared) -> None:
    """Absent, or of another version: the first session makes them, and the trial goes on."""
    shaped = compared.stand
    name = database("procedures")
    made = shaped.query(PROCEDURES.format(name))
    assert len(made) == 5
    shaped.query(f"DROP PROCEDURE {name}.tpcc_delivery")
    shaped.query(f"ALTER PROCEDURE {name}.tpcc_payment COMMENT 'dyno-rig 0'")
    tpcc.drive(shaped, tpcc.spec(shaped, "procedures", name, load=tpcc.burst(20, sessions=4)))
    assert sorted(shaped.query(PROCEDURES.format(name))) == sorted(made)


def test_a_user_who_may_not_make_procedures_is_told(compared: Compared) -> None:
    """Before any load, with what to do."""
    shaped = compared.stand
    name = database("batched")
    shaped.query("CREATE USER IF NOT EXISTS clerk@localhost")
    shaped.query(f"GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON {name}.* TO clerk@localhost")
    asked = tpcc.spec(shaped, "procedures", name)
    asked["target"]["user"] = "clerk"
    done = shaped.rig("drive", asked, "--record", str(shaped.record))
    assert done.returncode == 1
    assert "procedure tpcc_new_order is missing or of another version, and cannot be made" in done.stderr
    assert "GRANT CREATE ROUTINE" in done.stderr
    assert not any(line["record"] == "interval" for line in shaped.lines())


@pytest.mark.parametrize(
    ("table", "broken", "mended"),
    [
        (
            "orders",
            "o_id = 9999 WHERE o_w_id = 2 AND o_d_id = 10 AND o_id = 3000",
            "o_id = 3000 WHERE o_id = 9999",
        ),
        ("warehouse", "w_id = 3 WHERE w_id = 2", "w_id = 2 WHERE w_id = 3"),
    ],
)
def test_half_built_tables_are_refused(compared: Compared, table: str, broken: str, mended: str) -> None:
    """A load that was cut short leaves the last warehouse without its last rows."""
    shaped = compared.stand
    name = database("statements")
    change(shaped, f"UPDATE {name}.{table} SET {broken}")
    try:
        done = shaped.rig("drive", tpcc.spec(shaped, "statements", name), "--record", str(shaped.record))
    finally:
        change(shaped, f"UPDATE {name}.{table} SET {mended}")
    assert done.returncode == 1
    assert "1 of 2 warehouses are there and whole" in done.stderr
    assert "hint: prepare the tables anew" in done.stderr


def change(stand: Stand, sql: str) -> None:
    """One statement that must change one row, and is committed."""
    with stand.server.connect() as connection, connection.cursor() as cursor:
        assert cursor.execute(sql) == 1
        connection.commit()


def test_cleanup_takes_the_procedures_along(compared: Compared) -> None:
    """Those of the workload, and none that somebody else made."""
    shaped = compared.stand
    name = "tpcc_other"
    asked = tpcc.spec(shaped, "procedures", name)
    shaped.query(f"CREATE DATABASE {name}")
    shaped.query(f"CREATE PROCEDURE {name}.tpcc_payment () SELECT 1")
    assert shaped.rig("cleanup", asked).returncode == 0
    assert shaped.query(PROCEDURES.format(name)) == [("tpcc_payment", "")]


@pytest.mark.parametrize(
    ("options", "load", "told"),
    [
        ({"home": "exclusive"}, {"closed": {"sessions": 3}}, "exclusive with 3 sessions on 2 warehouses"),
        ({"keying": True}, tpcc.burst(10, 1), "keying and think times in an open loop"),
        ({"warehouses": 0}, {"closed": {"sessions": 1}}, "warehouses takes a whole number from 1"),
        ({"shape": "function"}, {"closed": {"sessions": 1}}, "shape takes statements, batched, procedures"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(
    compared: Compared, options: dict[str, Any], load: dict[str, Any], told: str
) -> None:
    """A usage error, before anything connects."""
    shaped = compared.stand
    done = shaped.rig("drive", tpcc.spec(shaped, "statements", options=options, load=load))
    assert done.returncode == 2
    assert told in done.stderr
    assert "hint:" in done.stderr
