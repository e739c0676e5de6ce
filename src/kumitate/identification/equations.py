"""The equations of a log, compressed, and their fit: what least squares needs of thousands of samples is a triangle per joint.

At each sample and degree of freedom, effort = K⁻¹ (Y β + what is known). The residual of any β and K over all samples is as
long as the triangle of a QR factorisation times (β/K, 1/K, −1) (Golub, Van Loan, Matrix computations, 4th ed., 5.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..analysis import LoopEquations
from ..compile import Kernel
from ..dynamics import FRICTION_VELOCITY, regressor
from ..errors import InputError, ModelError
from ..model import Mechanism, Tree
from ..model.tree.base_parameters import SIZE
from ..robot import Robot
from ..scalar import trace
from .base_parameters import BaseParameters, Unknowns, regrouped
from .log import MotionLog, States

#: Samples that are reduced at a time.
_BLOCK = 2000


@dataclass(frozen=True)
class LogEquations:
    """The equations of all samples, by degree of freedom.

    Attributes:
        triangles: R (nv, count + 2, count + 2): |R (β/K, 1/K, −1)| is the length of the residuals, in units of the efforts.
        samples: (nv), how many there are of each.
        alike: whether all degrees of freedom have the same noise, because loops mix their equations.
    """

    triangles: np.ndarray
    samples: np.ndarray
    alike: bool = False

    @property
    def count(self) -> int:
        """The number of base parameters."""
        return self.triangles.shape[2] - 2

    def residual(self, i: int, beta: np.ndarray, reciprocal: float) -> np.ndarray:
        """Of degree of freedom i, for 1/K."""
        return np.asarray(self.triangles[i] @ np.concatenate([beta * reciprocal, [reciprocal, -1.0]]))

    def lengths(self, beta: np.ndarray, reciprocals: np.ndarray) -> np.ndarray:
        """The root mean square (nv) of the residuals of each degree of freedom."""
        sums = np.array([np.sum(self.residual(i, beta, x) ** 2) for i, x in enumerate(reciprocals.tolist())])
        if self.alike:
            sums = np.full_like(sums, sums.mean())
        return np.sqrt(sums / np.maximum(self.samples, 1))

    @property
    def efforts(self) -> np.ndarray:
        """The root mean square (nv) of the efforts."""
        return np.sqrt((self.triangles[:, :, -1] ** 2).sum(axis=1) / np.maximum(self.samples, 1))

    def sizes(self, beta: np.ndarray) -> np.ndarray:
        """The size (nv) of what is added in the equations: the largest root mean square of the efforts and of their terms."""
        columns = np.sqrt((self.triangles**2).sum(axis=1) / np.maximum(self.samples, 1)[:, None])
        return np.asarray((columns * np.concatenate([np.abs(beta), [1.0, 1.0]])).max(axis=1))


class LogRows(NamedTuple):
    """The equations of n samples: efforts = K⁻¹ (rows β + known).

    Attributes:
        rows: (n, nv, count); `known`: (n, nv), what the model knows, with springs and wrenches.
        efforts: (n, nv) [N·m, N], NaN where there is no equation.
        free: how many equations are independent.
    """

    rows: np.ndarray
    known: np.ndarray
    efforts: np.ndarray
    free: float


def rows_of(robot: Robot, unknowns: Unknowns, base: BaseParameters, log: MotionLog, states: States) -> LogRows:
    """The equations of a log; with closed loops, those along the motions that the loops allow.

    The forces λ in loops are not in the log. They do no work in such motions: the residuals Y π − tau − Jᵀ λ are projected onto
    them by P = 1 − J⁺ J, with the Jacobian J of the loops. Efforts that are unknown are left out in the same way.
    """
    Y = regressor_rows(robot.mechanism, *states)
    wanted = unknowns.columns @ np.column_stack([base.H, unknowns.values])
    rows = (Y.reshape(-1, Y.shape[-1]) @ wanted).reshape(*Y.shape[:2], -1)
    known = robot.inverse_dynamics(*states, wrenches=dict(log.wrenches) or None) - rows[..., -1]
    rows = rows[..., :-1]
    if not robot.mechanism.tree.closed:
        return LogRows(rows, known, log.tau, float(np.isfinite(log.tau).sum()))
    missing = np.isnan(log.tau)
    P = allowed_motions(robot, states.q, states.v, missing)
    efforts = np.where(missing, 0.0, log.tau)
    known, efforts = (np.einsum("nij,nj->ni", P, x) for x in (known, efforts))
    left_out = near_singular(robot, states.q, states.v)
    efforts[left_out] = np.nan
    return LogRows(P @ rows, known, efforts, float(np.trace(P[~left_out], axis1=1, axis2=2).sum()))


def equations_of(
    robot: Robot, unknowns: Unknowns, base: BaseParameters, parts: Iterable[tuple[MotionLog, States]]
) -> LogEquations:
    """The equations of logs with their states."""
    n, size, free = robot.nv, len(base) + 2, 0.0
    triangles, samples = np.zeros((n, size, size)), np.zeros(n)
    for log, states in parts:
        for start in range(0, len(log), _BLOCK):
            block = slice(start, start + _BLOCK)
            found = rows_of(robot, unknowns, base, log.rows(block), States(*(part[block] for part in states)))
            together = np.concatenate([found.rows, found.known[..., None], found.efforts[..., None]], axis=2)
            free += found.free
            for i in range(n):
                own = together[np.isfinite(found.efforts[:, i]), i]
                samples[i] += len(own)
                triangles[i] = np.linalg.qr(np.vstack([triangles[i], own]), mode="r")
    closed = robot.mechanism.tree.closed
    return LogEquations(triangles, np.full(n, free / max(n, 1)) if closed else samples, closed)


# --- the regressor over many states, compiled: only entries that are not always zero are computed -------------------------
def regressor_rows(mechanism: Mechanism, q: Any, v: Any, a: Any) -> np.ndarray:
    """The matrices Y (..., nv, 10·links + 3·nv) of `dynamics.regressor` for states (..., nq), (..., nv) and accelerations."""
    tree, n = mechanism.tree, mechanism.nv
    v, a = np.asarray(v, dtype=float), np.asarray(a, dtype=float)
    links, dofs = SIZE * len(tree.links), np.arange(n)
    Y = np.zeros((*v.shape, links + 3 * n))
    rows, columns = _places(tree)
    if rows.size:
        Y[..., rows, columns] = _kernel(mechanism)(q, v, a)
    Y[..., dofs, links + dofs] = a
    Y[..., dofs, links + n + dofs] = v
    Y[..., dofs, links + 2 * n + dofs] = v / np.sqrt(v * v + FRICTION_VELOCITY**2)
    return Y


def _places(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """The rows and columns of the entries: the force of a link is felt by the joints that carry it."""
    places = [
        (carrier.v_start + k, SIZE * link.index + j)
        for link in tree.links
        for carrier in tree.ancestors(link.index)
        for k in range(carrier.kind.nv)
        for j in range(SIZE)
    ]
    rows, columns = np.array(places, dtype=int).reshape(-1, 2).T
    return rows, columns


@lru_cache(maxsize=8)
def _kernel(mechanism: Mechanism) -> Kernel:
    """(q, v, a) → the entries at `_places`."""
    tree = mechanism.tree
    rows, columns = _places(tree)

    def page(q: Any, v: Any, a: Any) -> list[Any]:
        Y = regressor(tree, q, v, a, gravity=mechanism.gravity)
        return [Y[i][j] for i, j in zip(rows.tolist(), columns.tolist(), strict=True)]

    return Kernel(trace(page, {"q": mechanism.nq, "v": mechanism.nv, "a": mechanism.nv}, f"regressor_{mechanism.name}"))


# --- base parameters of closed loops --------------------------------------------------------------------------------------
# Loops let a mechanism move in fewer ways than its tree, so that combinations of its base parameters are never felt. Which they
# are is found by the rank of the regressor over random states with closed loops, projected onto the motions of these.

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
    """The base parameters of a mechanism with loops, as combinations of its tree's, by regular postures near its start."""
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


