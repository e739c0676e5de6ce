"""Exudyn as a program: plane mechanisms of bodies with three coordinates each, by its generalised α method."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

import kumitate as km
from kumitate.model import Joint, Loop

from .contract import Case, Peer, Point

__all__ = ["Exudyn"]


class Exudyn(Peer):
    """Exudyn's own solver."""

    name = "Exudyn"
    settings = (
        "`NodeRigidBody2D` for every body, `ObjectJointRevolute2D`, `GeneralizedAlpha` with spectral radius 1 (index 2, "
        "Newmark) and 0.9 (index 3), modified Newton to 1e-10, dense up to 12 bodies, else Eigen's sparse solver; no output. "
        "Its trees in minimal coordinates with explicit integrators were not tried"
    )

    @staticmethod
    def installed() -> bool:
        return importlib.util.find_spec("exudyn") is not None

    def why_not(self, case: Case) -> str:
        known = {item.kind.name for item in case.items} <= {"revolute", "line"} and case.in_plane and not case.beyond
        return "" if known else "the model here is of turning joints in a plane, without stops and contact"

    def runs(self, case: Case) -> Iterable[Point]:
        exu: Any = importlib.import_module("exudyn")
        for radius in (1.0, 0.9):
            for step in case.steps:
                try:
                    found, seconds = _run(exu, case, case.count(step), radius)
                except Exception:  # its solver ends so where it does not converge
                    continue
                yield Point(
                    self.name, f"generalised α, {radius:g}", case.duration / case.count(step), case.error(found), seconds
                )


def _run(exu: Any, case: Case, count: int, radius: float) -> tuple[Mapping[str, float], float]:
    """The coordinates at the end, and the processor time of the solver alone [s]."""
    import time

    items: Any = importlib.import_module("exudyn.itemInterface")
    robot, mechanism = km.Robot(case.mechanism), case.mechanism
    normal = np.array(mechanism.joints[0].axis, float)
    normal = normal / np.linalg.norm(normal)
    e1 = np.array([1.0, 0.0, 0.0])
    e2 = np.cross(normal, e1)
    flat = np.array([e1, e2])

    def where(q: np.ndarray) -> dict[str, np.ndarray]:
        return {name: np.asarray(pose) for name, pose in robot.poses(q).items()}

    poses, small = where(case.q), 1e-6
    after, before = (where(case.q + side * small * case.v) for side in (1.0, -1.0))
    system = exu.SystemContainer().AddSystem()
    ground = system.AddObject(items.ObjectGround())
    nodes, objects, middles = {}, {"world": ground}, {"world": np.zeros(2)}
    for body in mechanism.bodies:
        center = np.array([*body.center_of_mass, 1.0])
        middles[body.name] = flat @ (poses[body.name] @ center)[:3]
        speed = flat @ ((after[body.name] - before[body.name]) @ center)[:3] / (2.0 * small)
        turn = (after[body.name][:3, :3] - before[body.name][:3, :3]) / (2.0 * small) @ poses[body.name][:3, :3].T
        spin = float(normal @ [turn[2, 1], turn[0, 2], turn[1, 0]])
        axis = poses[body.name][:3, :3].T @ normal
        node = system.AddNode(
            items.NodeRigidBody2D(referenceCoordinates=[*middles[body.name], 0.0], initialVelocities=[*speed, spin])
        )
        inertia = float(axis @ np.array(body.inertia) @ axis)
        objects[body.name] = system.AddObject(
            items.ObjectRigidBody2D(physicsMass=body.mass, physicsInertia=inertia, nodeNumber=node)
        )
        nodes[body.name] = node
        marker = system.AddMarker(items.MarkerBodyPosition(bodyNumber=objects[body.name]))
        pull = [*(body.mass * flat @ np.array(mechanism.gravity)), 0.0]
        system.AddLoad(items.LoadForceVector(markerNumber=marker, loadVector=pull))

    def marked(body: str, point: np.ndarray) -> int:
        local = flat @ point - middles[body]
        return system.AddMarker(items.MarkerBodyPosition(bodyNumber=objects[body], localPosition=[*local, 0.0]))

    def ends(item: Joint | Loop) -> tuple[int, int]:
        if isinstance(item, Joint):
            place = (np.eye(4) if item.parent == "world" else poses[item.parent]) @ np.array(item.pose.matrix(), float)
            return marked(item.parent, place[:3, 3]), marked(item.child, place[:3, 3])
        sides = ((item.body_a, item.pose_a), (item.body_b, item.pose_b))
        at = [(np.eye(4) if body == "world" else poses[body]) @ np.array(place.matrix(), float) for body, place in sides]
        return marked(item.body_a, at[0][:3, 3]), marked(item.body_b, at[1][:3, 3])

    for item in case.items:
        markers = list(ends(item))
        if item.kind.name == "line":
            assert isinstance(item, Loop)
            system.AddObject(items.ObjectConnectorSpringDamper(
                markerNumbers=markers, stiffness=float(np.ravel(item.stiffness)[0]), damping=float(np.ravel(item.damping)[0]),
                referenceLength=float(np.ravel(item.rest)[0]),
            ))  # fmt: skip
        else:
            system.AddObject(items.ObjectJointRevolute2D(markerNumbers=markers))
    child = {joint.name: joint for joint in mechanism.joints}
    for name, effort in case.tau.items():
        for moved, sign in ((child[name].child, 1.0), (child[name].parent, -1.0)):
            if moved != "world":
                marker = system.AddMarker(items.MarkerBodyRigid(bodyNumber=objects[moved]))
                system.AddLoad(items.LoadTorqueVector(markerNumber=marker, loadVector=[0.0, 0.0, sign * effort]))
    system.Assemble()
    settings = exu.SimulationSettings()
    integration = settings.timeIntegration
    integration.numberOfSteps, integration.endTime, integration.verboseMode = count, case.duration, 0
    integration.generalizedAlpha.spectralRadius = radius
    integration.generalizedAlpha.useIndex2Constraints = radius == 1.0
    integration.generalizedAlpha.useNewmark = radius == 1.0
    integration.newton.useModifiedNewton = True
    integration.newton.relativeTolerance, integration.newton.absoluteTolerance = 1e-10, 1e-12
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.solutionWritePeriod = case.duration
    kinds = exu.LinearSolverType
    settings.linearSolverType = kinds.EigenSparse if len(mechanism.bodies) > 12 else kinds.EXUdense
    settings.linearSolverSettings.ignoreSingularJacobian = True
    began = time.process_time()
    system.SolveDynamic(settings, solverType=exu.DynamicSolverType.GeneralizedAlpha)
    seconds = time.process_time() - began
    turned = {"world": 0.0} | {
        name: system.GetNodeOutput(node, exu.OutputVariableType.Coordinates)[2] for name, node in nodes.items()
    }
    start = dict(zip(mechanism.q_names, case.q, strict=True))
    found = {}
    for joint in mechanism.joints:
        sign = float(np.sign(normal @ np.array(joint.axis, float)))
        found[joint.name] = start[joint.name] + sign * (turned[joint.child] - turned[joint.parent])
    return found, seconds
