"""Snapshots of a stopped data directory: kept once, put back before every trial.

A file is cloned where the filesystem shares blocks (reflink), else copied without its holes. A snapshot
appears whole or not at all, and a restored directory is compared with the snapshot's list of files and sizes.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from dyno.errors import DynoError

Method = Literal["reflink", "copy"]
CopyProgress = Callable[[int, int], None]
"""Called with bytes done and bytes in all."""

_FICLONE = 0x40049409
_CHUNK = 8 * 2**20
_LISTING = "files.json"
_NO_REFLINK = {errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.ENOSYS, errno.EPERM}


@dataclass(frozen=True)
class Snapshot:
    """One kept data directory.

    Attributes:
        key: Its name, usually a hash of all that it depends on.
        path: Its folder.
        files: Number of files.
        size_bytes: Sum of the files' sizes, holes included.
        disk_bytes: What it occupies (shared blocks counted as if they were its own).
        created: When it was made, seconds since the epoch.
        about: What its maker said of it, such as engine and workload; empty in those of older versions.
    """

    key: str
    path: Path
    files: int
    size_bytes: int
    disk_bytes: int
    created: float
    about: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Copied:
    """What saving or restoring did: the method, the sum of file sizes, and the time it took."""

    method: Method
    size_bytes: int
    seconds: float


def _quiet(_done: int, _all: int) -> None:
    return


def exists(store: Path, key: str) -> bool:
    """Whether a whole snapshot of that key is in `store`."""
    return (_folder(store, key) / _LISTING).is_file()


def save(
    datadir: Path,
    store: Path,
    key: str,
    progress: CopyProgress = _quiet,
    *,
    about: dict[str, str] | None = None,
) -> Copied:
    """Keep a copy of a **stopped** server's data directory under `key`, replacing an older one.

    Args:
        datadir: The data directory; its server has ended cleanly.
        store: Folder of snapshots; made if need be. Reflinks need it on the same filesystem.
        key: Name of the snapshot.
        progress: Called as bytes are copied.
        about: What it is of, for people who look for what takes space.

    Raises:
        DynoError: The directory is in use or missing, or the disk is full.
    """
    _require_stopped(datadir)
    final = _folder(store, key)
    building = final.with_name(f".{final.name}.{os.getpid()}")
    store.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(store)
    try:
        building.mkdir()
        copied = _copy_tree(datadir, building / "data", progress)
        listing = _listing(building / "data")
        record = {"created": time.time(), "about": about or {}, "files": listing}
        _write_synced(building / _LISTING, json.dumps(record))
        shutil.rmtree(final, ignore_errors=True)
        building.replace(final)
        _sync_folder(store)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return copied


def restore(store: Path, key: str, datadir: Path, progress: CopyProgress = _quiet) -> Copied:
    """Put a snapshot back as `datadir`, replacing what is there; its server is stopped.

    Raises:
        DynoError: There is no such snapshot, it is damaged, the directory is in use, or the disk is full.
    """
    listing = _read_listing(store, key)
    source = _folder(store, key) / "data"
    _require_same(listing, _listing(source), f"the snapshot {key} in {store}")
    if datadir.exists():
        _require_stopped(datadir)
    building = datadir.with_name(f".{datadir.name}.{os.getpid()}")
    shutil.rmtree(building, ignore_errors=True)
    try:
        copied = _copy_tree(source, building, progress)
        _require_same(listing, _listing(building), f"the copy of snapshot {key}")
        shutil.rmtree(datadir, ignore_errors=True)
        building.replace(datadir)
        _sync_folder(datadir.parent)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return copied


def remove(store: Path, key: str) -> None:
    """Remove a snapshot if it is there."""
    shutil.rmtree(_folder(store, key), ignore_errors=True)


def listed(store: Path) -> list[Snapshot]:
    """Every whole snapshot in `store`, oldest first."""
    found = []
    for path in store.glob(f"*/{_LISTING}"):
        record = json.loads(path.read_text(encoding="utf-8"))
        sizes = [size for size in record["files"].values() if size is not None]
        disk = sum(file.stat().st_blocks * 512 for file in _files(path.parent / "data"))
        folder = path.parent
        made, about = record["created"], record.get("about", {})
        found.append(Snapshot(folder.name, folder, len(sizes), sum(sizes), disk, made, about))
    return sorted(found, key=lambda snapshot: snapshot.created)


def _folder(store: Path, key: str) -> Path:
    if not key or key.startswith(".") or "/" in key:
        raise DynoError(f"{key!r} cannot name a snapshot", hint="use letters, digits, - and _")
    return store / key


def _remove_leftovers(store: Path) -> None:
    """Remove what processes that are gone left half-made."""
    for path in store.glob(".*.*"):
        pid = path.name.rpartition(".")[2]
        if pid == str(os.getpid()) or not Path(f"/proc/{pid}").exists():
            shutil.rmtree(path, ignore_errors=True)


def _read_listing(store: Path, key: str) -> dict[str, int | None]:
    try:
        text = (_folder(store, key) / _LISTING).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DynoError(f"there is no snapshot {key} in {store}", hint="build the data again") from None
    files: dict[str, int | None] = json.loads(text)["files"]
    return files


def _require_stopped(datadir: Path) -> None:
    """A server holds a lock on its system tablespace; a copy of a running one is no state at all."""
    if not datadir.is_dir():
        raise DynoError(f"{datadir} is no data directory", hint="initialise the server first")
    tablespace = datadir / "ibdata1"
    if not tablespace.exists():
        return
    with tablespace.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DynoError(
                f"a server is running on {datadir}", hint="stop it before its data is copied or replaced"
            ) from None


def _files(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink())


def _listing(root: Path) -> dict[str, int | None]:
    """Relative path → size in bytes, None for a folder."""
    paths = (path for path in sorted(root.rglob("*")) if path.is_dir() or path.is_file())
    return {str(path.relative_to(root)): None if path.is_dir() else path.stat().st_size for path in paths}


def _require_same(expected: dict[str, int | None], found: dict[str, int | None], what: str) -> None:
    if expected == found:
        return
    names = sorted(
        name for name in expected.keys() | found.keys() if expected.get(name, -1) != found.get(name, -1)
    )
    shown = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")  # noqa: PLR2004
    raise DynoError(
        f"{what} is damaged: {len(names)} files differ in presence or size ({shown})",
        hint="remove the snapshot and build the data again",
    )


def _copy_tree(source: Path, target: Path, progress: CopyProgress) -> Copied:
    begun = time.monotonic()
    files = list(_files(source))
    total = sum(path.stat().st_size for path in files)
    method: Method = "reflink"
    done = 0
    try:
        target.mkdir(parents=True, mode=0o700)
        for folder in sorted(path for path in source.rglob("*") if path.is_dir()):
            (target / folder.relative_to(source)).mkdir(mode=0o700)
        for path in files:
            if _copy_file(path, target / path.relative_to(source)) == "copy":
                method = "copy"
            done += path.stat().st_size
            progress(done, total)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise DynoError(
            f"the disk is full: {source} ({total / 2**20:.0f} MiB) does not fit beside {target}",
            hint="free some space, or use a smaller data set",
        ) from error
    return Copied(method, total, time.monotonic() - begun)


def _copy_file(source: Path, target: Path) -> Method:
    with source.open("rb") as reader, target.open("xb") as writer:
        os.fchmod(writer.fileno(), 0o600)
        method: Method = "reflink"
        try:
            fcntl.ioctl(writer.fileno(), _FICLONE, reader.fileno())
        except OSError as error:
            if error.errno not in _NO_REFLINK:
                raise
            method = "copy"
            _copy_data(reader.fileno(), writer.fileno())
        os.fsync(writer.fileno())
    return method


def _copy_data(reader: int, writer: int) -> None:
    """Copy the written ranges, leave the holes, and reserve what was reserved (redo logs mostly are)."""
    status = os.fstat(reader)
    size = status.st_size
    if size and status.st_blocks * 512 >= size:
        # The server reserved the whole file; a copy with holes would make it allocate while it is measured.
        os.posix_fallocate(writer, 0, size)
    else:
        os.ftruncate(writer, size)
    offset = 0
    while offset < size:
        try:
            begin = os.lseek(reader, offset, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole up to the end
                return
            raise
        offset = os.lseek(reader, begin, os.SEEK_HOLE)
        _copy_range(reader, writer, begin, offset)


def _copy_range(reader: int, writer: int, begin: int, end: int) -> None:
    while begin < end:
        chunk = os.pread(reader, min(_CHUNK, end - begin), begin)
        if not chunk:
            return
        begin += os.pwrite(writer, chunk, begin)


def _write_synced(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
