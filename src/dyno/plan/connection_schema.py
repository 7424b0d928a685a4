"""`[connection]`: how the sessions of every trial connect, as a plan writes it; the same for every engine."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from dyno.plan.table import Table
from dyno.plan.units import Duration  # noqa: TC001 (pydantic reads annotations)

Tls = Literal["off", "required", "verify-ca", "verify-identity"]
Compression = Literal["off", "zlib", "zstd"]
Isolation = Literal["read-uncommitted", "read-committed", "repeatable-read", "serializable"]
Reconnect = Literal["fail", "reconnect"]
Statement = Annotated[str, Field(pattern=r"\S")]
# /socket, host, host:port, [address] or [address]:port
TARGET = re.compile(r"(?P<socket>/.+)|(?:\[(?P<address>[^\]]+)\]|(?P<host>[^:\[\]]+))(?::(?P<port>\d{1,5}))?")


class ConnectionTable(Table):
    """`[connection]`; every default is the rig's own."""

    tls: Tls = "off"
    tls_ca: str | None = None
    compression: Compression = "off"
    connect_timeout: Duration = 10.0
    io_timeout: Duration | Literal["never"] = 60.0
    init: list[Statement] = Field(default_factory=list[Statement])
    isolation: Isolation | None = None
    reconnect: Reconnect = "fail"
    per_transaction: bool = False
    targets: list[str] = Field(default_factory=list[str])
    stagger: Duration = 0.0

    @field_validator("targets")
    @classmethod
    def _are_addresses(cls, targets: list[str]) -> list[str]:
        for target in targets:
            address(target)
        return targets

    @model_validator(mode="after")
    def _verifies_with_something(self) -> ConnectionTable:
        verifies = self.tls in ("verify-ca", "verify-identity")
        if verifies and self.tls_ca is None:
            raise ValueError(f"tls = {self.tls!r} needs tls_ca, the PEM file of the authority to trust")
        if self.tls_ca is not None and not verifies:
            raise ValueError(
                f"tls_ca is looked at by verify-ca and verify-identity, not by tls = {self.tls!r}"
            )
        return self


def address(text: str) -> dict[str, str | int | None]:
    """`"/socket"`, `"host"`, `"host:port"` or `"[address]:port"` as the rig's spec has it.

    Raises:
        ValueError: The text is none of these.
    """
    match = TARGET.fullmatch(text)
    port = int(match["port"]) if match and match["port"] else None
    if match is None or (port is not None and not 0 < port < 2**16):
        raise ValueError(f"{text!r} is no address: HOST, HOST:PORT, [ADDRESS]:PORT or /SOCKET")
    return {"socket": match["socket"], "host": match["host"] or match["address"], "port": port}
