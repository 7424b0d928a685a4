"""Whether a claim is true of the numbers: true, false with the true value, or not decidable, with why."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from dyno.findings.claim_file import AXES, Scope
from dyno.findings.figures import Figure, Figures, Lookup, figures_of, lookup_of
from dyno.findings.words import joined, number, plural
from dyno.stats import compare

if TYPE_CHECKING:
    from dyno.findings.claim_file import Claim, ClaimFile
    from dyno.findings.results import Results
    from dyno.report.model import Cell

Answer = Literal["true", "false", "not decidable"]

GAPS_SHOWN = 2


@dataclass(frozen=True)
class Verdict:
    """What the numbers say of one claim.

    Attributes:
        id: Of the claim.
        text: The sentence as it was made.
        verdict: The answer.
        found: What the numbers are, in words; empty where there is none.
        why: Why it cannot be decided, or what must be known beside the answer; else None.
        strength: What the answer rests on.
        n: Trials behind the figure with the fewest; 0 without a figure.
        cells: Ids of the cells it rests on.
    """

    id: str
    text: str
    verdict: Answer
    found: str = ""
    why: str | None = None
    strength: Literal["measured", "untested", "contradicted", "none"] = "none"
    n: int = 0
    cells: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def verify(file: ClaimFile, results: Results) -> list[Verdict]:
    """The verdict of every claim of a file, in its order."""
    return [verify_claim(claim, lookup_of(file, claim, results)) for claim in file.claim]


def verify_claim(claim: Claim, where: Lookup) -> Verdict:
    """The verdict of one claim.

    A claim is of every figure in its scope: one that does not hold makes it false; one that is missing, or
    whose interval reaches over the claimed bound, keeps it from being true.
    """
    verdict = Verdict(claim.id, claim.text, "not decidable")
    if claim.vague is not None:
        return replace(verdict, why=claim.vague)
    figures = figures_of(claim, where)
    if not figures.found:
        return replace(verdict, why=_nothing(claim, figures, where))
    match claim.comparator:
        case "best":
            decided = _best(claim, figures, where)
        case "only":
            decided = _only(claim, figures, where)
        case "spans":
            decided = _spans(claim, figures)
        case _:
            decided = _each(claim, figures)
    answer, found, why = decided
    notes = [why, _gaps(figures), *figures.partial[:GAPS_SHOWN]]
    cells = dict.fromkeys(cell.id for figure in figures.found for cell in figure.cells)
    n = min(figure.n for figure in figures.found)
    return replace(
        verdict,
        verdict=answer,
        found=found,
        why="; ".join(note for note in notes if note) or None,
        strength=_strength(answer, n),
        n=n,
        cells=tuple(cells),
    )


def _strength(answer: Answer, n: int) -> Literal["measured", "untested", "contradicted", "none"]:
    if answer == "not decidable":
        return "none"
    if answer == "false":
        return "contradicted"
    return "untested" if n == 1 else "measured"


def _nothing(claim: Claim, figures: Figures, where: Lookup) -> str:
    """Why there is no figure: an axis that fits no cell, or cells without numbers."""
    for axis in AXES:
        only = Scope.model_validate({axis: getattr(claim.scope, axis)})
        if not any(only.holds(cell) for cell in where.results.cells):
            return f"there is no cell of {axis} {joined(only.patterns(axis))}"
    return _gaps(figures) or "no cell is in its scope"


def _gaps(figures: Figures) -> str | None:
    if not figures.gaps:
        return None
    rest = len(figures.gaps) - GAPS_SHOWN
    return "; ".join(figures.gaps[:GAPS_SHOWN]) + (f"; and {rest} more without" if rest > 0 else "")


def bounds(claim: Claim) -> tuple[float, float]:
    """The range that a figure must lie in, tolerance included; with `<` and `>` its end is left out."""
    low, high = claim.value if isinstance(claim.value, tuple) else (claim.value or 0.0, claim.value or 0.0)
    if claim.comparator in {"<", "<="}:
        low = float("-inf")
    if claim.comparator in {">", ">="}:
        high = float("inf")
    return low - claim.tolerance, high + claim.tolerance


def holds(claim: Claim, figure: Figure) -> bool | None:
    """Whether a figure is as claimed; None where its interval reaches over an end of the claimed range."""
    low, high = bounds(claim)

    def inside(value: float) -> bool:
        if claim.comparator == "<":
            return value < high
        return value > low if claim.comparator == ">" else low <= value <= high

    if figure.low is None or figure.high is None:
        return inside(figure.value)
    if inside(figure.low) and inside(figure.high):
        return True
    return False if figure.high < low or figure.low > high else None


def _each(claim: Claim, figures: Figures) -> tuple[Answer, str, str | None]:
    """Every figure must hold."""
    answers = [holds(claim, figure) for figure in figures.found]
    good, bad = answers.count(True), answers.count(False)
    found = _extremes(claim, figures.found)
    if len(answers) > 1:
        found = f"{good} of {plural(len(answers), 'figure')} as claimed; {found}"
    if bad:
        return "false", found, None
    if None in answers:
        return "not decidable", found, "an interval reaches over the claimed bound: more trials are needed"
    return ("not decidable" if figures.gaps and claim.figure == "value" else "true"), found, None


def _spans(claim: Claim, figures: Figures) -> tuple[Answer, str, str | None]:
    """The smallest and the largest figure must be the two ends."""
    assert isinstance(claim.value, tuple)
    values = [figure.value for figure in figures.found]
    ends = zip((min(values), max(values)), claim.value, strict=True)
    right = all(abs(value - end) <= claim.tolerance for value, end in ends)
    return ("true" if right else "false"), _extremes(claim, figures.found), None


def _best(claim: Claim, figures: Figures, where: Lookup) -> tuple[Answer, str, str | None]:
    """At every place the engines of the scope must be the best ones."""
    answers: list[bool | None] = []
    said = []
    silent: list[str] = []
    for own, others in _contests(claim, figures, where):
        worst = own[0]
        for cell in own[1:]:
            worst = cell if where.better(worst, cell) else worst
        known = [cell for cell in others if where.by_block(cell)]
        if not known:
            continue
        rival = where.best(known)
        absent = {cell.engine for cell in others} - {cell.engine for cell in known}
        silent += [where.results.names.engine(engine) for engine in sorted(absent)]
        beats = _beats(worst, rival, where)
        answers.append(None if beats and absent else beats)
        top = where.best([*own, rival])
        said.append(f"{_named(top, where)}; best of the others {_named(rival, where)}")
    if not answers:
        return "not decidable", "", "no other engine has a number there"
    answer: Answer = "false" if False in answers else "not decidable" if None in answers else "true"
    shown = said[answers.index(False)] if False in answers else said[0]
    if answer != "not decidable":
        return answer, shown, None
    return (
        answer,
        shown,
        f"no number there of {joined(silent)}" if silent else "the trials do not tell them apart",
    )


def _beats(own: Cell, rival: Cell, where: Lookup) -> bool | None:
    """Whether own is better; with several trials only where the interval of the ratio leaves out 1."""
    ratio = compare(where.by_block(own), where.by_block(rival)).ratio
    better = where.better(own, rival)
    if ratio.low is None or ratio.high is None:
        return better if ratio.n == 1 else None
    return None if ratio.low <= 1 <= ratio.high else better


def _named(cell: Cell, where: Lookup) -> str:
    return f"{where.place(cell)} {number(where.mean(cell))}"


def _contests(claim: Claim, figures: Figures, where: Lookup) -> list[tuple[list[Cell], list[Cell]]]:
    """At each place: the cells of the scope's engines that have a number, and those of all other engines.

    The place of a peak is its settings and workload: the others' peaks are their cells at any level.
    """
    peaks = claim.figure != "value"

    def place(cell: Cell) -> tuple[str, ...]:
        return (cell.settings, cell.workload, "" if peaks else cell.load)

    own: dict[tuple[str, ...], list[Cell]] = {}
    for figure in figures.found:
        own.setdefault(place(figure.cells[0]), []).append(figure.cells[0])
    others: dict[tuple[str, ...], list[Cell]] = {}
    mine = {cell.engine for cells in own.values() for cell in cells}
    for cell in where.results.cells:
        if cell.engine not in mine and claim.scope.holds(cell, without="engine"):
            others.setdefault(place(cell), []).append(cell)
    return [(cells, others.get(at, [])) for at, cells in own.items()]


def _only(claim: Claim, figures: Figures, where: Lookup) -> tuple[Answer, str, str | None]:
    """The scope's engines must have the figure, and no other engine of the same conditions."""
    everyone = claim.model_copy(update={"scope": claim.scope.model_copy(update={"engine": ["*"]})})
    own = {cell.engine for figure in figures.found for cell in figure.cells}
    all_figures = figures_of(everyone, where)
    having = [f for f in all_figures.found if holds(everyone, f)]
    others = [f for f in having if f.cells[0].engine not in own]
    mine = [f for f in figures.found if holds(claim, f) is not True]
    shown = joined([where.results.names.engine(f.cells[0].engine) for f in having]) if having else "no engine"
    found = (
        f"{_amount(claim, bounds(claim)[0])} has {shown}"
        if claim.tolerance == 0
        else f"as claimed has {shown}"
    )
    if mine or others:
        return "false", found, None
    return ("not decidable" if all_figures.gaps and claim.figure == "value" else "true"), found, None


def _extremes(claim: Claim, found: list[Figure]) -> str:
    """The one figure, or the smallest and the largest with their places."""
    ordered = sorted(found, key=lambda figure: figure.value)
    low, high = ordered[0], ordered[-1]
    if len(found) == 1:
        interval = ""
        if low.low is not None and low.high is not None:
            interval = f" [{_amount(claim, low.low)}, {_amount(claim, low.high)}]"
        return f"{_amount(claim, low.value)}{interval} ({low.place})"
    ends = [f"{_amount(claim, figure.value)} ({figure.place})" for figure in (low, high)]
    return f"from {ends[0]} to {ends[1]}"


def _amount(claim: Claim, value: float) -> str:
    """A figure with its unit."""
    if claim.figure == "peak_sessions":
        return f"{value:g} sessions"
    if claim.against is None:
        return (
            f"{number(value)} transactions/s" if claim.metric == "throughput_per_s" else f"{number(value)} µs"
        )
    return f"{value:.3f}×" if claim.unit == "ratio" else f"{value:+.1f} %".replace("-", "−")
