"""The profiles of the TPC-C-derived workload: each builds, runs, and breaks what it is known to break."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from blackbox.stand import ENGINES, SETTINGS, Stand
from dyno.engines import Server, Settings, find, install

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.engine

PROFILES = ["hammerdb", "sysbench-tpcc", "tpcc-mysql"]
PHASES = {"warmup_s": 0.2, "measure_s": 2.0, "drain_s": 10.0}
# right after the load, before any transaction
BROKEN_BY_LOAD = {
    "hammerdb": {"10_balance", "12_balance_and_payments"},
    "sysbench-tpcc": set(),
    "tpcc-mysql": {"10_balance", "12_balance_and_payments"},
}
# with sessions that deliver at the same warehouse this one may break too
BROKEN_BY_CHANCE = {"tpcc-mysql": {"11_orders_delivered"}}
NOT_DEFINED = {
    "hammerdb": {"11_orders_delivered", "stock_counters", "payment_count"},
    "sysbench-tpcc": {"stock_counters", "payment_count"},
    "tpcc-mysql": {"stock_counters", "payment_count"},
}


def database(profile: str) -> str:
    """Each profile has its own."""
    return profile.replace("-", "_")


def spec(stand: Stand, profile: str, options: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A spec of one warehouse of a profile."""
    made: dict[str, Any] = stand.spec("tpcc", **{"phases": PHASES, **fields})
    made["target"]["database"] = database(profile)
    made["workload"]["options"] = {"profile": profile, "warehouses": 1, **(options or {})}
    return made


def check(stand: Stand, made: dict[str, Any], *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, report and messages of a check."""
    done = stand.rig("check", made, *arguments)
    return done.returncode, json.loads(done.stdout or "{}"), done.stderr


def broken(report: dict[str, Any]) -> set[str]:
    """The names of the conditions that do not hold."""
    return {condition["name"] for condition in report["conditions"] if condition["holds"] is not True}


@pytest.fixture(scope="module", params=ENGINES)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    """A server of each family with one warehouse of each profile."""
    folder = tmp_path_factory.mktemp("profiles")
    settings = Settings.model_validate(SETTINGS)
    with Server(install(find(request.param)), folder / "server", settings) as server:
        stand = Stand(server, folder)
        for profile in PROFILES:
            done = stand.rig("prepare", spec(stand, profile))
            assert done.returncode == 0, done.stderr
        yield stand


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    """An empty server of one family: how tables are spread is the same for both."""
    folder = tmp_path_factory.mktemp("variants")
    settings = Settings.model_validate(SETTINGS)
    with Server(install(find(ENGINES[0])), folder / "server", settings) as server:
        yield Stand(server, folder)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_breaks_what_it_is_known_to_break(built: Stand, profile: str) -> None:
    """After the load and after a run, with reason and rows; it counts against nothing."""
    made = spec(built, profile)
    code, report, messages = check(built, made)
    assert (code, report["consistent"], report["profile"]) == (0, True, profile)
    assert broken(report) == BROKEN_BY_LOAD[profile]
    assert {left["name"] for left in report["not_defined"]} == NOT_DEFINED[profile]
    for condition in report["conditions"]:
        if condition["holds"] is False:
            assert condition["deviation"]
            assert condition["rows"]
            assert f"profile {profile} breaks {condition['name']}: " in messages

    end = built.drive(made)[-1]
    assert end["outcome"] == "ok"
    assert end["unfinished"] == 0
    assert all(kind["ok"] > 0 for kind in end["transactions"]), end["transactions"]
    code, report, messages = check(built, made)
    assert code == 0, messages
    surprises = broken(report) - BROKEN_BY_CHANCE.get(profile, set())
    assert surprises == BROKEN_BY_LOAD[profile]
    assert report["new_orders_since_load"] > 0


@pytest.mark.parametrize("profile", PROFILES)
def test_a_violation_that_is_none_of_the_profile_is_found(built: Stand, profile: str) -> None:
    """The profile's own deviations hide no other."""
    district = "district1" if profile == "sysbench-tpcc" else "district"
    table = f"{database(profile)}.{district}"
    built.query(f"UPDATE {table} SET d_ytd = d_ytd + 1 WHERE d_id = 4")
    code, report, messages = check(built, spec(built, profile))
    built.query(f"UPDATE {table} SET d_ytd = d_ytd - 1 WHERE d_id = 4")
    assert (code, report["consistent"]) == (1, False)
    assert {"01_warehouse_ytd_districts", "09_district_ytd_history"} <= broken(report)
    assert "the data is not consistent: 2 of " in messages


def test_hammerdb_calls_procedures_and_nothing_else(built: Stand) -> None:
    """One round trip a transaction, as the server counts them; an unused item rolls a New-Order back."""
    counted = "SHOW GLOBAL STATUS LIKE 'Com_call_procedure'"
    before = int(built.query(counted)[0][1])
    end = built.drive(spec(built, "hammerdb"))[-1]
    assert int(built.query(counted)[0][1]) - before == end["issued"]["call"] > 0
    types = {kind["type"]: kind for kind in end["transactions"]}
    assert types["new_order"]["counters"]["rolled_back"] < types["new_order"]["ok"]


def test_sysbench_tpcc_spreads_over_its_sets_of_tables(bare: Stand) -> None:
    """Two sets of tables differ in their rows, and both are driven."""
    made = spec(bare, "sysbench-tpcc", {"tables": 2, "foreign_keys": False})
    made["target"]["database"] = "two_sets"
    done = bare.rig("prepare", made)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tables"] == 18
    stock = [bare.query(f"SELECT s_data FROM two_sets.stock{number} WHERE s_i_id < 9") for number in (1, 2)]
    assert stock[0] != stock[1]
    assert bare.drive(made)[-1]["outcome"] == "ok"
    code, report, messages = check(bare, made)
    assert code == 0, messages
    assert {condition["tables"] for condition in report["conditions"]} == {1, 2}
    for number in (1, 2):
        grown = bare.query(f"SELECT SUM(d_next_o_id - 3001) FROM two_sets.district{number}")
        assert grown[0][0] > 0
    assert bare.rig("cleanup", made).returncode == 0
    left = bare.query("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'two_sets'")
    assert left == []


def test_schemas_are_shards_of_their_own(bare: Stand) -> None:
    """Sessions are dealt over the databases, whose rows differ, and each is checked."""
    made = spec(bare, "standard", {"schemas": 2, "home": "exclusive"}, load={"closed": {"sessions": 2}})
    done = bare.rig("prepare", made)
    assert done.returncode == 0, done.stderr
    names = ["standard", "standard_2"]
    stock = [bare.query(f"SELECT s_data FROM {name}.stock WHERE s_i_id < 9") for name in names]
    assert stock[0] != stock[1]
    end = bare.drive(made)[-1]
    code, report, messages = check(bare, made)
    assert (code, messages) == (0, "")
    assert {condition["database"] for condition in report["conditions"]} == set(names)
    grown = [bare.query(f"SELECT SUM(d_next_o_id - 3001) FROM {name}.district")[0][0] for name in names]
    assert min(grown) > 0
    new_orders = next(kind for kind in end["transactions"] if kind["type"] == "new_order")
    assert (
        sum(grown)
        == report["new_orders_since_load"]
        >= new_orders["ok"] - new_orders["counters"]["rolled_back"]
    )
    assert bare.rig("drive", {**made, "load": {"closed": {"sessions": 3}}}).returncode == 2
    assert bare.rig("cleanup", made).returncode == 0


def test_tables_can_be_partitioned_by_warehouse(bare: Stand) -> None:
    """The large tables are cut, and the build verifies as ever."""
    made = spec(bare, "standard", {"partitions": 4, "history_pk": True})
    made["target"]["database"] = "parted"
    done = bare.rig("prepare", made)
    assert done.returncode == 0, done.stderr
    parts = bare.query(
        "SELECT TABLE_NAME, COUNT(*) FROM information_schema.PARTITIONS "
        "WHERE TABLE_SCHEMA = 'parted' AND PARTITION_NAME IS NOT NULL GROUP BY TABLE_NAME"
    )
    large = ["customer", "stock", "history", "orders", "new_order", "order_line"]
    assert dict(parts) == dict.fromkeys(large, 4)
    assert check(bare, made)[0] == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"warehouses": 0}, "warehouses takes a whole number from 1"),
        ({"profile": "tpcb"}, "profile takes standard, hammerdb, sysbench-tpcc, tpcc-mysql"),
        ({"mix": "deck"}, 'tpcc with profile = hammerdb has no option "mix"'),
        ({"profile": "tpcc-mysql", "warehouses": 40_000}, "SMALLINT"),
    ],
)
def test_options_that_cannot_be_are_refused(bare: Stand, options: dict[str, Any], said: str) -> None:
    """By prepare and by drive, before they connect."""
    made = spec(bare, "hammerdb", options)
    for command in ("prepare", "drive", "check"):
        done = bare.rig(command, made)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr


