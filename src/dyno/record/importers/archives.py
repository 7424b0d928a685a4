"""Logs in tar archives: unpacked beside the import, for as long as it lasts."""

from __future__ import annotations

import tarfile
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dyno.errors import DynoError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2")


@contextmanager
def unpacked(paths: Sequence[Path]) -> Generator[list[Path]]:
    """The paths, with a folder of its content in place of each archive.

    Raises:
        DynoError: An archive is damaged, or holds what belongs into no folder (absolute paths, devices).
    """
    with tempfile.TemporaryDirectory(prefix="dyno-import-") as folder:
        yield [
            _unpack(path, Path(folder) / str(number))
            if path.name.lower().endswith(SUFFIXES) and path.is_file()
            else path
            for number, path in enumerate(paths)
        ]


def _unpack(archive: Path, folder: Path) -> Path:
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    except (tarfile.TarError, OSError, EOFError) as error:
        raise DynoError(
            f"cannot unpack {archive}: {error}", hint="is the archive whole? unpack it and name the folder"
        ) from None
    return folder
