"""The noise floor of the host on the page, beside what the host is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from dyno.record.run import open_run
from dyno.report.analysis import analyse
from fixtures.synthetic_run import Scenario, build

if TYPE_CHECKING:
    from pathlib import Path

    from opened import Open

pytestmark = pytest.mark.browser


def test_the_noise_floor_stands_with_the_host(open_report: Open, tmp_path: Path) -> None:
    run = build(
        tmp_path / "run", Scenario(speed={"mariadb-10.11": 1.0}, sessions=(1,), blocks=2, measure_s=1)
    )
    found = analyse(open_run(run))
    assert found.noise_floor
    opened = open_report(found, at="#at=provenance")
    expect(opened.page.locator("#provenance")).to_contain_text(found.noise_floor.sentence)
    opened.silent()
    without = open_report(found.model_copy(update={"noise_floor": None}), at="#at=provenance")
    expect(without.page.locator("#provenance")).to_contain_text("Pinned")
    expect(without.page.locator("#provenance")).not_to_contain_text("Noise floor")
