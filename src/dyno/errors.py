"""The one base class of every error that a user of Dyno can meet."""

from __future__ import annotations


class DynoError(Exception):
    """Something a user can act on: what happened, the offending value, and what to do.

    Args:
        message: One sentence naming what happened and the offending value.
        hint: What to do next, or None.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InterruptedRunError(DynoError):
    """A run was stopped by a person or by the system; what it had finished is kept."""
