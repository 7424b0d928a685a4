"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# A deadline is a timed assertion, and a busy machine would fail it.
settings.register_profile("dyno", deadline=None)
settings.load_profile("dyno")
