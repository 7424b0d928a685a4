"""Connections as applications have them: lost ones, one for each transaction, several servers, limits."""

from __future__ import annotations

import os
import signal
import socket
from typing import TYPE_CHECKING, Any

import pytest

from blackbox.live import ENDLESS, PATIENCE_S, driving, ended, wait_until
from blackbox.stand import DATA

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from blackbox.stand import Stand

pytestmark = pytest.mark.engine

SESSIONS = 4
RECONNECT = {"reconnect": "reconnect", "connect_timeout_s": PATIENCE_S}
PREPARED = 9 * DATA["tables"]  # what a session of oltp_read_write prepares


@pytest.fixture(autouse=True)
def _running(stand: Stand) -> None:
    if not stand.server.running:
        stand.server.start()


def from_anywhere(stand: Stand) -> dict[str, Any]:
    """A target whose account may come over TCP too."""
    stand.query("CREATE USER IF NOT EXISTS anywhere@'%'")
    stand.query("GRANT ALL ON sbtest.* TO anywhere@'%'")
    return {"socket": str(stand.server.socket), "user": "anywhere", "database": "sbtest"}


def status(stand: Stand, name: str) -> int:
    return int(stand.query(f"SHOW GLOBAL STATUS LIKE '{name}'")[0][1])


def intervals(stand: Stand, field: str) -> int:
    """The sum of a field over the intervals so far."""
    return sum(line[field] for line in stand.lines() if line["record"] == "interval")


def interrupted(stand: Stand, rig: subprocess.Popen[str]) -> dict[str, Any]:
    """The summary of a trial that Ctrl-C ends."""
    rig.send_signal(signal.SIGINT)
    code, stderr = ended(rig)
    assert code == 3, stderr
    summary: dict[str, Any] = stand.lines()[-1]
    assert summary["outcome"] == "interrupted"
    return summary


def sessions_of_rig(stand: Stand) -> list[tuple[int, str]]:
    """Connection ids and hosts of the rig's sessions, in the order of their connecting."""
    rows = stand.query("SELECT ID, HOST FROM information_schema.PROCESSLIST WHERE DB = 'sbtest' ORDER BY ID")
    return [(int(number), str(host)) for number, host in rows]


def refused(stand: Stand, **fields: Any) -> str:
    """What a trial says that must fail before any load."""
    stand.record.unlink(missing_ok=True)
    spec = stand.spec("oltp_read_write", **{"phases": ENDLESS, **fields})
    done = stand.rig("drive", spec, "--record", str(stand.record))
    assert done.returncode == 1, done.stderr
    assert {line["phase"] for line in stand.lines() if line["record"] == "phase"} <= {"connect"}
    return done.stderr


def test_killed_sessions_connect_again_and_are_counted(stand: Stand) -> None:
    with driving(stand, connection=RECONNECT) as rig:
        victims = sessions_of_rig(stand)[1:3]
        for number, _ in victims:
            stand.query(f"KILL {number}")
        wait_until(rig, lambda: intervals(stand, "reconnects") == len(victims))
        assert len(sessions_of_rig(stand)) == SESSIONS
        summary = interrupted(stand, rig)
    assert (summary["lost"], summary["reconnects"]) == (2, 2)
    # a statement that is killed ends with the server's own word, an idle session with that of the connection
    counted = {error["code"]: error["count"] for error in summary["errors"]}
    assert sum(count for code, count in counted.items() if code in (1317, 1927, 2013, 4031)) == 2, counted
    connects = [kind for kind in summary["statements"] if kind["type"] == "connect"]
    assert [kind["count"] for kind in connects] == [2]
    assert summary["issued"]["prepare"] == (SESSIONS + 2) * PREPARED


def test_a_killed_session_fails_the_trial_when_nothing_else_is_said(stand: Stand) -> None:
    with driving(stand) as rig:
        stand.query(f"KILL {sessions_of_rig(stand)[0][0]}")
        code, stderr = ended(rig)
    assert code == 1
    assert stderr.startswith("error: the trial failed")
    assert stand.lines()[-1]["error"]["kind"] in ("io", "server")


