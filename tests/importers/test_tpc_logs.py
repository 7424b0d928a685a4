"""HammerDB, go-tpc and tpcc-mysql: what their logs say, whole and not."""

from __future__ import annotations

import json
from io import StringIO

import pytest

from dyno.record.importers import gotpc, hammerdb, tpcc_mysql
from dyno.record.importers.logs import Interval
from importers.samples import GO_TPC, HAMMERDB, TPCC_MYSQL, TPCC_MYSQL_OLD_LINES, XTPROF, as_table


def test_hammerdb_a_timed_run() -> None:
    log = hammerdb.parse(StringIO(HAMMERDB))
    assert log.problem is None
    assert (log.version, log.threads, log.warmup_s) == ("4.12", 2, 120)
    assert (log.new_orders_per_min, log.throughput_per_s, log.total_time_s) == (6500, 250, 60)
    # The transaction counter, of the timed minute alone.
    assert log.intervals == [Interval(30, 2, 200), Interval(60, 2, 300)]


def test_hammerdb_the_older_sentence() -> None:
    old = HAMMERDB.replace("6500 NOPM from 15000 MariaDB TPM", "15000 MySQL TPM at 6500 NOPM")
    log = hammerdb.parse(StringIO(old))
    assert (log.problem, log.new_orders_per_min, log.throughput_per_s) == (None, 6500, 250)


@pytest.mark.parametrize("profile", ["in the log", "beside it"])
def test_hammerdb_the_summary_of_a_time_profile(profile: str) -> None:
    types = (
        hammerdb.parse(StringIO(HAMMERDB + XTPROF)).transaction_types
        if profile == "in the log"
        else hammerdb.parse_profile(StringIO(XTPROF))
    )
    assert [(each.name, each.count, each.mean_ms, each.max_ms) for each in types] == [
        ("neword", 6512, 2.5, 41.0),
        ("slev", 640, 0.75, 8.0),
    ]
    assert types[0].percentiles_ms == {50: 2.125, 95: 5.25, 99: 9.75}


def test_hammerdb_users_that_failed_make_the_result_one_of_another_load() -> None:
    failed = HAMMERDB.replace("Vuser 3:FINISHED SUCCESS", "Vuser 3:FINISHED FAILED").replace(
        "Vuser 1:1 ...,", "Error in Virtual User 3: mysqlexec/db server: Deadlock found"
    )
    problem = hammerdb.parse(StringIO(failed)).problem or ""
    assert "1 virtual users ended with an error" in problem
    assert "Deadlock" in problem


def test_hammerdb_without_a_result_or_with_several() -> None:
    cut = HAMMERDB[: HAMMERDB.index("Vuser 1:TEST RESULT")]
    assert "no test result" in (hammerdb.parse(StringIO(cut)).problem or "")
    assert "2 results" in (hammerdb.parse(StringIO(HAMMERDB * 2)).problem or "")
    unknown = HAMMERDB.replace("Timing test period of 1 in minutes", "")
    assert "how long" in (hammerdb.parse(StringIO(unknown)).problem or "")


def as_json(plain: str) -> str:
    rows = []
    for line in plain.splitlines():
        if line.startswith("["):
            name, _, figures = line.partition(" - ")
            prefix, operation = name.split()
            pairs = dict(part.split(": ") for part in figures.split(", "))
            rows.append(json.dumps([{"Prefix": f"{prefix} ", "Operation": operation} | pairs]))
        elif line.startswith("tpmC"):
            rows.append('[{"efficiency":"116.6%","tpmC":"1500.0"}]')
    return "\n".join(rows)


