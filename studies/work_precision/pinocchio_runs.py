"""Pinocchio as a program: its dynamics in C++, with classical Runge-Kutta steps of ours around them in Python."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np

from kumitate.spatial import Transform, pose

from .contract import Case, Peer, Point, timed

__all__ = ["Pinocchio"]

#: Of constraintDynamics: where proximal iterations stop, their damping, and how many there may be.
ACCURACY, DAMPING, ITERATIONS = 1e-12, 1e-10, 5


class Pinocchio(Peer):
    """Pinocchio, called from Python at each stage of a step."""

    name = "Pinocchio"
    settings = (
        "`aba`, and `constraintDynamics` with proximal settings 1e-12, 1e-10, 5 where there are loops, without Baumgarte's "
        "gains and with 25 1/s² and 10 1/s; a loop is a point held, two where axes are not parallel; classical Runge-Kutta in "
        "Python, whose calls are a part of its time"
    )

    @staticmethod
    def installed() -> bool:
        return importlib.util.find_spec("pinocchio") is not None

    def why_not(self, case: Case) -> str:
        springs = ["springs"] if any(loop.kind.name == "line" for loop in case.mechanism.loops) else []
        return " and ".join(f"has no {part}" for part in (*springs, case.beyond) if part)

    def runs(self, case: Case) -> Iterable[Point]:
        pin: Any = importlib.import_module("pinocchio")
        model, carrier = _model(pin, case)
        at = {name: model.joints[model.getJointId(name)].idx_v for name in case.mechanism.v_names}
        order = [at[name] for name in case.mechanism.v_names]
        q0, v0, tau = np.zeros(model.nv), np.zeros(model.nv), np.zeros(model.nv)
        q0[order], v0[order] = case.q, case.v
        for name, effort in case.tau.items():
            tau[at[name]] = effort
        data = model.createData()
        for gains in ((0.0, 0.0), (25.0, 10.0)) if case.mechanism.loops else ((0.0, 0.0),):
            solve: Any = pin.aba
            more: tuple[Any, ...] = ()
            if case.mechanism.loops:
                constraints, of_each = _constraints(pin, model, case, carrier, gains)
                pin.initConstraintDynamics(model, data, constraints, of_each)
                solve = pin.constraintDynamics
                more = (constraints, of_each, pin.ProximalSettings(ACCURACY, ACCURACY, DAMPING, ITERATIONS))
            for step in case.steps:
                yield self._measured(case, step, gains, lambda *state: solve(model, data, *state, tau, *more), (q0, v0, at))  # noqa: B023

    def _measured(self, case: Case, step: float, gains: tuple[float, float], solve: Any, start: tuple[Any, Any, Any]) -> Point:
        count, (q0, v0, at) = case.count(step), start
        h = case.duration / count

        def run() -> Mapping[str, float]:
            q, v = q0, v0
            for _ in range(count):
                a1 = solve(q, v).copy()
                v2 = v + 0.5 * h * a1
                a2 = solve(q + 0.5 * h * v, v2).copy()
                v3 = v + 0.5 * h * a2
                a3 = solve(q + 0.5 * h * v2, v3).copy()
                v4 = v + h * a3
                a4 = solve(q + h * v3, v4)
                q, v = q + h / 6.0 * (v + 2.0 * (v2 + v3) + v4), v + h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4)
            return {name: q[place] for name, place in at.items()}

        found, seconds = timed(run)
        return Point(self.name, "RK4 of ours, gains" if any(gains) else "RK4 of ours", h, case.error(found), seconds)


def _placed(pin: Any, place: Transform) -> Any:
    return pin.SE3(np.array(place.matrix(), dtype=float))


def _model(pin: Any, case: Case) -> tuple[Any, dict[str, int]]:
    """The tree, whose joints all turn or slide, and the joint that carries each body."""
    model, carrier = pin.Model(), {"world": 0}
    model.gravity = pin.Motion(np.array([*case.mechanism.gravity, 0.0, 0.0, 0.0]))
    bodies = {body.name: body for body in case.mechanism.bodies}
    for joint in case.mechanism.joints:
        kind = pin.JointModelPrismaticUnaligned if joint.kind.name == "prismatic" else pin.JointModelRevoluteUnaligned
        axis = np.array(joint.axis, float)
        carrier[joint.child] = model.addJoint(
            carrier[joint.parent], kind(axis / np.linalg.norm(axis)), _placed(pin, joint.pose), joint.name
        )
        body = bodies[joint.child]
        inertia = pin.Inertia(body.mass, np.array(body.center_of_mass), np.array(body.inertia))
        model.appendBodyToJoint(carrier[joint.child], inertia, pin.SE3.Identity())
    return model, carrier


def _constraints(pin: Any, model: Any, case: Case, carrier: dict[str, int], gains: tuple[float, float]) -> tuple[Any, Any]:
    """Loops: a point held, for hinges two on their axis unless all axes are parallel."""
    found, of_each = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for loop, side in product(case.mechanism.loops, (0.5, -0.5)):
        if loop.kind.name == "spherical" or case.in_plane:
            if side < 0.0:
                continue
            side = 0.0
        shift = pose(tuple(side * part for part in loop.axis))
        ends = [
            (carrier[body], _placed(pin, at @ shift)) for body, at in ((loop.body_a, loop.pose_a), (loop.body_b, loop.pose_b))
        ]
        kind, axes = pin.ContactType.CONTACT_3D, pin.ReferenceFrame.LOCAL
        one = pin.RigidConstraintModel(kind, model, *ends[0], *ends[1], axes)
        one.m_baumgarte_parameters.Kp, one.m_baumgarte_parameters.Kd = gains
        found.append(one)
        of_each.append(one.createData())
    return found, of_each
