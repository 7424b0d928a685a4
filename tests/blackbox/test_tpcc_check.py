# ruff: noqa: E501  (a statement a line reads better than a statement in pieces)
"""The consistency conditions of the TPC-C-derived workload: they hold after a load, and each finds its violation."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from blackbox.stand import COUNTERS, ENGINES, SETTINGS, Stand
from dyno.engines import Server, Settings, find, install

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.engine

DATABASE = "tpcc"
# what breaks a condition, what mends it again, and every condition that must notice
PLANTED = {
    "01_warehouse_ytd_districts": (
        "UPDATE district SET d_ytd = d_ytd + 1 WHERE d_id = 4",
        "UPDATE district SET d_ytd = d_ytd - 1 WHERE d_id = 4",
        {"01_warehouse_ytd_districts", "09_district_ytd_history"},
    ),
    "02_next_order_id": (
        "UPDATE district SET d_next_o_id = 3002 WHERE d_id = 4",
        "UPDATE district SET d_next_o_id = 3001 WHERE d_id = 4",
        {"02_next_order_id"},
    ),
    "03_new_orders_without_gap": (
        "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 2 AND no_o_id = 2500",
        "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (1, 2, 2500)",
        {"03_new_orders_without_gap", "05_carrier_or_new_order", "11_orders_delivered"},
    ),
    "04_lines_of_districts": (
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_w_id = 1 AND o_d_id = 3 AND o_id = 7",
        "UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE o_w_id = 1 AND o_d_id = 3 AND o_id = 7",
        {"04_lines_of_districts", "06_lines_of_orders"},
    ),
    "05_carrier_or_new_order": (
        "UPDATE orders SET o_carrier_id = 1 WHERE o_w_id = 1 AND o_d_id = 3 AND o_id = 2900",
        "UPDATE orders SET o_carrier_id = NULL WHERE o_w_id = 1 AND o_d_id = 3 AND o_id = 2900",
        {"05_carrier_or_new_order", "07_delivery_date_or_no_carrier"},
    ),
    "06_lines_of_orders": (
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + IF(o_id = 8, 1, -1) WHERE o_w_id = 1 AND o_d_id = 3 AND o_id IN (8, 9)",
        "UPDATE orders SET o_ol_cnt = o_ol_cnt - IF(o_id = 8, 1, -1) WHERE o_w_id = 1 AND o_d_id = 3 AND o_id IN (8, 9)",
        {"06_lines_of_orders"},
    ),
    "07_delivery_date_or_no_carrier": (
        "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = 8 AND ol_number = 2",
        "UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = 8 AND ol_number = 2",
        {"07_delivery_date_or_no_carrier"},
    ),
    "08_warehouse_ytd_history": (
        "UPDATE warehouse SET w_ytd = w_ytd + 0.01",
        "UPDATE warehouse SET w_ytd = w_ytd - 0.01",
        {"01_warehouse_ytd_districts", "08_warehouse_ytd_history"},
    ),
    "09_district_ytd_history": (
        "UPDATE history SET h_d_id = 2 WHERE h_c_id = 5 AND h_c_d_id = 1",
        "UPDATE history SET h_d_id = 1 WHERE h_c_id = 5 AND h_c_d_id = 1",
        {"09_district_ytd_history"},
    ),
    "10_balance": (
        "UPDATE history SET h_c_id = 6, h_data = CONCAT('!', SUBSTRING(h_data, 2)) WHERE h_c_id = 5 AND h_c_d_id = 1",
        "UPDATE history SET h_c_id = 5 WHERE h_data LIKE '!%'",
        {"10_balance", "payment_count"},
    ),
    "11_orders_delivered": (
        "UPDATE customer SET c_delivery_cnt = 1 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1",
        "UPDATE customer SET c_delivery_cnt = 0 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1",
        {"11_orders_delivered"},
    ),
    "12_balance_and_payments": (
        "UPDATE customer SET c_ytd_payment = 11 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1",
        "UPDATE customer SET c_ytd_payment = 10 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1",
        {"12_balance_and_payments"},
    ),
    "stock_counters": (
        "UPDATE stock SET s_remote_cnt = 1 WHERE s_w_id = 1 AND s_i_id = 77",
        "UPDATE stock SET s_remote_cnt = 0 WHERE s_w_id = 1 AND s_i_id = 77",
        {"stock_counters"},
    ),
    "payment_count": (
        "UPDATE customer SET c_payment_cnt = 2 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1",
        "UPDATE customer SET c_payment_cnt = 1 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1",
        {"payment_count"},
    ),
}


def spec(stand: Stand) -> dict[str, Any]:
    """A spec of one warehouse."""
    made: dict[str, Any] = stand.spec("tpcc")
    made["target"]["database"] = DATABASE
    made["workload"]["options"] = {"warehouses": 1}
    return made


def check(stand: Stand, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, report and messages of a check."""
    done = stand.rig("check", spec(stand), *arguments)
    report: dict[str, Any] = json.loads(done.stdout or "{}")
    return done.returncode, report, done.stderr


