"""Engines from Debian suites: resolved and verified by the host's apt, unpacked without root."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

from dyno.engines.installed import Installed, Package
from dyno.engines.sources import prefix
from dyno.engines.sources.apt_root import AptRoot, Deb, SuiteMissingError, architecture
from dyno.engines.sources.apt_sources import debian_mirror, system_sources
from dyno.engines.versions import parse_version
from dyno.errors import DynoError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dyno.engines.catalog import EngineSpec
    from dyno.engines.store import Progress, Store

_WITHOUT_SECURITY = {"sid", "unstable", "experimental"}
_PACKAGES = {
    "mariadb": ("mariadb-server-core", "mariadb-client-core"),
    "mysql": ("mysql-server-core", "mysql-client-core"),
}
_VERSIONED_NAMES = {"bullseye"}
"""Suites whose package names end in the series (`mariadb-server-core-10.5`)."""

_PROGRAMS = {"mariadb": ("mariadbd", "mariadb"), "mysql": ("mysqld", "mysql")}
_UNPACKED_FACTOR = 10
"""Bytes of disk to have free per byte of packages: 7 when unpacked, and room to patch."""


def install(spec: EngineSpec, store: Store, progress: Progress) -> Installed:
    """Fetch, verify, unpack and patch the engine; reuse what the cache has of it.

    The caller holds the store's lock.

    Raises:
        MirrorUnreachableError: The mirror does not answer.
        DynoError: The suite, the package, the signature, a hash, the disk or the architecture is wrong.
    """
    suite = spec.source.partition(":")[2]
    packages = _package_names(spec, suite)
    apt = _open(suite, store, progress)
    debs = apt.resolve(packages)
    _require_series(spec, packages[0], debs)
    content = prefix.content_sha256([f"{deb.package} {deb.version} {deb.sha256}" for deb in debs])
    final = store.prefixes / content[:16]
    prefix.remove_leftovers(store.prefixes)
    if not final.exists():
        _require_space(store.root, debs)
        files = _collect(apt, packages, debs, store, progress)
        prefix.build(files, final, architecture(), progress)
    return _describe(spec, final, content, debs)


def _open(suite: str, store: Store, progress: Progress) -> AptRoot:
    """A root with a fresh index of the suite, and of its security suite where the mirror has one."""
    mirror = debian_mirror(system_sources())
    root = store.root / "apt" / suite
    if suite not in _WITHOUT_SECURITY and mirror.security is not None:
        apt = AptRoot(root, mirror, suite, security=True)
        try:
            apt.update(progress)
        except SuiteMissingError:
            progress(f"the mirror has no {suite}-security")
        else:
            return apt
    apt = AptRoot(root, mirror, suite, security=False)
    apt.update(progress)
    return apt


def _package_names(spec: EngineSpec, suite: str) -> tuple[str, ...]:
    suffix = f"-{spec.version}" if suite in _VERSIONED_NAMES else ""
    return tuple(name + suffix for name in _PACKAGES[spec.family])


def _require_series(spec: EngineSpec, package: str, debs: Sequence[Deb]) -> None:
    """Development suites move on: a name with a series must not silently become another one."""
    found = next(deb.version for deb in debs if deb.package == package)
    wanted = parse_version(spec.version)
    upstream = parse_version(found.partition(":")[2] or found)
    if upstream[: len(wanted)] != wanted:
        raise DynoError(
            f"{spec.name} is not in {spec.source} any more: it has {found}",
            hint="choose another engine (`dyno engines list`); what the cache holds is kept",
        )


def _require_space(root: Path, debs: Sequence[Deb]) -> None:
    needed = sum(deb.size_bytes for deb in debs) * _UNPACKED_FACTOR
    free = shutil.disk_usage(root).free
    if free < needed:
        raise DynoError(
            f"{root} has {free / 2**20:.0f} MiB free, the engine needs about {needed / 2**20:.0f} MiB",
            hint="free some space, or set DYNO_CACHE to a folder on another disk",
        )


def _collect(
    apt: AptRoot, packages: Sequence[str], debs: Sequence[Deb], store: Store, progress: Progress
) -> list[Path]:
    """Every package file from the cache, after the missing ones were fetched, verified and put there."""
    paths = {deb: store.debs / deb.sha256 / deb.file for deb in debs}
    cached = [path for deb, path in paths.items() if path.exists() and prefix.file_sha256(path) == deb.sha256]
    missing = [deb for deb, path in paths.items() if path not in cached]
    if missing:
        size = sum(deb.size_bytes for deb in missing) / 1e6
        progress(f"{len(missing)} of {len(debs)} packages to download ({size:.1f} MB)")
        archives = apt.download(packages, cached, progress)
        for deb in missing:
            _keep(archives / deb.file, paths[deb], deb)
    return list(paths.values())


def _keep(downloaded: Path, kept: Path, deb: Deb) -> None:
    found = prefix.file_sha256(downloaded)
    if found != deb.sha256:
        downloaded.unlink()
        raise DynoError(
            f"{deb.file} has SHA-256 {found}, the signed index says {deb.sha256}",
            hint="the mirror or a proxy delivers wrong data: try again, then try another mirror",
        )
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(downloaded, kept)


def _describe(spec: EngineSpec, final: Path, content: str, debs: Sequence[Deb]) -> Installed:
    server_name, client_name = _PROGRAMS[spec.family]
    server = final / "usr/sbin" / server_name
    packages = tuple(Package(deb.package, deb.version, deb.sha256) for deb in debs)
    installed = Installed(
        id=spec.id,
        family=spec.family,
        version=spec.version,
        prefix=final,
        source=spec.source,
        content_sha256=content,
        packages=packages,
        server=server,
        client=final / "usr/bin" / client_name,
    )
    try:
        return replace(installed, version=own_version(server))
    except DynoError:
        shutil.rmtree(final, ignore_errors=True)
        raise


def own_version(server: Path) -> str:
    """The version that a server binary says of itself, `10.11.14`.

    Raises:
        DynoError: It does not run here; the message has the loader's words, such as a missing library.
    """
    try:
        done = subprocess.run(
            [str(server), "--no-defaults", "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DynoError(f"{server} does not run: {error}", hint="is it built for this machine?") from error
    match = re.search(r"Ver (\d+\.\d+\.\d+)", done.stdout)
    if done.returncode != 0 or match is None:
        said = (done.stderr or done.stdout).strip()[-400:]
        raise DynoError(f"{server} does not run: {said}", hint="a library is missing or of another version")
    return match.group(1)
