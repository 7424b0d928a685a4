"""Trouble of every kind: a trial that cannot be a result says so, why, and what to do, in bounded time."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from blackbox.live import ENDLESS, PATIENCE_S, driving, ended
from blackbox.stand import DATA

if TYPE_CHECKING:
    from blackbox.stand import Stand

pytestmark = pytest.mark.engine


@pytest.fixture(autouse=True)
def _whole(stand: Stand) -> None:
    """Every test finds the server up and the tables whole."""
    if not stand.server.running:
        stand.server.start()
    stand.query("DROP DATABASE IF EXISTS sbtest")
    stand.prepare()


def failed(stand: Stand, code: int, stderr: str) -> dict[str, Any]:
    """The error of a trial that failed as it should: the same in the record as on standard error."""
    assert code == 1, stderr
    summary = stand.lines()[-1]
    assert (summary["record"], summary["outcome"]) == ("summary", "failed")
    error: dict[str, Any] = summary["error"]
    assert f"{error['message']}\n" in stderr
    assert f"hint: {error['hint']}" in stderr if error["hint"] else "hint: None" not in stderr
    return error


def test_a_server_that_is_killed(stand: Stand) -> None:
    with driving(stand) as rig:
        stand.server.kill()
        error = failed(stand, *ended(rig))
    assert error["kind"] == "io"
    assert error["hint"]


def test_a_server_that_is_shut_down(stand: Stand) -> None:
    with driving(stand) as rig:
        stand.server.stop()
        error = failed(stand, *ended(rig))
    # it may still find the words to say so
    assert error["kind"] in ("io", "server")


def test_no_server(stand: Stand) -> None:
    stand.server.stop()
    for command in ("drive", "prepare", "cleanup"):
        done = stand.rig(command, stand.spec("oltp_read_write"))
        assert done.returncode == 1
        assert "error: " in done.stderr
        assert "hint: is the server running?" in done.stderr
        tcp = {"host": "127.0.0.1", "port": stand.server.port, "user": "root", "database": "sbtest"}
        done = stand.rig(command, stand.spec("oltp_read_write", target=tcp))
        assert done.returncode == 1
        assert "hint: is the server running" in done.stderr


def phases(stand: Stand) -> list[str]:
    return [line["phase"] for line in stand.lines() if line["record"] == "phase"]


def refused(stand: Stand, **fields: Any) -> dict[str, Any]:
    """The error of a trial that must fail before any load."""
    stand.record.unlink(missing_ok=True)
    spec = stand.spec("oltp_read_write", **{"phases": ENDLESS, **fields})
    done = stand.rig("drive", spec, "--record", str(stand.record))
    error = failed(stand, done.returncode, done.stderr)
    assert set(phases(stand)) <= {"connect"}
    return error


def test_more_sessions_than_connections(stand: Stand) -> None:
    most = stand.query("SELECT @@GLOBAL.max_connections")[0][0]
    stand.query("SET GLOBAL max_connections = 20")
    try:
        error = refused(stand, load={"closed": {"sessions": 64}})
    finally:
        stand.query(f"SET GLOBAL max_connections = {most}")
    assert "max_connections" in error["hint"]


def test_more_statements_than_the_server_prepares(stand: Stand) -> None:
    most = stand.query("SELECT @@GLOBAL.max_prepared_stmt_count")[0][0]
    stand.query("SET GLOBAL max_prepared_stmt_count = 30")
    try:
        error = refused(stand, load={"closed": {"sessions": 16}})
    finally:
        stand.query(f"SET GLOBAL max_prepared_stmt_count = {most}")
    assert "max_prepared_stmt_count" in error["hint"]


def test_a_missing_table(stand: Stand) -> None:
    stand.query("DROP TABLE sbtest.sbtest2")
    error = refused(stand)
    assert "sbtest2" in error["message"]
    assert "prepare" in error["hint"]


def test_tables_that_are_there_already_and_foreign_ones_are_not_touched(stand: Stand) -> None:
    before = stand.contents()
    done = stand.rig("prepare", stand.spec("oltp_read_write", seed=99))
    assert done.returncode == 1
    assert "hint: remove them with cleanup, or rebuild them with --force" in done.stderr
    assert stand.contents() == before
    stand.query("DROP TABLE sbtest.sbtest2")
    stand.query("CREATE TABLE sbtest.sbtest2 (id INT PRIMARY KEY, precious TEXT)")
    try:
        for command, arguments in (("prepare", ["--force"]), ("cleanup", [])):
            done = stand.rig(command, stand.spec("oltp_read_write"), *arguments)
            assert done.returncode == 1
            assert "sbtest2" in done.stderr
            assert "hint: nothing was changed" in done.stderr
    finally:
        stand.query("DROP TABLE sbtest.sbtest2")
    assert stand.query("SELECT COUNT(*) FROM sbtest.sbtest1") == [(DATA["table_size"],)]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupted_trial_is_no_result(stand: Stand, name: str) -> None:
    with driving(stand) as rig:
        rig.send_signal(signal.Signals[name])
        code, stderr = ended(rig)
    assert code == 3
    assert "interrupted" in stderr
    summary = stand.lines()[-1]
    assert (summary["outcome"], summary["error"]) == ("interrupted", None)
    # transactions under way were let finish, and the sessions said goodbye
    assert summary["unfinished"] == 0
    assert stand.query("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = 'sbtest'") == [(0,)]


def test_a_second_interrupt_does_not_wait_for_a_server_that_does_not_answer(stand: Stand) -> None:
    patient = {**ENDLESS, "drain_s": 600.0}
    assert stand.server.pid is not None
    with driving(stand, phases=patient) as rig:
        os.kill(stand.server.pid, signal.SIGSTOP)
        try:
            rig.send_signal(signal.SIGINT)
            time.sleep(0.5)
            assert rig.poll() is None
            rig.send_signal(signal.SIGINT)
            code, _ = ended(rig)
        finally:
            os.kill(stand.server.pid, signal.SIGCONT)
    assert code == 3
    summary = stand.lines()[-1]
    assert summary["outcome"] == "interrupted"
    assert summary["unfinished"] > 0


def test_a_server_that_stands_still_does_not_hold_the_end_of_the_trial(stand: Stand) -> None:
    assert stand.server.pid is not None
    with driving(stand, phases={"warmup_s": 0.2, "measure_s": 2.0, "drain_s": 0.5}) as rig:
        os.kill(stand.server.pid, signal.SIGSTOP)
        try:
            ended(rig)
        finally:
            os.kill(stand.server.pid, signal.SIGCONT)
    assert stand.lines()[-1]["unfinished"] > 0


def test_a_record_on_a_full_disk(stand: Stand) -> None:
    spec = stand.spec("oltp_read_write", phases=ENDLESS)
    done = stand.rig("drive", spec, "--record", "/dev/full")
    with Path("/dev/full").open("w") as full:
        piped = subprocess.run(
            stand.command("drive", spec),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    for code, stderr in ((done.returncode, done.stderr), (piped.returncode, piped.stderr)):
        assert code == 1
        assert "panicked" not in stderr
        assert "error: " in stderr
        assert "No space left" in stderr
        assert "hint: " in stderr


def test_a_record_that_nobody_reads_any_more(stand: Stand) -> None:
    command = stand.command("drive", stand.spec("oltp_read_write", phases=ENDLESS))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as rig:
        assert rig.stdout is not None
        assert rig.stderr is not None
        assert rig.stdout.readline()
        rig.stdout.close()
        assert rig.wait(timeout=PATIENCE_S) == 1
        assert "panicked" not in rig.stderr.read()


def test_a_statement_that_can_never_succeed(stand: Stand) -> None:
    with driving(stand) as rig:
        stand.query("ALTER TABLE sbtest.sbtest1 DROP COLUMN c")
        error = failed(stand, *ended(rig))
    # a transaction that began before sees that the table was changed, one that begins after misses the column
    assert error["kind"] == "server"
    assert error["code"] in (1054, 1412)
    assert error["statement"]
    assert error["code"] in {line["code"] for line in stand.lines()[-1]["errors"]}


def test_a_repeated_error_that_never_ends(stand: Stand) -> None:
    """It looks like a deadlock each time: after `retries_max` repeats it is the trial's error."""
    signal_a_deadlock = "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'once more'"
    stand.query(
        f"CREATE TRIGGER sbtest.never BEFORE UPDATE ON sbtest.sbtest1 FOR EACH ROW {signal_a_deadlock}"
    )
    options = {"tables": 1}
    spec = stand.spec("oltp_update_index", options, load={"closed": {"sessions": 1}}, phases=ENDLESS)
    spec["phases"] = {**ENDLESS, "warmup_s": 0.0}
    stand.record.unlink(missing_ok=True)
    done = stand.rig("drive", spec, "--record", str(stand.record))
    error = failed(stand, done.returncode, done.stderr)
    assert (error["code"], error["sqlstate"], error["statement"]) == (1213, "40001", "index_update")
    assert "once more" in error["message"]
    summary = stand.lines()[-1]
    # the first attempt and 100 repeats, as in the spec's defaults
    assert summary["errors"] == [{"code": 1213, "count": 101}]
    assert summary["issued"]["update"] == 101
    assert summary["issued"]["rollback"] == 100