def test_sessions_outlive_a_restart_of_the_server(stand: Stand) -> None:
    with driving(stand, connection=RECONNECT) as rig:
        stand.server.stop()
        stand.server.start()
        wait_until(rig, lambda: intervals(stand, "reconnects") == SESSIONS)
        before = sum(status(stand, f"Com_{name}") for name in ("commit", "insert"))
        wait_until(rig, lambda: sum(status(stand, f"Com_{n}") for n in ("commit", "insert")) > before)
        summary = interrupted(stand, rig)
    assert summary["lost"] == SESSIONS
    assert not summary["unfinished"]


def test_a_server_that_stays_away_ends_the_trial(stand: Stand) -> None:
    with driving(stand, connection={"reconnect": "reconnect", "connect_timeout_s": 1.0}) as rig:
        stand.server.stop()
        code, stderr = ended(rig)
    assert code == 1
    assert "hint: is the server running?" in stderr
    assert {error["code"] for error in stand.lines()[-1]["errors"]} & {2002, 2013}


@pytest.mark.parametrize("mode", ["prepared", "text"])
def test_a_connection_for_every_transaction(stand: Stand, mode: str) -> None:
    before = {name: status(stand, name) for name in ("Connections", "Aborted_clients", "Com_stmt_prepare")}
    connection = {"per_transaction": True}
    record = stand.drive(stand.spec("oltp_read_write", connection=connection, statement_mode=mode))
    after = {name: status(stand, name) for name in before}
    summary, issued = record[-1], record[-1]["issued"]
    ok = sum(kind["ok"] for kind in summary["transactions"])
    assert ok > 0
    (connects,) = [kind["count"] for kind in summary["statements"] if kind["type"] == "connect"]
    assert abs(connects - ok) <= SESSIONS, "one more or less where a transaction crosses the start of measure"
    goodbyes = issued["questions"] - sum(
        n for name, n in issued.items() if name not in ("questions", "prepare")
    )
    # three readings of the counters lie between the two of Connections
    assert after["Connections"] - before["Connections"] == goodbyes + len(before)
    assert after["Aborted_clients"] == before["Aborted_clients"]
    assert after["Com_stmt_prepare"] - before["Com_stmt_prepare"] == issued["prepare"]
    assert (issued["prepare"] > 0) == (mode == "prepared")


LEVELS = ["read-uncommitted", "read-committed", "repeatable-read", "serializable"]


@pytest.mark.parametrize("level", LEVELS)
def test_the_isolation_level_is_set_and_read_back(stand: Stand, level: str) -> None:
    record = stand.drive(stand.spec("oltp_point_select", connection={"isolation": level}))
    assert record[0]["connection"]["isolation"] == level.upper()
    assert record[-1]["issued"]["set"] == SESSIONS


def test_the_servers_isolation_level_is_told_when_none_is_asked_for(stand: Stand) -> None:
    record = stand.drive(stand.spec("oltp_point_select"))
    assert record[0]["connection"]["isolation"] == "REPEATABLE-READ"
    assert record[-1]["issued"]["set"] == 0


def test_an_isolation_level_that_does_not_hold_is_an_error(stand: Stand) -> None:
    init = ["SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE"]
    stderr = refused(stand, connection={"isolation": "read-committed", "init": init})
    assert "isolation level is SERIALIZABLE, READ-COMMITTED was asked for" in stderr
    assert "hint: " in stderr


def test_every_session_begins_with_the_init_statements(stand: Stand) -> None:
    init = ["SET SESSION sort_buffer_size = 65536", "SELECT 17"]
    spec = stand.spec("oltp_point_select", connection={"isolation": "read-committed", "init": init})
    record, statements = stand.capture(spec)
    sessions = [
        said for said in statements.values() if any("SELECT c FROM sbtest" in statement for statement in said)
    ]
    assert len(sessions) == SESSIONS
    for said in sessions:
        assert said[:3] == ["SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", *init]
    assert (record[-1]["issued"]["set"], record[-1]["issued"]["call"]) == (2 * SESSIONS, 0)


def test_an_init_statement_that_fails_is_named(stand: Stand) -> None:
    stderr = refused(stand, connection={"init": ["SET SESSION no_such_variable = 1"]})
    assert "init statement `SET SESSION no_such_variable = 1`" in stderr
    assert "1193" in stderr


def test_sessions_are_dealt_over_the_targets(stand: Stand) -> None:
    """The two ways to one server stand for two servers: what matters is who goes where."""
    targets = [{"socket": str(stand.server.socket)}, {"host": "127.0.0.1", "port": stand.server.port}]
    with driving(stand, target=from_anywhere(stand), connection={"targets": targets}) as rig:
        hosts = [host.partition(":")[0] for _, host in sessions_of_rig(stand)]
        assert sorted(hosts) == ["127.0.0.1", "127.0.0.1", "localhost", "localhost"]
        interrupted(stand, rig)


