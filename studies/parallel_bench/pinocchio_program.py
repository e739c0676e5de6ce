"""Pinocchio as a program of ParallelBench: `constraintDynamics`, and steps of Runge and Kutta in Python around it."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np

from kumitate.model.convert import pinocchio as in_its_order
from kumitate.spatial import pose

from ..work_precision.contract import timed
from ..work_precision.pinocchio_runs import ACCURACY, DAMPING, ITERATIONS
from .contract import Motion, Program, Task

__all__ = ["Pinocchio"]

_JOINTS = {
    "revolute": "JointModelRevoluteUnaligned",
    "prismatic": "JointModelPrismaticUnaligned",
    "spherical": "JointModelSpherical",
    "floating": "JointModelFreeFlyer",
}
#: A hinge is held at two points of its axis.
_LOOPS = {"spherical": "CONTACT_3D", "fixed": "CONTACT_6D", "revolute": "CONTACT_3D"}


class Pinocchio(Program):
    """Proximal settings 1e-12, 1e-10, 5; Baumgarte's gains 25 1/s² and 10 1/s in motions, none for accelerations."""

    name = "Pinocchio"
    settings = (
        "`constraintDynamics` with proximal settings 1e-12, 1e-10, 5, one state a call from Python; motions by classical "
        "Runge-Kutta in Python with Baumgarte's gains 25 1/s² and 10 1/s"
    )

    @staticmethod
    def version() -> str | None:
        found = importlib.util.find_spec("pinocchio") is not None
        return str(importlib.import_module("pinocchio").__version__) if found else None

    def why_not(self, task: Task) -> str:
        return task.unlike(_JOINTS, _LOOPS)

    def accelerations(self, task: Task) -> tuple[np.ndarray, float]:
        solve, order = self._solver(task, (0.0, 0.0))
        turn = [order.velocity_matrix(q) for q in task.q]
        given = zip(turn, task.q, task.v, task.tau, strict=True)
        states = [(order.to(q), T @ v, T @ tau) for T, q, v, tau in given]
        found, seconds = timed(lambda: [solve(*state).copy() for state in states])
        back = [np.linalg.solve(T, a) for T, a in zip(turn, found, strict=True)]
        return np.array(back), seconds / len(states)

    def motion(self, task: Task) -> Motion:
        pin: Any = importlib.import_module("pinocchio")
        solve, order = self._solver(task, (25.0, 10.0))
        count, h = round(task.duration / task.step), task.step
        model, tau = self._model, np.zeros(task.mechanism.nv)

        def run() -> np.ndarray:
            q, v, passed = order.to(task.q[0]), order.velocity_matrix(task.q[0]) @ task.start, []
            for _ in range(count):
                a1 = solve(q, v, tau).copy()
                v2 = v + 0.5 * h * a1
                a2 = solve(pin.integrate(model, q, 0.5 * h * v), v2, tau).copy()
                v3 = v + 0.5 * h * a2
                a3 = solve(pin.integrate(model, q, 0.5 * h * v2), v3, tau).copy()
                v4 = v + h * a3
                a4 = solve(pin.integrate(model, q, h * v3), v4, tau)
                q = pin.integrate(model, q, h / 6.0 * (v + 2.0 * (v2 + v3) + v4))
                v = v + h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4)
                passed.append(order.back(q))
            return np.array(passed)

        q, seconds = timed(run)
        return Motion(q, "RK4 of ours, gains", seconds / count)

    def _solver(self, task: Task, gains: tuple[float, float]) -> tuple[Any, Any]:
        """What gives accelerations of a state in Pinocchio's order, and that order."""
        pin: Any = importlib.import_module("pinocchio")
        m, model = task.mechanism, pin.Model()
        model.gravity = pin.Motion(np.array([*m.gravity, 0.0, 0.0, 0.0]))
        bodies, at = {body.name: body for body in m.bodies}, {"world": (0, pin.SE3.Identity())}

        def placed(pose: Any) -> Any:
            return pin.SE3(np.array(pose.matrix(), dtype=float))

        for joint in m.joints:
            carrier, shift = at[joint.parent]
            place = shift * placed(joint.pose)
            if joint.kind.nv:
                kind = getattr(pin, _JOINTS[joint.kind.name])
                axis = np.array(joint.axis, float)
                made = kind(axis / np.linalg.norm(axis)) if joint.kind.nv == 1 else kind()
                carrier, place = model.addJoint(carrier, made, place, joint.name), pin.SE3.Identity()
            at[joint.child] = carrier, place
            body = bodies[joint.child]
            inertia = pin.Inertia(body.mass, np.array(body.center_of_mass), np.array(body.inertia))
            model.appendBodyToJoint(carrier, inertia, place)
        found, of_each = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for loop in m.loops:
            for side in (0.5, -0.5) if loop.kind.name == "revolute" else (0.0,):
                shift = pose(tuple(side * part for part in loop.axis))
                (a, X_a), (b, X_b) = at[loop.body_a], at[loop.body_b]
                kind, axes = getattr(pin.ContactType, _LOOPS[loop.kind.name]), pin.ReferenceFrame.LOCAL
                ends = X_a * placed(loop.pose_a @ shift), b, X_b * placed(loop.pose_b @ shift)
                one = pin.RigidConstraintModel(kind, model, a, *ends, axes)
                one.m_baumgarte_parameters.Kp, one.m_baumgarte_parameters.Kd = gains
                found.append(one)
                of_each.append(one.createData())
        data = model.createData()
        pin.initConstraintDynamics(model, data, found, of_each)
        proximal = pin.ProximalSettings(ACCURACY, ACCURACY, DAMPING, ITERATIONS)
        self._model = model
        return lambda q, v, tau: pin.constraintDynamics(model, data, q, v, tau, found, of_each, proximal), in_its_order(
            m, model
        )
