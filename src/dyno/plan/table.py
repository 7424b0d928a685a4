"""The base of every table of a plan file."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(min_length=1, max_length=80)]


class Table(BaseModel):
    """One TOML table: unknown keys are errors, because a typo must not pass for a default."""

    model_config = ConfigDict(extra="forbid")