# --- base parameters and drive constants by least squares, each degree of freedom weighted by its own noise ---------------
#: Directions whose singular value is below this part of the largest are not excited: nothing can be said of them.
_UNSEEN = 1e-9
#: Columns shorter than this part of the longest are rounding.
_NO_EFFECT = 1e-11
#: Efforts are trusted to this part of the largest term of their equations at best.
FINEST = 1e-10
#: Rounds, in each of which the noises are estimated and the drive constants are linearised.
_ROUNDS = 40
#: It ends when a round improves less than this, in units of the noise.
_SETTLED = 1e-3


class Fit(NamedTuple):
    """The result of least squares.

    Attributes:
        beta: the base parameters; where the motion excites none of a direction, the model's.
        reciprocals: 1/K of the drives (nv); 1 where they are known.
        noise: the standard deviation of the efforts (nv) about the fit [units of the log].
        covariance: of (β, 1/K of unknown drives); without the directions of `unseen`.
        unseen: orthonormal directions (…, count + drives), in units of the model's scales, that the motion does not excite.
    """

    beta: np.ndarray
    reciprocals: np.ndarray
    noise: np.ndarray
    covariance: np.ndarray
    unseen: np.ndarray


def fit(equations: LogEquations, start: np.ndarray, drives: tuple[int, ...]) -> Fit:
    """The least squares fit, from the model's base parameters."""
    count = equations.count
    total = round(float(equations.samples.sum()))
    if total <= count + len(drives):
        raise InputError(f"identify: {total} efforts for {count + len(drives)} parameters; give a longer log")
    beta, reciprocals = start.copy(), np.ones(len(equations.samples))
    sizes = equations.sizes(start)
    floor = FINEST * max(float(sizes.max(initial=0.0)), 1e-100)
    noise = np.maximum(sizes, floor)
    for _ in range(_ROUNDS):
        A, b = _linearised(equations, beta, reciprocals, drives, noise)
        lengths = np.linalg.norm(A, axis=0)  # scales: changes that change weighted efforts alike; 0 without effect
        effective = lengths > _NO_EFFECT * lengths.max(initial=0.0)
        scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=effective)
        U, s, Vt = np.linalg.svd(A * scales, full_matrices=False)
        seen = s > _UNSEEN * s[0]
        improved = U[:, seen].T @ b
        step = scales * (Vt[seen].T @ (improved / s[seen]))
        beta = beta + step[:count]
        reciprocals[list(drives)] = np.maximum(reciprocals[list(drives)] + step[count:], 0.2 * reciprocals[list(drives)])
        before, used = noise, (count + len(drives)) / total  # each degree of freedom pays for its part of the parameters
        noise = np.maximum(equations.lengths(beta, reciprocals) / np.sqrt(1.0 - used), floor)
        if np.all(np.abs(noise - before) <= 1e-6 * before) and np.linalg.norm(improved) <= _SETTLED:
            break
    if drives and np.abs(Vt[~seen][:, count:]).max(initial=0.0) > 1e-3:
        raise InputError(
            "identify: the drive constants are known only up to a common factor: twice as large, and all "
            "parameters too, they would give the same log. Leave out of `find` the inertia of a body that is known, such as "
            "a payload"
        )
    half = (Vt[seen].T / s[seen]) * scales[:, None]
    return Fit(beta, reciprocals, noise, half @ half.T, Vt[~seen])


