"""The tables of docs/DATA.md: `python -m dyno.data.doc` writes them between its two markers.

A test fails while the document is stale.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dyno.data.tables import PANDAS, SQL, TABLES

BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"


def render() -> str:
    """Every table with its columns as Markdown."""
    parts = []
    for name, schema in TABLES.items():
        lines = [f"### {name}", "", f"A row is {schema.row}.", ""]
        lines += ["| column | pandas | SQL | what it says |", "|---|---|---|---|"]
        lines += [
            f"| `{column.name}` | {PANDAS[column.kind]} | {SQL[column.kind]} | {column.text} |"
            for column in schema.columns
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def updated(document: str) -> str:
    """The document with fresh tables between its markers.

    Raises:
        ValueError: A marker is not there.
    """
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document has no {BEGIN} … {END}")
    return f"{before}{BEGIN}\n{render()}\n{END}{after}"


def main() -> None:
    """Rewrite docs/DATA.md."""
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/DATA.md")
    path.write_text(updated(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