def deadlocks(stand: Stand) -> int:
    """What the server counted."""
    if stand.server.installed.family == "mariadb":
        sql = "SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'"
    else:
        sql = "SELECT name, count FROM information_schema.INNODB_METRICS WHERE name = 'lock_deadlocks'"
    return int(stand.query(sql)[0][1])


def test_deadlocks_are_repeated_and_counted(stand: Stand) -> None:
    before = deadlocks(stand)
    options = {"tables": 1, "table_size": 20, "index_updates": 4}
    stand.rig("cleanup", stand.spec("oltp_read_write"))
    hot = stand.spec("oltp_write_only", options, load={"closed": {"sessions": 16}})
    assert stand.rig("prepare", hot).returncode == 0
    record = stand.drive(hot)
    seen = deadlocks(stand) - before
    summary = record[-1]
    intervals = [line for line in record if line["record"] == "interval"]
    counted = sum(error["count"] for line in intervals for error in line["errors"] if error["code"] == 1213)
    assert 0 < counted <= seen
    # each was answered by a ROLLBACK; those met while draining are in `issued` and in no interval
    assert summary["issued"]["rollback"] >= seen
    assert sum(kind["retries"] for kind in summary["transactions"]) > 0
    assert summary["retry_us"] > 0
    assert summary["unfinished"] == 0
    assert stand.query("SELECT COUNT(*) FROM sbtest.sbtest1") == [(20,)]