def _linearised(
    equations: LogEquations, beta: np.ndarray, reciprocals: np.ndarray, drives: tuple[int, ...], noise: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A and b of the weighted residuals b − A δ for changes δ of (β, 1/K), those of known drives left out."""
    count = equations.count
    blocks, right = [], []
    for i, (R, sigma) in enumerate(zip(equations.triangles, noise.tolist(), strict=True)):
        by_drives = np.outer(R[:, :count] @ beta + R[:, count], [float(i == k) for k in drives])
        blocks.append(np.hstack([R[:, :count] * reciprocals[i], by_drives]) / sigma)
        right.append(-equations.residual(i, beta, float(reciprocals[i])) / sigma)
    return np.vstack(blocks), np.concatenate(right)


# --- Huber's loss ---------------------------------------------------------------------------------------------------------
# By modified residuals (Huber and Dutter, COMPSTAT 1974): least squares again and again of efforts whose residuals are cut
# off at a multiple of the noise, which is estimated by their median (Huber, Robust statistics, 1981, 7.8).

#: Residuals are cut off at this many standard deviations: of normal ones, 1 of 80 is longer.
BEYOND = 2.5
#: The standard deviation of normal numbers as a multiple of the median of their sizes.
_OF_MEDIAN = 1.4826
_ROUNDS_OF_WEIGHTS = 50
#: It ends when no parameter moves further than this part of its standard deviation.
_SETTLED_WEIGHTS = 1e-3

Parts = Sequence[tuple[MotionLog, States]]


def robust_fit(
    robot: Robot, unknowns: Unknowns, base: BaseParameters, parts: Parts, solved: Callable[[Parts], tuple[LogEquations, Fit]]
) -> tuple[LogEquations, Fit]:
    """The fit of least Huber loss, and the equations of the efforts that it takes for it."""
    equations, found = solved(parts)
    rows = [rows_of(robot, unknowns, base, *part) for part in parts]
    for _ in range(_ROUNDS_OF_WEIGHTS):
        predicted = [(own.rows @ found.beta + own.known) * found.reciprocals for own in rows]
        residuals = [log.tau - efforts for (log, _), efforts in zip(parts, predicted, strict=True)]
        least = FINEST * np.maximum(equations.efforts, 1e-100)
        known = [np.abs(column[np.isfinite(column)]) for column in np.concatenate(residuals).T]
        medians = np.array([np.median(own) if len(own) else 0.0 for own in known])
        most = BEYOND * np.maximum(_OF_MEDIAN * medians, least)
        cut = [
            (replace(log, tau=efforts + np.clip(residual, -most, most)), states)
            for (log, states), efforts, residual in zip(parts, predicted, residuals, strict=True)
        ]
        before = found.beta
        equations, found = solved(cut)
        if np.all(np.abs(found.beta - before) <= _SETTLED_WEIGHTS * np.sqrt(np.diag(found.covariance)[: len(before)])):
            break
    return equations, found
