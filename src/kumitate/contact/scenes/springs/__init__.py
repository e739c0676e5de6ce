"""Penalty contact in scenes: springs and dampers push at the points, in as many parts of a step as the springs need.

Pairs, points and motion are those of rigid scenes; in place of their solver, the law of the model is met point by point.
"""

from __future__ import annotations

from .law import Springs, law_program, spring_program
from .step import MOST, STIFF, advance_springs

__all__ = ["MOST", "STIFF", "Springs", "advance_springs", "law_program", "spring_program"]
