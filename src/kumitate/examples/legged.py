"""Legged robots of example-robot-data on the floor: contact shapes, standing postures, and forces at rest."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..contact import Contact, Surface, on_ground
from ..dynamics import rnea
from ..errors import InputError, KumitateWarning
from ..kinematics import integrate, jacobian
from ..model import Mechanism, Place, Sphere
from ..model.read import read_file
from ..model.read.robot_names import robots_folder
from ..records.record import Record
from ..simulate.run import simulate

__all__ = ["Stance", "legged"]


def robot_file(name: str) -> Path:
    """A robot's file, by its path below the folder of robots; `InputError` names the extra that brings it."""
    folder = robots_folder()
    if folder is None or not (folder / name).exists():
        raise InputError(f"{name} is not on this computer; it comes with pip install 'kumitate[robots]'")
    return folder / name


def legged(file: str, feet: Collection[str]) -> Mechanism:
    """A robot, free to move, whose feet alone can touch; `file`: below example-robot-data's folder of robots."""
    path = robot_file(file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KumitateWarning)  # `kumitate check` reports them
        robot = read_file(path, floating_base=True)
    unknown = set(feet) - {body.name for body in robot.bodies}
    if unknown:
        raise InputError(f"{robot.name} has no body {', '.join(sorted(unknown))}")
    bodies = (body if body.name in feet else replace(body, collisions=()) for body in robot.bodies)
    return replace(robot, bodies=tuple(bodies))


@dataclass(frozen=True)
class Stance:
    """A posture in which a robot stands on spheres under its feet, held by a spring and a damper in every joint.

    Springs and dampers belong to the model, where steps are implicit in them: as drives with gains so high they would need
    shorter steps. The joint torques at rest are added as a constant.
    """

    robot: Mechanism  # floating, with spheres as the shapes of its feet
    angles: Mapping[str, float]  # of joints that are not at zero [rad]
    stiffness: float  # of every joint [N·m/rad]
    damping: float  # [N·m·s/rad]
    height: float = 0.0  # of the lowest point above the floor to start at [m]

    @cached_property
    def mechanism(self) -> Mechanism:
        """The robot with the springs and dampers."""
        held: dict[str, Any] = {"stiffness": (self.stiffness,), "damping": (self.damping,)}
        joints = (
            replace(joint, **held, rest=(self.angles.get(joint.name, 0.0),)) if joint.kind.nv == 1 else joint
            for joint in self.robot.joints
        )
        return replace(self.robot, joints=tuple(joints))

    @cached_property
    def soles(self) -> list[Place]:
        """The middles of the spheres under the feet."""
        places = self.robot.tree.places
        spheres = ((body.name, g.pose) for body in self.robot.bodies for g in body.collisions if isinstance(g.shape, Sphere))
        return [Place(places[name].link, places[name].pose @ pose) for name, pose in spheres]

    @cached_property
    def q(self) -> np.ndarray:
        """The coordinates (nq), with the lowest point at the given height."""
        tree = self.robot.tree
        neutral = [x for joint in self.robot.joints for x in joint.kind.neutral()]
        q = integrate(tree, neutral, [self.angles.get(name, 0.0) for name in self.robot.v_names])
        return on_ground(self.robot, np.array(q), height=self.height)

    @cached_property
    def torques(self) -> np.ndarray:
        """The joint torques in the posture (nv) [N·m], with vertical floor forces of least norm; zero at the base.

        There are none if the center of mass lies outside the support of the feet.
        """
        tree, q = self.robot.tree, self.q.tolist()
        weight = np.array(rnea(tree, q, [0.0] * tree.nv, [0.0] * tree.nv, gravity=self.robot.gravity))
        up = np.array([jacobian(tree, q, place)[5] for place in self.soles])
        forces = np.linalg.lstsq(up[:, :6].T, weight[:6], rcond=None)[0]
        borne = weight - up.T @ forces
        if np.abs(borne[:6]).max() > 1e-6 * np.abs(weight[:6]).max() or forces.min() < 0.0:
            raise InputError(f"{self.robot.name} cannot stand so: the floor would have to push with {np.round(forces, 1)} N")
        return np.concatenate([np.zeros(6), borne[6:]])


def dropped(start: Stance) -> Record:
    """Two seconds on the floor, from the height of a stance."""
    ground = Contact(surface=Surface(friction=0.8))
    return simulate(start.mechanism, start.q, duration=2.0, controller=start.torques.tolist(), contact=ground)
