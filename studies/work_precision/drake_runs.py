"""Drake as a program: trees of hinges and rails as a continuous `MultibodyPlant`, by its Runge-Kutta of order three."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .contract import Case, Peer, Point, timed

__all__ = ["Drake"]


class Drake(Peer):
    """Drake's own simulator."""

    name = "Drake"
    settings = (
        "`MultibodyPlant` of revolute and prismatic joints, continuous, `RungeKutta3Integrator` with fixed steps. Its loops "
        "and contact are for discrete plants, whose steps are of order one, and were not tried"
    )

    @staticmethod
    def installed() -> bool:
        return importlib.util.find_spec("pydrake") is not None

    def why_not(self, case: Case) -> str:
        if case.mechanism.loops or case.beyond:
            return "the model here is of trees without contact"
        return ""

    def runs(self, case: Case) -> Iterable[Point]:
        drake: Any = importlib.import_module("pydrake.all")
        plant = drake.MultibodyPlant(0.0)
        bodies: dict[str, Any] = {"world": plant.world_body()}
        joints: dict[str, Any] = {}
        for joint, body in zip(case.mechanism.joints, case.mechanism.bodies, strict=True):
            center = np.array(body.center_of_mass)
            about = np.array(body.inertia, float) + body.mass * (center @ center * np.eye(3) - np.outer(center, center))
            moments = about / body.mass
            unit = drake.UnitInertia(*np.diag(moments), moments[0, 1], moments[0, 2], moments[1, 2])
            inertia = drake.SpatialInertia(body.mass, center, unit, skip_validity_check=True)
            bodies[body.name] = plant.AddRigidBody(body.name, inertia)
            place = drake.RigidTransform(np.array(joint.pose.matrix(), float))
            frame = plant.AddFrame(drake.FixedOffsetFrame(f"{joint.name} frame", bodies[joint.parent].body_frame(), place))
            kind = drake.PrismaticJoint if joint.kind.name == "prismatic" else drake.RevoluteJoint
            axis = np.array(joint.axis, float) / np.linalg.norm(joint.axis)
            joints[joint.name] = plant.AddJoint(kind(joint.name, frame, bodies[body.name].body_frame(), axis))
        plant.mutable_gravity_field().set_gravity_vector(np.array(case.mechanism.gravity, float))
        plant.Finalize()
        simulator = drake.Simulator(plant)
        at = [joints[name].position_start() for name in case.mechanism.q_names]
        start = np.zeros(2 * len(at))
        start[at], start[[len(at) + k for k in at]] = case.q, case.v
        context = simulator.get_mutable_context()
        for step in case.steps:
            count = case.count(step)
            h = case.duration / count
            drake.ResetIntegratorFromFlags(simulator, "runge_kutta3", h)
            simulator.get_mutable_integrator().set_fixed_step_mode(True)
            simulator.get_mutable_integrator().set_maximum_step_size(h)

            def run() -> Mapping[str, float]:
                context.SetTime(0.0)
                plant.SetPositionsAndVelocities(context, start)
                simulator.Initialize()
                simulator.AdvanceTo(case.duration)
                return dict(zip(case.mechanism.q_names, plant.GetPositions(context)[at], strict=True))

            found, seconds = timed(run)
            yield Point(self.name, "Runge-Kutta 3", h, case.error(found), seconds)
