"""Installing from the machine's mirror, and what happens when it is not there."""

import json
import os
import shutil
import subprocess
import time
from dataclasses import replace

import pytest

from dyno.engines import Store, find, install
from dyno.engines.installing import FRESH_S
from dyno.engines.sources.apt_root import MirrorUnreachableError, SuiteMissingError
from dyno.errors import DynoError

pytestmark = pytest.mark.engine

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def offline(monkeypatch):
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, NOWHERE)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


def test_an_installed_engine_says_what_it_is_made_of(installed):
    said = subprocess.run(
        [installed.server, "--no-defaults", "--version"], capture_output=True, text=True, check=True
    )
    assert f"Ver {installed.version}" in said.stdout
    assert installed.version.startswith(installed.id.partition("-")[2])
    server_package = f"{installed.family}-server-core"
    assert [p for p in installed.packages if p.name == server_package and installed.version in p.version]
    assert all(len(p.sha256) == 64 for p in installed.packages)
    assert installed.prefix.name == installed.content_sha256[:16]
    assert subprocess.run([installed.client, "--no-defaults", "--version"], check=False).returncode == 0


def test_nothing_of_the_host_is_loaded(installed):
    """The programs use their own suite's loader and libraries, or they would not be that suite's build."""
    loader = next(installed.prefix.glob("**/ld-linux*.so.*"))
    listed = subprocess.run(
        [loader, "--list", installed.server], capture_output=True, text=True, check=True
    ).stdout
    paths = [line.split("=>")[1].split()[0] for line in listed.splitlines() if "=>" in line]
    assert len(paths) > 5
    assert [path for path in paths if not path.startswith(str(installed.prefix))] == []


def test_a_cold_install_repairs_a_damaged_cache(mariadb, tmp_path, monkeypatch):
    store = Store(tmp_path / "cache")
    user = Store()
    for package in mariadb.packages:
        source = user.debs / package.sha256
        if source.exists():
            shutil.copytree(source, store.debs / package.sha256)
    damaged = next(store.debs.glob("*/mariadb-common_*.deb"))
    damaged.write_bytes(b"damaged")
    (store.prefixes / ".build-0123-1").mkdir()
    lines = []
    again = install(find("mariadb@10.11"), store=store, progress=lines.append)
    assert again.content_sha256 == mariadb.content_sha256
    assert again.prefix.is_relative_to(tmp_path)
    assert any(line.startswith("1 of ") for line in lines), lines
    assert damaged.read_bytes() != b"damaged"
    assert [path.name for path in store.prefixes.iterdir()] == [again.prefix.name]
    monkeypatch.setattr("dyno.engines.installing._from_source", lambda *_: pytest.fail("the cache is fresh"))
    assert install(find("mariadb@10.11"), store=store) == again


@pytest.mark.usefixtures("offline")
def test_offline_the_last_prefix_is_used_and_said_so(mariadb, own_cache):
    lines = []
    begun = time.monotonic()
    again = install(find("mariadb@10.11"), progress=lines.append)
    assert time.monotonic() - begun < 60
    assert again.prefix == mariadb.prefix
    (notice,) = again.notices
    assert "does not answer" in notice
    assert mariadb.version in notice
    assert notice in lines
    assert json.loads((own_cache / "index.json").read_text())["requests"], "the index is kept"


@pytest.mark.usefixtures("offline")
def test_offline_without_a_prefix_is_an_error_with_a_hint(tmp_path):
    begun = time.monotonic()
    with pytest.raises(MirrorUnreachableError, match="does not answer") as caught:
        install(find("mariadb@10.11"), store=Store(tmp_path / "cache"))
    assert time.monotonic() - begun < 60
    assert "proxy" in str(caught.value.hint)


def test_a_suite_that_is_gone(tmp_path):
    spec = replace(find("mariadb@10.11"), source="debian:woody")
    with pytest.raises(SuiteMissingError, match="woody"):
        install(spec, store=Store(tmp_path / "cache"))


def test_a_suite_with_another_version(tmp_path):
    spec = replace(find("mariadb@11.8"), source="debian:bookworm")
    with pytest.raises(DynoError, match=r"10\.11"):
        install(spec, store=Store(tmp_path / "cache"))


def test_unknown_source(tmp_path):
    with pytest.raises(DynoError, match="ftp:"):
        install(replace(find("mysql@9.7"), source="ftp:x"), store=Store(tmp_path / "cache"))


@pytest.mark.usefixtures("own_cache")
def test_a_stale_entry_is_asked_for_again_a_fresh_one_is_not(mariadb, monkeypatch):
    asked = []

    def source(spec, _store, _progress):
        asked.append(spec.id)
        return mariadb

    monkeypatch.setattr("dyno.engines.installing._from_source", source)
    spec = find("mariadb@10.11")
    install(spec)
    assert asked == [spec.id], "the copied index is as of long ago"
    install(spec)
    assert asked == [spec.id]
    install(spec, refresh=True)
    assert asked == [spec.id, spec.id]
    entry = Store().lookup(spec.id, spec.source)
    assert entry is not None
    assert time.time() - entry.checked_epoch_s < FRESH_S


def test_a_prefix_that_vanished_is_no_prefix(own_cache):
    index = json.loads((own_cache / "index.json").read_text())
    index["requests"]["mariadb-10.11 debian:bookworm"]["installed"]["server"] = "/nowhere/mariadbd"
    (own_cache / "index.json").write_text(json.dumps(index))
    assert Store().lookup("mariadb-10.11", "debian:bookworm") is None


def test_a_damaged_index_is_named(own_cache):
    (own_cache / "index.json").write_text("{")
    with pytest.raises(DynoError, match=r"index\.json"):
        Store().entries()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_cache_that_cannot_be_made(tmp_path):
    (tmp_path / "ro").mkdir(mode=0o500)
    with pytest.raises(DynoError, match="cache folder") as caught:
        Store(tmp_path / "ro/cache")
    assert "DYNO_CACHE" in str(caught.value.hint)


def test_a_cache_in_the_way_of_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DynoError, match="cache folder"):
        Store(tmp_path / "file/cache")
