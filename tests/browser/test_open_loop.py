"""An open loop on the page: labelled as response time, beside what was offered, dropped and late."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from dyno.record.run import open_run
from dyno.report.analysis import analyse
from fixtures.synthetic_run import Scenario, build, edit_json

if TYPE_CHECKING:
    from pathlib import Path

    from opened import Open

    from dyno.report.model import Analysis

pytestmark = pytest.mark.browser

SPEED = {"mariadb-10.11": 1.0, "mysql-9.7": 0.7}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """Both loops; the slower engine does not keep up with the higher rate."""
    scenario = Scenario(speed=SPEED, sessions=(4, 16), rates=(500, 2600))
    return analyse(open_run(build(tmp_path_factory.mktemp("runs") / "mixed", scenario)))


@pytest.fixture(scope="module")
def opened_only(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    scenario = Scenario(speed=SPEED, sessions=(), rates=(500, 2600))
    return analyse(open_run(build(tmp_path_factory.mktemp("runs") / "only", scenario)))


def test_the_loops_are_told_apart(open_report: Open, mixed: Analysis) -> None:
    opened = open_report(mixed, at="#k=closed")
    page = opened.page
    latency = page.locator("#latency")
    expect(latency).to_contain_text("Closed loop: service time")
    expect(latency.locator(".axes .title").last).to_contain_text("p99 service time")
    expect(latency.locator(".segmented", has_text="Time")).to_be_hidden()
    page.locator(".toolbar").get_by_label("Load").select_option("open")
    expect(latency).to_contain_text("Open loop: response time, from when a transaction was due")
    expect(latency.locator(".axes .title").last).to_contain_text("p99 response time")
    expect(latency.locator(".axes .title").first).to_contain_text("transactions offered per second")
    expect(page.locator("#throughput")).to_contain_text("that is no capacity")
    expect(page.locator("#comparison")).to_contain_text("the p99 response time (less is faster)")
    expect(page.locator("#comparison thead")).to_contain_text("faster ← 1 → slower")
    assert opened.points("latency") == 4
    opened.silent()


def test_service_lag_and_statements_are_one_click_away(open_report: Open, mixed: Analysis) -> None:
    opened = open_report(mixed, at="#k=open")
    page = opened.page
    latency = page.locator("#latency")
    response = latency.locator("tbody td").first.text_content()
    latency.locator(".segmented label", has_text=re.compile("^lag$")).click()
    expect(latency).to_contain_text("the wait for a free session, and for the rig")
    assert latency.locator("tbody td").first.text_content() != response
    page.locator(".toolbar").get_by_label("Load").select_option("closed")
    latency.get_by_label("Of").select_option("statement:point_select")
    expect(latency).to_contain_text("Of single statements")
    latency.locator(".segmented label", has_text="p99.99").click()
    expect(latency.locator(".axes .title").last).to_contain_text("p99.99 statement latency")
    cell = next(c for c in mixed.cells if (c.engine, c.load) == ("mariadb-10.11", "s4"))
    select = next(line for line in cell.statements if line.name == "point_select")
    expect(latency.locator("tbody tr").first).to_contain_text(f"{select.count:,}")
    opened.silent()


def test_offered_done_and_dropped_stand_beside_each_other(open_report: Open, mixed: Analysis) -> None:
    page = open_report(mixed, at="#k=open").page
    page.locator("#throughput summary").click()
    row = page.locator("#throughput tbody tr", has_text="MySQL 9.7 · 2,600")
    expect(row).to_contain_text("2,600")
    expect(row).to_contain_text("due transactions not done")
    expect(page.locator("#throughput .marker.hollow")).to_have_count(1)


def test_a_trial_shows_offered_backlog_and_lag_over_time(open_report: Open, mixed: Analysis) -> None:
    opened = open_report(mixed, at="#k=open&e=mysql-9.7&l=r2600&b=1")
    trial = opened.page.locator("#trial")
    for title in ("Where response times come from", "Due transactions waiting", "Throughput"):
        expect(trial.locator(".panel", has_text=title)).to_have_count(1)
    expect(trial.locator(".panel", has_text="Throughput")).to_contain_text("offered")
    expect(trial.locator(".panel", has_text="Dropped a second")).to_have_count(0)
    expect(trial.locator(".facts")).to_contain_text("p99 response time")
    expect(trial.locator(".facts")).to_contain_text("2,600/s")
    opened.silent()


def test_where_only_an_open_loop_ran_response_times_come_first(
    open_report: Open, opened_only: Analysis
) -> None:
    opened = open_report(opened_only)
    page = opened.page
    box = page.locator("#latency .stage svg").first.bounding_box()
    other = page.locator("#throughput .stage svg").first.bounding_box()
    assert box is not None
    assert other is not None
    assert box["y"] < other["y"]
    assert box["y"] + box["height"] <= 900, "the main chart is on the first screen"
    opened.silent()


def test_an_invalid_trial_keeps_its_number_and_says_why(open_report: Open, tmp_path: Path) -> None:
    busy = build(tmp_path / "busy", Scenario(speed=SPEED, client_cpu=0.97, sessions=(1, 16)))
    opened = open_report(analyse(open_run(busy)), at="#e=mysql-9.7&l=s16&b=1")
    page = opened.page
    expect(page.locator("#throughput .gap")).to_have_count(2)
    expect(page.locator("#throughput .gap-note").first).to_contain_text("the generator was the bottleneck")
    expect(page.locator("#trial .failed")).to_contain_text("This trial is invalid: the generator")
    expect(page.locator("#trial .facts")).to_contain_text("Throughput")
    page.locator("#throughput summary").click()
    expect(page.locator("#throughput tbody tr").last).to_contain_text("invalid)")
    opened.silent()


def test_a_run_of_schedules_alone_says_where_to_look(open_report: Open, tmp_path: Path) -> None:
    run = build(tmp_path / "ramp", Scenario(speed=SPEED, sessions=(4,)))
    stages = [{"duration_s": 2, "target": 4}]
    edit_json(run / "manifest.json", lambda m: m["loads"][0].update(sessions=None, start=1, stages=stages))
    opened = open_report(analyse(open_run(run)))
    page = opened.page
    expect(page.locator("#throughput")).to_contain_text("Every load here changes with time")
    expect(page.locator("#trial").get_by_label("Load")).to_contain_text("schedule s4")
    expect(page.locator("header")).to_contain_text("from 1 session, to 4 over 2 s")
    expect(page.locator("#latency tbody tr")).to_have_count(2)
    opened.silent()
