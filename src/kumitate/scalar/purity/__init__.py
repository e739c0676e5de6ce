"""Whether a user's function is pure: its values follow from its arguments alone, so that it may be compiled."""

from .verdict import TAKEN, Verdict, judged

__all__ = ["TAKEN", "Verdict", "judged"]
