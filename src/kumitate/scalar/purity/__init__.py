"""Decides whether a user's function is pure: its values depend on its arguments alone, so that it may be compiled."""

from .verdict import Verdict, judged

__all__ = ["Verdict", "judged"]
