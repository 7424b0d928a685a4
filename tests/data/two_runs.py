"""Two synthetic runs of known content: three engines in closed and open loops, and a slower successor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.synthetic_run import Scenario, build, edit_json

if TYPE_CHECKING:
    from pathlib import Path

FIRST, SECOND = "20261120-193000-first", "20261121-080000-second"


def build_both(folder: Path) -> Path:
    """Write both runs below `folder`."""
    build(folder / FIRST, Scenario(sessions=(1, 4), rates=(500,), blocks=2, measure_s=2))
    second = build(folder / SECOND, Scenario(speed={"mariadb-10.11": 0.9}, sessions=(1, 4), blocks=2, seed=8))
    edit_json(second / "manifest.json", lambda plan: plan.update(created="2026-11-21T08:00:00Z"))
    return folder
