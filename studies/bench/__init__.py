"""Benchmarks as data: kumitate beside its peers, in one process, on the same numbers, checked equal before they are timed."""

from kumitate.measure.timing import Effort

from .cases import CASES, run
from .report import Report, Row

__all__ = ["CASES", "Effort", "Report", "Row", "run"]
