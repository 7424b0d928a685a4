"""The statement mix, proven from the server's side: its counters must equal what the rig says it issued."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from blackbox.stand import COUNTERS, DATA
from dyno.experiment.rig import find_rig

if TYPE_CHECKING:
    from blackbox.stand import Stand

pytestmark = pytest.mark.engine

WORKLOADS = [
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_write_only",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_insert",
    "oltp_delete",
    "select_random_points",
    "select_random_ranges",
    "oltp_90_10",
    "oltp_hybrid",
]
SHORT = {"warmup_s": 0.1, "measure_s": 0.4, "drain_s": 5.0}


@pytest.fixture(autouse=True)
def _fresh(stand: Stand) -> None:
    """Whole tables: the trial before may have deleted most rows, and the rig looks whether they are there."""
    stand.prepare()


def own_statements(stand: Stand) -> int:
    """Questions that one reading costs, whatever the Python client sends to open its connection."""
    before, after = stand.counters(), stand.counters()
    return after["Questions"] - before["Questions"]


def summary(record: list[dict[str, Any]]) -> dict[str, Any]:
    assert record[-1]["record"] == "summary"
    return record[-1]


@pytest.mark.parametrize("mode", ["prepared", "text"])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_server_counted_what_the_rig_issued(stand: Stand, workload: str, mode: str) -> None:
    reading = own_statements(stand)
    before = stand.counters()
    end = summary(stand.drive(stand.spec(workload, statement_mode=mode, phases=SHORT)))
    after = stand.counters()
    issued = end["issued"]
    assert end["unfinished"] == 0
    seen = {name: after[f"Com_{name}"] - before[f"Com_{name}"] for name in COUNTERS}
    assert seen == {name: issued[name] for name in COUNTERS}
    assert after["Questions"] - before["Questions"] - reading == issued["questions"]
    assert sum(kind["ok"] for kind in end["transactions"]) > 0


MIXES = {
    "oltp_point_select": {"select": 1},
    "oltp_read_only": {"select": 14, "begin": 1, "commit": 1},
    "oltp_read_write": {"select": 14, "update": 2, "delete": 1, "insert": 1, "begin": 1, "commit": 1},
    "oltp_write_only": {"update": 2, "delete": 1, "insert": 1, "begin": 1, "commit": 1},
    "oltp_update_index": {"update": 1},
    "oltp_update_non_index": {"update": 1},
    "oltp_insert": {"insert": 1},
    "oltp_delete": {"delete": 1},
    "select_random_points": {"select": 1},
    "select_random_ranges": {"select": 1},
    "oltp_90_10": {"select": 9, "update": 1, "begin": 1, "commit": 1},
    "oltp_hybrid": {"select": 1, "update": 1, "delete": 1, "insert": 1, "begin": 1, "commit": 1},
}


@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_transaction_is_the_documented_mix(stand: Stand, workload: str) -> None:
    """One session, no conflicts: every class of statement is an exact multiple of the transactions.

    Before a trial the first session may look once at each table; nothing else may come on top.
    """
    before = stand.counters()
    alone = stand.spec(workload, load={"closed": {"sessions": 1}}, phases=SHORT)
    end = summary(stand.drive(alone))
    after = stand.counters()
    seen = {name: after[f"Com_{name}"] - before[f"Com_{name}"] for name in COUNTERS}
    mix = {name: MIXES[workload].get(name, 0) for name in COUNTERS}
    anchor = next((name for name in reversed(COUNTERS) if mix[name]), "select")
    transactions = seen[anchor] // mix[anchor]
    assert transactions >= sum(kind["ok"] for kind in end["transactions"]) > 0
    looks = seen["select"] - mix["select"] * transactions
    assert 0 <= looks <= DATA["tables"]
    seen["select"] -= looks
    assert seen == {name: count * transactions for name, count in mix.items()}


def test_every_workload_of_the_rig_is_proven_here() -> None:
    """A workload that is added without its proof fails this test."""
    listed = subprocess.run(
        [str(find_rig()), "workloads", "--json"], capture_output=True, text=True, check=True
    )
    names = {entry["name"] for entry in json.loads(listed.stdout)}
    assert names == {*WORKLOADS, "tpcc"}  # tpcc is proven in test_tpcc_check.py, on its own data
