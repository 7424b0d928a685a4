"""Write and execute docs/example.ipynb: `python scripts/notebook.py RUN [NOTEBOOK]`.

The notebook itself opens `DYNO_EXAMPLE_RUN`, by default the newest run: anybody can execute it on a run
of their own, and a test does on a small one.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from nbclient import NotebookClient

if TYPE_CHECKING:
    from nbformat import NotebookNode

NOTEBOOK = Path("docs/example.ipynb")
CELL_TIMEOUT_S = 120

CELLS = (
    (
        "markdown",
        """# A run in pandas

What a run holds, from trials to single seconds. Columns and units are listed in [DATA.md](DATA.md).
The figures below are of a small run on a two-core machine with other work beside it, as the findings
say: they show how to ask, not what the engines can do.""",
    ),
    (
        "code",
        """import os

import pandas as pd

import dyno

run = dyno.open(os.environ.get("DYNO_EXAMPLE_RUN", "latest"))
run""",
    ),
    (
        "markdown",
        """## Trials

The trial is the statistical unit: one start of the server on restored data. Only those whose
status is `ok` are results.""",
    ),
    (
        "code",
        """run.trials.groupby(["engine", "sessions", "status"]).size().rename("trials").reset_index()""",
    ),
    (
        "code",
        """good = run.trials[run.trials.status == "ok"]
good.pivot_table(index="block", columns=["engine", "sessions"], values="throughput_per_s").round(1)""",
    ),
    (
        "markdown",
        """## Means with intervals, and what they allow to say

Nobody needs to compute these again: `cells` has the means with their 95 % intervals, `comparisons`
the ratios to the baseline with a verdict, `findings` the sentences of the report.""",
    ),
    (
        "code",
        """rate = "throughput_per_s"
run.cells[["engine", "sessions", rate, f"{rate}_low", f"{rate}_high", f"{rate}_n"]].round(1)""",
    ),
    (
        "code",
        """columns = ["engine", "load", "ratio", "ratio_low", "ratio_high", "p_value_holm", "verdict"]
run.comparisons[columns].round(3)""",
    ),
    (
        "code",
        """for finding in run.findings.itertuples():
    print(f"[{finding.strength}] {finding.sentence}")""",
    ),
    (
        "markdown",
        """## Latency

Percentiles are of the merged histograms of all good trials of a cell. Averaging percentiles of
trials or seconds is never right.""",
    ),
    (
        "code",
        """whole = run.latency[(run.latency.of == "transaction") & (run.latency.time != "lag")]
whole.pivot_table(index="load", columns="engine", values=["p50_us", "p99_us"]).round(0)""",
    ),
    (
        "markdown",
        """## Settings

What each server reports, beside what it was asked for. Here: what the plan set.""",
    ),
    (
        "code",
        """asked = run.settings[run.settings.logical.notna()]
by_engine = asked.pivot_table(
    index=["logical", "variable"], columns="engine", values="effective", aggfunc="first"
)
by_engine.head(12)""",
    ),
    (
        "markdown",
        """## Inside a trial

`series` has every sample, by far the largest table. A second is not a repeat of anything: look at
it, never test on it.""",
    ),
    (
        "code",
        """series = run.series
measured = series[series.phase == "measure"]
rate = measured[(measured.metric == "throughput_per_s") & (measured.label == "")]
rate.groupby("trial", observed=True).value.agg(["min", "median", "max", "count"]).round(1)""",
    ),
    (
        "code",
        """busy = measured[measured.metric == "cpu_busy"]
busy.pivot_table(index="cell", columns="label", values="value", observed=True).round(2)""",
    ),
    (
        "markdown",
        """## Several runs

Each row has its `run`: frames of several runs go together by `pd.concat`, and `dyno sql` asks them
on the command line. Two runs are compared, with intervals, by `dyno compare`.""",
    ),
    (
        "code",
        '''from dyno.data.sql import query

result = query(
    [run],
    """SELECT engine, count(*) AS trials, median(throughput_per_s) AS median_per_s
       FROM trials WHERE status = 'ok' GROUP BY ALL ORDER BY ALL""",
)
pd.DataFrame(result.rows, columns=result.columns)''',
    ),
)


def notebook() -> NotebookNode:
    """The notebook without outputs; the ids of its cells are their places, so that it is written alike."""
    book = nbformat.v4.new_notebook()
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    make = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    for place, (kind, source) in enumerate(CELLS):
        cell = make[kind](source)
        cell["id"] = f"cell-{place}"
        book.cells.append(cell)
    return book


def executed(run: Path) -> NotebookNode:
    """The notebook executed on a run, without what only the moment of execution says.

    Raises:
        nbclient.exceptions.CellExecutionError: A cell failed.
    """
    before = os.environ.get("DYNO_EXAMPLE_RUN")
    os.environ["DYNO_EXAMPLE_RUN"] = str(run.resolve())
    try:
        book = NotebookClient(notebook(), timeout=CELL_TIMEOUT_S, kernel_name="python3").execute()
    finally:
        os.environ.pop("DYNO_EXAMPLE_RUN")
        if before is not None:
            os.environ["DYNO_EXAMPLE_RUN"] = before
    for cell in book.cells:
        cell.metadata.pop("execution", None)
    return book


def main() -> None:
    """Write the executed notebook."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("notebook", type=Path, nargs="?", default=NOTEBOOK)
    arguments = parser.parse_args()
    nbformat.write(executed(arguments.run), arguments.notebook)


if __name__ == "__main__":
    main()
