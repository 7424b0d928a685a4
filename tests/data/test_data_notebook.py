"""The example notebook: executed on a small run, and its committed form is what the script writes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from data.two_runs import FIRST

if TYPE_CHECKING:
    from types import ModuleType

    from dyno.data import RunData

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebook", ROOT / "scripts" / "notebook.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_cell_runs_on_another_run(script: ModuleType, runs: Path, first: RunData) -> None:
    book = script.executed(runs / FIRST)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert all(cell.outputs for cell in code)
    outputs = [output for cell in code for output in cell.outputs]
    assert f"<run {FIRST}: " in outputs[0].data["text/plain"]
    printed = "".join(output.text for output in outputs if output.output_type == "stream")
    assert all(sentence in printed for sentence in first.findings.sentence)


def test_the_committed_notebook_is_the_scripts_and_was_executed(script: ModuleType) -> None:
    committed = nbformat.read(ROOT / "docs" / "example.ipynb", as_version=4)
    nbformat.validate(committed)
    assert [cell.source for cell in committed.cells] == [cell.source for cell in script.notebook().cells]
    for cell in committed.cells:
        if cell.cell_type == "code":
            assert cell.outputs
            assert not any(output.output_type == "error" for output in cell.outputs)
