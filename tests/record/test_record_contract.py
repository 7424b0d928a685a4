"""The synthetic run and the real format are one: its record stream fits the rig's JSON schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from dyno.record.lines import MODELS
from fixtures.synthetic_run import Scenario, build, trials_of

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "record.schema.json").read_text())


@pytest.mark.parametrize("level", ["s4", "r100"])
def test_the_synthetic_stream_fits_the_schema(tmp_path: Path, level: str) -> None:
    scenario = Scenario(speed={"mariadb-10.11": 1.0}, sessions=(4,), rates=(100,), blocks=1)
    run = build(tmp_path / "one", scenario)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    lines = (trials_of(run, "mariadb-10.11", level)[0] / "record.ndjson").read_text().splitlines()
    assert {json.loads(line)["record"] for line in lines} == set(MODELS) - {"note"}
    for line in lines:
        errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(json.loads(line))]
        assert not errors, line[:200]


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_field_that_we_read_is_one_that_the_rig_writes(name: str) -> None:
    variant = next(v for v in SCHEMA["oneOf"] if v["properties"]["record"].get("const") == name)
    target = variant
    if "$ref" in variant:
        target = SCHEMA["$defs"][variant["$ref"].rsplit("/", 1)[1]]
    assert set(MODELS[name].model_fields) <= set(target["properties"])
