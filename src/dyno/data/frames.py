"""`dyno.open`: one run as pandas DataFrames, each made when it is first asked for."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from dyno.data.tables import PANDAS, TABLES
from dyno.errors import DynoError
from dyno.record.run import RUNS, find_run, open_run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dyno.data.rows import Row
    from dyno.record.manifest import Manifest
    from dyno.record.run import Run
    from dyno.report.model import Analysis


def open_data(run: str | Path, *, runs_dir: str | Path = RUNS) -> RunData:
    """Open a run; see `dyno.open`."""
    path, known = Path(run), Path(runs_dir) / run / "manifest.json"
    if path.is_dir() and not known.is_file():
        # A folder that is there but no run: that is said, rather than that there is no such run.
        return RunData(open_run(path))
    return RunData(open_run(find_run(str(run), Path(runs_dir))))


class RunData:
    """A run as tables. Nothing is measured and nothing is written.

    Every frame has the run's id in its column `run`, so that frames of several runs can be put together by
    `pandas.concat`. Columns, types and units are in docs/DATA.md. A frame is made once: change a copy of it.

    Attributes:
        manifest: What was compared, on what, in what order.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.manifest: Manifest = run.manifest

    def __repr__(self) -> str:
        return f"<run {self.id}: {self.manifest.title}, {len(self.manifest.order)} trials>"

    @property
    def id(self) -> str:
        """The run's id."""
        return self.manifest.id

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self._run.path

    @cached_property
    def analysis(self) -> Analysis:
        """All that the report shows, as the model of docs/analysis.schema.json.

        Raises:
            DynoError: The run as a whole is damaged.
        """
        from dyno.report.analysis import analyse  # noqa: PLC0415 (scipy takes most of a second)

        return analyse(self._run)

    @cached_property
    def trials(self) -> pd.DataFrame:
        """One row a planned trial, good or not: throughput in transactions/s, times in µs."""
        return self._frame("trials")

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row a cell: means over its good trials with 95 % confidence intervals."""
        return self._frame("cells")

    @cached_property
    def latency(self) -> pd.DataFrame:
        """One row a cell, kind of time and type: percentiles in µs of merged histograms."""
        return self._frame("latency")

    @cached_property
    def comparisons(self) -> pd.DataFrame:
        """One row an engine against the baseline at one load level: ratio, interval, p-values, verdict."""
        return self._frame("comparisons")

    @cached_property
    def settings(self) -> pd.DataFrame:
        """One row a server variable and engine: what was asked for and what the server reports."""
        return self._frame("settings")

    @cached_property
    def findings(self) -> pd.DataFrame:
        """One row a computed sentence with its strength and its evidence."""
        return self._frame("findings")

    @cached_property
    def series(self) -> pd.DataFrame:
        """One row a sample (usually of 1 s): trial, time, metric, value. By far the largest frame."""
        from dyno.data.series import series  # noqa: PLC0415 (only who asks for samples reads them)

        table = series(self._run)
        frame: pd.DataFrame = table.to_pandas()
        frame.insert(0, "run", pd.Series([self.id] * len(frame), dtype="category"))
        return frame

    def table(self, name: str) -> pd.DataFrame:
        """The frame of that name.

        Raises:
            DynoError: There is no such table.
        """
        if name not in TABLES:
            raise DynoError(f"there is no table {name!r}", hint=f"tables: {', '.join(TABLES)}")
        frame: pd.DataFrame = getattr(self, name)
        return frame

    def _frame(self, name: str) -> pd.DataFrame:
        from dyno.data.rows import ROWS  # noqa: PLC0415 (with the analysis)

        rows: Iterable[Row] = ROWS[name](self.analysis, self.manifest)
        schema = TABLES[name]
        frame = pd.DataFrame([{"run": self.id, **row} for row in rows], columns=schema.names)
        return frame.astype({column.name: PANDAS[column.kind] for column in schema.columns})
