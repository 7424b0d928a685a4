"""`manifest.json`: what is compared, on what, in what order; written before anything starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dyno import __version__
from dyno.record.layout import timestamp

if TYPE_CHECKING:
    from dyno.hosts.ceiling import Ceiling
    from dyno.hosts.doctor import Check
    from dyno.hosts.facts import HostFacts
    from dyno.hosts.noise import NoiseFloor
    from dyno.plan.resolved import ResolvedPlan


def manifest(
    run: str,
    resolved: ResolvedPlan,
    *,
    rig_version: str,
    command: list[str],
    host: HostFacts,
    doctor: list[Check],
    ceiling: Ceiling | None,
    noise: NoiseFloor | None = None,
) -> dict[str, Any]:
    """The manifest of a new run, in the form of docs/FORMAT.md."""
    plan = resolved.model_dump(mode="json")
    return {
        "format": "dyno-run/1",
        "id": run,
        **{key: plan[key] for key in ("name", "title", "question")},
        "created": timestamp(),
        "dyno_version": __version__,
        "rig_version": rig_version,
        "command": command,
        **{key: plan[key] for key in ("plan_sha256", "seed", "baseline", "relevant_difference")},
        **{key: plan[key] for key in ("trials_per_cell", "order_method", "phases")},
        "host": host.as_dict(),
        "doctor": [check.as_dict() for check in doctor],
        "ceiling": ceiling.as_dict() if ceiling is not None else None,
        "noise_floor": noise.as_dict() if noise is not None else None,
        "placement": plan["placement"],
        "engines": [
            {
                key: engine[key]
                for key in (
                    "id",
                    "label",
                    "request",
                    "family",
                    "version",
                    "server_version",
                    "source",
                    "content_sha256",
                    "packages",
                )
            }
            for engine in plan["engines"]
        ],
        "engines_missing": plan["engines_missing"],
        "settings": [{"id": each["id"], "requested": each["requested"]} for each in plan["settings"]],
        "accept": plan["accept"],
        "workloads": plan["workloads"],
        "loads": plan["loads"],
        "cells": plan["cells"],
        "order": plan["order"],
    }
