"""Where two shapes touch, each pair of kinds by one routine: a table of pages over scalars, which scenes apply to rows."""

from .table import PAIRS, Routines, capacity, touches, without_routine
from .touch import FAR, Touch

__all__ = ["FAR", "PAIRS", "Routines", "Touch", "capacity", "touches", "without_routine"]
