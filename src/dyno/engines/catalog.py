"""The engines that Dyno can fetch by name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dyno.errors import DynoError


@dataclass(frozen=True)
class EngineSpec:
    """An engine as asked for, before anything is fetched.

    Attributes:
        id: A slug for files and tables, `mariadb-10.11` or `mariadb-11.8-forky`.
        family: `mariadb`, `mysql` or `percona`.
        version: The series asked for, `10.11`; the exact version is the server's own, known once installed.
        source: Where it comes from, `debian:bookworm`.
    """

    id: str
    family: str
    version: str
    source: str

    @property
    def name(self) -> str:
        """The name a plan writes: `mariadb@10.11`, or `mariadb@11.8:forky` for a variant."""
        series = f"{self.family}@{self.version}"
        variant = self.id.removeprefix(f"{self.family}-{self.version}").lstrip("-")
        return f"{series}:{variant}" if variant else series


def _debian(family: str, version: str, suite: str, *, variant: bool = False) -> EngineSpec:
    suffix = f"-{suite}" if variant else ""
    return EngineSpec(f"{family}-{version}{suffix}", family, version, f"debian:{suite}")


CATALOG: tuple[EngineSpec, ...] = (
    _debian("mariadb", "10.5", "bullseye"),
    _debian("mariadb", "10.11", "bookworm"),
    _debian("mariadb", "11.8", "trixie"),
    _debian("mariadb", "11.8", "forky", variant=True),
    _debian("mariadb", "11.8", "sid", variant=True),
    _debian("mysql", "9.7", "sid"),
)

_NAME = re.compile(r"([a-z]+)[@-](\d+(?:\.\d+)*)(?:[:-](.+))?")


def find(name: str) -> EngineSpec:
    """The engine of that name: `mariadb@10.11`, its id `mariadb-10.11`, or a variant `mariadb@11.8:forky`.

    `mariadb@11.8:debian:forky` names the source in full.

    Raises:
        DynoError: There is none; the hint lists what there is.
    """
    wanted = name.strip().lower()
    for spec in CATALOG:
        if wanted in (spec.id, spec.name):
            return spec
    match = _NAME.fullmatch(wanted)
    if match is not None and match.group(3):
        family, version, source = match.groups()
        for spec in CATALOG:
            same_engine = (spec.family, spec.version) == (family, version)
            if same_engine and source in (spec.source, spec.source.partition(":")[2]):
                return spec
    known = ", ".join(spec.name for spec in CATALOG)
    raise DynoError(f"there is no engine {name!r}", hint=f"known engines: {known}")
