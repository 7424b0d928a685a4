"""The throughput chart draws the law of each engine that follows one, and says why another follows none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fixture
import pytest
from playwright.sync_api import expect

from dyno.findings import fit_curve

if TYPE_CHECKING:
    from opened import Open

    from dyno.report.model import Analysis, Scaling

pytestmark = pytest.mark.browser
LEVELS = (1, 2, 4, 8, 16, 32)


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    """One engine follows the USL with its peak at 22 sessions, one collapses, one had too few levels."""
    shape = fixture.Shape(sessions=LEVELS)
    made = fixture.analysis(shape)
    place = {"settings": shape.settings[0], "workload": shape.workloads[0]}
    law = {n: 400 * n / (1 + 0.02 * (n - 1) + 0.002 * n * (n - 1)) for n in LEVELS}
    peaked = fit_curve("A", {n: [x * (1.01 if n % 3 == 1 else 0.99)] for n, x in law.items()})
    collapsed = fit_curve("B", {n: [x * (0.1 if n == 32 else 1)] for n, x in law.items()})
    few = fit_curve("C", {1: [5.0], 2: [9.0]})

    def of(curve: Scaling, engine: str) -> Scaling:
        return curve.model_copy(update={"engine": engine, **place})

    curves = [of(peaked, "mariadb-10.11"), of(collapsed, "mariadb-11.8"), of(few, "mysql-9.7")]
    return made.model_copy(update={"scaling": curves})


def test_the_law_is_drawn_with_its_band_and_peak(open_report: Open, analysis: Analysis) -> None:
    opened = open_report(analysis)
    section = opened.page.locator("#throughput")
    expect(section.locator(".law")).to_have_count(1)
    drawn = section.locator('[data-engine="mariadb-10.11"] .law')
    expect(drawn.locator(".band")).to_have_count(1)
    points = drawn.locator(".curve").get_attribute("d") or ""
    assert points.count("L") == len(analysis.scaling[0].curve) - 1
    expect(drawn.locator("title")).to_contain_text("MariaDB 10.11: the law's peak, ")
    expect(drawn.locator("text")).to_have_text("N*")
    opened.silent()


def test_the_table_says_which_law_or_why_none(open_report: Open, analysis: Analysis) -> None:
    section = open_report(analysis).page.locator("#throughput")
    section.get_by_text("The scaling laws in this chart").click()
    rows = section.get_by_role("table", name="Scaling laws").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("USL")
    expect(rows.nth(1)).to_contain_text("none")
    expect(rows.nth(1)).to_contain_text("scatter by ")


def test_a_hidden_engine_hides_its_law(open_report: Open, analysis: Analysis) -> None:
    section = open_report(analysis, at="#off=mariadb-10.11").page.locator("#throughput")
    expect(section.locator(".law")).to_have_count(0)


def test_without_laws_nothing_is_said(open_report: Open) -> None:
    section = open_report(fixture.analysis()).page.locator("#throughput")
    expect(section.get_by_text("The scaling laws in this chart")).to_have_count(0)
