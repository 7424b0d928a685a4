"""A headless Chromium that is told of every request, error and console line of a report."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from opened import DESKTOP, Open, Opened
from playwright.sync_api import Browser, sync_playwright

from dyno.report.html import render

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dyno.report.model import Analysis


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("chromium is not installed; hint: scripts/setup.sh test installs it")
    with sync_playwright() as playwright:
        # The sandbox needs user namespaces that containers seldom give; the pages are our own.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_report(chromium: Browser, tmp_path: Path) -> Iterator[Open]:
    """Return a function that shows an analysis: (analysis, hash, size, theme) → Opened."""
    contexts = []

    def show(
        analysis: Analysis,
        at: str = "",
        size: tuple[int, int] = DESKTOP,
        theme: str = "light",
    ) -> Opened:
        file = tmp_path / "report.html"
        file.write_text(render(analysis), encoding="utf-8")
        context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=theme, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        opened = Opened(page, file.as_uri())
        page.on("console", lambda line: opened.complaints.append(f"console {line.type}: {line.text}"))
        page.on("pageerror", lambda error: opened.complaints.append(f"error: {error}"))
        page.on("request", lambda request: opened.requests.append(request.url))
        page.goto(opened.url + at)
        page.wait_for_selector("#provenance")
        return opened

    yield show
    for context in contexts:
        context.close()
