"""Logical settings → one engine's variables → its command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.engines.rules import FAMILIES, Rule, Target, rule_for
from dyno.engines.settings import Scalar, Settings
from dyno.engines.versions import Version, parse_version
from dyno.errors import DynoError

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Assignment:
    """One server variable that is asked for.

    Attributes:
        variable: Name as in SHOW GLOBAL VARIABLES.
        value: The value that the server is expected to report.
        logical: The `Settings` field it comes from, or `extra`.
        arguments: The command-line arguments that ask for it (may be none: the server does so by itself).
    """

    variable: str
    value: str
    logical: str
    arguments: tuple[str, ...]


def translate(settings: Settings, family: str, version: str, engine_id: str = "") -> list[Assignment]:
    """What one engine is told, in table order, `extra` last and winning.

    Args:
        settings: The logical configuration.
        family: `mariadb`, `mysql` or `percona`.
        version: The server's own version, such as `10.11.14-MariaDB`.
        engine_id: `mariadb-10.11`, so that `extra` may name one engine; empty for none.

    Raises:
        DynoError: The engine cannot do what is asked (a thread pool in community MySQL), or the family is
        unknown.
    """
    if family not in FAMILIES:
        raise DynoError(f"unknown engine family {family!r}", hint=f"known are {', '.join(FAMILIES)}")
    number = parse_version(version)
    chosen: dict[str, Assignment] = {}
    for knob in Settings.model_fields:
        if knob != "extra":
            for assignment in _translate_knob(settings, knob, family, number):
                chosen[assignment.variable] = assignment
    for key in (family, engine_id):
        for variable, value in settings.extra.get(key, {}).items():
            assignment = _raw(variable, value)
            chosen[assignment.variable] = assignment
    return list(chosen.values())


def _translate_knob(settings: Settings, knob: str, family: str, version: Version) -> list[Assignment]:
    rule = rule_for(knob, family, version)
    shown = ".".join(str(part) for part in version)
    if rule is None:
        raise DynoError(f"no rule translates {knob!r} for {family} {shown}", hint="see docs/SETTINGS.md")
    value = getattr(settings, knob)
    if not rule.targets:
        _require_fixed(rule, value, f"{family} {shown}")
    return [made for target in rule.targets if (made := _assign(target, knob, value)) is not None]


def _require_fixed(rule: Rule, value: object, engine: str) -> None:
    if value in rule.fixed:
        return
    raise DynoError(
        f"{rule.knob} = {value!r} cannot be given to {engine}: {rule.note}",
        hint=f"write {rule.knob} = {rule.fixed[-1]!r}, or leave this engine out",
    )


def _assign(target: Target, knob: str, value: object) -> Assignment | None:
    text = target.render.function(value)
    if text is None:
        return None
    return Assignment(target.variable, text, knob, target.command_line(text))


def _raw(variable: str, value: Scalar) -> Assignment:
    name = variable.strip().lstrip("-").replace("-", "_")
    text = ("ON" if value else "OFF") if isinstance(value, bool) else str(value)
    return Assignment(name, text, "extra", (f"--{name.replace('_', '-')}={text}",))


def arguments(assignments: Iterable[Assignment]) -> list[str]:
    """The server's command-line arguments for these assignments, in their order."""
    return [argument for assignment in assignments for argument in assignment.arguments]