@pytest.mark.parametrize(
    "text",
    [GO_TPC, as_table(GO_TPC), as_table(GO_TPC, "│"), as_json(GO_TPC)],
    ids=["plain", "table", "box", "json"],
)
def test_go_tpc_in_every_style(text: str) -> None:
    log = gotpc.parse(StringIO(text))
    assert log.problem is None
    assert (log.transactions, log.total_time_s, log.throughput_per_s) == (540, 20, 27)
    assert (log.new_orders_per_min, log.ignored_errors, log.threads) == (1500, 5, None)
    assert [(each.t_s, each.tps, each.errors_per_s) for each in log.intervals] == [
        (10, 21.9, 0),
        (20, 32.1, 0.5),
    ]
    names = {each.name: each for each in log.transaction_types}
    assert set(names) == {"delivery", "new_order"}
    assert (names["new_order"].count, names["new_order"].errors, names["new_order"].max_ms) == (500, 5, 151)
    assert names["new_order"].percentiles_ms[99.9] == 142.6
    of_orders = [
        (s.t_s, s.value) for s in log.samples if (s.metric, s.label) == ("latency_p99_us", "new_order")
    ]
    assert of_orders == [(10, 121_600), (20, 71_300)]


def test_go_tpc_of_older_releases_prints_fewer_percentiles() -> None:
    log = gotpc.parse(
        StringIO(
            "[Summary] NEW_ORDER - Takes(s): 59.4, Count: 359, TPM: 362.5, Sum(ms): 33008, Avg(ms): 91,"
            " 90th(ms): 192, 99th(ms): 512, 99.9th(ms): 1000\ntpmC: 362.5\n"
        )
    )
    assert (log.problem, log.new_orders_per_min, log.transactions) == (None, 362.5, 359)


def test_go_tpc_without_a_summary_or_with_two() -> None:
    cut = GO_TPC[: GO_TPC.index("Finished")]
    assert gotpc.parse(StringIO(cut)).problem == "the log is cut short: no summary after 20 s"
    assert "2 results" in (gotpc.parse(StringIO(GO_TPC * 2)).problem or "")
    assert "connect" in (gotpc.parse(StringIO(f"{cut}panic: cannot connect\n")).problem or "")


def test_tpcc_mysql_whole() -> None:
    log = tpcc_mysql.parse(StringIO(TPCC_MYSQL))
    assert log.problem is None
    assert (log.threads, log.warmup_s, log.total_time_s) == (20, 60, 20)
    assert (log.transactions, log.throughput_per_s, log.new_orders_per_min) == (5060, 253, 6600)
    assert log.ignored_errors == 3
    assert [(each.t_s, each.tps) for each in log.intervals] == [(10, 230), (20, 276)]
    first = log.transaction_types[0]
    assert (first.name, first.count, first.mean_ms) == (
        "new_order",
        2200,
        3.5,
    )
    p95 = [s.value for s in log.samples if (s.metric, s.label) == ("latency_p95_us", "new_order")]
    assert p95 == [9500, 8500]


def test_tpcc_mysql_lines_of_the_first_releases() -> None:
    begin, end = TPCC_MYSQL.index("  10, trx"), TPCC_MYSQL.index("\nSTOPPING")
    log = tpcc_mysql.parse(StringIO(TPCC_MYSQL[:begin] + TPCC_MYSQL_OLD_LINES + TPCC_MYSQL[end:]))
    assert log.problem is None
    assert [(each.t_s, each.tps) for each in log.intervals] == [(10, 230), (20, 276)]


def test_tpcc_mysql_that_contradicts_itself_or_never_connected() -> None:
    wrong = TPCC_MYSQL.replace("6600.000 TpmC", "9600.000 TpmC")
    assert "contradicts itself" in (tpcc_mysql.parse(StringIO(wrong)).problem or "")
    dead = TPCC_MYSQL[: TPCC_MYSQL.index("RAMP-UP")] + "error at thread_main\n"
    assert "error at thread_main" in (tpcc_mysql.parse(StringIO(dead)).problem or "")


@pytest.mark.parametrize(
    ("parse", "text", "result"),
    [
        (hammerdb.parse, HAMMERDB, "MariaDB TPM"),
        (gotpc.parse, GO_TPC, "tpmC: 1500"),
        (tpcc_mysql.parse, TPCC_MYSQL, "6600.000 TpmC"),
    ],
    ids=["hammerdb", "go-tpc", "tpcc-mysql"],
)
def test_cut_anywhere_before_its_result_a_log_is_never_a_number(parse, text: str, result: str) -> None:
    end = text.index(result) + len(result)
    for cut in range(end):
        assert parse(StringIO(text[:cut])).problem is not None, text[:cut][-60:]
    assert parse(StringIO(text)).problem is None
