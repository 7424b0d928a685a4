"""Same seed, same input: the statements are captured on the server's side, in its general log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from blackbox.stand import Stand

pytestmark = pytest.mark.engine

SESSIONS = 3


def captured(stand: Stand, seed: int, mode: str = "prepared") -> list[list[str]]:
    """The statements of each session of one trial, in order, sessions sorted by their first statements."""
    load = {"closed": {"sessions": SESSIONS}}
    options = {"distribution": "zipfian"}
    spec = stand.spec("oltp_read_write", options=options, load=load, seed=seed, statement_mode=mode)
    _, sessions = stand.capture(spec)
    lists = [statements for statements in sessions.values() if len(statements) > 100]
    assert len(lists) == SESSIONS
    return sorted(lists, key=lambda statements: statements[:20])


def same(one: list[list[str]], other: list[list[str]]) -> bool:
    """Equal up to the length of the shorter of each pair: a trial ends by the clock, not by a count."""
    return all(left[: len(right)] == right[: len(left)] for left, right in zip(one, other, strict=True))


@pytest.fixture(scope="module")
def first(stand: Stand) -> list[list[str]]:
    stand.prepare()
    return captured(stand, seed=11)


def test_same_seed_same_statements_in_every_session(stand: Stand, first: list[list[str]]) -> None:
    stand.prepare()
    assert same(first, captured(stand, seed=11))


def test_text_mode_sends_the_same_statements(stand: Stand, first: list[list[str]]) -> None:
    stand.prepare()
    assert same(first, captured(stand, seed=11, mode="text"))


def test_another_seed_or_session_gives_other_statements(stand: Stand, first: list[list[str]]) -> None:
    assert not same(first, captured(stand, seed=12))
    assert first[0][:40] != first[1][:40]
