"""Pydantic's complaints as sentences about a plan's keys: the key, the value, what is allowed."""

from __future__ import annotations

import difflib
import re
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from dyno.errors import DynoError

Location = tuple[int | str, ...]
EVERY_KEY = "plans/README.md describes every key of a plan"
# An error message ends up on screens and in logs, where a password has no business.
PASSWORD_IN_URL = re.compile(r"://[^/@\s]*:[^/@\s]*@")


class PlanError(DynoError):
    """The plan says something that it cannot mean."""


def explain(
    failure: ValidationError, model: type[BaseModel], source: str, within: Location = ()
) -> PlanError:
    """One error that names every wrong key.

    Args:
        failure: What pydantic found.
        model: The model it checked against, to say which keys exist.
        source: The file's name, for the message.
        within: The key path of the checked part inside the file.
    """
    lines: list[str] = []
    hints: list[str] = []
    for problem in failure.errors(include_url=False):
        location = problem["loc"]
        if problem["type"] == "extra_forbidden":
            line, hint = _unknown_key(location, _keys_at(model, location[:-1]), within)
        elif problem["type"] == "missing":
            line, hint = f"{key_path(within + location)} is missing", None
        else:
            said = problem["msg"].removeprefix("Value error, ")
            line, hint = f"{key_path(within + location)} = {_shown(problem['input'])}: {said}", None
        lines.append(line)
        if hint and hint not in hints:
            hints.append(hint)
    return PlanError(f"{source}: " + "\n       ".join(lines), hint="\n      ".join(hints) or EVERY_KEY)


def closest(word: str, known: list[str]) -> str:
    """`"did you mean X?"` when something is near, else the list of what there is."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"there is {', '.join(sorted(known))}"


def key_path(location: Location) -> str:
    """`("workloads", 0, "name")` as `workloads[0].name`."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path or "the file"


def _unknown_key(location: Location, known: list[str], within: Location) -> tuple[str, str]:
    parent = key_path(within + location[:-1])
    near = difflib.get_close_matches(str(location[-1]), known, n=1)
    line = f"{key_path(within + location)} is not a key that Dyno knows"
    if near:
        line += f": did you mean {near[0]!r}?"
    return line, f"{parent} takes: {', '.join(known)}"


def _keys_at(model: type[BaseModel], location: Location) -> list[str]:
    """The fields of the model that sits at `location` inside `model`."""
    current: type[BaseModel] = model
    for part in location:
        if isinstance(part, int):
            continue
        field = current.model_fields.get(part)
        inner = None if field is None else _model_in(field.annotation)
        if inner is None:
            return []
        current = inner
    return list(current.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in get_args(annotation):
        found = _model_in(argument)
        if found is not None:
            return found
    return None


def _shown(value: Any) -> str:
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    text = PASSWORD_IN_URL.sub("://…@", text)
    return text if len(text) <= 80 else text[:77] + "…"  # noqa: PLR2004
