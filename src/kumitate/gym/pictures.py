"""Pictures of the rows of a batch, drawn without a display, as figures and animations are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..model import Plane
from .task import Task

#: The size of a picture [pixels].
SIZE = (480, 360)
#: How far each coordinate is moved to see whether the robot moves in a plane [rad, m].
_MOVED = 0.3


def drawn_as(task: Task, mode: str | None) -> dict[str, Any]:
    """The metadata of environments that are drawn in a mode, or not at all; Gymnasium shows a window by these.

    Raises:
        InputError: for an unknown mode.
    """
    if mode not in (None, "rgb_array"):
        raise InputError(f"{task.name}: render_mode is {mode!r}; it must be 'rgb_array' or None, and by gymnasium.make 'human'")
    return {"render_modes": ["rgb_array"], "render_fps": max(round(1.0 / task.time), 1)}


class Pictures:
    """Draws states of a task's robot, from the side where it moves in a plane; the picture follows the robot."""

    def __init__(self, task: Task):
        from ..view.drawing_window import Stage
        from ..view.snapshots import drawer
        from ..view.style import print_style

        robot, (q, _) = task.robot, task.robot.start
        self._task, self._style, self._poses = task, print_style, robot.compile("poses")
        moved = [] if robot.mechanism.loops else [robot.integrate(q, way) for way in _MOVED * np.eye(robot.nv)]
        stage = Stage(robot.mechanism, self._poses(np.array([q, *moved])), ground=_ground(task))
        stage.follows = True
        self._draw = drawer(stage, SIZE)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._task,)

    def picture(self, q: np.ndarray, time: float) -> np.ndarray:
        """The picture (height, width, 3) of a state, uint8."""
        with self._style():
            return self._draw(self._poses(q), 0, time)


def _ground(task: Task) -> list[Any]:
    """The ground of contact, and planes that are fixed to the world."""
    mechanism, contact = task.robot.mechanism, getattr(task.simulation.interaction, "contact", None)
    places = ((body, mechanism.tree.places[body.name]) for body in mechanism.bodies)
    fixed = [(body, place.pose) for body, place in places if place.link < 0]
    planes = [replace(g, pose=X @ g.pose) for body, X in fixed for g in body.collisions if isinstance(g.shape, Plane)]
    return [*getattr(contact, "ground", ()), *planes]
