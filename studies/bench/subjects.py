"""What is timed: robots from the files of example-robot-data, and random chains, as mechanisms and as Pinocchio's models."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kumitate.errors import KumitateWarning
from kumitate.examples.legged import robots_folder
from kumitate.model import KINDS, WORLD, Body, Joint, Mechanism, lock, without_friction
from kumitate.model.read import read_urdf
from kumitate.spatial import pose

__all__ = ["RandomChain", "RobotFile", "Subject"]


class Subject:
    """A mechanism with a name that Pinocchio can have too. Joints are without friction and damping, which Pinocchio leaves out.

    Attributes:
        name: what the case is called by; `title` says what it is.
        missing: what is not installed and keeps it from being built; "" if all is there.
    """

    name: str
    title: str
    missing: str = ""

    @cached_property
    def mechanism(self) -> Mechanism:
        """Ours."""
        return without_friction(self._build())

    def _build(self) -> Mechanism:
        raise KeyError(self.name)

    def pinocchio(self, pin: Any) -> Any:
        """Theirs, made by their own means; `pin` is their module."""
        raise KeyError(self.name)


@dataclass(frozen=True)
class RobotFile(Subject):
    """A robot of example-robot-data.

    Attributes:
        file: below its folder of robots.
        floating: whether the base is free.
        locked: part of the names of joints that are locked at zero.
        moving: part of the names of the only joints that are not.
    """

    name: str
    title: str
    file: str
    floating: bool = False
    locked: str | None = None
    moving: str = ""

    @property
    def path(self) -> Path | None:
        folder = robots_folder()
        return None if folder is None else folder / self.file

    @property
    def missing(self) -> str:  # type: ignore[override]
        return "" if self.path is not None and self.path.exists() else "example-robot-data"

    def _build(self) -> Mechanism:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KumitateWarning)  # of meshes and transmissions, which play no part here
            mechanism = read_urdf(self.path, floating_base=self.floating)  # type: ignore[arg-type]
        return lock(mechanism, [joint.name for joint in mechanism.joints if self._is_locked(joint.name)])

    def pinocchio(self, pin: Any) -> Any:
        root = (pin.JointModelFreeFlyer(),) if self.floating else ()
        model = pin.buildModelFromUrdf(str(self.path), *root)
        held = [joint for joint, name in enumerate(model.names) if joint and self._is_locked(name)]
        model = pin.buildReducedModel(model, held, pin.neutral(model))
        model.armature[:] = 0.0
        return model

    def _is_locked(self, joint: str) -> bool:
        return self.moving not in joint or (self.locked is not None and self.locked in joint)


@dataclass(frozen=True)
class RandomChain(Subject):
    """A serial chain of revolute joints in space, placed and turned at random, of bodies of random inertia."""

    name: str
    title: str
    links: int
    seed: int = 2012

    def _build(self) -> Mechanism:
        rng = np.random.default_rng(self.seed)
        bodies, joints = [], []
        for k in range(self.links):
            points, masses = rng.uniform(-0.2, 0.2, (6, 3)), rng.uniform(0.1, 0.4, 6)
            center = masses @ points / masses.sum()
            arms = points - center
            inertia = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True))
            bodies.append(Body(f"link{k}", masses.sum(), center, inertia))
            turn = _random_rotation(rng)
            at = pose(rng.uniform(-0.3, 0.3, 3).tolist(), matrix=turn.tolist())
            joints.append(Joint(f"joint{k}", KINDS["revolute"], f"link{k - 1}" if k else WORLD, f"link{k}", at))
        return Mechanism(self.name, tuple(bodies), tuple(joints))

    def pinocchio(self, pin: Any) -> Any:
        model, before = pin.Model(), 0
        model.gravity = pin.Motion(np.array([*self.mechanism.gravity, 0.0, 0.0, 0.0]))
        for joint, body in zip(self.mechanism.joints, self.mechanism.bodies, strict=True):
            place = pin.SE3(np.array(joint.pose.matrix(), dtype=float))
            # all joints turn about z, the turns between them are dense: the form that Pinocchio is fastest at
            before = model.addJoint(before, pin.JointModelRZ(), place, joint.name)
            inertia = pin.Inertia(body.mass, np.array(body.center_of_mass), np.array(body.inertia))
            model.appendBodyToJoint(before, inertia, pin.SE3.Identity())
        return model


def _random_rotation(rng: np.random.Generator) -> np.ndarray:
    """A rotation matrix, uniform over all orientations."""
    x, y, z, w = (part := rng.normal(size=4)) / np.linalg.norm(part)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * w * K + 2.0 * K @ K
