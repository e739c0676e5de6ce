"""The laws of contact, one page each: the traced schedule runs the pages, the schedule over lists applies them."""

from .axes import tangents
from .cone import CONE, onto_cone, onto_disc
from .residual import RESIDUAL, above, masses, projected, residual, sizes, worst

__all__ = [
    "CONE",
    "RESIDUAL",
    "above",
    "masses",
    "onto_cone",
    "onto_disc",
    "projected",
    "residual",
    "sizes",
    "tangents",
    "worst",
]
