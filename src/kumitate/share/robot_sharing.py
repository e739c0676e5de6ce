"""What a robot gives to others: its file, and its picture in a notebook."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path

import numpy as np

from ..model import Mechanism


class RobotSharing(ABC):
    """How `Robot` is written to files and displayed."""

    mechanism: Mechanism

    @property
    @abstractmethod
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """The state (q, v) at which simulations begin by default."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the mechanism in the format of the path's suffix: .urdf, .xml (MJCF), or kumitate's own .json, which has all.

        Raises:
            InputError: for another suffix, a folder that does not exist, or joints that the format has nothing for.

        Warns:
            KumitateWarning: once for each kind of thing that the format cannot express.

        >>> from tempfile import mkdtemp
        >>> from kumitate import load
        >>> load(load("pa10").save(f"{mkdtemp()}/arm.urdf")).nv
        7
        """
        from ..model.write import mechanism_text
        from ..simulate.results.whole_file import replacing

        text = mechanism_text(self.mechanism, path)
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        return Path(path)

    def _repr_html_(self) -> str:
        """What notebooks display: the picture at the start, and the joints."""
        from .notebook import robot_html

        return robot_html(self.mechanism, self.start[0])
