"""A workload with profiles: the lab fills in only the defaults that every profile takes."""

from __future__ import annotations

import pytest

from dyno.plan.resolve import WorkloadKind, resolve_workloads
from dyno.plan.schema import WorkloadEntry

KIND = WorkloadKind(
    name="tpcc",
    version=1,
    defaults={
        "profile": "standard",
        "warehouses": 1,
        "shape": "statements",
        "all_warehouses": False,
        "foreign_keys": False,
    },
)


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({}, {"profile": "standard", "warehouses": 1, "shape": "statements"}),
        ({"shape": "batched"}, {"profile": "standard", "warehouses": 1, "shape": "batched"}),
        ({"foreign_keys": True}, {"profile": "standard", "warehouses": 1, "shape": "statements"}),
        ({"profile": "hammerdb", "warehouses": 4}, {"profile": "hammerdb", "warehouses": 4}),
        ({"profile": "hammerdb", "all_warehouses": True}, {"profile": "hammerdb", "warehouses": 1}),
    ],
)
def test_only_what_the_profile_takes_is_filled_in(named, expected):
    (resolved,) = resolve_workloads([WorkloadEntry(name="tpcc", options=named)], [KIND])
    assert resolved.options == expected | named
