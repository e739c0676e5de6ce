"""The laws of contact, one page each: the traced schedule runs the pages, the schedule over lists applies them."""

from .axes import tangents
from .cone import CONE, onto_cone, onto_disc
from .linearised import LINEARISED, STIFF, TIE, TURNING, NormalLaw, disc_law, normal_law
from .residual import RESIDUAL, above, masses, projected, residual, sizes, worst

__all__ = [
    "CONE",
    "LINEARISED",
    "RESIDUAL",
    "STIFF",
    "TIE",
    "TURNING",
    "NormalLaw",
    "above",
    "disc_law",
    "masses",
    "normal_law",
    "onto_cone",
    "onto_disc",
    "projected",
    "residual",
    "sizes",
    "tangents",
    "worst",
]
