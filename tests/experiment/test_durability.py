"""The durability audit: what was acknowledged against what is there, and a real server killed under load."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.cli.main import call
from dyno.errors import DynoError
from dyno.experiment.acks import Acknowledged, State, compare, read_acks
from dyno.experiment.durability import Auditor, AuditRequest
from dyno.findings.durability import Kill, find_durability

orders = st.frozensets(st.tuples(*[st.integers(1, 4)] * 3))
payments = st.lists(st.tuples(*[st.integers(1, 3)] * 6)).map(Counter)


def test_the_log_is_read_up_to_its_last_whole_line(tmp_path):
    log = tmp_path / "acks.ndjson"
    lines = [
        '{"session": 0, "transaction": "new_order", "key": [1, 2, 3001]}',
        '{"session": 1, "transaction": "payment", "key": [1, 2, 1, 2, 77, 1234]}',
        '{"session": 1, "transaction": "payment", "key": [1, 2, 1, 2, 77, 1234]}',
        '{"session": 0, "transaction": "new_or',
    ]
    log.write_text("\n".join(lines))
    found = read_acks(log)
    assert found.orders == {(1, 2, 3001)}
    assert found.payments == {(1, 2, 1, 2, 77, 1234): 2}
    assert found.total == 3


@pytest.mark.parametrize(
    "line", ["?", "[1]", '{"transaction": "payment"}', '{"transaction": "x", "key": ["a"]}']
)
def test_a_log_of_something_else_is_an_error(tmp_path, line):
    log = tmp_path / "acks.ndjson"
    log.write_text(line + "\n")
    with pytest.raises(DynoError, match="line 1"):
        read_acks(log)


@given(orders, payments, orders, payments, payments)
def test_exactly_what_is_gone_is_lost(before, paid_before, acked, paid, gone):
    """Whatever of the acknowledged is taken out of the data is found lost, and nothing else."""
    acked = acked - before
    lost_orders = frozenset(list(acked)[::2])
    lost_payments = paid & gone
    after = State.of((before | acked) - lost_orders, (paid_before + paid) - lost_payments)
    loss = compare(State.of(before, paid_before), Acknowledged(acked, paid), after)
    assert loss.orders == lost_orders
    assert loss.payments == lost_payments
    assert loss.total == len(lost_orders) + lost_payments.total()
    assert loss.unacknowledged == 0


@given(orders, payments, orders, payments)
def test_what_nobody_was_told_of_is_no_loss(acked, paid, more, paid_more):
    more = more - acked
    loss = compare(
        State.of(frozenset(), {}), Acknowledged(acked, paid), State.of(acked | more, paid + paid_more)
    )
    assert loss.total == 0
    assert loss.unacknowledged == len(more) + paid_more.total()


def test_findings_count_the_loss():
    kept = find_durability("E", "full", [Kill(100, 0, half=False), Kill(50, 0, half=False)])
    assert kept.sentence == (
        "E with durability full kept every one of 150 acknowledged transactions over 2 SIGKILLs,"
        " and left no half one."
    )
    lost = find_durability("E", "none", [Kill(100, 5, half=False), Kill(100, 15, half=True)])
    assert "lost 20 of 200 acknowledged transactions (10 %) over 2 SIGKILLs, 15 at one" in lost.sentence
    assert "left half transactions after 1 of them" in lost.sentence
    assert (kept.strength, lost.strength) == ("measured", "caution")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--durability", "some"], "one of full, relaxed, none"),
        (["--engine", "nosuch@1"], "nosuch@1"),
        (["-o", "warehouses"], "NAME=VALUE"),
        (["--rounds", "0"], "--rounds"),
    ],
)
def test_a_wrong_audit_ends_before_anything_starts(tmp_path, monkeypatch, capsys, arguments, told):
    monkeypatch.chdir(tmp_path)
    assert call(["audit", "durability", *arguments]) != 0
    said = capsys.readouterr().err
    assert told in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.engine
@pytest.mark.parametrize(("durability", "keeps"), [("full", True), ("none", False)])
def test_a_killed_server_keeps_what_its_settings_promise(tmp_path, durability, keeps):
    """MariaDB writes its redo log once a second at durability none: a kill under load loses the rest."""
    request = AuditRequest("mariadb@10.11", durability, rounds=1, seconds=2.0, sessions=8)
    said = []
    audit = Auditor(request, tmp_path, said.append).run()
    (only,) = audit.rounds
    assert only.acknowledged.total > 0
    assert (only.loss.total == 0) == keeps
    assert only.half is None
    assert only.loss.unacknowledged <= request.sessions
    expected = {"full": "1", "none": "0"}[durability]
    assert audit.variables["innodb_flush_log_at_trx_commit"] == expected
    assert json.loads((tmp_path / "round-1.check.json").read_text())["consistent"] is True
    assert read_acks(tmp_path / "round-1.acks.ndjson") == only.acknowledged
    assert any("round 1 of 1: killed" in line for line in said)
