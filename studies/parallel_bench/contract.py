"""The contract of a program: how it is asked for accelerations and motions of a robot with loops.

A further program is a class under `Program` in a file of its own, and an entry of `PROGRAMS` in `run.py`. It may build its
model from `mechanism`, or read the URDF and the YAML beside it. Coordinates are kumitate's: by joint in the order of the
mechanism, those of balls quaternions (x, y, z, w), their velocities in the axes of the child.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from kumitate.model import Mechanism

__all__ = ["Motion", "Program", "Task"]


@dataclass(frozen=True)
class Task:
    """A robot in states that its loops allow.

    Attributes:
        name: of the robot; `file`: its YAML, beside its URDF; None where it is built here.
        mechanism: as kumitate reads both, in a closed posture at q[0].
        q, v, tau: states (N, nq), (N, nv) and efforts (N, nv); there is no weight.
        start: velocities (nv) of the motion, which starts at q[0], without efforts.
        step, duration: of the motion [s].
    """

    name: str
    file: Path | None
    mechanism: Mechanism
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    start: np.ndarray
    step: float = 1e-3
    duration: float = 0.25

    def unlike(self, joints: Collection[str], loops: Collection[str]) -> str:
        """Words on the kinds of joints and loops that are not among these; empty if all are."""
        moving = [joint for joint in self.mechanism.joints if joint.kind.nv]
        unlike = {f"{joint.kind.name} joints" for joint in moving if joint.kind.name not in joints}
        unlike |= {f"{loop.kind.name} loops" for loop in self.mechanism.loops if loop.kind.name not in loops}
        return f"{' and '.join(sorted(unlike))}: not in this model" if unlike else ""


@dataclass(frozen=True)
class Motion:
    """A motion: the states (n, nq) after each step, how it was made, and the processor time of a step [s]."""

    q: np.ndarray
    how: str
    seconds: float


class Program(ABC):
    """A program: its name and, in a sentence, the settings that its documentation gives."""

    name: ClassVar[str]
    settings: ClassVar[str]

    @staticmethod
    @abstractmethod
    def version() -> str | None:
        """Its version; None where it is not installed."""

    def why_not(self, task: Task) -> str:
        """Why it cannot take a robot; empty if it can."""
        return ""

    @abstractmethod
    def accelerations(self, task: Task) -> tuple[np.ndarray, float]:
        """v̇ (N, nv) of all states, and the least processor time of one of them [s]."""

    @abstractmethod
    def motion(self, task: Task) -> Motion:
        """The robot coasts from its first posture."""
