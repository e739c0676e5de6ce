"""Operational space control (Khatib 1987)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..dynamics import crba, rnea, solve_symmetric
from ..errors import InputError
from ..kinematics import jacobian, jacobian_rate, link_poses, place_pose
from ..scalar import Scalar, Scalars, table
from ..spatial import Vector3, dot, nearest_solution, quaternion_log, quaternion_of, quaternion_product
from .controllers import CompiledPage, Controller, mechanism_of

#: Damping of Λ⁻¹ = J M⁻¹ Jᵀ, relative to the inverse of the mechanism's mass: directions that move less easily are given up.
DAMPING = 1e-8


def operational_space(
    robot: Any,
    place: str,
    reference: Any,
    *,
    kp: Any,
    kd: Any,
    rows: Sequence[int] = (3, 4, 5),
    posture: Controller | None = None,
) -> Controller:
    """Moves a frame along a reference: ẍ = ẍ_ref + K_d ė + K_p e, by tau = Jᵀ Λ (ẍ − J̇v) + h and a posture in the null space.

    Args:
        robot: a tree, every joint driven.
        place: the body or frame.
        reference: a `PoseSpline`, or a constant pose (qx, qy, qz, qw, x, y, z) in the world.
        kp, kd: gains, one for all rows or one each [1/s², 1/s].
        rows: which of [ω; v] are controlled, in the axes of the world; the position by default, `range(6)` for the pose.
        posture: forces (nv) of a controller that acts in the null space; by default zero, apart from h.

    Near a singular posture the directions that cannot be moved are given up smoothly (a damped solve).

    Raises:
        InputError: if there is no such place, a row is not in 0 to 5, or the mechanism has loops.
    """
    mechanism = mechanism_of(robot)
    tree, chosen = mechanism.tree, list(rows)
    tree.place(place, f"{mechanism.name}: operational space control is of")
    if not chosen or not set(chosen) <= set(range(6)) or len(set(chosen)) < len(chosen):
        raise InputError(f"rows are {chosen}; name some of 0 to 5, each once: [ω; v]")
    if tree.closed:
        raise InputError(f"{mechanism.name}: operational space control is for trees; take the virtual loop's law for loops")
    stiffness, damping = (np.broadcast_to(np.asarray(gain, dtype=float), (len(chosen),)).tolist() for gain in (kp, kd))
    at = tree.places[place]

    def law(q: Any, v: Any, pose: Any, rate: Any, bend: Any, tau: Any) -> Any:
        v, pose, tau = list(v), list(pose), list(tau)
        X = place_pose(tree, link_poses(tree, q), at)
        J, J_rate = ([rows[i] for i in chosen] for rows in (jacobian(tree, q, at), jacobian_rate(tree, q, v, at)))
        error = _pose_error(X, pose)
        wished = [
            bend[i] + d * (rate[i] - dot(row, v)) + k * error[i] - dot(drift, v)
            for i, k, d, row, drift in zip(chosen, stiffness, damping, J, J_rate, strict=True)
        ]
        M = crba(tree, q)
        responses = [solve_symmetric(M, row) for row in J]
        mobility = [[dot(row, response) for response in responses] for row in J]
        easy = [[DAMPING * _scale(tree, i) if i == j else 0.0 for j in chosen] for i in chosen]
        free = [dot(response, tau) for response in responses]  # the frame's acceleration due to the posture alone
        forces = nearest_solution(mobility, [a - b for a, b in zip(wished, free, strict=True)], easy)
        bias = rnea(tree, q, v, table([0.0] * tree.nv), gravity=mechanism.gravity)
        return [h + t + dot((row[k] for row in J), forces) for k, (h, t) in enumerate(zip(bias, tau, strict=True))]

    sizes = {"q": mechanism.nq, "v": mechanism.nv, "pose": 7, "rate": 6, "bend": 6, "tau": mechanism.nv}
    page = CompiledPage(law, sizes, f"operational_space_{mechanism.name}_{place}")
    goal, goal_rate, goal_bend = _motion(reference)
    rest = np.zeros(mechanism.nv)
    return lambda t, q, v: page(q, v, goal(t), goal_rate(t), goal_bend(t), rest if posture is None else posture(t, q, v))


def _scale(tree: Any, row: int) -> float:
    """The mobility of a direction if the whole mass moved: 1/m, or 1/(m ℓ²) for rotations."""
    return 1.0 / (tree.mass * (tree.size**2 if row < 3 else 1.0))


def _pose_error(X: Any, pose: Scalars) -> list[Scalar]:
    """The rotation vector and the translation (6) from a pose to the desired one, in the axes of the world."""
    x, y, z, w = quaternion_of(X.rotation)
    turn = quaternion_log(quaternion_product(pose[:4], [-x, -y, -z, w]))
    return [*turn, *(Vector3.of(pose[4:7]) - X.translation)]


def _motion(reference: Any) -> tuple[Callable[[Any], Any], ...]:
    if callable(reference):
        return reference, reference.velocity, reference.acceleration
    constant = np.array(reference, dtype=float)
    if constant.shape != (7,) or abs(np.linalg.norm(constant[:4]) - 1.0) > 1e-6:
        raise InputError(f"the reference is {reference}; give (qx, qy, qz, qw, x, y, z) with a quaternion of unit length")
    return (lambda t: constant), (lambda t: np.zeros(6)), (lambda t: np.zeros(6))
