"""Hatchling hook: put the rig's binary, the report page and the published figures into the wheel.

The wheel is the way users install Dyno: `pip install` gives them `dyno` and `dyno-rig` side by side,
as ruff and uv ship theirs. Run `make wheel`, which builds both parts first.
"""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelWithRig(BuildHookInterface):
    """Adds `dyno-rig` as a script and marks the wheel as made for this platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Collect the built parts; an editable install takes them from the checkout instead."""
        if version == "editable":
            return
        root = Path(self.root)
        rig = root / "rig/target/release/dyno-rig"
        page = root / "src/dyno/report/viewer.html"
        missing = [str(part.relative_to(root)) for part in (rig, page) if not part.is_file()]
        if missing:
            message = f"not built: {', '.join(missing)}\nhint: run `make build` first"
            raise FileNotFoundError(message)
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["shared_scripts"][str(rig)] = "dyno-rig"
        build_data["force_include"][str(root / "datasets")] = "dyno/datasets"
