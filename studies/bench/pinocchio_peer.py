"""Pinocchio as a peer: conversion between our q and v and theirs, and its loops over states in C++ on one thread."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from kumitate.measure.timing import Timing
from kumitate.model import Link, Mechanism

from .subjects import Subject

__all__ = ["Pinocchio", "without_calls"]

#: Of constraintDynamics: where the proximal iterations stop, their damping, and how many there may be.
ACCURACY, PROXIMAL_MU, PROXIMAL_ITERATIONS = 1e-12, 1e-10, 2


class Pinocchio:
    """A subject in Pinocchio."""

    def __init__(self, subject: Subject):
        self.pin: Any = importlib.import_module("pinocchio")
        self.mechanism: Mechanism = subject.mechanism
        self.model = subject.pinocchio(self.pin)
        # their Data holds tensors of nv³: one for both functions, or a chain of 500 joints fills the memory
        self._pool: Any = None

    @staticmethod
    def installed() -> bool:
        """Whether it can be imported."""
        return importlib.util.find_spec("pinocchio") is not None

    # --- orders -------------------------------------------------------------------------------------------------------
    def positions(self, q: np.ndarray) -> np.ndarray:
        """Their q (N, nq): position before quaternion, cosine and sine for joints without limits."""
        theirs = np.zeros((len(q), self.model.nq))
        for link in self.mechanism.tree.links:
            joint, part = self._joint(link), q[:, link.q_start : link.q_start + link.kind.nq]
            if link.kind.nq == 7:
                part = np.hstack([part[:, 4:], part[:, :4]])
            elif joint.nq == 2:
                part = np.hstack([np.cos(part), np.sin(part)])
            theirs[:, joint.idx_q : joint.idx_q + joint.nq] = part
        return theirs

    def velocities(self, v: np.ndarray) -> np.ndarray:
        """Their v, a or tau (N, nv): linear before angular at a free base."""
        theirs = np.zeros_like(v)
        theirs[:, self._columns()] = v
        return theirs

    def ours(self, v: np.ndarray) -> np.ndarray:
        """Our v, a or tau (N, nv) of theirs."""
        return v[:, self._columns()]

    def ours_square(self, matrices: np.ndarray) -> np.ndarray:
        """Our derivatives (N, nv, nv) of theirs."""
        columns = self._columns()
        return matrices[:, columns][:, :, columns]

    def _joint(self, link: Link) -> Any:
        return self.model.joints[1 if link.kind.nq == 7 else self.model.getJointId(link.name)]

    def _columns(self) -> np.ndarray:
        """For each of our velocities, the index of theirs."""
        order = np.zeros(self.mechanism.nv, dtype=int)
        for link in self.mechanism.tree.links:
            parts = [3, 4, 5, 0, 1, 2] if link.kind.nq == 7 else range(link.kind.nv)
            order[link.v_start : link.v_start + link.kind.nv] = [self._joint(link).idx_v + k for k in parts]
        return order

    # --- functions ----------------------------------------------------------------------------------------------------
    def batched(self, function: str, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> tuple[Callable[[], object], np.ndarray]:
        """A call of their "aba" or "rnea" over a batch of our states, in C++ on one thread.

        Returns:
            The call, and the array (nv, N) in their order that it fills.
        """
        if self._pool is None:
            self._pool = self.pin.ModelPool(self.model, 1)
        call, pool = getattr(self.pin, f"{function}InParallel"), self._pool
        Q, V, X = (np.asfortranarray(part.T) for part in (self.positions(q), self.velocities(v), self.velocities(x)))
        out = np.zeros((self.model.nv, len(q)), order="F")
        return lambda: call(1, pool, Q, V, X, out), out

    def single(self, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> tuple[Callable[[int], None], Callable[[], np.ndarray]]:
        """Repeated calls of their aba from Python for one of our states, and their last result in our order."""
        data, aba, model = self.model.createData(), self.pin.aba, self.model
        Q, V, X = self.positions(q[None])[0], self.velocities(v[None])[0], self.velocities(x[None])[0]

        def calls(count: int) -> None:
            for _ in range(count):
                aba(model, data, Q, V, X)

        return calls, lambda: self.ours(np.array(data.ddq)[None])[0]

    def constrained(
        self, constraints: Any, q: np.ndarray, v: np.ndarray, x: np.ndarray
    ) -> tuple[Callable[[], None], np.ndarray]:
        """One call of their constraintDynamics from Python at each of our states.

        The settings are those that give accelerations to rounding at the fewest iterations where rows depend on each other.

        Returns:
            The calls, and the results (N, nv) in their order.
        """
        model, data, of_each, settings = self._with(constraints)
        states = [tuple(row) for row in zip(self.positions(q), self.velocities(v), self.velocities(x), strict=True)]
        function, more = self.pin.constraintDynamics, (constraints, of_each, settings)

        def run() -> None:
            for Q, V, X in states:
                function(model, data, Q, V, X, *more)

        return run, np.array([function(model, data, Q, V, X, *more) for Q, V, X in states])

    def constrained_slopes(
        self, constraints: Any, q: np.ndarray, v: np.ndarray, x: np.ndarray
    ) -> tuple[Callable[[], None], np.ndarray]:
        """One call of their constraintDynamics and of its derivatives from Python at each of our states.

        Returns:
            The calls, and ∂a/∂τ (N, nv, nv) in their order.
        """
        model, data, of_each, settings = self._with(constraints)
        states = [tuple(row) for row in zip(self.positions(q), self.velocities(v), self.velocities(x), strict=True)]
        solve, differentiate = self.pin.constraintDynamics, self.pin.computeConstraintDynamicsDerivatives

        def run() -> None:
            for Q, V, X in states:
                solve(model, data, Q, V, X, constraints, of_each, settings)
                differentiate(model, data, constraints, of_each, settings)

        found = []
        for Q, V, X in states:
            solve(model, data, Q, V, X, constraints, of_each, settings)
            differentiate(model, data, constraints, of_each, settings)
            found.append(np.array(data.ddq_dtau))
        return run, np.array(found)

    def _with(self, constraints: Any) -> tuple[Any, Any, Any, Any]:
        """Their model and data, prepared for these constraints, the data of each, and the settings."""
        pin, model, data = self.pin, self.model, self.model.createData()
        of_each = pin.StdVec_RigidConstraintData()
        for constraint in constraints:
            of_each.append(constraint.createData())
        pin.initConstraintDynamics(model, data, constraints, of_each)
        return model, data, of_each, pin.ProximalSettings(ACCURACY, ACCURACY, PROXIMAL_MU, PROXIMAL_ITERATIONS)


def without_calls(timings: dict[str, Timing]) -> Timing | None:
    """The peer's time without the cost of its calls from Python."""
    if "peer" not in timings:
        return None
    peer, calls = timings["peer"], timings["calls"]
    return replace(peer, minimum=peer.minimum - calls.minimum, median=peer.median - calls.median)
