"""A damped spring from a point of a body to where the mouse is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .contract import LiveRobot

#: Its frequency on the mass that it moves [rad/s].
FREQUENCY = 15.0


@dataclass(frozen=True, eq=False)
class Spring:
    """A damped spring between a point of a body and a target in the world.

    Attributes:
        body: that it pulls; point: (3,) in the body's frame [m]; target: (3,) in the world [m].
        mass: that it moves [kg], from which its stiffness m ω² and its critical damping 2 m ω follow. With it no explicit
            step below 1/ω is unstable, on heavy bodies and on light ones.
    """

    body: str
    point: np.ndarray
    target: np.ndarray
    mass: float

    @classmethod
    def grab(cls, robot: LiveRobot, q: np.ndarray, body: str, position: Any) -> Spring:
        """A spring at rest at a position in the world (3,) [m], fixed to a body.

        Its mass is the least that the point has in any direction: 1/λ for the largest eigenvalue λ of J M⁻¹ Jᵀ (O. Khatib, A
        unified approach for motion and force control of robot manipulators, IEEE J. Robotics and Automation 3, 1987, eq. 51).
        Loops can only add to it.
        """
        X, grabbed = robot.poses(q)[body], np.asarray(position, dtype=float)
        J = robot.jacobian(q, body)
        at_point = J[3:] - np.cross(grabbed - X[:3, 3], J[:3], axisb=0, axisc=0)
        mobility = at_point @ np.linalg.pinv(robot.mass_matrix(q), hermitian=True) @ at_point.T
        most = float(np.linalg.eigvalsh(mobility)[-1])
        mass = min(1.0 / most, robot.mass) if most * robot.mass > 1.0 else robot.mass
        return cls(body, X[:3, :3].T @ (grabbed - X[:3, 3]), grabbed, mass)

    def to(self, target: Any) -> Spring:
        """The same spring with another target (3,) [m]."""
        return replace(self, target=np.asarray(target, dtype=float))

    def end(self, robot: LiveRobot, q: np.ndarray) -> np.ndarray:
        """Where its point is in the world (3,) [m]."""
        X = robot.poses(q)[self.body]
        return np.asarray(X[:3, :3] @ self.point + X[:3, 3])

    def wrench(self, robot: LiveRobot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Its [n; f] (6) on the body, about the origin and in the axes that wrenches of a step have [N·m, N]."""
        X, V = robot.poses(q)[self.body], robot.jacobian(q, self.body) @ v
        arm = X[:3, :3] @ self.point
        speed = V[3:] + np.cross(V[:3], arm)
        stretch = self.target - X[:3, 3] - arm
        force = self.mass * FREQUENCY * (FREQUENCY * stretch - 2.0 * speed)
        return np.concatenate([np.cross(arm, force), force])
