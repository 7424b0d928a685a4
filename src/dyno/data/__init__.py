"""A run as tables: pandas frames for notebooks, DuckDB for SQL. docs/DATA.md lists their columns."""

from dyno.data.frames import RunData, open_data

__all__ = ["RunData", "open_data"]
