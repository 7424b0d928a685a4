"""Servers of real engines: settings that took effect, every way to end, and what goes wrong at a start."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pymysql
import pytest

from dyno.engines import Server, Settings, reap, registry, require_verified, snapshots
from dyno.errors import DynoError

pytestmark = pytest.mark.engine

SMALL = {"buffer_pool": "64MiB", "redo": "32MiB", "log_buffer": "8MiB"}


@pytest.fixture(scope="session")
def pristine(tmp_path_factory):
    """A store of data directories as they are after initialise(), each made when first asked for."""
    store = tmp_path_factory.mktemp("pristine")

    def key(installed):
        if not snapshots.exists(store, installed.id):
            server = Server(installed, store / f"work-{installed.id}", Settings(**SMALL))
            server.initialise()
            snapshots.save(server.datadir, store, installed.id)
        return store, installed.id

    return key


@pytest.fixture
def make(tmp_path, pristine):
    """Makes servers, with new data unless `empty`, that are gone when the test is."""
    made = []

    def server(installed, folder="w", settings=None, *, empty=False, **options):
        one = Server(installed, tmp_path / folder, settings or Settings(**SMALL), **options)
        made.append(one)
        if not empty and not one.datadir.exists():
            one.work_dir.mkdir(exist_ok=True)
            snapshots.restore(*pristine(installed), one.datadir)
        return one

    yield server
    for one in made:
        one.kill()


def query(server, sql, database=None):
    with server.connect(database) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def alive(pid):
    return registry.start_ticks(pid) is not None


def test_every_setting_is_in_effect(installed, make):
    with make(installed) as server:
        assert server.server_version().startswith(installed.version)
        checks = server.verify()
        assert len(checks) > 30
        assert [check for check in checks if check.verdict != "equal"] == []
        assert query(server, "SELECT @@innodb_buffer_pool_size, @@local_infile, @@event_scheduler") == (
            (64 * 2**20, 1, "OFF"),
        )
        assert query(server, "SELECT @@collation_server") == (("utf8mb4_general_ci",),)
        pid = server.pid
    assert not alive(pid)
    assert registry.find(registry.name_of(server.work_dir)) is None


@pytest.mark.parametrize(
    "other",
    [
        {"durability": "none", "doublewrite": False, "isolation": "READ-COMMITTED", "binlog": True},
        {
            "durability": "relaxed",
            "adaptive_hash_index": True,
            "performance_schema": True,
            "flush_method": "fsync",
        },
    ],
    ids=["none", "relaxed"],
)
def test_settings_other_than_the_defaults_are_in_effect_too(installed, make, other):
    with make(installed, settings=Settings(**SMALL, **other)) as server:
        assert [check for check in server.verify() if check.verdict != "equal"] == []


def test_new_tables_get_the_collation_that_was_asked_for(installed, make):
    """Newer MariaDB has a second default, for tables that name a character set only."""
    with make(installed) as server:
        query(server, "CREATE DATABASE d")
        query(server, "CREATE TABLE t (c CHAR(10))", "d")
        rows = query(
            server, "SELECT table_collation FROM information_schema.tables WHERE table_schema = 'd'", "d"
        )
        assert rows == (("utf8mb4_general_ci",),)


def test_only_root_on_the_socket_exists(installed, make):
    with make(installed) as server:
        people = query(
            server,
            "SELECT User, Host FROM mysql.user WHERE User NOT LIKE 'mysql.%' AND User <> 'mariadb.sys'",
        )
        assert people == (("root", "localhost"),)
        with pytest.raises(pymysql.err.OperationalError):
            pymysql.connect(host="127.0.0.1", port=server.port, user="root")


def test_a_removed_variable_is_reported_as_ignored(mariadb, make):
    settings = Settings(**SMALL, extra={"mariadb": {"innodb_log_files_in_group": 4}})
    with make(mariadb, settings=settings) as server:
        (check,) = [check for check in server.verify() if check.verdict != "equal"]
        assert (check.variable, check.verdict, check.effective) == (
            "innodb_log_files_in_group",
            "ignored",
            None,
        )
        with pytest.raises(DynoError, match="innodb_log_files_in_group"):
            require_verified([check])
        require_verified(server.verify(accept=["innodb_log_files_in_group"]))


@pytest.mark.parametrize(
    ("which", "variable", "value"),
    [
        ("mariadb", "innodb_purge_batch_size", 1),
        ("mysql", "innodb_io_capacity", 5),
        ("mysql", "table_open_cache", 1),
    ],
)
def test_a_clamped_value_is_never_equal(which, variable, value, make, request):
    engine = request.getfixturevalue(which)
    wanted = Settings(**SMALL, extra={which: {variable: value}})
    with make(engine, settings=wanted) as server:
        reported = int(query(server, f"SELECT @@global.{variable}")[0][0])
        (check,) = [check for check in server.verify() if check.variable == variable]
        assert (check.verdict == "equal") is (reported == value)
        assert check.effective == str(reported)


def test_a_buffer_pool_that_the_server_rounds_is_an_error(mysql, make):
    with make(mysql, settings=Settings(**SMALL | {"buffer_pool": 200 * 2**20 + 1})) as server:
        checks = server.verify(accept=["buffer_pool"])
    with pytest.raises(DynoError, match="innodb_buffer_pool_size: asked 209715201, the server reports"):
        require_verified(checks)


def test_an_option_that_the_server_refuses_is_told_in_its_own_words(installed, make):
    server = make(installed, settings=Settings(**SMALL, extra={installed.family: {"no_such_option": 1}}))
    begun = time.monotonic()
    with pytest.raises(DynoError, match=r"unknown variable 'no.such.option=1'"):
        server.start()
    assert time.monotonic() - begun < 60
    assert not server.running
    assert server.exit_code not in (None, 0)


def test_kill_9_is_noticed_and_the_next_start_recovers(installed, make):
    server = make(installed)
    with server:
        query(server, "CREATE DATABASE d")
        query(server, "CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB", "d")
        query(server, "INSERT INTO t VALUES (1), (2)", "d")
        os.kill(server.pid, signal.SIGKILL)
        for _ in range(500):
            if not server.running:
                break
            time.sleep(0.01)
        assert not server.running
        assert server.exit_code == -signal.SIGKILL
        assert server.pid is None
        assert server.stop().how == "gone"
        server.start()
        assert query(server, "SELECT COUNT(*) FROM t", "d") == ((2,),)
        assert server.stop().how == "SHUTDOWN"


def test_a_server_that_hangs_is_ended_all_the_same(mariadb, make, monkeypatch):
    monkeypatch.setattr(registry, "TERM_TIMEOUT_S", 0.3)
    server = make(mariadb)
    server.start()
    pid = server.pid
    os.kill(pid, signal.SIGSTOP)
    report = server.stop(timeout_s=0.3)
    assert report.how == "SIGKILL"
    assert not report.clean
    assert not alive(pid)


def test_two_servers_cannot_share_a_folder(mariadb, make):
    with make(mariadb) as server:
        with pytest.raises(DynoError, match=f"pid {server.pid}") as caught:
            Server(mariadb, server.work_dir, Settings(**SMALL)).start()
        assert "dyno engines stop" in str(caught.value.hint)
        assert query(server, "SELECT 1") == ((1,),)


def test_a_busy_socket_is_refused_and_a_stale_one_replaced(mariadb, make):
    server = make(mariadb)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(server.socket))
        other.listen()
        with pytest.raises(DynoError, match="already answers"):
            server.start()
    assert server.socket.exists(), "the other server's socket is stale now"
    server.start()
    assert query(server, "SELECT 1") == ((1,),)


def test_a_busy_port_is_refused_at_once(mariadb, make):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        server = make(mariadb, port=port)
        with pytest.raises(DynoError, match=str(port)):
            server.start()
    server.start()
    assert server.port == port


def test_a_free_port_that_is_taken_in_between_is_replaced(mariadb, make, monkeypatch):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        offered = [taken]
        real = Server.start.__globals__["_free_port"]
        monkeypatch.setitem(
            Server.start.__globals__, "_free_port", lambda: offered.pop() if offered else real()
        )
        server = make(mariadb)
        server.start()
        assert server.port != taken
        assert offered == []


def test_the_server_runs_on_the_cpus_it_was_given(installed, make):
    cpu = max(os.sched_getaffinity(0))
    with make(installed, cpus=[cpu]) as server:
        tasks = [int(task.name) for task in Path(f"/proc/{server.pid}/task").iterdir()]
        assert len(tasks) > 5
        assert {frozenset(os.sched_getaffinity(task)) for task in tasks} == {frozenset([cpu])}
        assert Path(f"/proc/{server.pid}/comm").read_text().strip() == installed.server.name
        assert server.command[:3] == ["taskset", "-c", str(cpu)]


@pytest.mark.parametrize("cpus", [[4096], []])
def test_cpus_that_are_not_ours(mariadb, make, cpus):
    with pytest.raises(DynoError, match="CPU"):
        make(mariadb, cpus=cpus)


def test_a_long_work_folder_still_has_a_socket(mariadb, make):
    with make(mariadb, folder="x" * 120) as server:
        assert len(str(server.socket)) <= 100
        assert query(server, "SELECT 1") == ((1,),)


def test_environment_and_further_arguments_reach_the_server(mariadb, make):
    with make(mariadb, environment={"TZ": "Asia/Tokyo"}, extra_arguments=["--log-warnings=7"]) as server:
        assert b"TZ=Asia/Tokyo" in Path(f"/proc/{server.pid}/environ").read_bytes().split(b"\0")
        assert query(server, "SELECT @@log_warnings") == ((7,),)


def test_snapshot_of_a_stopped_server_is_what_the_next_one_sees(installed, make, tmp_path):
    server = make(installed)
    with server:
        query(server, "CREATE DATABASE d")
        query(server, "CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB", "d")
        query(server, "INSERT INTO t VALUES (1), (2), (3)", "d")
        with pytest.raises(DynoError, match="running"):
            snapshots.save(server.datadir, tmp_path / "store", "k")
    snapshots.save(server.datadir, tmp_path / "store", "k")
    with server:
        query(server, "DELETE FROM t", "d")
    snapshots.restore(tmp_path / "store", "k", server.datadir)
    with server:
        assert query(server, "SELECT COUNT(*) FROM t", "d") == ((3,),)
    other = make(installed, folder="elsewhere", empty=True)
    other.work_dir.mkdir()
    snapshots.restore(tmp_path / "store", "k", other.datadir)
    with other:
        assert query(other, "SELECT COUNT(*) FROM t", "d") == ((3,),)


def test_no_second_initialisation_over_data(mariadb, make):
    server = make(mariadb)
    with pytest.raises(DynoError, match="exists already"):
        server.initialise()


def test_no_start_without_data(mariadb, make):
    with pytest.raises(DynoError, match="does not exist"):
        make(mariadb, empty=True).start()


@pytest.mark.usefixtures("own_cache")
def test_a_killed_command_leaves_a_server_that_the_next_one_reaps(tmp_path):
    code = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        from dyno.engines import Server, Settings, find, install
        from dyno.engines.store import Store
        entry = Store().lookup("mariadb-10.11", "debian:bookworm")
        server = Server(entry.installed, Path(sys.argv[1]), Settings(buffer_pool="64MiB", redo="32MiB"))
        server.initialise()
        server.start()
        print(server.pid, flush=True)
        time.sleep(600)
        """
    )
    command = [sys.executable, "-c", code, str(tmp_path / "w")]
    starter = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    pid = int(starter.stdout.readline())
    assert reap() == [], "its starter lives"
    starter.kill()
    starter.wait()
    assert alive(pid)
    assert [record.pid for record in reap()] == [pid]
    assert not alive(pid)
