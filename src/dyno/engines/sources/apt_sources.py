"""Read the machine's own apt sources: the mirror is the administrator's choice, never ours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dyno.errors import DynoError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ONE_LINE = re.compile(
    r"deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)(?P<components>.*)"
)
_ALIASES = {"oldoldstable", "oldstable", "stable", "testing", "unstable", "sid"}
_CODE_NAMES = {"buster", "bullseye", "bookworm", "trixie", "forky", "duke"}


@dataclass(frozen=True)
class AptSource:
    """One `deb` line's worth: where a suite is, and the key that signs it.

    Attributes:
        uri: Base URI.
        suite: Suite or code name.
        components: Such as `main`.
        signed_by: Path of a keyring, or None for apt's trusted keys.
    """

    uri: str
    suite: str
    components: tuple[str, ...]
    signed_by: str | None


@dataclass(frozen=True)
class Mirror:
    """The Debian mirror of this machine.

    Attributes:
        main: Where suites such as bookworm are.
        security: Where suites such as bookworm-security are, or None when the machine has none.
    """

    main: AptSource
    security: AptSource | None


def parse_one_line(text: str) -> Iterator[AptSource]:
    """Sources of a `.list` file: lines `deb [options] uri suite components…`; all others are passed over."""
    for line in text.splitlines():
        match = _ONE_LINE.match(line.partition("#")[0].strip())
        if match is None:
            continue
        options = dict(part.split("=", 1) for part in (match["options"] or "").split() if "=" in part)
        components = tuple(match["components"].split())
        yield AptSource(match["uri"], match["suite"], components, options.get("signed-by"))


def parse_deb822(text: str) -> Iterator[AptSource]:
    """Sources of a `.sources` file: stanzas of `Types`, `URIs`, `Suites`, …; disabled ones do not count."""
    for stanza in re.split(r"\n[ \t]*\n", text):
        fields = _stanza(stanza)
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() == "no":
            continue
        key = fields.get("signed-by", "")
        keyring = key if key.startswith("/") else None
        components = tuple(fields.get("components", "").split())
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                yield AptSource(uri, suite, components, keyring)


def _stanza(text: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if line[:1].isspace():
            fields[name] = f"{fields.get(name, '')}\n{line.strip()}"
        elif ":" in line:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value.strip()
    return fields


def system_sources(etc: Path = Path("/etc/apt")) -> list[AptSource]:
    """All enabled sources of the machine, in apt's order of files."""
    parts = etc / "sources.list.d"
    files = [etc / "sources.list", *sorted(parts.glob("*.list")), *sorted(parts.glob("*.sources"))]
    found: list[AptSource] = []
    for file in files:
        if file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace")
            found += parse_deb822(text) if file.suffix == ".sources" else parse_one_line(text)
    return found


def debian_mirror(sources: Iterable[AptSource], etc: Path = Path("/etc/apt")) -> Mirror:
    """Pick the Debian mirror and the security mirror from the machine's sources.

    Raises:
        DynoError: No Debian archive is among them.
    """
    listed = list(sources)
    archive = [source for source in listed if _is_debian(source)]
    security = next((source for source in archive if _is_security(source)), None)
    main = next((source for source in archive if not _is_security(source)), None)
    if main is None:
        shown = ", ".join(sorted({source.suite for source in listed})) or "none"
        raise DynoError(
            f"the apt sources in {etc} name no Debian archive (suites found: {shown})",
            hint="engines from Debian packages need a Debian mirror in the machine's apt sources",
        )
    return Mirror(main, security)


def _is_security(source: AptSource) -> bool:
    return source.suite.endswith(("-security", "/updates"))


def _is_debian(source: AptSource) -> bool:
    """A Debian suite with its component main; vendors' repositories use suite names too, but other paths."""
    base = re.split(r"[-/]", source.suite)[0]
    if base not in _ALIASES | _CODE_NAMES or "main" not in source.components:
        return False
    folder = source.uri.rstrip("/").rsplit("/", 1)[-1]
    return "debian-archive" in (source.signed_by or "") or folder.startswith("debian")
