"""What a plan's trials can see: minimum detectable effects, and the trials that an effect takes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from dyno import stats
from dyno.errors import DynoError
from dyno.findings.comparisons import by_block
from dyno.findings.words import percent, plural
from dyno.plan.units import format_duration
from dyno.report.model import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from dyno.plan.resolved import ResolvedPlan
    from dyno.report.model import Analysis
    from dyno.stats import Design, Estimate

SHOWN = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30)
"""Numbers of trials that are always shown."""

NEVER = "–"


@dataclass(frozen=True)
class Row:
    """What a number of trials can see.

    Attributes:
        trials: Of each cell.
        effect_alone: Smallest difference seen in one comparison for itself, as a share of 1; None when there
            is none.
        effect_corrected: The same in Holm's first step over all comparisons of the plan.
        power_corrected: Chance to see the asked effect there; None where none was asked.
        equivalence_power: Chance to find equal engines within the plan's relevant difference.
        time_s: How long the whole plan takes with so many trials.
    """

    trials: int
    effect_alone: float | None
    effect_corrected: float | None
    power_corrected: float | None
    equivalence_power: float
    time_s: float


@dataclass(frozen=True)
class PlanPower:
    """Power of a plan.

    Attributes:
        trials: Of each cell, as the plan has it.
        spread: Coefficient of variation of repeats, assumed or from a pilot.
        comparisons: Comparisons that Holm corrects together.
        paired: By block, engines within the run; else two runs of the plan.
        wanted: The chance of seeing a difference that counts as enough.
        effect: The difference that was asked for, or None.
        needed_alone: Trials that see it in one comparison for itself; None beyond 1,000.
        needed_corrected: … in Holm's first step.
        needed_at_worst: … if the spread is at the upper end of its interval; None where it has none.
        relevant_difference: δ of the plan.
        needed_equivalent: Trials that find equal engines within ±δ.
        rows: By trials.
    """

    trials: int
    spread: Estimate
    comparisons: int
    paired: bool
    wanted: float
    effect: float | None
    needed_alone: int | None
    needed_corrected: int | None
    needed_at_worst: int | None
    relevant_difference: float
    needed_equivalent: int | None
    rows: list[Row]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


def comparisons_of(plan: ResolvedPlan) -> tuple[int, bool]:
    """How many comparisons a report of this plan corrects together, and whether they are paired.

    Each cell of another engine than the baseline is one. A plan of one engine compares nothing by itself:
    then two runs of it are compared cell by cell.
    """
    engines = list(dict.fromkeys(cell.engine for cell in plan.cells))
    if len(engines) < 2:  # noqa: PLR2004
        return len(plan.cells), False
    baseline = plan.baseline if plan.baseline in engines else engines[0]
    return sum(cell.engine != baseline for cell in plan.cells), True


def assumed(spread: float) -> Estimate:
    """A spread that somebody assumes."""
    return stats.Estimate(spread, None, None, 0, "assumed")


def pilot_spread(analysis: Analysis) -> Estimate:
    """The spread of a pilot run's trials, without what each block does to all of its cells.

    Raises:
        DynoError: No cell was repeated.
    """
    groups: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    for cell in analysis.cells:
        values = by_block(cell)
        if values:
            group = groups.setdefault((cell.workload, cell.load), {})
            group[f"{cell.engine}~{cell.settings}"] = values
    try:
        return stats.spread_of(list(groups.values()))
    except ValueError as error:
        raise DynoError(
            f"the run {analysis.run} is no pilot: {error}",
            hint="a pilot takes two good trials a cell or more",
        ) from None


def power_of(
    plan: ResolvedPlan,
    spread: Estimate,
    *,
    effect: float | None,
    wanted: float,
    time_of: Callable[[int], float],
) -> PlanPower:
    """Power of a plan at a given spread.

    Args:
        plan: The plan; its loads, cells and baseline say what is compared.
        spread: Coefficient of variation of repeats.
        effect: The difference to look for, as a share of 1, or None.
        wanted: The chance of seeing it that counts as enough.
        time_of: Trials of each cell → seconds that the plan takes.

    Raises:
        ValueError: The spread or the effect is not above 0.
    """
    comparisons, paired = comparisons_of(plan)
    alone = stats.Design(spread.value, paired=paired)
    corrected = stats.Design(spread.value, paired=paired, comparisons=comparisons)
    worst = stats.Design(spread.high, paired=paired, comparisons=comparisons) if spread.high else None

    def needed(design: Design | None) -> int | None:
        return (
            None if effect is None or design is None else stats.trials_needed(design, effect, wanted=wanted)
        )

    delta = plan.relevant_difference
    shown = {*SHOWN, plan.trials_per_cell, needed(corrected) or 2} - {1}
    return PlanPower(
        trials=plan.trials_per_cell,
        spread=spread,
        comparisons=comparisons,
        paired=paired,
        wanted=wanted,
        effect=effect,
        needed_alone=needed(alone),
        needed_corrected=needed(corrected),
        needed_at_worst=needed(worst),
        relevant_difference=delta,
        needed_equivalent=stats.equivalence_trials_needed(alone, delta, wanted=wanted),
        rows=[
            Row(
                trials=trials,
                effect_alone=stats.detectable_effect(alone, trials, wanted=wanted),
                effect_corrected=stats.detectable_effect(corrected, trials, wanted=wanted),
                power_corrected=None if effect is None else stats.power(corrected, effect, trials),
                equivalence_power=stats.equivalence_power(alone, delta, trials),
                time_s=time_of(trials),
            )
            for trials in sorted(shown)
        ],
    )


def sentences(power: PlanPower) -> list[str]:
    """What the plan can see, in words."""
    chance = percent(power.wanted)
    said = [f"Spread of repeats: {_spread(power.spread)}.", f"{_design(power)}."]
    row = next((each for each in power.rows if each.trials == power.trials), None)
    if row is None:
        said.append("One trial a cell shows values and tests nothing: no difference can be seen.")
    else:
        together = f", {_effect(row.effect_corrected)} in Holm's first step" if power.comparisons > 1 else ""
        head = f"With {plural(row.trials, 'trial')} a cell, as planned, a difference of"
        alone = f"{_effect(row.effect_alone)} is seen with a chance of {chance} in one comparison for itself"
        said.append(f"{head} {alone}{together}.")
    if power.effect is not None:
        said.append(_needed(power, chance))
    equal = power.needed_equivalent
    within = (
        f"within ±{percent(power.relevant_difference)} (no relevant difference) with a chance of {chance}"
    )
    enough = plural(equal, "trial") if equal else "more than 1,000 trials"
    return [*said, f"Equal engines are found {within} by {enough} a cell."]


def _spread(spread: Estimate) -> str:
    if spread.low is None or spread.high is None:
        return f"{percent(spread.value)} ({spread.method})"
    interval = f"95 % CI {percent(spread.low)} to {percent(spread.high)}"
    return f"{percent(spread.value)} ({interval}, {spread.method})"


def _design(power: PlanPower) -> str:
    many = plural(power.comparisons, "comparison")
    if power.paired:
        head = f"{many} with the baseline, paired by block: t test of ln ratio"
    else:
        head = f"One engine: two runs of this plan, {many}, not paired: Welch's t test"
    if power.comparisons == 1:
        return head
    return f"{head}; Holm's first step tests the smallest p against 5 % ÷ {power.comparisons}"


def _needed(power: PlanPower, chance: str) -> str:
    assert power.effect is not None
    head = f"To see {percent(power.effect)} with a chance of {chance} takes"
    parts = [f"{_trials(power.needed_alone)} in one comparison for itself"]
    if power.comparisons > 1:
        parts.append(f"{_trials(power.needed_corrected)} in Holm's first step")
    worst = ""
    if power.spread.high is not None:
        worst = f" ({_trials(power.needed_at_worst)} if the spread is at the upper end of its interval)"
    return f"{head} {', '.join(parts)}{worst}."


def _trials(count: int | None) -> str:
    return "more than 1,000 trials" if count is None else plural(count, "trial")


def _effect(effect: float | None) -> str:
    return "no size up to tenfold" if effect is None else percent(effect)


def power_table(power: PlanPower) -> Table:
    """Trials a cell against what they see."""
    chance = percent(power.wanted)
    asked = [] if power.effect is None else [f"Chance to see {percent(power.effect)}"]
    within = f"Chance to find equal within ±{percent(power.relevant_difference)}"
    columns = ["Trials", "Difference seen alone", "After Holm", *asked, within, "Time"]
    rows = [
        [
            f"{row.trials}{' (plan)' if row.trials == power.trials else ''}",
            *(
                NEVER if effect is None else percent(effect)
                for effect in (row.effect_alone, row.effect_corrected)
            ),
            *([] if row.power_corrected is None else [f"{row.power_corrected:.0%}"]),
            f"{row.equivalence_power:.0%}",
            format_duration(row.time_s),
        ]
        for row in power.rows
    ]
    note = f"Differences seen with a chance of {chance}. The chance to see one is after Holm's first step."
    return Table(id="power", title="What trials can see", columns=columns, rows=rows, note=note)
