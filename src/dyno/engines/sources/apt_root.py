"""The host's apt with a private root: it resolves, downloads and verifies, and installs nothing.

The machine's own package state is neither read nor changed: the private root has its own lists and its own
status file, in which the packages that a server does not need count as installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from dyno.errors import DynoError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dyno.engines.sources.apt_sources import AptSource, Mirror
    from dyno.engines.store import Progress

DEBIAN_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
TIMEOUT_S = 600.0

_ASSUMED = ("adduser", "debconf", "lsof", "perl", "perl-base", "procps", "psmisc", "systemd")
_PRINTED = re.compile(r"'(?P<uri>[^']+)' (?P<file>\S+) (?P<size>\d+) SHA256:(?P<sha256>[0-9a-f]{64})")


class MirrorUnreachableError(DynoError):
    """The mirror did not answer: what is already unpacked may still serve."""


class SuiteMissingError(DynoError):
    """The mirror answers, but it has no such suite."""


@dataclass(frozen=True)
class Deb:
    """One package file that the resolver chose.

    Attributes:
        package: Name.
        version: Debian version, `1:10.11.14-0+deb12u2`.
        file: File name as apt stores it.
        size_bytes: Size of the file.
        sha256: Its hash according to the signed index.
    """

    package: str
    version: str
    file: str
    size_bytes: int
    sha256: str


class AptRoot:
    """apt for one suite.

    Args:
        root: The private root; kept between uses, so that index files are fetched once.
        mirror: Where to fetch from.
        suite: Code name, `bookworm`.
        security: Whether the suite has a security suite that should be used.

    Raises:
        DynoError: This host has no apt.
    """

    def __init__(self, root: Path, mirror: Mirror, suite: str, *, security: bool) -> None:
        for tool in ("apt-get", "dpkg", "dpkg-deb"):
            if shutil.which(tool) is None:
                raise DynoError(
                    f"this host has no {tool}, which engines from Debian packages need",
                    hint="use a Debian or Ubuntu host",
                )
        self.root = root
        self.archives = root / "archives"
        self._suite = suite
        self._lay_out(mirror, security=security)

    def update(self, progress: Progress) -> None:
        """Fetch and verify the suite's index files.

        Raises:
            MirrorUnreachableError: No answer.
            SuiteMissingError: The mirror has no such suite.
            DynoError: Its signature is not trusted.
        """
        progress(f"reading the package index of {self._suite}")
        self._run("update")

    def resolve(self, packages: Sequence[str]) -> list[Deb]:
        """The dependency closure of `packages`, without what a server does not need.

        Raises:
            DynoError: The suite has no such package, or it cannot be installed.
        """
        self._empty_archives()
        printed = self._run("install", "--print-uris", *packages)
        debs = [_deb(match) for match in _PRINTED.finditer(printed)]
        if not debs:
            raise DynoError(f"apt resolved {', '.join(packages)} of {self._suite} to nothing")
        return debs

    def download(self, packages: Sequence[str], cached: Iterable[Path], progress: Progress) -> Path:
        """Fetch the closure of `packages`, but for the files `cached`, named as apt names them.

        Returns:
            The folder that now holds every package file. apt has verified each against the signed index.
        """
        for path in cached:
            target = self.archives / path.name
            target.unlink(missing_ok=True)
            shutil.copyfile(path, target)
        progress(f"downloading from {self._suite}")
        self._run("install", "--download-only", *packages)
        return self.archives

    def _empty_archives(self) -> None:
        shutil.rmtree(self.archives, ignore_errors=True)
        (self.archives / "partial").mkdir(parents=True)

    def _lay_out(self, mirror: Mirror, *, security: bool) -> None:
        folders = ("etc/apt/apt.conf.d", "etc/apt/preferences.d", "lists/partial", "cache", "log")
        for folder in folders:
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        lines = [_line(mirror.main, self._suite)]
        if security and mirror.security is not None:
            lines.append(_line(mirror.security, f"{self._suite}-security"))
        (self.root / "etc/apt/sources.list").write_text("\n".join(lines) + "\n", encoding="utf-8")
        stanzas = [_assumed_stanza(package, architecture()) for package in _ASSUMED]
        (self.root / "status").write_text("\n".join(stanzas), encoding="utf-8")
        self._empty_archives()

    def _options(self) -> list[str]:
        options = {
            "Dir": self.root,
            "Dir::State": self.root,
            "Dir::State::lists": "lists",
            "Dir::State::status": self.root / "status",
            "Dir::Cache": self.root / "cache",
            "Dir::Cache::archives": self.archives,
            "Dir::Etc": self.root / "etc/apt",
            # Who may be asked and trusted stays the machine's own choice.
            "Dir::Etc::trusted": "/etc/apt/trusted.gpg",
            "Dir::Etc::trustedparts": "/etc/apt/trusted.gpg.d",
            "Dir::Etc::netrc": "/etc/apt/auth.conf",
            "Dir::Etc::netrcparts": "/etc/apt/auth.conf.d",
            "Dir::Log": self.root / "log",
            "APT::Sandbox::User": "root",
            "APT::Install-Recommends": "false",
            "APT::Update::Error-Mode": "any",
            "APT::Get::Assume-Yes": "true",
            "Acquire::Languages": "none",
            "Acquire::ForceHash": "SHA256",
            "Acquire::Retries": "1",
            "Acquire::http::Timeout": "10",
            "Acquire::https::Timeout": "10",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
            "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled": "false",
        }
        return [part for name, value in options.items() for part in ("-o", f"{name}={value}")]

    def _run(self, *command: str) -> str:
        environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
        try:
            done = subprocess.run(
                ["apt-get", "-q", *self._options(), *command],
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise MirrorUnreachableError(
                f"apt-get {command[0]} for {self._suite} did not end within {TIMEOUT_S:.0f} s",
                hint="look at the mirror in the machine's apt sources",
            ) from error
        if done.returncode != 0:
            raise explain(self._suite, done.stdout + done.stderr)
        return done.stdout


def architecture() -> str:
    """The machine's Debian architecture, `amd64`."""
    done = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def explain(suite: str, output: str) -> DynoError:
    """The error that tells what apt's output means: for each known failure a sentence and what to do."""
    said = "; ".join(line for line in output.splitlines() if line.startswith(("E:", "W:", "Err:")))[:600]
    for pattern, error, sentence, hint in _EXPLANATIONS:
        if re.search(pattern, output):
            return error(f"{sentence.format(suite=suite)} ({said})", hint=hint)
    return DynoError(f"apt failed for {suite}: {said or output.strip()[-600:]}")


