"""A report on the screen of a headless Chromium."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

DESKTOP = (1280, 900)
PHONE = (390, 844)


@dataclass
class Opened:
    """A report on the screen, and what went wrong in it."""

    page: Page
    url: str
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def silent(self) -> None:
        """Fail on a complaint, or on a request but for the file itself and what is inside it."""
        assert self.complaints == []
        outside = [url for url in self.requests if not url.startswith(("data:", "blob:"))]
        assert {url.partition("#")[0] for url in outside} == {self.url}

    def points(self, section: str) -> int:
        """How many points the chart of a section shows."""
        return self.page.locator(f"#{section} .levels svg[role=img] .marker").count()


Open = Callable[..., Opened]
"""(analysis, at="", size=DESKTOP, theme="light") → Opened"""
