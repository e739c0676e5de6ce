"""Cassie as a subject: a robot whose file closes loops, its springs and damping left out, as Pinocchio has none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kumitate.analysis import LoopEquations, assemble
from kumitate.examples.gallery import cassie
from kumitate.examples.legged import robots_folder
from kumitate.kinematics import integrate
from kumitate.model import KINDS, Joint, Link, Loop, Mechanism, Place
from kumitate.spatial import Transform

from .subjects import Subject

__all__ = ["Cassie"]

#: How far the joints of states lie around the posture that Cassie hangs in [rad]: its loops close there.
AROUND = 0.1


class Cassie(Subject):
    """Both legs of Cassie on a pelvis that is held, each with two loops."""

    name = "cassie"
    title = "Cassie, 4 loops"

    @property
    def missing(self) -> str:  # type: ignore[override]
        folder = robots_folder()
        return "" if folder is not None and (folder / cassie.FILE).exists() else "example-robot-data"

    def _build(self) -> Mechanism:
        whole = cassie.cassie()
        joints, loops = tuple(map(_bare, whole.joints)), tuple(map(_bare, whole.loops))
        return replace(whole, joints=joints, loops=loops)

    def random_states(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q (count, nq) and v (count, nv) on closed loops, around the posture of the example; and forces along the joints."""
        mechanism, rng = self.mechanism, np.random.default_rng(1)
        equations, posture = LoopEquations(mechanism), cassie.start(cassie.cassie()).tolist()
        states = []
        for _ in range(count):
            away = integrate(mechanism.tree, posture, rng.uniform(-AROUND, AROUND, mechanism.nv).tolist())
            states.append(assemble(equations, np.array(away), rng.normal(size=mechanism.nv)))
        q, v = (np.array(part) for part in zip(*states, strict=True))
        return q, v, rng.normal(size=v.shape)

    def pinocchio(self, pin: Any) -> Any:
        """Their model of our tree, whose joints turn about z or about a point: the forms that they are fastest at."""
        tree, model = self.mechanism.tree, pin.Model()
        model.gravity = pin.Motion(np.array([*self.mechanism.gravity, 0.0, 0.0, 0.0]))
        numbers = {-1: 0}
        for link in tree.links:
            kind = pin.JointModelSpherical() if link.kind == KINDS["spherical"] else pin.JointModelRZ()
            joint = numbers[link.index] = model.addJoint(numbers[link.parent], kind, _placed(pin, link.placement), link.name)
            model.appendBodyToJoint(joint, _inertia(pin, link), pin.SE3.Identity())
        return model

    def constraints(self, pin: Any, model: Any) -> Any:
        """Their loops: a point held at a point, and for a hinge a second one, a metre along its axis."""
        found = pin.StdVec_RigidConstraintModel()
        for chord in self.mechanism.tree.chords:
            for height in (0.0, 1.0) if chord.closure == KINDS["revolute"] else (0.0,):
                ends = [self._end(pin, model, place, height) for place in (chord.base, chord.follower)]
                (a, at_a), (b, at_b) = ends
                axes = pin.ReferenceFrame.LOCAL
                found.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, a, at_a, b, at_b, axes))
        return found

    def _end(self, pin: Any, model: Any, place: Place, height: float) -> tuple[int, Any]:
        """Their joint and the pose on it of a point on the axis of a chord."""
        along = pin.SE3(np.eye(3), np.array([0.0, 0.0, height]))
        joint = 0 if place.link < 0 else model.getJointId(self.mechanism.tree.links[place.link].name)
        return joint, _placed(pin, place.pose) * along


def _bare(item: Joint | Loop) -> Any:
    """A joint or loop without springs and damping."""
    none = (0.0,) * item.kind.nv
    return replace(item, stiffness=none, damping=none, friction=none)


def _placed(pin: Any, place: Transform) -> Any:
    return pin.SE3(np.array(place.matrix(), dtype=float))


def _inertia(pin: Any, link: Link) -> Any:
    """The inertia of a link, which ours keep about its origin."""
    mass = float(link.inertia.mass)
    center = np.array(list(link.inertia.first_moment), dtype=float) / mass if mass else np.zeros(3)
    about_origin = np.array([list(row) for row in link.inertia.rotational.matrix()], dtype=float)
    return pin.Inertia(mass, center, about_origin - mass * (center @ center * np.eye(3) - np.outer(center, center)))
