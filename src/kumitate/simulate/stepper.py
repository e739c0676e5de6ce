"""Advancing a state from one recorded time to the next, compiled as far as the efforts allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..compile import Kernel
from ..model import Mechanism
from ..scalar import Program
from .actuation import Actuation
from .integrators import Integrator, State
from .system import CalledSystem, Jumps, dynamics_program, projection_program, step_program

if TYPE_CHECKING:
    from ..contact.forces import ContactForces
    from ..contact.held.motion import HeldDynamics

__all__ = ["Stabilisation", "Stepper"]

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 4.0


class Stabilisation(NamedTuple):
    """How loops are kept closed: by projection after every step, by errors that decay at a rate [1/s], or by neither."""

    projects: bool = True
    baumgarte: float = 0.0


class Stepper:
    """One integrator on one driven mechanism.

    Attributes:
        actuation: how the efforts are evaluated.
        efforts: u held over the step, or at its start.
        dynamics: (h, q, v, u) → v̇ and power, h being 0 where nothing is implicit.
        steps, rejected: how many steps were made, and how many adaptive steps had to be repeated.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        integrator: Integrator,
        actuation: Actuation,
        q: np.ndarray,
        v: np.ndarray,
        *,
        stabilisation: Stabilisation,
        points: HeldDynamics | None = None,
        impacts: Program | None = None,
        pressing: ContactForces | None = None,
    ):
        self.mechanism, self.integrator, self.actuation = mechanism, integrator, actuation
        forcing = actuation.forcing
        self.steps = self.rejected = 0
        self._step_size: float | None = None
        self.dynamics = dynamics = dynamics_program(
            mechanism, forcing, implicit_damping=integrator.implicit_damping, baumgarte=stabilisation.baumgarte, held=points,
            pressing=pressing,
        )  # fmt: skip
        constrained = mechanism.tree.closed or points is not None
        projection = projection_program(mechanism, points) if constrained and stabilisation.projects else None
        jumps = None if impacts is None else Jumps.of(impacts, mechanism, forcing)
        self.efforts = actuation.constants
        self._forcing: Kernel | None = None
        if actuation.mode == "called":
            self._system = CalledSystem(mechanism, dynamics, projection, actuation, self.efforts, jumps)
        else:
            self._forcing = None if actuation.program is None else Kernel(actuation.program)
            self._kernel = Kernel(step_program(mechanism, integrator, dynamics, projection, actuation.program, jumps))

    @property
    def program(self) -> Program | None:
        """(t, h, q, v, work, u) → q, v, work, error: the step, unless Python is called in it."""
        return None if self.actuation.mode == "called" else self._kernel.program

    def sample(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """Calls what is called once per step or at the sample times, at a recorded state."""
        if self.actuation.samples:
            self.efforts = self.actuation.sampled(t, q, v, self.efforts)

    def observe(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """Brings `efforts` up to a recorded state where they are called at every stage; compiled ones can wait."""
        if self.actuation.mode == "called":
            self._system.held = self.efforts
            self.efforts = self._system.efforts(t, q, v)

    def efforts_along(self, time: np.ndarray, q: np.ndarray, v: np.ndarray, sampled: np.ndarray) -> np.ndarray:
        """u at all recorded states: as `sampled`, and where functions are compiled, by these, all at once."""
        return sampled if self._forcing is None else self._forcing(time, q, v, sampled)

    def advance(self, t: float, h: float, q: np.ndarray, v: np.ndarray, work: np.ndarray, k: int) -> None:
        """Fills row k + 1 of q, v and work from row k, h later.

        Raises:
            FloatingPointError: if an adaptive step becomes too small.
        """
        if not self.integrator.adaptive:
            q[k + 1], v[k + 1], work[k + 1], _ = self._one(t, h, q[k], v[k], work[k])
            return
        state, end = (q[k], v[k], work[k]), t + h
        size = min(self._step_size or h, h)
        while t < end:
            last = t + size >= end * (1.0 - 1e-15)
            size = end - t if last else size
            q1, v1, work1, error = self._one(t, size, *state)
            if error <= 1.0:
                t, state = (end if last else t + size), (q1, v1, work1)
            else:
                self.rejected += 1
            factor = _SAFETY * error**-0.2 if error > 0.0 else _GROW
            growth = min(_GROW, max(_SHRINK, factor)) if np.isfinite(factor) else _SHRINK
            if not last or error > 1.0:
                size *= growth
            if size < 1e-13 * max(1.0, abs(t)):
                raise FloatingPointError(self._too_small(t, size, state))
        self._step_size = max(size, 1e-3 * h)
        q[k + 1], v[k + 1], work[k + 1] = state

    def _one(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, work: float
    ) -> tuple[np.ndarray, np.ndarray, float, float]:
        self.steps += 1
        if self.actuation.mode != "called":
            q1, v1, work1, error = self._kernel(t, h, q, v, work, self.efforts)
            return q1, v1, float(work1), float(error)
        after, error = self.integrator.step(self._system, t, h, State(q.tolist(), v.tolist(), float(work)))
        return np.array(after.q), np.array(after.v), float(after.work), float(error)

    def _too_small(self, t: float, size: float, state: tuple) -> str:
        worst = self.mechanism.v_names[int(np.argmax(np.abs(state[1])))]
        return (
            f"{self.mechanism.name}: {self.integrator.name} would need steps below {size:.3g} s at t = {t:.6g} s, where "
            f"{worst!r} moves fastest: the motion is stiff, discontinuous or runs away. Smooth the efforts, loosen "
            "`tolerance`, or take integrator='semi_implicit_euler'."
        )
