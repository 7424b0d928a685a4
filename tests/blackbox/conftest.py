"""Real servers and the built rig for tests that see both only from outside."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from blackbox import tpcc
from blackbox.gate import Gate, open_gate
from blackbox.stand import ENGINES, SETTINGS, Stand
from dyno.engines import Server, Settings, find, install
from dyno.engines.sources.apt_root import MirrorUnreachableError

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module", params=ENGINES)
def stand(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    """A server of each family with the OLTP tables."""
    folder = tmp_path_factory.mktemp("stand")
    settings = Settings.model_validate(SETTINGS)
    with Server(install(find(request.param)), folder / "server", settings) as server:
        made = Stand(server, folder)
        made.prepare()
        yield made


@pytest.fixture(scope="session", params=ENGINES)
def compared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tpcc.Compared]:
    """A server of each family with the TPC-C-derived tables for each shape of SQL, each driven once."""
    folder = tmp_path_factory.mktemp("tpcc")
    settings = Settings.model_validate(SETTINGS)
    with Server(install(find(request.param)), folder / "server", settings) as server:
        yield tpcc.compare(Stand(server, folder))


@pytest.fixture(scope="session", params=ENGINES)
def gate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A server of each family that can be logged in to in every way."""
    with ExitStack() as stack:
        try:
            folder = tmp_path_factory.mktemp("gate")
            opened = stack.enter_context(open_gate(install(find(request.param)), folder))
        except MirrorUnreachableError as error:
            pytest.skip(f"MariaDB's ed25519 plugin cannot be fetched: {error}")
        yield opened
