"""Trajectory optimization by the iterative linear-quadratic regulator (Li and Todorov 2004; Tassa, Erez and Todorov 2012)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel
from ..errors import InputError
from ..kinematics import rate
from ..model import Mechanism
from ..scalar import call, directional, trace
from ..simulation import Simulation


# --- costs of a trajectory: half the squares of residuals, with their slopes on the manifold ------------------------------
class Residuals:
    """Residuals r(q, v, u) as a kernel of many states, with the slopes by (ξ, δv, δu): ξ moves q as `Robot.integrate` does."""

    def __init__(self, mechanism: Mechanism, function: Callable[..., Any], size: int):
        """The residuals of a function of q, v and u (arrays of scalars), which gives an array; `size`: of u."""
        shapes: dict[str, int | tuple[int, ...]] = {"q": mechanism.nq, "v": mechanism.nv, "u": size}

        def residuals(q: Any, v: Any, u: Any) -> dict[str, Any]:
            given = (np.array(list(part), dtype=object) for part in (q, v, u))
            return {"r": list(np.ravel(function(*given)))}

        moving = directional(trace(residuals, shapes, f"residuals_{mechanism.name}"))

        def along(q: Any, v: Any, u: Any, turn: Any, push: Any, pull: Any) -> dict[str, Any]:
            found = call(moving, q, v, u, rate(mechanism.tree, q, turn), push, pull)
            return {"r": list(found["r"]), "slope": list(found["r_dot"])}

        directions: dict[str, int | tuple[int, ...]] = {"turn": mechanism.nv, "push": mechanism.nv, "pull": size}
        self._kernel, self._nv = (
            Kernel(trace(along, {**shapes, **directions}, f"sloped_residuals_{mechanism.name}")),
            mechanism.nv,
        )
        self._directions = np.eye(2 * mechanism.nv + size)

    def costs(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """½ |r|² of states (..., nq), (..., nv) under actions (..., size)."""
        still = (np.zeros_like(v), np.zeros_like(v), np.zeros_like(u))
        with np.errstate(over="ignore", invalid="ignore"):  # of motions that diverge
            return np.asarray(0.5 * np.sum(self._kernel(q, v, u, *still)[0] ** 2, axis=-1))

    def __call__(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """r (n, k) and its slopes (n, k, 2nv + size) at n states."""
        n, m, nv = len(q), len(self._directions), self._nv
        given = (np.repeat(part, m, axis=0) for part in (q, v, u))
        toward = np.tile(self._directions, (n, 1))
        r, slope = self._kernel(*given, toward[:, :nv], toward[:, nv : 2 * nv], toward[:, 2 * nv :])
        return r.reshape(n, m, -1)[:, 0], np.swapaxes(slope.reshape(n, m, -1), 1, 2)


# --- iterations -----------------------------------------------------------------------------------------------------------
#: Shares of the step that are tried, side by side in one batch.
SHARES = 0.5 ** np.arange(10)
#: The damping of the value's curvature: at first, at least, at most; its factors after rounds that fail and that do not.
DAMPING, LEAST, MOST, MORE, LESS = 1e-6, 1e-9, 1e6, 10.0, 0.3


class OptimizedMotion(NamedTuple):
    """A motion of least cost nearby.

    Attributes:
        q, v: states (n + 1, nq), (n + 1, nv).
        actions: (n, size), each kept for one step.
        gains: K (n, size, 2nv) of the feedback u + K δx about it, δx = (ξ, δv), ξ by `Robot.difference`.
        cost: of each round, the first is that of the start.
        settled: whether the last round found nothing better by more than the tolerance.
    """

    q: np.ndarray
    v: np.ndarray
    actions: np.ndarray
    gains: np.ndarray
    cost: list[float]
    settled: bool


def iterated_lqr(
    simulation: Simulation, running: Callable[..., Any], final: Callable[..., Any], actions: Any, *,
    q: Any = None, v: Any = None, action: str = "tau", rounds: int = 100, tolerance: float = 1e-8,
) -> OptimizedMotion:  # fmt: skip
    """The actions and feedback gains that make the sum of half the squared residuals least, near the given ones.

    Args:
        simulation: whose steps are differentiated (`Simulation.slopes`): loops, drives, stops and rigid contact included.
        running: residuals of (q, v, u) at each step, as an array; it is traced.
        final: residuals of (q, v) at the end.
        actions: to begin with (n, size), one for each step.
        q, v: where the motion begins; the simulation's start by default.
        action: "tau", or the name of an input.
        rounds: most rounds; tolerance: the relative decrease of cost below which the motion is settled.

    Raises:
        InputError: for an unknown action or a wrong shape, or if the first motion diverges.
    """
    problem = _Problem(simulation, running, final, action, np.array(actions, dtype=float), q, v)
    motion, damping = problem.first(), DAMPING
    gains, settled = np.zeros((*motion.actions.shape, 2 * simulation.mechanism.nv)), False
    costs = [motion.cost]
    for _ in range(rounds):
        feedback = problem.backward(motion, damping)
        better = problem.forward(motion, *feedback) if feedback is not None else None
        if better is None or feedback is None:
            damping *= MORE
            settled = damping > MOST
        else:
            settled = motion.cost - better.cost <= tolerance * motion.cost
            motion, gains, damping = better, feedback[1], max(LESS * damping, LEAST)
            costs.append(motion.cost)
        if settled:
            break
    return OptimizedMotion(motion.q, motion.v, motion.actions, gains, costs, settled)


class _Motion(NamedTuple):
    q: np.ndarray
    v: np.ndarray
    actions: np.ndarray
    cost: float


class _Problem:
    """What stays the same from round to round."""

    def __init__(
        self, simulation: Simulation, running: Callable[..., Any], final: Callable[..., Any], action: str, actions: np.ndarray,
        q: Any, v: Any,
    ):  # fmt: skip
        mechanism, self.robot, self.simulation, self.action = simulation.mechanism, simulation.robot, simulation, action
        self._tried, self._along = simulation.batch(len(SHARES)), simulation.batch(max(len(actions), 1))
        self._tried.reset(slice(None), q, v)
        self._start = self._tried.q[:1].copy(), self._tried.v[:1].copy()
        known = {"tau": self._tried.tau, **self._tried.inputs}
        if action not in known:
            raise InputError(f"{mechanism.name}: there is no input {action!r} for actions; there are {sorted(known)}")
        size = known[action].shape[1]
        if actions.ndim != 2 or actions.shape[1] != size or not len(actions):
            raise InputError(f"{mechanism.name}: actions have shape {actions.shape}; give (steps, {size})")
        self._given, self._pushed = actions, known[action]
        self._each = self._along.tau if action == "tau" else self._along.inputs[action]
        self._running = Residuals(mechanism, running, size)
        self._final = Residuals(mechanism, lambda q, v, u: final(q, v), size)

    def first(self) -> _Motion:
        """The motion of the given actions."""
        size = self._given.shape[1]
        nothing = np.repeat(self._start[0], len(self._given) + 1, 0), np.repeat(self._start[1], len(self._given) + 1, 0)
        still = _Motion(*nothing, self._given, np.inf)
        zero = np.zeros((len(self._given), size)), np.zeros((len(self._given), size, 2 * self.simulation.mechanism.nv))
        found = self.forward(still, *zero)
        if found is None:
            raise InputError(f"{self.simulation.mechanism.name}: the motion of the first actions diverges; give gentler ones")
        return found

    def forward(self, motion: _Motion, change: np.ndarray, gains: np.ndarray) -> _Motion | None:
        """The best of the motions by shares of a change of actions, with feedback; None if it is no better."""
        batch, rows = self._tried, len(SHARES)
        batch.reset(slice(None), *(np.repeat(part, rows, axis=0) for part in self._start))
        qs, vs, us = [batch.q.copy()], [batch.v.copy()], []
        for k in range(len(motion.actions)):
            away = np.hstack([self.robot.difference(np.repeat(motion.q[k : k + 1], rows, 0), batch.q), batch.v - motion.v[k]])
            us.append(motion.actions[k] + SHARES[:, None] * change[k] + away @ gains[k].T)
            self._pushed[:] = us[-1]
            batch.step()
            qs.append(batch.q.copy())
            vs.append(batch.v.copy())
        q, v, u = np.stack(qs, 1), np.stack(vs, 1), np.stack(us, 1)
        cost = self._running.costs(q[:, :-1], v[:, :-1], u).sum(axis=1) + self._final.costs(q[:, -1], v[:, -1], 0.0 * u[:, -1])
        cost = np.where(batch.lost | ~np.isfinite(cost), np.inf, cost)
        best = int(np.argmin(cost))
        return _Motion(q[best], v[best], u[best], float(cost[best])) if cost[best] < motion.cost else None

    def backward(self, motion: _Motion, damping: float) -> tuple[np.ndarray, np.ndarray] | None:
        """The change of actions and the gains, by Riccati's recursion from the end; None if a curvature is not positive."""
        batch, nv, n = self._along, self.simulation.mechanism.nv, len(motion.actions)
        batch.q[:], batch.v[:], self._each[:] = motion.q[:-1], motion.v[:-1], motion.actions
        slopes = self.simulation.slopes(batch)
        A, B = slopes.A, slopes.by(self.action)
        r, J = self._running(motion.q[:-1], motion.v[:-1], motion.actions)
        r_end, J_end = (part[0] for part in self._final(motion.q[-1:], motion.v[-1:], 0.0 * motion.actions[-1:]))
        Jx = J_end[:, : 2 * nv]
        gradient, curvature = Jx.T @ r_end, Jx.T @ Jx  # of the value, by δx
        change, gains = np.zeros_like(motion.actions), np.zeros((*motion.actions.shape, 2 * nv))
        for k in reversed(range(n)):
            whole = np.hstack([A[k], B[k]])
            g = J[k].T @ r[k] + whole.T @ gradient
            H = J[k].T @ J[k] + whole.T @ (curvature + damping * np.eye(2 * nv)) @ whole
            x, u = slice(0, 2 * nv), slice(2 * nv, None)
            try:
                factor = np.linalg.cholesky(H[u, u])
            except np.linalg.LinAlgError:
                return None
            solved = np.linalg.solve(factor.T, np.linalg.solve(factor, np.column_stack([g[u], H[u, x]])))
            change[k], gains[k] = -solved[:, 0], -solved[:, 1:]
            H = H - damping * whole.T @ whole  # the value itself is not damped
            gradient = g[x] + H[x, u] @ change[k] + gains[k].T @ (H[u, u] @ change[k] + g[u])
            curvature = H[x, x] + H[x, u] @ gains[k] + gains[k].T @ H[u, x] + gains[k].T @ H[u, u] @ gains[k]
            curvature = 0.5 * (curvature + curvature.T)
        return change, gains
