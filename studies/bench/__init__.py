"""Benchmarks as data: kumitate against its peers, in one process, on the same numbers, checked equal before timing."""

from kumitate.measure.timing import Effort

from .cases import CASES, run
from .report import Report, Row

__all__ = ["CASES", "Effort", "Report", "Row", "run"]
