"""`dyno check` from outside: a real server's data, sound and damaged."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from blackbox.stand import SETTINGS, Stand
from dyno.cli.main import call
from dyno.engines import Server, Settings, find, install

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.engine

NAME = "dyno-check-test"
DATABASE = "tpcc"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    """A server with one warehouse, known by its name as one of `dyno engines start` is."""
    folder = tmp_path_factory.mktemp("check")
    settings = Settings.model_validate(SETTINGS)
    with Server(install(find("mariadb@10.11")), folder / "server", settings, name=NAME) as server:
        stand = Stand(server, folder)
        spec = stand.spec("tpcc")
        spec["target"]["database"] = DATABASE
        spec["workload"]["options"] = {"warehouses": 1}
        done = stand.rig("prepare", spec)
        assert done.returncode == 0, done.stderr
        yield stand


def check(*arguments: str) -> int:
    """The exit code of `dyno check` on that server."""
    return call(["check", "--engine", NAME, "--database", DATABASE, *arguments])


@pytest.mark.usefixtures("loaded")
def test_sound_data_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--json") == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told["consistent"] is True
    assert len(told["conditions"]) >= 12
    assert told["counts"] == {"orders": 30_000, "payments": 30_000, "undelivered": 9_000}


def test_damaged_data_is_shown_with_its_rows(loaded: Stand, capsys: pytest.CaptureFixture[str]) -> None:
    damage = "UPDATE district SET d_ytd = d_ytd + 1 WHERE d_id = 4"
    with contextlib.closing(loaded.server.connect(DATABASE)) as connection, connection.cursor() as cursor:
        cursor.execute(damage)
    try:
        assert check() == 1
    finally:
        with contextlib.closing(loaded.server.connect(DATABASE)) as connection, connection.cursor() as cursor:
            cursor.execute(damage.replace("+", "-"))
    told = capsys.readouterr().out
    assert "2 of" in told
    assert "d_id = 4" in told.replace("\n", " ")


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--database", "nosuch"], "nosuch"),
        (["-o", "warehouses=0"], "warehouses"),
        (["--profile", "nosuch"], "profile"),
        (["--target", "mysql://root@127.0.0.1:1/tpcc"], "either --engine or --target"),
    ],
)
def test_what_cannot_be_checked_is_an_error(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(*arguments) != 0
    seen = capsys.readouterr()
    assert told in seen.err
    assert "hint:" in seen.err
    assert "Traceback" not in seen.err


def test_a_server_that_does_not_run_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["check", "--engine", "nosuch-server"]) == 1
    assert "no server 'nosuch-server' is running" in capsys.readouterr().err
