"""Reading a plan file: TOML, checked key by key, each tier's settings checked as one whole."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from dyno.engines import Settings
from dyno.plan import names
from dyno.plan.complain import Location, PlanError, explain
from dyno.plan.early_end import check_stopping
from dyno.plan.schema import Plan

if TYPE_CHECKING:
    from pathlib import Path


TIME_TOLERANCE_S = 1e-6


def read(path: Path) -> tuple[Plan, str]:
    """The plan in a file, and the file's text.

    Raises:
        PlanError: The file cannot be read, is not TOML, or says what a plan cannot mean.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        near = sorted(file.name for file in path.parent.glob("*.toml")) if path.parent.is_dir() else []
        hint = (
            f"plans in {path.parent}/: {', '.join(near)}"
            if near
            else "plans/quickstart.toml is one to start from"
        )
        raise PlanError(f"cannot read the plan {path}: {_reason(error)}", hint=hint) from error
    return parse(text, str(path)), text


def parse(text: str, source: str) -> Plan:
    """The plan in TOML text; `source` names it in errors."""
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(
            f"{source} is not TOML: {error}", hint='strings need quotes: warmup = "2s"'
        ) from error
    return check(written, source)


def check(written: dict[str, Any], source: str) -> Plan:
    """The plan in a parsed document (also one made in memory), with all its settings checked."""
    try:
        plan = Plan.model_validate(written)
    except ValidationError as failure:
        raise explain(failure, Plan, source) from failure
    _require_tls(plan, settings_sets(plan, source), source)
    _require_time(plan, source)
    check_stopping(plan, source)
    return plan


def _require_time(plan: Plan, source: str) -> None:
    """The stages of a schedule end within the phase that they run in."""
    for index, schedule in enumerate(plan.load.schedules):
        for key, stages, phase in (
            ("warmup_stages", schedule.warmup_stages, "warmup"),
            ("stages", schedule.stages, "measure"),
        ):
            taken_s, length_s = sum(stage.duration for stage in stages), getattr(plan.phases, phase)
            if taken_s > length_s + TIME_TOLERANCE_S:
                raise PlanError(
                    f"{source}: load.schedules[{index}].{key} take {taken_s:g} s, phases.{phase} is"
                    f" {length_s:g} s",
                    hint=f'[phases] {phase} = "{taken_s:g}s" or more; after the last stage its target holds',
                )


def _require_tls(plan: Plan, sets: list[tuple[str, Settings]], source: str) -> None:
    """An engine that Dyno runs offers TLS only when its settings say so."""
    tls, ours = plan.connection.tls, [entry.engine for entry in plan.engines if entry.engine]
    plain = [name for name, settings in sets if not settings.tls]
    if tls != "off" and ours and plain:
        where = f" (tiers: {', '.join(plain)})" if plan.tiers else ""
        raise PlanError(
            f'{source}: connection.tls = "{tls}", but {ours[0]} will run without TLS{where}',
            hint="tls = true in [settings]",
        )


def settings_sets(plan: Plan, source: str = "the plan") -> list[tuple[str, Settings]]:
    """Every settings set by id: `default`, or one per tier (the common settings with the tier's on top).

    Raises:
        PlanError: A key or value of `[settings]` or of a tier is wrong, or two tiers share a name.
    """
    common = {key: value for key, value in plan.settings.items() if key != "accept"}
    accepted(plan, source)
    if not plan.tiers:
        return [("default", _settings(common, source, ("settings",)))]
    _settings(common, source, ("settings",))
    made: dict[str, Settings] = {}
    for index, tier in enumerate(plan.tiers):
        where: Location = ("tiers", index)
        name = tier.get("name")
        if not isinstance(name, str) or not name.strip():
            raise PlanError(f"{source}: tiers[{index}].name is missing", hint='a tier is named: name = "2G"')
        if names.slug(name) in made:
            raise PlanError(f"{source}: tiers[{index}].name = {name!r}: another tier has this name")
        overrides = {key: value for key, value in tier.items() if key != "name"}
        made[names.slug(name)] = _settings(common | overrides, source, where)
    return list(made.items())


def accepted(plan: Plan, source: str = "the plan") -> list[str]:
    """`settings.accept`: server variables that may differ from what was asked for.

    Raises:
        PlanError: It is not a list of names.
    """
    value = plan.settings.get("accept", [])
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise PlanError(
            f"{source}: settings.accept = {value!r}: a list of server variables is needed",
            hint='accept = ["innodb_log_file_size"]',
        )
    return [str(name) for name in value]


def _settings(values: dict[str, Any], source: str, where: Location) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as failure:
        raise explain(failure, Settings, source, where) from failure


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
