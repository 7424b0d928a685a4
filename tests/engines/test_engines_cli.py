"""`dyno engines`: black box, on a real server."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from dyno.cli import engines
from dyno.engines import CATALOG, registry
from dyno.errors import DynoError

pytestmark = pytest.mark.engine

runner = CliRunner()


@pytest.fixture(autouse=True)
def cache(own_cache, monkeypatch):
    monkeypatch.setattr("dyno.engines.installing.FRESH_S", float("inf"))
    yield own_cache
    for record in registry.records():
        pid = record.process()
        if pid is not None:
            registry.kill(pid)


def call(*arguments):
    result = runner.invoke(engines.app, arguments)
    if result.exception is not None:
        raise result.exception
    return result.stdout


def call_json(*arguments):
    return json.loads(call(*arguments, "--json"))


def test_list_names_every_engine():
    table = call("list")
    listed = call_json("list")
    assert [engine["name"] for engine in listed["engines"]] == [spec.name for spec in CATALOG]
    assert all(spec.name in table and spec.source in table for spec in CATALOG)
    by_id = {engine["id"]: engine for engine in listed["engines"]}
    assert by_id["mariadb-10.11"]["version"] in table
    assert by_id["mariadb-10.11"]["size_bytes"] > 50e6


def test_install_says_what_is_there(mariadb):
    (engine,) = call_json("install", "mariadb@10.11")
    assert engine["content_sha256"] == mariadb.content_sha256
    assert mariadb.version in call("install", "mariadb@10.11")


def test_a_named_server_lives_until_it_is_stopped():
    options = [
        "--name",
        "mine",
        "--set",
        "buffer_pool=64MiB",
        "--set",
        "redo=32M",
        "--variable",
        "log_warnings=7",
    ]
    started = call_json("start", "mariadb@10.11", *options)
    assert started["server_version"].startswith("10.11.")
    (server,) = call_json("list")["servers"]
    assert (server["name"], server["pid"], server["kept"]) == ("mine", started["pid"], True)

    shell = [
        sys.executable,
        "-c",
        "from dyno.cli.engines import app; app()",
        "shell",
        "mine",
        "--",
        "-BN",
        "-e",
    ]
    said = subprocess.run(
        [*shell, "SELECT @@innodb_buffer_pool_size, @@log_warnings, CURRENT_USER()"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.split() == ["67108864", "7", "root@localhost"]

    with pytest.raises(DynoError, match="already running"):
        call("start", "mariadb@10.11", "--name", "mine")
    (stopped,) = call_json("stop", "mine")
    assert stopped["how"] == "SHUTDOWN"
    assert call_json("list")["servers"] == []

    call("start", "mariadb@10.11", *options)
    assert "SHUTDOWN" in call("stop", "--all", "--purge")
    with pytest.raises(DynoError, match="no server"):
        call("stop", "mine")


def test_wrong_knobs_are_named():
    with pytest.raises(DynoError, match="buffer_pol") as caught:
        call("start", "mariadb@10.11", "--set", "buffer_pol=1G")
    assert "buffer_pool" in str(caught.value.hint)
    with pytest.raises(DynoError, match="no value"):
        call("start", "mariadb@10.11", "--set", "buffer_pool")
    with pytest.raises(DynoError, match="cannot name"):
        call("start", "mariadb@10.11", "--name", "../up")


@pytest.mark.parametrize(("text", "cpus"), [("0", [0]), ("0,2-4", [0, 2, 3, 4]), ("1-1", [1])])
def test_cpu_lists(text, cpus):
    assert engines.parse_cpus(text) == cpus


@pytest.mark.parametrize("text", ["", "a", "1-", "-1", "1,,2"])
def test_what_is_no_cpu_list(text):
    with pytest.raises(DynoError, match="CPUs"):
        engines.parse_cpus(text)


def test_nothing_to_stop_and_no_shell():
    with pytest.raises(DynoError, match="no server named"):
        call("stop")
    with pytest.raises(DynoError, match="running server"):
        call("shell")
