"""An independent client as oracle: it must find the rows that the rig says it made, sent and received."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from blackbox.stand import ENGINES, SETTINGS, Stand
from dyno.engines import Server, Settings, find, install

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.engine

SEED = 7
# every statement counts: without a warm-up what is measured begins with the first one
ONE_SESSION: dict[str, Any] = {
    "load": {"closed": {"sessions": 1}},
    "phases": {"warmup_s": 0.0, "measure_s": 0.5, "drain_s": 5.0},
}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Stand]]:
    """A server of each family at the same time."""
    stands: list[Stand] = []
    settings = Settings.model_validate(SETTINGS)
    try:
        for engine in ENGINES:
            folder = tmp_path_factory.mktemp("stand")
            stands.append(Stand(Server(install(find(engine)), folder / "server", settings), folder))
            stands[-1].server.__enter__()
        yield stands
    finally:
        for stand in stands:
            stand.server.stop()


def test_a_seed_is_the_same_rows_on_every_engine_and_another_seed_is_not(both: list[Stand]) -> None:
    def built(seed: int) -> list[dict[str, str]]:
        for stand in both:
            stand.prepare(seed=seed)
        return [stand.contents() for stand in both]

    one, another = built(SEED), built(SEED + 1)
    assert one[0] == one[1]
    assert another[0] == another[1]
    assert len({*one[0].values(), *another[0].values()}) == 2 * len(one[0])


def test_both_ways_to_load_give_the_same_tables(stand: Stand) -> None:
    streamed = stand.prepare()
    expected = stand.contents()
    stand.query("SET GLOBAL local_infile = OFF")
    try:
        inserted = stand.prepare()
    finally:
        stand.query("SET GLOBAL local_infile = ON")
    assert (streamed["method"], inserted["method"]) == ("load_data_local", "multi_row_insert")
    assert streamed["method_reason"] is None
    assert inserted["method_reason"]
    assert stand.contents() == expected


def test_the_number_of_connections_does_not_change_the_rows(stand: Stand) -> None:
    alone = stand.prepare("oltp_read_write", "--threads", "1")
    expected = stand.contents()
    crowd = stand.prepare("oltp_read_write", "--threads", "5")
    assert (alone["rows"], crowd["rows"]) == (4000, 4000)
    assert stand.contents() == expected


def replay(stand: Stand, statements: list[str]) -> list[int]:
    """Execute statements by another client, one after the other; the rows that each returned."""
    with stand.server.connect("sbtest") as connection, connection.cursor() as cursor:
        fetched = []
        for statement in statements:
            cursor.execute(statement)
            fetched.append(len(cursor.fetchall()) if cursor.description else 0)
        return fetched


def session(captured: dict[int, list[str]]) -> list[str]:
    """What the one session of a trial sent from its first transaction on."""
    statements = max(captured.values(), key=len)
    writes = ("BEGIN", "INSERT", "UPDATE", "DELETE")
    return statements[next(at for at, sql in enumerate(statements) if sql.startswith(writes)) :]


def counted(summary: dict[str, Any]) -> int:
    """Statements that ended while it was measured."""
    return sum(kind["count"] for kind in summary["statements"])


@pytest.mark.parametrize(
    ("workload", "mode"),
    [
        ("oltp_read_write", "prepared"),
        ("oltp_read_write", "text"),
        ("oltp_hybrid", "prepared"),
        ("oltp_insert", "prepared"),
        ("oltp_update_index", "prepared"),
    ],
)
def test_another_client_gets_the_same_tables_and_rows(stand: Stand, workload: str, mode: str) -> None:
    stand.prepare()
    before = stand.contents()
    record, captured = stand.capture(stand.spec(workload, statement_mode=mode, **ONE_SESSION))
    summary = record[-1]
    after = stand.contents()
    stand.prepare()
    assert stand.contents() == before
    fetched = replay(stand, session(captured))
    assert after != before
    assert stand.contents() == after
    # one session: what was measured is the beginning of what was sent; the rest came after the clock
    assert counted(summary) > 100
    assert summary["rows"] == sum(fetched[: counted(summary)])
    assert summary["rows"] == sum(line["rows"] for line in record if line["record"] == "interval")


def test_reads_return_as_many_rows_as_another_client_gets(stand: Stand) -> None:
    stand.prepare()
    record, captured = stand.capture(stand.spec("oltp_read_only", **ONE_SESSION))
    fetched = replay(stand, session(captured))
    summary = record[-1]
    assert summary["rows"] == sum(fetched[: counted(summary)]) > counted(summary)