def test_no_condition_goes_on_when_the_client_is_killed(built: Stand) -> None:
    """The server itself ends a statement whose client is gone, when the limit of the check is over."""
    made = spec(built, "tpcc-mysql")
    # a view in the table's place that takes for ever to read
    built.query("RENAME TABLE tpcc_mysql.warehouse TO tpcc_mysql.kept")
    built.query(
        "CREATE VIEW tpcc_mysql.warehouse AS SELECT w_id, w_ytd + 0 * a.s_quantity * b.s_quantity AS w_ytd "
        "FROM tpcc_mysql.kept JOIN tpcc_mysql.stock a JOIN tpcc_mysql.stock b"
    )
    running = (
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST "
        "WHERE DB = 'tpcc_mysql' AND INFO LIKE 'SELECT w_id, w_ytd%'"
    )
    command = built.command("check", made, "--limit", "3s")
    try:
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
            wait_for(built, running, 1)
            client.send_signal(signal.SIGKILL)
        wait_for(built, running, 0)
    finally:
        built.query("DROP VIEW tpcc_mysql.warehouse")
        built.query("RENAME TABLE tpcc_mysql.kept TO tpcc_mysql.warehouse")


@pytest.mark.parametrize(
    ("mutilate", "said", "mend"),
    [
        (
            "UPDATE hammerdb.stock SET s_i_id = 100001 WHERE s_i_id = 100000",
            "0 of 1 warehouses are there and whole",
            "UPDATE hammerdb.stock SET s_i_id = 100000 WHERE s_i_id = 100001",
        ),
        ("DROP PROCEDURE hammerdb.NEWORD", "4 of 5 procedures", None),
    ],
)
def test_what_is_missing_is_said_before_the_load(
    built: Stand, mutilate: str, said: str, mend: str | None
) -> None:
    """A half-built schema and a missing procedure are errors with a hint, before anything is measured."""
    built.query(mutilate)
    done = built.rig("drive", spec(built, "hammerdb"), "--record", str(built.record))
    if mend is not None:
        built.query(mend)
    assert done.returncode != 0
    assert said in done.stderr
    assert "hint: prepare the tables anew, with profile = hammerdb" in done.stderr


def wait_for(stand: Stand, sql: str, count: int) -> None:
    """Until the server counts as many."""
    deadline = time.monotonic() + 30
    while stand.query(sql)[0][0] != count:
        assert time.monotonic() < deadline, f"still not {count}: {sql}"
        time.sleep(0.05)
