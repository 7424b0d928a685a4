"""Checks of the data around a trial, and a client's commits against what the data shows."""

from __future__ import annotations

import json

import pytest

from dyno.experiment.check import complaint, contradictions
from dyno.record.checked import Checked, Condition, Counts
from dyno.record.lines import Header, Interval, OpenCount, Transactions
from dyno.record.stream import Stream

PLAN = """
[plan]
name = "checked"
[[engines]]
engine = "mariadb@10.11"
[settings]
buffer_pool = "64MiB"
[[workloads]]
name = "tpcc"
check = true
[load]
sessions = [1]
[phases]
warmup = "0s"
measure = "1s"
[trials]
count = 1
"""
BEFORE = Counts(orders=30_000, payments=30_000, undelivered=9_000)


def stream(sessions=8, **counts):
    """Warm-up and measure, an interval each; `new_order=(90, {"rolled_back": 1})` ended in both."""
    transactions = [Transactions(type=kind, ok=ok, counters=more) for kind, (ok, more) in counts.items()]
    intervals = [
        Interval(t_us=t, duration_us=1, phase=phase, sessions=sessions, transactions=transactions)
        for t, phase in ((1, "warmup"), (2, "measure"))
    ]
    return Stream(Header(format="dyno-record/1"), intervals=intervals)


def after(orders=0, payments=0, delivered=0):
    """Counts that grew by so many."""
    return Counts(
        orders=BEFORE.orders + orders,
        payments=BEFORE.payments + payments,
        undelivered=BEFORE.undelivered + orders - delivered,
    )


ORDERS = {"rolled_back": 1, "lines": 900}
FULL = {
    "new_order": (90, ORDERS),
    "payment": (80, {}),
    "delivery": (5, {"delivered": 49, "skipped": 1}),
}


@pytest.mark.parametrize(
    ("grown", "told"),
    [
        ((178, 160, 98), None),
        ((178 + 8, 160 + 8, 98 + 80), None),  # each of 8 sessions may end one more while it drains
        ((177, 160, 98), "orders"),
        ((178 + 9, 160, 98), "orders"),
        ((178, 159, 98), "payments"),
        ((178, 169, 98), "payments"),
        ((178, 160, 97), "delivered orders"),
        ((178, 160, 98 + 81), "delivered orders"),
    ],
)
def test_the_growth_of_the_data_has_exact_bounds(grown, told):
    found = contradictions(stream(**FULL), BEFORE, after(*grown))
    assert len(found) == (told is not None)
    assert all(told in each for each in found)


def test_a_rig_that_counts_only_transactions_leaves_room():
    plain = {name: (ok, {}) for name, (ok, _) in FULL.items()}
    assert contradictions(stream(**plain), BEFORE, after(170, 160, 90)) == []
    assert len(contradictions(stream(**plain), BEFORE, after(189, 160, 90))) == 1


def test_lost_and_carried_transactions_may_have_been_committed():
    told = stream(sessions=0, **FULL)
    assert contradictions(told, BEFORE, after(180, 160, 98))
    first = told.intervals[0].model_copy(update={"lost": 1, "open": OpenCount(carried=1)})
    told.intervals[0] = first
    assert contradictions(told, BEFORE, after(180, 160, 98)) == []


def condition(name, *, holds, **more):
    return Condition(name=name, text="must hold", holds=holds, seconds=0.1, **more)


def test_a_complaint_names_conditions_and_rows():
    broken = condition(
        "06_lines", holds=False, columns=["o_id", "o_ol_cnt"], rows=[["7", None], ["8", "5"]], more=True
    )
    unknown = condition("10_balance", holds=None)
    good = condition("01_ytd", holds=True)
    checked = Checked(
        workload="tpcc", consistent=False, conditions=[good, broken, unknown], total_seconds=0.3
    )
    told = complaint(checked, "after the load")
    assert told == (
        "after the load the data breaks 2 of 3 consistency conditions: 06_lines: o_id = 7, o_ol_cnt = NULL"
        " and more than 1 other; 10_balance is not known: the server took longer than the limit"
    )
    fine = Checked(workload="tpcc", consistent=True, conditions=[good], total_seconds=0.1)
    assert complaint(fine, "after the load") is None


@pytest.mark.engine
@pytest.mark.parametrize(
    ("how", "status", "reason"),
    [
        ("ok", "ok", None),
        (
            "broken-before",
            "failed",
            "before the load the data breaks 1 of 1 consistency conditions: c: id = 1",
        ),
        (
            "broken-after",
            "invalid",
            "after the load the data breaks 1 of 1 consistency conditions: c: id = 1",
        ),
        ("silent", "failed", "the tables are not there"),
    ],
)
def test_a_plan_that_checks_keeps_and_judges_what_is_found(lab, how, status, reason):
    done = lab.call("run", lab.plan(PLAN), DYNO_FAKE_RIG_CHECK=how)
    assert done.returncode == (0 if status == "ok" else 4), done.stderr
    for trial in lab.trials():
        assert (trial["status"], trial["reason"]) == (status, reason)
    for folder in (lab.run_folder() / "trials").iterdir():
        driven = (folder / "record.ndjson").exists()
        assert driven == (how in {"ok", "broken-after"})
        if driven:
            assert json.loads((folder / "check-after.json").read_text())["consistent"] == (how == "ok")
    assert "Traceback" not in done.stderr


def test_a_workload_without_conditions_cannot_be_checked(lab):
    done = lab.call("run", lab.plan(PLAN.replace('"tpcc"', '"oltp_fake"')), "--dry-run")
    assert done.returncode == 1
    assert "workloads[0].check = true: oltp_fake has no consistency conditions" in done.stderr
    assert "hint:" in done.stderr
