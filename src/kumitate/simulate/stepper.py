"""A state under way: advanced by a compiled step, or, where functions must be called at every stage, by Python."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .actuation import Actuation
from .compiled_step import CompiledStep
from .integrators import State
from .system import CalledSystem

__all__ = ["Stepper"]

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 4.0


class Stepper:
    """One state of a driven mechanism, advanced in place by steps of one length.

    Attributes:
        compiled: the step.
        actuation: how the efforts are evaluated.
        efforts: u held over the next steps, or at their start.
        state: the arrays that are carried from step to step, each with an axis of length 1 before its own.
        steps, rejected: how many steps were made, and how many adaptive steps had to be repeated.
        whole: whether steps follow each other in machine code, without Python in between.
    """

    def __init__(self, compiled: CompiledStep, actuation: Actuation, step: float, q: np.ndarray, v: np.ndarray):
        self.compiled, self.actuation, self.step = compiled, actuation, step
        self.steps = self.rejected = 0
        self.efforts = actuation.constants
        self.whole = actuation.whole and not compiled.integrator.adaptive
        self.state = {
            "number": np.zeros(1), "q": q[None].copy(), "v": v[None].copy(), "work": np.zeros(1), "error": np.zeros(1),
        }  # fmt: skip
        self._step_size: float | None = None
        self._system: CalledSystem | None = None
        if actuation.mode == "called":
            self._system = CalledSystem(
                compiled.mechanism, compiled.dynamics, compiled.projection, actuation, self.efforts, compiled.jumps
            )

    @property
    def time(self) -> float:
        """[s], since the start."""
        return float(self.state["number"][0]) * self.step

    def sample(self) -> None:
        """Calls what is called once per step or at the sample times."""
        if self.actuation.samples:
            self.efforts = self.actuation.sampled(self.time, self.state["q"][0], self.state["v"][0], self.efforts)

    def observe(self) -> None:
        """Brings `efforts` up to the state where they are called at every stage; compiled ones can wait."""
        if self._system is not None:
            self._system.held = self.efforts
            self.efforts = self._system.efforts(self.time, self.state["q"][0], self.state["v"][0])

    def run(self, seen: Mapping[str, np.ndarray], records: int, every: int) -> None:
        """Advances by records · every steps, recording q, v, work and error after each `every` of them (records, ...).

        Raises:
            FloatingPointError: if an adaptive step becomes too small.
        """
        if self.whole:
            given = {"h": np.array([[self.step]]), "u": self.efforts[None, None]}
            recorded = {name: array[None] for name, array in seen.items()}
            self.compiled.recurrence.over(self.state, given, recorded, batch=False).run(records, every)
            self.steps += records * every
            return
        for k in range(records):
            for n in range(every):
                if k or n:
                    self.observe()
                self._advance()
            for name, array in seen.items():
                array[k] = self.state[name][0]

    def _advance(self) -> None:
        """One step, by as many shorter ones as an adaptive integrator needs."""
        t, h = self.time, self.step
        q, v, work = (self.state[name][0] for name in ("q", "v", "work"))
        if self.compiled.integrator.adaptive:
            after = self._within_tolerance(t, h, (q, v, float(work)))
        else:
            *after, _ = self._one(t, h, q, v, float(work))  # type: ignore[assignment]
        for name, value in zip(("q", "v", "work"), after, strict=True):
            self.state[name][0] = value
        self.state["number"] += 1.0

    def _within_tolerance(
        self, t: float, h: float, state: tuple[np.ndarray, np.ndarray, float]
    ) -> tuple[np.ndarray, np.ndarray, float]:
        end, size = t + h, min(self._step_size or h, h)
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
                raise FloatingPointError(self._too_small(t, size, state[1]))
        self._step_size = max(size, 1e-3 * h)
        return state

    def _one(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, work: float
    ) -> tuple[np.ndarray, np.ndarray, float, float]:
        self.steps += 1
        if self._system is None:
            q1, v1, work1, error = self.compiled.kernel(t, h, q, v, work, self.efforts)
            return q1, v1, float(work1), float(error)
        after, error = self.compiled.integrator.step(self._system, t, h, State(q.tolist(), v.tolist(), work))
        return np.array(after.q), np.array(after.v), float(after.work), float(error)

    def _too_small(self, t: float, size: float, v: np.ndarray) -> str:
        worst = self.compiled.mechanism.v_names[int(np.argmax(np.abs(v)))]
        return (
            f"{self.compiled.mechanism.name}: {self.compiled.integrator.name} would need steps below {size:.3g} s at "
            f"t = {t:.6g} s, where {worst!r} moves fastest: the motion is stiff, discontinuous or runs away. Smooth the "
            "efforts, loosen `tolerance`, or take integrator='semi_implicit_euler'."
        )
