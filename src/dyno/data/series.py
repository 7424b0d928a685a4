"""Every sample of every trial of a run as one Arrow table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from dyno.errors import DynoError
from dyno.record.series import MICROSECONDS_PER_S, SCHEMA, samples

if TYPE_CHECKING:
    from dyno.record.manifest import OrderedTrial
    from dyno.record.run import Run

Arrow = Any
"""An Arrow table or array: pyarrow brings no types."""

REPEATED = pa.dictionary(pa.int32(), pa.string())


def series(run: Run) -> Arrow:
    """The series of a run, in the columns of `dyno.data.tables.SERIES` but the run's own.

    A trial that left no samples has no rows. Read are the Parquet files; where one is not there (the trial
    failed), the record itself as far as it is whole.
    """
    parts = [_with_names(entry, _trial(run, entry.trial)) for entry in run.manifest.order]
    return pa.concat_tables(parts).unify_dictionaries()


def _trial(run: Run, trial: str) -> Arrow:
    layout = run.layout.trial(trial)
    try:
        if layout.series.is_file():
            return pq.read_table(layout.series, schema=SCHEMA)
        return _of_record(run, trial)
    except (DynoError, OSError, pa.ArrowException):
        # What is wrong with a trial is in its row of `trials`; here it has no samples.
        return SCHEMA.empty_table()


def _of_record(run: Run, trial: str) -> Arrow:
    rows = list(samples(run.stream(trial)))
    return pa.table(
        {
            "t_s": [row.t_us / MICROSECONDS_PER_S for row in rows],
            **{name: [getattr(row, name) for row in rows] for name in ("phase", "metric", "label", "value")},
        },
        schema=SCHEMA,
    )


def _with_names(entry: OrderedTrial, samples_of_trial: Arrow) -> Arrow:
    """The names of trial and cell before the samples; what repeats itself over many rows as a dictionary."""
    columns = {"trial": _repeated(entry.trial, len(samples_of_trial))}
    columns["cell"] = _repeated(entry.cell, len(samples_of_trial))
    for name in SCHEMA.names:
        column = samples_of_trial.column(name)
        columns[name] = column.cast(REPEATED) if pa.types.is_string(column.type) else column
    return pa.table(columns)


def _repeated(text: str, times: int) -> Arrow:
    return pa.DictionaryArray.from_arrays(pa.array([0] * times, pa.int32()), pa.array([text]))
