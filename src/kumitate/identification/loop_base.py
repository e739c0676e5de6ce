"""Base parameters of mechanisms with closed loops: those of the tree that motions of the closed mechanism show.

Loops let a mechanism move in fewer ways than its tree, so that combinations of the tree's base parameters are never felt. Which
they are is found by the rank of the regressor over random states with closed loops, projected onto the motions of these.
"""

from __future__ import annotations

import numpy as np

from ..analysis import LoopEquations
from ..errors import InputError, ModelError
from ..robot import Robot
from .base_parameters import BaseParameters, regrouped
from .regressor_rows import regressor_rows
from .unknowns import Unknowns

#: Rows of loops that depend on others have singular values below this part of the largest.
_DEPENDENT = 1e-9
#: Random postures are this far from the start [rad, m]; those are left out where loops are nearly singular, by this part.
_AWAY, _SINGULAR = 0.6, 1e-2
#: Singular values of the regressor below this part of the largest: loops are closed to about 1e-12.
_ROUNDING = 1e-7


def near_singular(robot: Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Which states (n) are so near to singular postures that the motions allowed there are known badly."""
    s = np.linalg.svd(LoopEquations(robot.mechanism).jacobians(q, v), compute_uv=False)
    s = s / s[:, :1]
    rank = (s > _DEPENDENT).sum(axis=1)
    return np.asarray(((s > _DEPENDENT) & (s < _SINGULAR)).any(axis=1) | (rank < rank.max()))


def allowed_motions(robot: Robot, q: np.ndarray, v: np.ndarray, held: np.ndarray | None = None) -> np.ndarray:
    """P (n, nv, nv), the projections onto the motions that loops allow, and that leave degrees of freedom `held` (n, nv)."""
    J = LoopEquations(robot.mechanism).jacobians(q, v)
    if held is not None:
        J = np.concatenate([J, held[:, :, None] * np.eye(robot.nv)], axis=1)
    return np.asarray(np.eye(robot.nv) - np.linalg.pinv(J, rcond=_DEPENDENT) @ J)


def loop_base_parameters(robot: Robot, unknowns: Unknowns, of_tree: BaseParameters) -> BaseParameters:
    """The base parameters of a mechanism with loops, as combinations of its tree's.

    Raises:
        InputError: if no regular postures with closed loops are found near the robot's start.
    """
    rng = np.random.default_rng(0)
    q = _postures(robot, rng)
    rows, count = [], 0
    while count < 2 * len(of_tree) + 20:
        P = allowed_motions(robot, q, np.zeros((len(q), robot.nv)))
        v = np.einsum("nij,nj->ni", P, 2.0 * rng.normal(size=(len(q), robot.nv)))
        a = robot.forward_dynamics(q, v, 10.0 * rng.normal(size=v.shape))
        rows.append((P @ regressor_rows(robot.mechanism, q, v, a)).reshape(-1, unknowns.columns.shape[0]))
        count += max(1, round(float(np.trace(P, axis1=1, axis2=2).sum())))
    A = np.vstack(rows) @ unknowns.columns @ of_tree.H
    alone = np.linalg.norm(A, axis=0)
    sizes = np.where(alone > _ROUNDING * alone.max(initial=0.0), alone, np.inf)
    _, s, Vt = np.linalg.svd(A / sizes, full_matrices=False)
    shown = Vt[s > _ROUNDING * s[0]] * np.where(np.isinf(sizes), 0.0, sizes)
    return regrouped(shown @ of_tree.G, unknowns)


def _postures(robot: Robot, rng: np.random.Generator, count: int = 30) -> np.ndarray:
    """Different postures with closed loops, away from singular ones."""
    found: list[np.ndarray] = []
    for _ in range(4 * count):
        try:
            q = robot.assemble(robot.integrate(robot.start[0], _AWAY * rng.uniform(-1.0, 1.0, robot.nv)))
        except ModelError:
            continue
        s = np.linalg.svd(LoopEquations(robot.mechanism).state(q, np.zeros(robot.nv)).J, compute_uv=False)
        if s[s > _DEPENDENT * s[0]][-1] > _SINGULAR * s[0]:
            found.append(q)
        if len(found) == count:
            break
    if not found:
        raise InputError(
            f"identify: no regular postures with closed loops were found near the start of {robot.name}; give the robot "
            "another start, or lock the joints of the loops (`robot.locked`)"
        )
    return np.array(found)
