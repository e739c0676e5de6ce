"""What is constant over a run of a scene."""

from __future__ import annotations

from typing import NamedTuple

from ...procedure import Floats

__all__ = ["Rules"]


class Rules(NamedTuple):
    """The constants of a run.

    Attributes:
        step: [s]; gravity: (3) [m/s²]; fall: the speed that it gives in a step [m/s].
        patience: after so many steps in which a body has hardly moved it sleeps; 0: bodies do not sleep.
        flies: 1 if bodies that nothing touches take a Runge-Kutta step, else 0.
    """

    step: float
    gravity: Floats
    fall: float
    patience: int
    flies: int
