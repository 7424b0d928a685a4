"""What a server had acknowledged, and what of it the data holds: pure, but for reading the log."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.errors import DynoError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet
    from pathlib import Path

Order = tuple[int, int, int]
"""Warehouse, district, order."""

Payment = tuple[int, ...]
"""Warehouse, district, the customer's warehouse, district and id, amount in hundredths. Two may be alike."""

EXAMPLES_MAX = 10
ORDER_LENGTH = 3


@dataclass(frozen=True)
class State:
    """Orders and payments in the data at one moment."""

    orders: frozenset[Order]
    payments: Counter[Payment]

    @classmethod
    def of(cls, orders: AbstractSet[Order], payments: Mapping[Payment, int]) -> State:
        """From plain collections."""
        return cls(frozenset(orders), Counter(dict(payments)))


@dataclass(frozen=True)
class Acknowledged:
    """Transactions that the server had acknowledged to the client."""

    orders: frozenset[Order]
    payments: Counter[Payment]

    @property
    def total(self) -> int:
        """All of them."""
        return len(self.orders) + self.payments.total()


@dataclass(frozen=True)
class Loss:
    """Acknowledged transactions that are gone; `unacknowledged` ones are there that nobody was told of."""

    orders: frozenset[Order]
    payments: Counter[Payment]
    unacknowledged: int

    @property
    def total(self) -> int:
        """Acknowledged transactions that are gone."""
        return len(self.orders) + self.payments.total()

    def examples(self) -> list[str]:
        """Some of them, in words."""
        orders = [f"order {o} of district {d}, warehouse {w}" for w, d, o in sorted(self.orders)]
        payments = [
            f"payment of {amount / 100:.2f} by customer {c} of district {cd}, warehouse {cw}, at {w}/{d}"
            for w, d, cw, cd, c, amount in sorted(self.payments.elements())
        ]
        return [*orders[:EXAMPLES_MAX], *payments[:EXAMPLES_MAX]]


def read_acks(path: Path) -> Acknowledged:
    """The log of acknowledged transactions that the rig wrote; a torn last line was not written in full.

    Raises:
        DynoError: A line is not what the rig writes.
    """
    orders: set[Order] = set()
    payments: Counter[Payment] = Counter()
    whole = path.read_bytes().split(b"\n")[:-1]
    for number, line in enumerate(whole, start=1):
        try:
            entry = json.loads(line)
            kind, key = entry["transaction"], tuple(int(part) for part in entry["key"])
        except (ValueError, KeyError, TypeError) as error:
            raise DynoError(f"{path}, line {number}: {error}", hint="is it the rig's own log?") from None
        if kind == "new_order" and len(key) == ORDER_LENGTH:
            orders.add((key[0], key[1], key[2]))
        elif kind == "payment":
            payments[key] += 1
    return Acknowledged(frozenset(orders), payments)


def compare(before: State, acknowledged: Acknowledged, after: State) -> Loss:
    """What of the acknowledged is not in the data, given what was in it before.

    Payments that are alike cannot be told apart, so they are counted: of each kind there must be as many as
    there were and were acknowledged.
    """
    missing = (before.payments + acknowledged.payments) - after.payments
    beyond = after.payments - (before.payments + acknowledged.payments)
    unknown = after.orders - before.orders - acknowledged.orders
    return Loss(acknowledged.orders - after.orders, missing, len(unknown) + beyond.total())
