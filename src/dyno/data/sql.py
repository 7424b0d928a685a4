"""SQL over any number of runs: their tables in an in-memory DuckDB that sees nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from dyno.data.tables import TABLES
from dyno.errors import DynoError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dyno.data.frames import RunData

SETTINGS = (
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    # A name in the query is a table of ours or an error, never a variable of this program.
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
READING = {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}
SCHEMA_HINT = "`dyno sql --schema` lists tables and columns"


@dataclass(frozen=True)
class Result:
    """What a query gave: column names and rows of Python values, None for NULL."""

    columns: list[str]
    rows: list[tuple[Any, ...]]

    def as_dicts(self) -> list[dict[str, Any]]:
        """One object a row; of two columns with one name the last stays."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def query(runs: Sequence[RunData], text: str) -> Result:
    """Run one SELECT over the tables of these runs put together.

    The database is in memory and cannot open a file or the network once the tables are there.

    Raises:
        DynoError: Two runs have one id, the text is no single SELECT, or DuckDB objects to it.
    """
    _require_distinct(runs)
    with duckdb.connect(":memory:") as database:
        _require_reading(database, text)
        for name in _mentioned(text):
            _create(database, name, runs)
        for setting in SETTINGS:
            database.execute(setting)
        try:
            database.execute(text)
            columns = [column[0] for column in database.description or []]
            return Result(columns, database.fetchall())
        except duckdb.Error as error:
            raise _explained(error) from None


def _require_distinct(runs: Sequence[RunData]) -> None:
    seen: dict[str, RunData] = {}
    for run in runs:
        if run.id in seen:
            raise DynoError(
                f"{run.path} and {seen[run.id].path} are both the run {run.id}", hint="name one of the two"
            )
        seen[run.id] = run


def _require_reading(database: duckdb.DuckDBPyConnection, text: str) -> None:
    try:
        statements = database.extract_statements(text)
    except duckdb.Error as error:
        raise _explained(error) from None
    if len(statements) != 1:
        raise DynoError(f"{len(statements)} statements in {text!r}", hint="give one SELECT")
    if statements[0].type not in READING:
        word = text.split(maxsplit=1)[0].upper()
        raise DynoError(f"{word} is not for runs: they are read, never changed", hint="give a SELECT")


def _mentioned(text: str) -> list[str]:
    """The tables that a query may be about: reading the others would only take time."""
    words = set(re.findall(r"\w+", text.lower()))
    return [name for name in TABLES if name in words]


def _create(database: duckdb.DuckDBPyConnection, name: str, runs: Sequence[RunData]) -> None:
    """Copy one table of all runs into the database."""
    # A run without a single value in a column (no open loop, no reason) has no type for it to merge by.
    schema = pa.schema([(column.name, ARROW[column.kind]) for column in TABLES[name].columns])
    parts = [pa.Table.from_pandas(run.table(name), schema=schema, preserve_index=False) for run in runs]
    database.register("incoming", pa.concat_tables(parts))
    database.execute(f'CREATE TABLE "{name}" AS SELECT * FROM incoming')  # noqa: S608 (a name of our own)
    database.unregister("incoming")


ARROW = {
    "text": pa.string(),
    "category": pa.string(),
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
}


def _explained(error: duckdb.Error) -> DynoError:
    """What DuckDB objects to, without its own heading and its drawing of where."""
    message, _, rest = str(error).partition("\n")
    message = re.sub(r"^\w+ Error: ", "", message)
    if message.startswith("Table with name"):
        return DynoError(f"SQL: {message}", hint=f"the tables are {', '.join(TABLES)}")
    suggestion = next((line for line in rest.splitlines() if line.startswith(("Did you", "Candidate"))), None)
    hint = f"{suggestion}; {SCHEMA_HINT}" if suggestion else SCHEMA_HINT
    return DynoError(f"SQL: {message}", hint=hint)
