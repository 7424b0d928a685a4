"""A TPC-C-derived load on the page: new orders a minute, types against their limits, the load's validity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from opened import PHONE
from playwright.sync_api import expect

from dyno.record.run import open_run
from dyno.report.analysis import analyse
from fixtures.synthetic_run import Scenario, build
from fixtures.tpcc_run import as_tpcc

if TYPE_CHECKING:
    from opened import Open

    from dyno.report.model import Analysis

pytestmark = pytest.mark.browser

SCENARIO = Scenario(speed={"mariadb-10.11": 1.0, "mysql-9.7": 0.7}, sessions=(1, 4, 16))


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return analyse(open_run(as_tpcc(build(tmp_path_factory.mktemp("runs") / "tpcc", SCENARIO))))


def test_the_curve_and_its_tables_are_shown(open_report: Open, orders: Analysis) -> None:
    opened = open_report(orders)
    part = opened.page.locator("#tpcc")
    expect(part).to_contain_text(
        "Profile standard, shape batched. TPC-C-derived: no result of that benchmark."
    )
    assert opened.points("tpcc") == 6
    part.locator("summary").click()
    expect(part.get_by_role("cell", name="share ≥ 43 %, p90 < 5.00 s").first).to_be_visible()
    expect(part.locator("table").last.locator("tbody tr")).to_have_count(30)
    opened.page.locator('.toolbar button[data-engine="mysql-9.7"]').click()
    expect(part.locator("table").last.locator("tbody tr")).to_have_count(15)
    assert opened.points("tpcc") == 3
    opened.silent()


def test_it_fits_a_phone(open_report: Open, orders: Analysis) -> None:
    opened = open_report(orders, at="#at=tpcc", size=PHONE)
    expect(opened.page.locator("#tpcc h2")).to_have_text("New orders a minute (NOPM)")
    width = opened.page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE[0]
    opened.silent()


def test_another_load_has_no_such_section(
    open_report: Open, tmp_path_factory: pytest.TempPathFactory
) -> None:
    plain = analyse(open_run(build(tmp_path_factory.mktemp("runs") / "oltp", SCENARIO)))
    opened = open_report(plain)
    expect(opened.page.locator("#tpcc")).to_have_count(0)
    expect(opened.page.locator(".toolbar nav")).not_to_contain_text("NOPM")
    opened.silent()
