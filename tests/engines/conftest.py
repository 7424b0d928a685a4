"""Real engines for the tests: fetched once into the user's cache, run in each test's own folder."""

import json
import shutil

import pytest

from dyno.engines import Store, find, install

ENGINES = ("mariadb@10.11", "mariadb@11.8", "mysql@9.7")


def _installed(name):
    return install(find(name))


@pytest.fixture(scope="session", params=ENGINES)
def installed(request):
    return _installed(request.param)


@pytest.fixture(scope="session")
def mariadb():
    return _installed("mariadb@10.11")


@pytest.fixture(scope="session")
def mysql():
    return _installed("mysql@9.7")


@pytest.fixture
def own_cache(mariadb, tmp_path, monkeypatch):
    """A cache of the test's own that knows the engines of the user's cache, as of long ago."""
    assert mariadb.server.exists()
    source = Store().index
    cache = tmp_path / "cache"
    cache.mkdir()
    shutil.copy(source, cache / "index.json")
    index = json.loads((cache / "index.json").read_text())
    for request in index["requests"].values():
        request["checked_epoch_s"] = 0.0
    (cache / "index.json").write_text(json.dumps(index))
    monkeypatch.setenv("DYNO_CACHE", str(cache))
    return cache
