"""spec.json: one trial in the rig's words (docs/FORMAT.md §4). It holds no password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dyno.plan.resolved import (
        ResolvedCell,
        ResolvedConnection,
        ResolvedLoad,
        ResolvedPlan,
        ResolvedWorkload,
    )

INTERVAL_S = 1.0


def trial_spec(
    resolved: ResolvedPlan, cell: ResolvedCell, target: dict[str, Any], server_pid: int | None
) -> dict[str, Any]:
    """What the rig is asked to do in one trial of a cell.

    Args:
        resolved: The plan.
        cell: The cell that the trial belongs to.
        target: How to reach the server (`socket` or `host`, `user`, `database`, …).
        server_pid: The server's process on this host, or None when it runs elsewhere.
    """
    workload = resolved.workload(cell.workload)
    return {
        **_work(workload, target, resolved.seed),
        "connection": resolved.connection.model_dump(),
        "load": load_spec(resolved.load(cell.load)),
        "phases": resolved.phases.model_dump(exclude={"stopping"}),
        "cpus": resolved.placement.rig_cpus,
        "interval_s": INTERVAL_S,
        "probe": {"host": True, "server_pid": server_pid, "status": True},
    }


def load_spec(load: ResolvedLoad) -> dict[str, Any]:
    """`load` of spec.json: what the plan says of this level and nothing else."""
    said = load.model_dump(exclude={"id", "kind"}, exclude_none=True)
    return {load.kind: {key: value for key, value in said.items() if value != []}}


def data_spec(
    workload: ResolvedWorkload,
    target: dict[str, Any],
    seed: int,
    cpus: list[int],
    connection: ResolvedConnection | None = None,
) -> dict[str, Any]:
    """What the rig is asked to build (or to clean up).

    Args:
        workload: Whose data.
        target: How to reach the server.
        seed: Of the data.
        cpus: Those that the rig's threads may use; empty: all.
        connection: How to connect; None: plainly.
    """
    line = {} if connection is None else {"connection": connection.model_dump()}
    return {**_work(workload, target, seed), **line, "cpus": cpus}


def _work(workload: ResolvedWorkload, target: dict[str, Any], seed: int) -> dict[str, Any]:
    return {
        "format": "dyno-spec/1",
        "target": target,
        "workload": {"name": workload.name, "options": workload.options},
        "statement_mode": workload.statement_mode,
        "seed": seed,
    }
