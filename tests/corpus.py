"""The raw logs of the 2026 ecosystem report, where they are at hand: they are not part of this repository."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

ARCHIVE = Path(os.environ.get("DYNO_CORPUS", "../shared/corpus/percona-2026-rw-local.tar.xz"))


def unpacked(into: Path) -> Path:
    """The corpus below `into`; skips the test where the archive is not there."""
    archive = ARCHIVE if ARCHIVE.is_absolute() else Path(__file__).parents[1] / ARCHIVE
    if not archive.is_file():
        pytest.skip("the corpus is not at hand: DYNO_CORPUS names percona-2026-rw-local.tar.xz")
    with tarfile.open(archive) as tar:
        tar.extractall(into, filter="data")
    return into
