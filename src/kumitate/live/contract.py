"""`LiveRobot` and `LiveSimulation`: what the viewer reads of a robot and of its simulation."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..model import Mechanism
from ..records.record import Energy
from ..simulate.driving.actuation import Actuation
from ..simulate.stepping.advance import State


class LiveRobot(Protocol):
    """Functions of one state, as of `kumitate.Robot`."""

    @property
    def mechanism(self) -> Mechanism:
        """What moves."""

    @property
    def starts(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """The states (q, v) that have names."""

    @property
    def mass(self) -> float:
        """[kg]."""

    def poses(self, q: Any) -> dict[str, np.ndarray]:
        """The poses X_WB (4, 4) of all bodies, by name."""

    def jacobian(self, q: Any, place: str) -> np.ndarray:
        """J (6, nv) of a body: J v = [ω; v], in the axes of the world."""

    def mass_matrix(self, q: Any) -> np.ndarray:
        """M (nv, nv)."""

    def energy(self, q: Any, v: Any) -> Energy:
        """Kinetic, potential and total [J]."""


class LiveSimulation(Protocol):
    """Steps and starts, as of `kumitate.Simulation`."""

    @property
    def robot(self) -> Any:
        """A `LiveRobot`."""

    @property
    def step_size(self) -> float:
        """[s]."""

    @property
    def actuation(self) -> Actuation:
        """What drives it; wrenches without a source of their own can be given to steps."""

    def start(self, q: Any = None, v: Any = None) -> State:
        """The state that runs begin at."""

    def step(self, state: State, count: int = 1, *, wrenches: Any = None, inputs: Any = None, parameters: Any = None) -> State:
        """The state `count` steps later, with these wrenches, inputs and parameters by name."""

    def touching(self, state: State) -> Any:
        """The contact of the step that begins at a state; None without contact of bodies."""
