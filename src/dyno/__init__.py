"""Dyno: a dynamometer for MySQL-family database engines (the lab, Python part).

`dyno.open` gives the tables of a run as pandas DataFrames; docs/DATA.md describes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

    from dyno.data import RunData

__version__ = "0.1.0"

__all__ = ["__version__", "open"]


def open(run: str | PathLike[str] = "latest", *, runs_dir: str | PathLike[str] = "runs") -> RunData:  # noqa: A001
    """Open a run for analysis in Python.

    ```
    import dyno
    run = dyno.open("runs/20261120-193000-quickstart")
    run.trials.groupby(["engine", "sessions"]).throughput_per_s.mean()
    ```

    Args:
        run: Its folder, its id under `runs_dir`, or `latest`.
        runs_dir: Folder of all runs.

    Returns:
        The run with the DataFrames `trials`, `cells`, `latency`, `comparisons`, `settings`, `findings` and
        `series`, each made when it is first asked for.

    Raises:
        DynoError: There is no such run, or it is damaged.
    """
    from pathlib import Path  # noqa: PLC0415 - `import dyno` stays free of cost

    from dyno.data import open_data  # noqa: PLC0415 - pandas takes half a second

    return open_data(Path(run), runs_dir=Path(runs_dir))