def test_a_target_that_is_not_there_is_named(stand: Stand) -> None:
    targets = [{"socket": str(stand.server.socket)}, {"socket": "/nowhere/server.sock"}]
    assert "/nowhere/server.sock" in refused(stand, connection={"targets": targets})


def test_flags_are_fields_of_the_spec(stand: Stand) -> None:
    targets = f"{stand.server.socket},127.0.0.1:{stand.server.port}"
    flags = ["--targets", targets, "--isolation", "serializable", "--init", "SET @a = 1", "--stagger", "10ms"]
    flags += ["--per-transaction", "--reconnect", "reconnect", "--io-timeout", "never", "--record"]
    spec = stand.spec("oltp_point_select", target=from_anywhere(stand))
    done = stand.rig("drive", spec, *flags, str(stand.record))
    assert done.returncode == 0, done.stderr
    header = stand.lines()[0]
    asked = header["spec"]["connection"]
    assert [target["port"] for target in asked["targets"]] == [None, stand.server.port]
    assert (asked["stagger_s"], asked["io_timeout_s"], asked["per_transaction"]) == (0.01, None, True)
    assert header["connection"]["isolation"] == "SERIALIZABLE"


def test_sessions_connect_one_pause_after_the_other(stand: Stand) -> None:
    record = stand.drive(stand.spec("oltp_point_select", connection={"stagger_s": 0.2}))
    (connect,) = [line for line in record if line.get("phase") == "connect"]
    assert -connect["t_us"] >= (SESSIONS - 1) * 200_000


@pytest.fixture
def limited(stand: Stand) -> Iterator[Stand]:
    """A server of few connections and few prepared statements."""
    few = {"max_connections": 20, "max_prepared_stmt_count": 200}
    usual = {name: stand.query(f"SELECT @@GLOBAL.{name}")[0][0] for name in few}
    for name, value in few.items():
        stand.query(f"SET GLOBAL {name} = {value}")
    yield stand
    for name, value in usual.items():
        stand.query(f"SET GLOBAL {name} = {value}")


def test_too_many_sessions_are_refused_after_one_connection(limited: Stand) -> None:
    before = status(limited, "Connections")
    probe = {"host": False, "status": True, "server_pid": None}
    stderr = refused(limited, load={"closed": {"sessions": 64}}, probe=probe)
    assert "64 sessions and the probe need 65 connections" in stderr
    assert "max_connections = 20\nhint: raise max_connections to at least 65" in stderr
    assert "at most 19 sessions" in stderr
    assert status(limited, "Connections") - before == 2, "one scout and this reading"


def test_too_many_statements_are_refused_before_the_first(limited: Stand) -> None:
    before = status(limited, "Com_stmt_prepare")
    stderr = refused(limited, load={"closed": {"sessions": 16}})
    assert f"16 sessions × {PREPARED} statements" in stderr
    assert f"are {16 * PREPARED} prepared statements" in stderr
    assert (
        f"max_prepared_stmt_count = 200\nhint: raise max_prepared_stmt_count to at least {16 * PREPARED}"
        in stderr
    )
    assert status(limited, "Com_stmt_prepare") == before
    text = limited.spec("oltp_read_write", statement_mode="text", load={"closed": {"sessions": 16}})
    limited.drive(text)


def test_a_server_that_accepts_and_never_answers(stand: Stand) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        target = {"host": "127.0.0.1", "port": deaf.getsockname()[1], "user": "root"}
        stderr = refused(stand, target=target, connection={"connect_timeout_s": 0.5})
    assert "took too long" in stderr
    assert "hint: is the server overloaded, stopped or behind a firewall?" in stderr


def test_a_server_that_stops_answering(stand: Stand) -> None:
    with driving(stand, connection={"io_timeout_s": 0.5}) as rig:
        assert stand.server.pid
        os.kill(stand.server.pid, signal.SIGSTOP)
        try:
            code, stderr = ended(rig)
        finally:
            os.kill(stand.server.pid, signal.SIGCONT)
    assert code == 1
    assert "took too long" in stderr
    assert stand.lines()[-1]["error"]["kind"] == "io"
