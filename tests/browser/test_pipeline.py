"""From a run folder to the page: what the statistics write is what the viewer reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from dyno.record.run import open_run
from dyno.report.analysis import analyse
from fixtures.synthetic_run import build, trials_of

if TYPE_CHECKING:
    from opened import Open

REPO = Path(__file__).parents[2]


@pytest.mark.browser
def test_a_run_folder_becomes_a_page(open_report: Open, tmp_path: Path) -> None:
    run = build(tmp_path / "20261120-193000-quickstart")
    for trial in trials_of(run, "mysql-9.7", 16):
        (trial / "record.ndjson").write_text("")
    analysis = analyse(open_run(run))
    opened = open_report(analysis)
    page = opened.page
    assert opened.points("throughput") == 8
    expect(page.locator("#throughput .gap-note")).to_contain_text("MySQL 9.7, 16 sessions")
    expect(page.locator(".findings li").first).to_contain_text(analysis.findings[0].sentence)
    for finding in analysis.findings:
        expect(page.locator(".first")).to_contain_text(finding.sentence)
    assert page.locator("#trial canvas").count() >= 5
    opened.silent()


def test_the_committed_schema_is_the_model(tmp_path: Path) -> None:
    script = [sys.executable, str(REPO / "scripts/analysis_schema.py"), "--check"]
    committed = REPO / "docs/analysis.schema.json"
    subprocess.run([*script, str(committed)], check=True)
    stale = tmp_path / "stale.json"
    stale.write_text(
        committed.read_text(encoding="utf-8").replace("throughput_per_s", "tps"), encoding="utf-8"
    )
    result = subprocess.run([*script, str(stale)], check=False, capture_output=True, text=True)
    assert result.returncode == 1
    assert "hint:" in result.stderr
