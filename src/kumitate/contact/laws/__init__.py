"""The laws of contact, one page each: the traced schedule runs the pages, the schedule over lists applies them."""

from .axes import tangents
from .cone import CONE, LIMITED, onto_cone, onto_disc, onto_friction_cone
from .linearised import LINEARISED, STIFF, TIE, TURNING, NormalLaw, disc_law, normal_law
from .residual import RESIDUAL, TURNED, above, masses, projected, residual, sizes, worst
from .target import (
    AIMED,
    AT_REST,
    CLOSED,
    IN_TURN,
    MEETING,
    NEVER,
    NOT_MET,
    PRESSED,
    RECOVERY,
    aim,
    in_turn,
    meets_after,
    slides,
)  # fmt: skip

__all__ = [
    "AIMED", "AT_REST", "CLOSED", "CONE", "IN_TURN", "LIMITED", "LINEARISED", "MEETING", "NEVER", "NOT_MET", "PRESSED",
    "RECOVERY", "RESIDUAL", "STIFF", "TIE", "TURNED", "TURNING", "NormalLaw", "above", "aim", "disc_law", "in_turn", "masses",
    "meets_after", "normal_law", "onto_cone", "onto_disc", "onto_friction_cone", "projected", "residual", "sizes", "slides",
    "tangents", "worst",
]  # fmt: skip
