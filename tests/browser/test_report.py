"""The report as a reader meets it: what it shows, what its controls do, and what it never does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import fixture
import pytest
from opened import PHONE, Open
from playwright.sync_api import expect

from dyno.errors import DynoError
from dyno.report import html

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.report.model import Analysis

pytestmark = pytest.mark.browser

WIDE = fixture.Shape(
    workloads=("oltp_read_write", "oltp_read_only"),
    settings=("default", "pool-2g"),
    sessions=(1, 2, 4, 8, 16, 32, 64, 128),
)


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return fixture.analysis()


@pytest.fixture(scope="module")
def wide() -> Analysis:
    return fixture.analysis(WIDE)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_first_screen_answers(open_report: Open, analysis: Analysis, theme: str) -> None:
    opened = open_report(analysis, theme=theme)
    page = opened.page
    expect(page.get_by_role("heading", level=1)).to_have_text(analysis.title)
    header = page.locator("header")
    for text in (
        analysis.question,
        "MariaDB 10.11 (10.11.14-MariaDB-0+deb12u2)",
        "23 of 27 trials",
        analysis.loop,
    ):
        assert text is not None
        expect(header).to_contain_text(text)
    expect(header).to_contain_text(analysis.placement)
    expect(page.locator(".findings").first).to_contain_text(analysis.findings[0].sentence)
    chart = page.locator("#throughput .stage svg").first
    box = chart.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 900, "the main chart is on the first screen"
    opened.silent()


def test_every_section_is_drawn(open_report: Open, analysis: Analysis) -> None:
    opened = open_report(analysis)
    page = opened.page
    # 3 engines × 3 levels, less the failed cell, in each chart.
    assert opened.points("throughput") == 8
    assert opened.points("latency") == 8
    # A small dot for each good trial.
    assert page.locator("#throughput .levels .trial").count() == analysis.trials_ok
    expect(page.locator("#comparison tbody tr")).to_have_count(6)
    expect(page.locator("#trial canvas")).to_have_count(7)
    expect(page.locator("#provenance")).to_contain_text("10.11.14-MariaDB-0+deb12u2")
    expect(page.locator("#provenance")).to_contain_text("dyno run plans/quickstart.toml")
    opened.silent()


def test_failed_cells_are_seen_as_such(open_report: Open, analysis: Analysis) -> None:
    page = open_report(analysis).page
    for section in ("throughput", "latency"):
        expect(page.locator(f"#{section} .gap")).to_have_count(1)
        expect(page.locator(f"#{section} .gap-note")).to_contain_text("MySQL 9.7, 16 sessions")
    expect(page.locator("#throughput .marker.hollow")).to_have_count(2)
    expect(page.locator(".care").first).to_contain_text("Percona Server 8.4 could not be had")
    failures = page.locator(".failures li")
    expect(failures).to_have_count(4)
    failures.last.locator("summary").click()
    expect(failures.last.locator("pre")).to_contain_text("No space left on device")


def test_canvas_has_ink(open_report: Open, analysis: Analysis) -> None:
    page = open_report(analysis).page
    script = """c => {
        const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        const seen = new Set();
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200) seen.add(data.slice(i, i + 3).join());
        return [...seen];
    }"""
    page.wait_for_timeout(100)
    inks = page.locator("#trial canvas").first.evaluate(script)
    assert "0,114,178" in inks, "the line has its engine's colour"


def test_legend_switches_an_engine_everywhere(open_report: Open, analysis: Analysis) -> None:
    opened = open_report(analysis)
    page = opened.page
    button = page.locator(".legend button", has_text="MariaDB 11.8")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    assert opened.points("throughput") == 5
    assert opened.points("latency") == 5
    expect(page.locator('#throughput .levels [data-engine="mariadb-11.8"]')).to_have_count(0)
    expect(page.locator("#comparison tbody tr")).to_have_count(3)
    expect(page.locator("#settings thead")).not_to_contain_text("MariaDB 11.8")
    button.click()
    assert opened.points("throughput") == 8
    opened.silent()


def test_panels_share_cursor_and_zoom(open_report: Open, analysis: Analysis) -> None:
    page = open_report(analysis).page
    page.evaluate("document.getElementById('trial').scrollIntoView()")
    box = page.locator("#trial .u-over").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 40)
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 41)
    panel = page.locator("#trial .panel", has_text="CPU used")
    # The middle of 40 s: the gap at 21 s is not under the cursor, both lines have a value.
    expect(panel.locator(".u-value").nth(1)).to_contain_text("cores")
    expect(panel.locator(".u-value").nth(2)).to_contain_text("cores")
    before = panel.locator("canvas").evaluate("c => c.toDataURL()")
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 41, steps=4)
    page.mouse.up()
    page.wait_for_timeout(100)
    zoomed = panel.locator("canvas").evaluate("c => c.toDataURL()")
    assert zoomed != before
    page.locator("#trial .u-over").first.dblclick()
    page.wait_for_timeout(100)
    assert panel.locator("canvas").evaluate("c => c.toDataURL()") == before


def test_series_legend_switches_a_line(open_report: Open, analysis: Analysis) -> None:
    page = open_report(analysis).page
    entry = page.locator("#trial .panel", has_text="Latency").locator(".u-series", has_text="p95")
    expect(entry).to_have_class(re.compile(r"\bu-off\b"))
    entry.locator("th").focus()
    page.keyboard.press("Enter")
    expect(entry).not_to_have_class(re.compile(r"\bu-off\b"))


def test_axis_and_percentile_change_the_chart(open_report: Open, analysis: Analysis) -> None:
    page = open_report(analysis).page
    line = page.locator('#throughput .levels [data-engine="mariadb-10.11"] .line')
    before = line.get_attribute("d")
    page.locator("#throughput .segmented label", has_text="linear").click()
    assert line.get_attribute("d") != before
    expect(page.locator("#latency .axes .title").last).to_contain_text("p99 service time")
    page.locator("#latency .segmented label", has_text=re.compile(r"^p99\.9$")).click()
    expect(page.locator("#latency .axes .title").last).to_contain_text("p99.9 service time")
    expect(page.locator("#latency .levels .trial")).to_have_count(0)
    page.locator("#latency .segmented label", has_text=re.compile("^log$")).click()
    expect(page.locator("#latency .levels svg[role=img]")).to_be_visible()


def test_tooltip_says_value_interval_and_n(open_report: Open, analysis: Analysis) -> None:
    page = open_report(analysis).page
    stage = page.locator("#throughput .stage")
    stage.focus()
    page.keyboard.press("ArrowLeft")
    tip = page.locator("#throughput .tip")
    expect(tip).to_contain_text("16 sessions")
    cell = next(c for c in analysis.cells if c.engine == "mariadb-10.11" and c.load == "s16")
    rate = cell.throughput_per_s
    assert rate is not None
    expect(tip).to_contain_text(f"{rate.value:,.0f}/s")
    expect(tip).to_contain_text(f"[{rate.low:,.0f}, {rate.high:,.0f}], 3 trials")
    expect(tip).to_contain_text("all 3 trials failed")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    box = stage.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 80, box["y"] + 100)
    expect(tip).to_contain_text("1 session")


def test_pickers_choose_workload_settings_and_trial(open_report: Open, wide: Analysis) -> None:
    opened = open_report(wide)
    page = opened.page
    data = 'script[data-encoding="gzip+base64"]'
    expect(page.locator(data)).to_have_count(1)
    chart = page.locator("#throughput .levels svg[role=img]")
    before = chart.get_attribute("aria-label")
    page.get_by_label("Workload").select_option("oltp_read_only")
    middle = chart.get_attribute("aria-label")
    page.locator(".toolbar").get_by_label("Settings").select_option("pool-2g")
    assert len({before, middle, chart.get_attribute("aria-label")}) == 3
    page.locator("#trial").get_by_label("Engine").select_option("mysql-9.7")
    page.locator("#trial").get_by_label("Load").select_option("s64")
    page.locator("#trial").get_by_label("Trial").select_option("3")
    page.locator("#trial").get_by_label("Server counter", exact=True).select_option("status/Handler_commit")
    expect(page.locator("#trial")).to_contain_text("Server counter Handler_commit")
    trial = next(
        t
        for c in wide.cells
        if (c.engine, c.load, c.workload, c.settings) == ("mysql-9.7", "s64", "oltp_read_only", "pool-2g")
        for t in c.trials
        if t.block == 3
    )
    expect(page.locator("#trial .facts")).to_contain_text(f"{trial.throughput_per_s:,.0f}/s")
    opened.silent()


def test_evidence_leads_to_the_trial(open_report: Open, analysis: Analysis) -> None:
    page = open_report(analysis).page
    page.locator(".care .evidence", has_text="MySQL 9.7 · 16 sessions").first.click()
    expect(page.locator("#trial .failed")).to_contain_text("signal 6")
    expect(page.locator("#trial pre")).to_contain_text("No space left on device")
    expect(page.locator("#trial canvas")).to_have_count(0)
    expect(page.locator("#trial")).to_be_in_viewport()


def test_permalink_round_trip(open_report: Open, wide: Analysis) -> None:
    first = open_report(wide)
    page = first.page
    page.get_by_label("Workload").select_option("oltp_read_only")
    page.locator(".legend button", has_text="MySQL 9.7").click()
    page.locator("#throughput .segmented label", has_text="linear").click()
    page.locator("#latency .segmented label", has_text="p50").click()
    page.locator("#trial").get_by_label("Load").select_option("s8")
    page.get_by_label("Filter").fill("buffer")
    page.locator("nav a", has_text="Settings").click()
    hash_ = page.evaluate("location.hash")
    shown = page.locator("#throughput .levels svg[role=img]").get_attribute("aria-label")

    second = open_report(wide, at=hash_).page
    assert second.evaluate("location.hash") == hash_
    assert second.locator("#throughput .levels svg[role=img]").get_attribute("aria-label") == shown
    expect(second.locator(".legend button", has_text="MySQL 9.7")).to_have_attribute("aria-pressed", "false")
    expect(second.get_by_label("Filter")).to_have_value("buffer")
    expect(second.locator("#trial").get_by_label("Load")).to_have_value("s8")
    expect(second.locator("#settings")).to_be_in_viewport()
    second.evaluate("location.hash = '#p=max'")
    expect(second.locator("#latency .axes .title").last).to_contain_text("max service time")
    expect(second.get_by_label("Filter")).to_have_value("")


def test_a_percentile_of_few_transactions_is_in_brackets(open_report: Open, analysis: Analysis) -> None:
    short = analysis.model_copy(deep=True)
    few = next(c for c in short.cells if c.engine == "mariadb-10.11" and c.load == "s1").latency[0]
    few.count = 500
    page = open_report(short).page
    row = page.locator("#latency tbody tr").first
    expect(row.locator(".thin")).to_have_count(3)
    expect(row.locator(".thin").last).to_have_attribute("title", re.compile("fewer than 10 transactions"))
    expect(page.locator("#latency")).to_contain_text("In brackets: fewer than 10")
    expect(page.locator("#latency tbody tr").nth(1).locator(".thin")).to_have_count(0)


def test_settings_show_differences_first(open_report: Open, analysis: Analysis) -> None:
    page = open_report(analysis).page
    rows = page.locator("#settings tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("innodb_log_file_size")
    expect(rows.first).to_contain_text("asked for 268435456")
    expect(rows.first).to_contain_text("not taken by the server")
    expect(rows.first).to_contain_text("has no such variable")
    page.locator("#settings .segmented label", has_text="all").click()
    expect(rows).to_have_count(len(analysis.setting_rows))
    page.get_by_label("Filter").fill("EXAMPLE_01")
    expect(rows).to_have_count(10)


@pytest.mark.parametrize("plain_max", [0, 10_000_000], ids=["packed", "plain"])
def test_hostile_strings_stay_text(
    open_report: Open, monkeypatch: pytest.MonkeyPatch, plain_max: int
) -> None:
    monkeypatch.setattr(html, "PLAIN_CHARACTERS_MAX", plain_max)
    opened = open_report(fixture.hostile())
    page = opened.page
    assert page.locator("#analysis[data-encoding]").count() == (0 if plain_max else 1)
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(re.escape("</script><img src=x")))
    for link in page.locator(".evidence:visible").all()[:4]:
        link.click()
    page.locator("#settings .segmented label", has_text="all").click()
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert page.locator("img").count() == 0
    assert page.evaluate("window.hostile") is None
    opened.silent()


def test_policy_runs_nothing_but_the_page(open_report: Open, analysis: Analysis) -> None:
    opened = open_report(analysis)
    page = opened.page
    policy = page.locator('meta[http-equiv="Content-Security-Policy"]').get_attribute("content")
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    page.evaluate(
        "() => { const script = document.createElement('script');"
        " script.textContent = 'window.hostile = 1'; document.body.append(script); }"
    )
    page.evaluate("fetch('https://example.invalid/').catch(() => 0)")
    assert page.evaluate("window.hostile") is None
    assert len([line for line in opened.complaints if "Content Security Policy" in line]) >= 2


@pytest.mark.parametrize("hostile", [False, True])
def test_phone_has_no_sideways_scroll(open_report: Open, wide: Analysis, hostile: bool) -> None:
    opened = open_report(fixture.hostile() if hostile else wide, size=PHONE)
    page = opened.page
    page.locator("#settings .segmented label", has_text="all").click()
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    opened.silent()


def test_controls_are_reached_by_keyboard(open_report: Open, analysis: Analysis) -> None:
    page = open_report(analysis).page
    reached: set[str] = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "(e => e.closest('.legend') ? 'legend' : e.closest('nav') ? 'nav' : "
                "e.className === 'stage' ? 'chart' : e.tagName === 'SELECT' ? 'picker' : "
                "e.type ?? e.tagName)(document.activeElement)"
            )
        )
    assert {"legend", "nav", "chart", "picker", "radio", "button"} <= reached


def test_every_control_has_a_name(open_report: Open, wide: Analysis) -> None:
    page = open_report(wide).page
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, select, input, [role=img], [tabindex]')].filter(e => "
        "!(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map(e => e.outerHTML)"
    )
    assert nameless == []


def test_a_run_without_any_good_trial_still_opens(open_report: Open, analysis: Analysis) -> None:
    empty = analysis.model_copy(deep=True)
    empty.findings = []
    empty.comparisons = []
    empty.series = {}
    empty.trials_ok = 0
    for cell in empty.cells:
        cell.status, cell.throughput_per_s, cell.latency = "failed", None, []
        for trial in cell.trials:
            trial.status, trial.reason, trial.series, trial.throughput_per_s = (
                "failed",
                "no server",
                None,
                None,
            )
    opened = open_report(empty)
    expect(opened.page.locator("#throughput .gap")).to_have_count(9)
    expect(opened.page.locator("#trial .failed")).to_contain_text("no server")
    opened.silent()


def test_a_page_of_another_version_is_refused(analysis: Analysis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "_template", lambda: "<title>Dyno report</title>")
    with pytest.raises(DynoError) as caught:
        html.render(analysis)
    assert caught.value.hint is not None
    assert "make build" in caught.value.hint


def test_a_missing_page_is_explained(
    analysis: Analysis, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(html.resources, "files", lambda _package: tmp_path)
    with pytest.raises(DynoError, match="not in this installation"):
        html.render(analysis)


def test_same_analysis_same_file(wide: Analysis) -> None:
    assert html.render(wide) == html.render(wide)
