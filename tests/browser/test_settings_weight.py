"""The settings section groups differences by what they mean for the run's workloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fixture
import pytest
from playwright.sync_api import expect

from dyno.report.model import SettingRow

if TYPE_CHECKING:
    from opened import Open

    from dyno.report.model import Analysis

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return fixture.analysis()


def test_differences_stand_in_groups_with_their_reasons(open_report: Open, analysis: Analysis) -> None:
    engines = [engine.id for engine in analysis.engines]
    rows = [
        SettingRow(
            settings="default",
            variable=variable,
            logical=None,
            requested=dict.fromkeys(engines),
            effective={engine: str(place) for place, engine in enumerate(engines)},
            differs=True,
            weight=weight,
            reason=f"why {variable}",
        )
        for variable, weight in (("performance_schema", "matters"), ("thread_stack", "cosmetic"))
    ]
    whole = analysis.model_copy(update={"setting_rows": [*analysis.setting_rows, *rows]})
    page = open_report(whole).page
    section = page.locator("#settings")
    expect(section.locator("h3")).to_have_text(["Different, and it matters for the workloads of this run: 1"])
    expect(section.get_by_text("why performance_schema")).to_be_visible()
    expect(section.get_by_text("why thread_stack")).to_be_hidden()
    section.get_by_text("Different, but no effect is to be expected here: 1").click()
    expect(section.get_by_text("why thread_stack")).to_be_visible()
