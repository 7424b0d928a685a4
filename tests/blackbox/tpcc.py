"""The TPC-C-derived workload on a running server: specs of its trials, and what its checks say."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blackbox.stand import Stand

SHAPES = ["statements", "batched", "procedures"]
WAREHOUSES = 2
# every column that a transaction writes, but for dates; how many rows the table gets is part of the sum
WRITTEN = {
    "warehouse": "w_id, w_ytd",
    "district": "d_w_id, d_id, d_ytd, d_next_o_id",
    "customer": "c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data",
    "stock": "s_w_id, s_i_id, s_quantity, s_ytd, s_order_cnt, s_remote_cnt",
    "history": "h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_amount, h_data",
    "orders": "o_w_id, o_d_id, o_id, o_c_id, IFNULL(o_carrier_id, 0), o_ol_cnt, o_all_local",
    "new_order": "no_w_id, no_d_id, no_o_id",
    "order_line": "ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d IS NULL,"
    " ol_quantity, ol_amount, ol_dist_info",
}
# transactions of the trials that the shapes are compared by
COMPARED = 200
# no warm-up, and all that was due is done: the data must hold exactly what the client counted
PHASES = {"warmup_s": 0.0, "measure_s": 1.0, "drain_s": 300.0}


def spec(
    stand: Stand,
    shape: str,
    database: str = "tpcc_statements",
    options: dict[str, Any] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """A spec of two warehouses in one shape; `fields` replace its own."""
    made = stand.spec("tpcc", phases=PHASES, **fields)
    made["target"]["database"] = database
    made["workload"]["options"] = {"warehouses": WAREHOUSES, "shape": shape, **(options or {})}
    return made


def database(shape: str) -> str:
    """Where the tables of a shape are: each has its own."""
    return f"tpcc_{shape}"


def burst(transactions: int, sessions: int) -> dict[str, Any]:
    """A load of exactly so many transactions in all."""
    return {"open": {"rate_per_s": transactions, "arrivals": "constant", "sessions": sessions}}


def drive(stand: Stand, asked: dict[str, Any]) -> dict[str, Any]:
    """The summary of a trial that must succeed and leave nothing unfinished."""
    end = stand.drive(asked)[-1]
    assert (end["outcome"], end["unfinished"], end["lost"]) == ("ok", 0, 0)
    return end


def counts(end: dict[str, Any], kind: str) -> dict[str, int]:
    """Everything that a summary counts of one transaction type."""
    found = next(each for each in end["transactions"] if each["type"] == kind)
    return {"ok": found["ok"], "retries": found["retries"], **found.get("counters", {})}


def committed_orders(end: dict[str, Any]) -> int:
    """New-Orders that were not rolled back."""
    orders = counts(end, "new_order")
    return orders["ok"] - orders["rolled_back"]


def orders(stand: Stand, database: str = "tpcc_statements") -> int:
    """Orders since the load, by the districts' counters."""
    [(count,)] = stand.query(f"SELECT SUM(d_next_o_id - 3001) FROM {database}.district")
    return int(count)


def check(stand: Stand, database: str = "tpcc_statements") -> None:
    """All conditions must hold."""
    done = stand.rig("check", spec(stand, "statements", database))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["consistent"] is True


def contents(stand: Stand, database: str) -> dict[str, tuple[int, int]]:
    """For each table its number of rows and a sum over all that transactions write."""
    found = {}
    for table, columns in WRITTEN.items():
        row = f"CRC32(CONCAT_WS('|', {columns}))"
        [(rows, total)] = stand.query(f"SELECT COUNT(*), SUM({row}) FROM {database}.{table}")
        found[table] = (int(rows), int(total))
    return found


@dataclass(frozen=True)
class Compared:
    """A server with tables for each shape, after a first trial of one session in each, under one seed."""

    stand: Stand
    ends: dict[str, dict[str, Any]]
    contents: dict[str, dict[str, tuple[int, int]]]


def compare(stand: Stand) -> Compared:
    """Build the tables of each shape, drive its first trial and look at what that left."""
    ends = {}
    for shape in SHAPES:
        asked = spec(stand, shape, database(shape), load=burst(COMPARED, sessions=1))
        done = stand.rig("prepare", asked)
        assert done.returncode == 0, done.stderr
        ends[shape] = drive(stand, asked)
    return Compared(stand, ends, {shape: contents(stand, database(shape)) for shape in SHAPES})
