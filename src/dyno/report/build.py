"""Everything a run folder's report consists of, built from the folder itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.errors import DynoError
from dyno.record.layout import write_text
from dyno.record.run import open_run
from dyno.report import csv_files, html, markdown
from dyno.report.analysis import analyse

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.report.model import Analysis


@dataclass(frozen=True)
class Report:
    """What was built.

    Attributes:
        analysis: The analysis that all files show.
        json: `analysis.json`.
        markdown: `report.md`.
        csv: The folder of the CSV files.
        html: `report.html`, or None where it could not be made.
        html_problem: Why not: all else is there, so that is for the caller to say, not a failure.
    """

    analysis: Analysis
    json: Path
    markdown: Path
    csv: Path
    html: Path | None
    html_problem: DynoError | None = None

    @property
    def best(self) -> Path:
        """The file to show to a person: the page, or the text where there is no page."""
        return self.html or self.markdown


def build(run_path: Path) -> Report:
    """Analyse a run and write analysis.json, report.md, csv/*.csv and report.html into its folder.

    Each file is replaced in one step; doing it again gives the same files.

    Raises:
        DynoError: The run is damaged as a whole, or a file cannot be written.
    """
    run = open_run(run_path)
    analysis = analyse(run)
    json, text, csv = run.path / "analysis.json", run.path / "report.md", run.path / "csv"
    write_text(json, analysis.model_dump_json(indent=1) + "\n")
    write_text(text, markdown.render(analysis))
    for name, content in csv_files.files(analysis).items():
        write_text(csv / name, content)
    try:
        page_text = html.render(analysis)
    except DynoError as error:
        return Report(analysis, json, text, csv, None, error)
    page = run.path / "report.html"
    write_text(page, page_text)
    return Report(analysis, json, text, csv, page)