_NO_ANSWER = (
    r"Could not resolve|Could not connect|Unable to connect|Cannot initiate the connection|timed out|"
    r"Temporary failure|Connection failed|Connection refused|Network is unreachable|5\d\d  "
)
_EXPLANATIONS: tuple[tuple[str, type[DynoError], str, str], ...] = (
    (
        r"No space left on device|enough free space",
        DynoError,
        "the disk is full: the packages of {suite} do not fit",
        "free some space, or set DYNO_CACHE to a folder on another disk",
    ),
    (
        r"NO_PUBKEY|is not signed|EXPKEYSIG|REVKEYSIG|At least one invalid signature",
        DynoError,
        "the signature of {suite} is not trusted on this machine",
        "upgrade the package debian-archive-keyring",
    ),
    (
        r"Hash Sum mismatch|unexpected size",
        DynoError,
        "a file of {suite} does not have the hash that its signed index names",
        "the mirror may be in the middle of an update: try again in some minutes",
    ),
    (
        r"Unable to locate package|has no installation candidate",
        DynoError,
        "the suite {suite} has no such package",
        "see `dyno engines list` for engines of other suites",
    ),
    (
        _NO_ANSWER,
        MirrorUnreachableError,
        "the mirror for {suite} does not answer",
        "check the network, the proxy and the mirror in the machine's apt sources",
    ),
    (
        r"does not have a Release file|404  ?Not Found|no longer has a Release file",
        SuiteMissingError,
        "the mirror has no suite {suite} any more, or not all of it",
        "old suites move to the archive: choose another engine, or a mirror that still has it",
    ),
    (
        r"unmet dependencies|held broken packages",
        DynoError,
        "the suite {suite} cannot install this package at present",
        "this passes in development suites: try again later, or choose an engine of a stable suite",
    ),
)


def _line(source: AptSource, suite: str) -> str:
    keyring = str(DEBIAN_KEYRING) if DEBIAN_KEYRING.exists() else source.signed_by
    options = f"[signed-by={keyring}] " if keyring else ""
    return f"deb {options}{source.uri} {suite} main"


def _assumed_stanza(package: str, arch: str) -> str:
    provides = "Provides: debconf-2.0\n" if package == "debconf" else ""
    return (
        f"Package: {package}\nStatus: install ok installed\nVersion: 99:0\nArchitecture: {arch}\n"
        f"Multi-Arch: allowed\n{provides}Maintainer: nobody <nobody@localhost>\nDescription: not needed\n"
    )


def _deb(match: re.Match[str]) -> Deb:
    package, version, _ = match["file"].split("_")
    return Deb(package, unquote(version), match["file"], int(match["size"]), match["sha256"])
