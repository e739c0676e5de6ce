"""`RunWithRobot`: what formats read of a run in addition to its arrays."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..model import Mechanism
from ..simulate.results.contact_record import ContactRecord


class RunWithRobot(Protocol):
    """A result with functions of its robot, as `kumitate.Run` is; attributes as of `Result`."""

    @property
    def mechanism(self) -> Mechanism:
        """What moved."""

    @property
    def time(self) -> np.ndarray:
        """(n) [s]."""

    @property
    def q(self) -> np.ndarray:
        """(n, nq)."""

    @property
    def v(self) -> np.ndarray:
        """(n, nv)."""

    @property
    def tau(self) -> np.ndarray:
        """(n, nv)."""

    @property
    def contact(self) -> ContactRecord | None:
        """The record of contact."""

    def poses(self, samples: Any = slice(None)) -> np.ndarray:
        """The poses (m, bodies, 4, 4) of all bodies in the world."""

    def joint_wrenches(self, **options: Any) -> dict[str, np.ndarray]:
        """The force [n; f] (n, 6) at every joint, by its name."""
