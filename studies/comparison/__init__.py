"""The methods of forward dynamics compared: the thesis's tables 2.3, 4.2, 4.3 and figures 4.13, 4.16."""

from .report import Comparison, compare
from .times import Entry, Family

__all__ = ["Comparison", "Entry", "Family", "compare"]
