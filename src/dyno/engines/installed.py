"""An engine on this machine, and the record that describes it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Package:
    """One package that an engine was unpacked from."""

    name: str
    version: str
    sha256: str


@dataclass(frozen=True)
class Installed:
    """An engine ready to start.

    Attributes:
        id: As in the catalog, `mariadb-10.11`.
        family: `mariadb`, `mysql` or `percona`.
        version: The exact version that the server binary says of itself, `10.11.14`.
        prefix: Root of its files; holds `usr/sbin`, `usr/share`, … It cannot be moved.
        source: Where it comes from, `debian:bookworm`.
        content_sha256: Hash over all its packages.
        packages: Every package with version and hash.
        server: Path of the server binary.
        client: Path of the command-line client.
        notices: What a reader should know, such as "the mirror did not answer, …"; empty when all is plain.
    """

    id: str
    family: str
    version: str
    prefix: Path
    source: str
    content_sha256: str
    packages: tuple[Package, ...]
    server: Path
    client: Path
    notices: tuple[str, ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; paths are texts."""
        record = asdict(self)
        for name in ("prefix", "server", "client"):
            record[name] = str(record[name])
        record["packages"] = [asdict(package) for package in self.packages]
        record["notices"] = list(self.notices)
        return record

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Installed:
        """The inverse of `as_dict`."""
        fields = dict(record)
        for name in ("prefix", "server", "client"):
            fields[name] = Path(record[name])
        fields["packages"] = tuple(Package(**package) for package in record["packages"])
        fields["notices"] = tuple(record.get("notices", ()))
        return cls(**fields)
