"""Logging in: every way a server may check a password, from every place a password may come from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from blackbox.gate import PASSWORD
from blackbox.tap import tapped

if TYPE_CHECKING:
    from pathlib import Path

    from blackbox.gate import Gate

pytestmark = pytest.mark.engine

PUBLIC_KEY = b"BEGIN PUBLIC KEY"


@pytest.mark.parametrize("transport", ["tcp", "socket"])
def test_every_plugin_lets_the_right_password_in(gate: Gate, transport: str) -> None:
    """MySQL's plugins need RSA here: neither TCP nor the socket is encrypted."""
    for plugin in gate.plugins:
        place: dict[str, Any] = {"socket": str(gate.server.socket)} if transport == "socket" else {}
        record = gate.drive(gate.trial(plugin, **place), SECRET=PASSWORD)
        used = record[0]["connection"]
        assert used["auth_plugin"].removeprefix("client_") == plugin
        assert (used["transport"], used["tls"]) == ("unix" if place else "tcp", None)
        assert sum(kind["ok"] for kind in record[-1]["transactions"]) > 0


def test_hundreds_of_logins_with_a_nonce_each(gate: Gate) -> None:
    """A nonce is random bytes: what only some of them break shows in numbers."""
    for plugin in gate.plugins:
        spec = gate.trial(plugin)
        spec["load"] = {"closed": {"sessions": 400}}
        gate.drive(spec, SECRET=PASSWORD)


def test_an_empty_password_is_a_password(gate: Gate) -> None:
    # an account with ed25519 and no password lets nobody in, MariaDB's own client neither
    for plugin in set(gate.plugins) - {"ed25519"}:
        gate.drive(gate.trial(f"{plugin}_empty", password_env=None))
        gate.drive(gate.trial(f"{plugin}_empty"), SECRET="")


def test_a_wrong_password_ends_with_the_servers_words_and_a_hint(gate: Gate) -> None:
    for plugin in gate.plugins:
        for wrong in (PASSWORD[:-1], PASSWORD + "x", ""):
            record = gate.folder / "wrong.ndjson"
            done = gate.rig("drive", gate.trial(plugin), "--record", str(record), SECRET=wrong)
            assert done.returncode == 1, done.stderr
            assert "error: " in done.stderr
            assert "1045" in done.stderr
            assert f"'{plugin}'" in done.stderr
            assert "hint: check user, password" in done.stderr
            summary = json.loads(record.read_text().splitlines()[-1])
            assert (summary["outcome"], summary["error"]["code"]) == ("failed", 1045)


def test_a_password_from_a_file_and_none_of_it_anywhere(gate: Gate, tmp_path: Path) -> None:
    plugin = gate.plugins[0]
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\nnot the password\n")
    target: dict[str, Any] = {"password_env": None, "password_file": str(file)}
    with_file = gate.trial(plugin, **target)
    done = gate.rig("drive", with_file, "--record", str(gate.record))
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    written = gate.record.read_text() + done.stderr
    assert PASSWORD not in written
    assert json.dumps(PASSWORD)[1:-1] not in written
    file.write_text("wrong\n")
    done = gate.rig("drive", with_file)
    assert done.returncode == 1
    assert "wrong" not in done.stdout + done.stderr


def test_a_password_that_is_not_there_is_a_wrong_spec(gate: Gate, tmp_path: Path) -> None:
    plugin = gate.plugins[0]
    file = str(tmp_path / "none")
    targets: list[tuple[dict[str, Any], str]] = [
        ({"password_env": "DYNO_NO_SUCH_VARIABLE"}, "$DYNO_NO_SUCH_VARIABLE"),
        ({"password_env": None, "password_file": file}, file),
    ]
    for target, named in targets:
        done = gate.rig("drive", gate.trial(plugin, **target))
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
        assert named in done.stderr
        assert "\nhint: " in done.stderr


def test_caching_sha2_asks_for_the_key_when_cold_and_not_when_warm(gate: Gate) -> None:
    if "caching_sha2_password" not in gate.plugins:
        return
    for _ in range(2):
        gate.query("FLUSH PRIVILEGES")
        asked = []
        for _ in range(2):
            with tapped(gate.server.port) as tap:
                gate.drive(gate.trial("caching_sha2_password", port=tap.port), SECRET=PASSWORD)
                asked.append(PUBLIC_KEY in tap.from_server)
                assert PASSWORD.encode() not in tap.from_client
        assert asked == [True, False]
    # a cold cache takes a wrong password no more than a warm one
    for flush in (True, False):
        if flush:
            gate.query("FLUSH PRIVILEGES")
        assert gate.rig("drive", gate.trial("caching_sha2_password"), SECRET="wrong").returncode == 1


def test_prepare_and_cleanup_log_in_alike(gate: Gate) -> None:
    for plugin in gate.plugins:
        own = gate.trial(plugin)
        assert gate.rig("cleanup", own, SECRET=PASSWORD).returncode == 0
        assert gate.rig("prepare", own, SECRET=PASSWORD).returncode == 0
        for command in ("prepare", "cleanup"):
            done = gate.rig(command, own, SECRET="wrong")
            assert done.returncode == 1
            assert "1045" in done.stderr
            assert "hint: check user, password" in done.stderr


def test_a_database_that_is_not_there_and_one_that_is_not_allowed(gate: Gate) -> None:
    plugin = gate.plugins[0]
    gate.query("CREATE DATABASE IF NOT EXISTS secret")
    for database, codes in (("nowhere", {"1044", "1049"}), ("secret", {"1044"})):
        done = gate.rig("drive", gate.trial(plugin, database=database), SECRET=PASSWORD)
        assert done.returncode == 1
        assert any(code in done.stderr for code in codes), done.stderr
        assert "hint: " in done.stderr
