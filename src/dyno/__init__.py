"""Dyno: a dynamometer for MySQL-family database engines (the lab, Python part)."""

__version__ = "0.1.0"