def run(stand: Stand, sql: str) -> None:
    """One statement on the checked tables, of which it must change some row."""
    with contextlib.closing(stand.server.connect(DATABASE)) as connection, connection.cursor() as cursor:
        assert cursor.execute(sql) > 0


def broken(report: dict[str, Any]) -> set[str]:
    """The names of the conditions that do not hold."""
    return {condition["name"] for condition in report["conditions"] if condition["holds"] is not True}


@pytest.fixture(scope="module", params=ENGINES)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    """A server of each family with one warehouse."""
    folder = tmp_path_factory.mktemp("tpcc")
    settings = Settings.model_validate(SETTINGS)
    with Server(install(find(request.param)), folder / "server", settings) as server:
        stand = Stand(server, folder)
        done = stand.rig("prepare", spec(stand))
        assert done.returncode == 0, done.stderr
        yield stand


def test_a_loaded_warehouse_is_consistent(loaded: Stand) -> None:
    """Every condition holds, and says how long it took."""
    code, report, messages = check(loaded)
    assert (code, messages) == (0, "")
    assert report["consistent"] is True
    assert report["new_orders_since_load"] == 0
    assert len(report["conditions"]) == len(PLANTED)
    assert all(condition["seconds"] > 0 for condition in report["conditions"])


@pytest.mark.parametrize("name", PLANTED)
def test_a_violation_is_found_and_shown(loaded: Stand, name: str) -> None:
    """The condition and no stranger breaks, its rows are shown, and after mending all hold again."""
    plant, mend, noticed = PLANTED[name]
    run(loaded, plant)
    try:
        code, report, messages = check(loaded)
    finally:
        run(loaded, mend)
    assert code == 1
    assert broken(report) == noticed
    shown = next(condition for condition in report["conditions"] if condition["name"] == name)
    assert shown["rows"]
    assert len(shown["columns"]) == len(shown["rows"][0])
    assert f"{name}:" in messages
    assert "hint:" in messages
    assert broken(check(loaded)[1]) == set()


def test_the_server_keeps_the_limit(loaded: Stand) -> None:
    """A condition that takes too long is unknown, not fulfilled, and nothing keeps running."""
    code, report, messages = check(loaded, "--limit", "1ms")
    assert code == 1
    assert "06_lines_of_orders" in broken(report)
    assert all(not condition["rows"] for condition in report["conditions"])
    assert "took longer than the limit" in messages


def test_a_database_without_the_tables_is_an_error(loaded: Stand) -> None:
    """No tables: no verdict."""
    wrong = spec(loaded)
    wrong["target"]["database"] = "mysql"
    done = loaded.rig("check", wrong)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "doesn't exist" in done.stderr


def test_a_run_leaves_the_data_consistent_and_counted(loaded: Stand) -> None:
    """Sessions that meet on one warehouse lose no update, and the server counted what the rig issued."""
    before = loaded.counters()
    phases = {"warmup_s": 0.2, "measure_s": 3.0, "drain_s": 10.0}
    end = loaded.drive({**spec(loaded), "load": {"closed": {"sessions": 8}}, "phases": phases})[-1]
    after = loaded.counters()
    assert end["unfinished"] == 0
    seen = {name: after[f"Com_{name}"] - before[f"Com_{name}"] for name in COUNTERS}
    assert seen == {name: end["issued"][name] for name in COUNTERS}
    code, report, messages = check(loaded)
    assert (code, messages) == (0, "")
    new_orders = next(kind["ok"] for kind in end["transactions"] if kind["type"] == "new_order")
    assert report["new_orders_since_load"] >= new_orders * 0.9 > 0
