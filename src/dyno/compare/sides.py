"""Which cell stands against which: by engine, settings, workload and load level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.errors import DynoError
from dyno.findings import Names
from dyno.plan.names import slug

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dyno.record.run import Run
    from dyno.report.model import Analysis, Cell, Engine


@dataclass(frozen=True)
class Opened:
    """A run with its analysis."""

    run: Run
    analysis: Analysis

    @property
    def names(self) -> Names:
        """What its parts are called."""
        found = self.analysis
        return Names(
            engines={each.id: each.label for each in found.engines},
            settings={each.id: each.label for each in found.settings},
            workloads={each.id: each.label for each in found.workloads},
            loads={each.id: each.label for each in found.loads},
        )

    def engine(self, wanted: str) -> str:
        """The id of an engine named by its id, its label or as a plan requests it (mariadb@10.11).

        Raises:
            DynoError: The run has no such engine.
        """
        present = [each for each in self.analysis.engines if not each.missing]
        for each in present:
            if _is_called(each, wanted):
                return each.id
        raise DynoError(
            f"{self.analysis.run} has no engine {wanted!r}",
            hint=f"its engines are {', '.join(each.id for each in present) or 'none'}",
        )

    def engines(self, wanted: Sequence[str]) -> list[str]:
        """The ids of the wanted engines, of all where none is named."""
        if wanted:
            return [self.engine(name) for name in wanted]
        return [each.id for each in self.analysis.engines if not each.missing]


def _is_called(engine: Engine, wanted: str) -> bool:
    return wanted in {engine.id, engine.label} or (bool(wanted.strip()) and _slug(wanted) == engine.id)


def _slug(text: str) -> str:
    try:
        return slug(text)
    except ValueError:
        return ""


@dataclass(frozen=True)
class Matched:
    """Pairs of cells, before and after, and those that only one side has."""

    pairs: list[tuple[Cell, Cell]]
    lost: list[str]
    added: list[str]


def match_runs(before: Opened, after: Opened, engines: Sequence[str]) -> Matched:
    """The cells that both runs have.

    Where each run has exactly one engine, and not the same, these two stand against each other.

    Raises:
        DynoError: The runs have no cell in common, or one has no such engine.
    """
    a, b = before.engines(engines), after.engines(engines)
    one_each = len(a) == len(b) == 1
    x = {_key(cell, engine=not one_each): cell for cell in before.analysis.cells if cell.engine in a}
    y = {_key(cell, engine=not one_each): cell for cell in after.analysis.cells if cell.engine in b}
    pairs = [(x[key], y[key]) for key in x if key in y]
    if not pairs:
        raise DynoError(
            f"{before.analysis.run} and {after.analysis.run} have no cell in common",
            hint="a cell is engine, settings, workload and load level;"
            f" the first has {_listed(x)}, the second {_listed(y)}",
        )
    return Matched(
        pairs,
        lost=[cell.id for key, cell in x.items() if key not in y],
        added=[cell.id for key, cell in y.items() if key not in x],
    )


def match_engines(opened: Opened, baseline: str, engines: Sequence[str]) -> Matched:
    """The cells of other engines against those of the baseline, within one run.

    Raises:
        DynoError: There is no such engine, or no other one to compare.
    """
    base = opened.engine(baseline)
    others = [engine for engine in opened.engines(engines) if engine != base]
    if not others:
        raise DynoError(
            f"{opened.analysis.run} has no engine beside the baseline {base}",
            hint="name another run to compare with: dyno compare RUN_A RUN_B",
        )
    x = {_key(cell, engine=False): cell for cell in opened.analysis.cells if cell.engine == base}
    cells = [cell for engine in others for cell in opened.analysis.cells if cell.engine == engine]
    return Matched(
        [(x[key], cell) for cell in cells if (key := _key(cell, engine=False)) in x],
        lost=[],
        added=[cell.id for cell in cells if _key(cell, engine=False) not in x],
    )


def _key(cell: Cell, *, engine: bool) -> tuple[str, ...]:
    return (*([cell.engine] if engine else []), cell.settings, cell.workload, cell.load)


def _listed(cells: dict[tuple[str, ...], Cell]) -> str:
    shown = [cell.id for cell in cells.values()]
    more = f" and {len(shown) - 2} more" if len(shown) > 2 else ""  # noqa: PLR2004
    return (", ".join(shown[:2]) or "none") + more
