"""What engines, load levels and cells are called in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.findings.words import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dyno.report.model import Cell, Comparison


@dataclass(frozen=True)
class Names:
    """Labels by id. Settings and workloads are only mentioned where a run has several of them."""

    engines: dict[str, str]
    settings: dict[str, str]
    workloads: dict[str, str]
    loads: dict[str, str]

    def engine(self, engine_id: str) -> str:
        """The engine's label; its id where the run does not define it."""
        return self.engines.get(engine_id, engine_id)

    def place(self, cell: Cell | Comparison) -> str:
        """Where a cell stands, without its engine: "at 16 sessions (oltp_read_only)"."""
        return f"at {self.loads.get(cell.load, cell.load)}{self.condition(cell)}"

    def condition(self, cell: Cell | Comparison) -> str:
        """Workload and settings in brackets, with a space before; empty where the run has one of each."""
        parts = []
        if len(self.workloads) > 1:
            parts.append(self.workloads.get(cell.workload, cell.workload))
        if len(self.settings) > 1:
            parts.append(self.settings.get(cell.settings, cell.settings))
        return f" ({', '.join(parts)})" if parts else ""

    def levels(self, loads: Sequence[str], heads: Sequence[str] = ()) -> str:
        """Load levels as a list that names their unit once: "1, 4 and 16 sessions".

        Args:
            loads: Ids of load levels.
            heads: What stands before each level, one for each, such as "+5.0 % at "; may be left out.
        """
        labels = [self.loads.get(load, load) for load in loads]
        if len({label.partition(" ")[2].removesuffix("s") for label in labels}) == 1 and len(labels) > 1:
            labels = [*(label.partition(" ")[0] for label in labels[:-1]), labels[-1]]
        return joined([head + label for head, label in zip(heads or [""] * len(labels), labels, strict=True)])

    def cell(self, cell: Cell) -> str:
        """A cell in words: "MariaDB 10.11 at 16 sessions"."""
        return f"{self.engine(cell.engine)} {self.place(cell)}"
