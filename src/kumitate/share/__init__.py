"""What leaves the program: files of runs for other programs, and what notebooks display."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ..records.record import Record
from ..renamed import former_names

__all__ = ["RunWithRobot"]

__getattr__ = former_names(__name__, {"RobotSharing": "kumitate.robot.Robot"})


class RunWithRobot(Record, ABC):
    """A result with functions of its robot, as `kumitate.Run` is."""

    @abstractmethod
    def poses(self, samples: Any = slice(None)) -> np.ndarray:
        """The poses (m, bodies, 4, 4) of all bodies in the world at some of the times."""

    @abstractmethod
    def joint_wrenches(self, **options: Any) -> dict[str, np.ndarray]:
        """The force [n; f] (n, 6) at every joint, by its name."""
