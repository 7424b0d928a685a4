"""The two runs that these tests read, built and analysed once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import dyno
from data.two_runs import FIRST, SECOND, build_both

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.data import RunData


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_both(tmp_path_factory.mktemp("data") / "runs")


@pytest.fixture(scope="session")
def first(runs: Path) -> RunData:
    return dyno.open(runs / FIRST)


@pytest.fixture(scope="session")
def second(runs: Path) -> RunData:
    return dyno.open(runs / SECOND)
