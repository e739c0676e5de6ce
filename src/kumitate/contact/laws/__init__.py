"""The laws of contact, one page each: the traced schedule runs the pages, the schedule over lists applies them."""

from .axes import tangents
from .cone import CONE, LIMITED, onto_cone, onto_disc
from .linearised import LINEARISED, STIFF, TIE, TURNING, NormalLaw, disc_law, normal_law
from .residual import RESIDUAL, TURNED, above, masses, projected, residual, sizes, worst
from .target import AIMED, AT_REST, CLOSED, RECOVERY, friction_at, modes, slides, targets

__all__ = [
    "AIMED", "AT_REST", "CLOSED", "CONE", "LIMITED", "LINEARISED", "RECOVERY", "RESIDUAL", "STIFF", "TIE", "TURNED", "TURNING",
    "NormalLaw", "above", "disc_law", "friction_at", "masses", "modes", "normal_law", "onto_cone", "onto_disc", "projected",
    "residual", "sizes", "slides", "tangents", "targets", "worst",
]  # fmt: skip
