"""Print the JSON schema of `analysis.json`, from which the viewer's TypeScript types are generated.

`make schema` writes it to docs/analysis.schema.json; `--check FILE` exits 1 when FILE is not fresh.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from dyno.report.model import Analysis


def schema() -> dict[str, Any]:
    """Return the schema of what is written: every field present, no titles but the models' names."""
    whole: dict[str, Any] = Analysis.model_json_schema(mode="serialization")
    for model in (whole, *whole["$defs"].values()):
        for field in model["properties"].values():
            field.pop("title", None)
        # The writer never leaves a field out, so the reader need not ask whether it is there.
        model["required"] = sorted(model["properties"])
    return whole


def text() -> str:
    """Return the schema as the committed file holds it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    """Print the schema, or compare it with a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", type=Path, metavar="FILE")
    check: Path | None = parser.parse_args().check
    if check is None:
        sys.stdout.write(text())
        return 0
    if check.read_text(encoding="utf-8") == text():
        return 0
    sys.stderr.write(
        f"error: {check} is not the schema of src/dyno/report/model.py\n"
        "hint: run `make schema` and commit what changed\n"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
