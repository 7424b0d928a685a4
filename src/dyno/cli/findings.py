# ruff: noqa: PLC0415, D301 - the analysis is imported when it is needed (scipy takes most of a second); a
# backspace in a docstring keeps the lines of an example apart.
"""`dyno findings`: what the numbers of a run say, each sentence with its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from dyno.cli import console
from dyno.cli.report import AsJson, RunsDir  # noqa: TC001 - typer reads annotations when it runs
from dyno.cli.sources import Source, analysed, results
from dyno.errors import DynoError
from dyno.record.run import RUNS

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.report.model import Cell, Finding

TITLES = {
    "measured": "Measured",
    "untested": "Single runs, untested",
    "contradicted": "Contradicted: the cells do not agree",
    "caution": "To know before quoting any of it",
}
STYLES = {
    "measured": "bold green",
    "untested": "bold",
    "contradicted": "bold magenta",
    "caution": "bold yellow",
}
PUBLISHED_DIFFERENCE = 0.05
"""Relevant difference for published figures, which have no plan."""


def findings(
    source: Source = "latest",
    rule: Annotated[
        list[str] | None,
        typer.Option("--rule", "-r", help="Only findings of this rule: leader, progression, collapse, …"),
    ] = None,
    strength: Annotated[
        str | None,
        typer.Option(
            "--strength", help="Only findings of this strength: measured, untested, contradicted, caution"
        ),
    ] = None,
    runs_dir: RunsDir = RUNS,
    as_json: AsJson = False,
) -> None:
    """Say what the numbers of a run show, and what they do not.

    Every sentence is computed. Its strength is *measured* (trials carry it), *untested* (single runs),
    *contradicted* (the cells it speaks of do not agree) or *caution* (what to know before quoting). `--json`
    adds the evidence: each cell with its number, interval and trials, and a link into the report.

    \b
      dyno findings latest
      dyno findings latest -r progression -r collapse
      dyno findings datasets/001-ecosystem.csv --strength contradicted
    """
    found, cells, page = _found(source, runs_dir)
    shown = [f for f in found if (not rule or f.rule in rule) and strength in {None, f.strength}]
    _check(rule, strength, found)
    if as_json:
        console.print_json([_evidence(finding, cells, page) for finding in shown])
        return
    _print(shown)


def _found(source: str, runs_dir: Path) -> tuple[list[Finding], dict[str, Cell], Path | None]:
    """Findings, cells by their ids, and the report's page where there is a run."""
    if source.endswith(".csv"):
        from dyno.findings.patterns import find_patterns

        published = results(source, runs_dir)
        found = find_patterns(published, relevant_difference=PUBLISHED_DIFFERENCE)
        return found, {cell.id: cell for cell in published.cells}, None
    analysis, run = analysed(source, runs_dir)
    return analysis.findings, {cell.id: cell for cell in analysis.cells}, run.path / "report.html"


def _check(rules: list[str] | None, strength: str | None, found: list[Finding]) -> None:
    known = sorted({finding.rule for finding in found})
    wrong = [name for name in rules or [] if name not in known]
    if wrong:
        raise DynoError(f"there is no finding of rule {wrong[0]!r}", hint=f"rules here: {', '.join(known)}")
    if strength is not None and strength not in TITLES:
        raise DynoError(f"there is no strength {strength!r}", hint=f"strengths: {', '.join(TITLES)}")


def _print(found: list[Finding]) -> None:
    for strength, title in TITLES.items():
        group = [finding for finding in found if finding.strength == strength]
        if not group:
            continue
        console.out.print(f"{title} ({len(group)})", style=STYLES[strength], markup=False)
        for finding in group:
            console.out.print(f"- {finding.rule}: {finding.sentence}", markup=False)
        console.out.print()
    if not found:
        console.out.print("No finding.", markup=False)


def _evidence(finding: Finding, cells: dict[str, Cell], page: Path | None) -> dict[str, Any]:
    """A finding with the numbers it rests on, and where the report shows them."""
    used = [cells[name] for name in finding.cells if name in cells]
    numbers = [
        {
            "cell": cell.id,
            "throughput_per_s": cell.throughput_per_s.value if cell.throughput_per_s else None,
            "low": cell.throughput_per_s.low if cell.throughput_per_s else None,
            "high": cell.throughput_per_s.high if cell.throughput_per_s else None,
            "n": cell.throughput_per_s.n if cell.throughput_per_s else 0,
        }
        for cell in used
    ]
    counts = [number["n"] for number in numbers if number["n"]]
    return {
        "rule": finding.rule,
        "strength": finding.strength,
        "sentence": finding.sentence,
        "n": min(counts, default=0),
        "evidence": numbers,
        "trials": finding.trials,
        "link": f"{page}#{_anchor(finding, used)}" if page else None,
    }


def _anchor(finding: Finding, used: list[Cell]) -> str:
    """The permalink of the report's page that shows the first cell, or the settings."""
    if finding.rule.startswith("settings") or finding.rule == "hosts":
        return "at=settings"
    if not used:
        return "at=throughput"
    first = used[0]
    keys = (("w", first.workload), ("s", first.settings), ("e", first.engine), ("l", first.load))
    return "&".join([*(f"{key}={quote(value)}" for key, value in keys), "at=throughput"])
