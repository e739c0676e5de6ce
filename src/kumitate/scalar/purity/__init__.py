"""Decides whether a user's function is pure: its values depend on its arguments alone, so that it may be compiled."""

from .verdict import TAKEN, Verdict, judged

__all__ = ["TAKEN", "Verdict", "judged"]
