"""A state in progress: advanced by a compiled step, or in Python if functions must be called at every stage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..checks import checked_count
from ..integrators import IntegratorState
from .actuation import Actuation
from .outputs import STATE
from .system import CalledSystem, states_of

if TYPE_CHECKING:
    from ...compile import Rollout
    from ..results.contact_record import Touched
    from .advance import Advance
    from .compiled_step import CompiledStep

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 4.0


class Stepper(ABC):
    """One state of a driven mechanism, advanced in place by steps of one length.

    Attributes:
        compiled: the steps.
        actuation: how the efforts are evaluated.
        state: the arrays that are carried from step to step, each with a leading axis of length 1; in addition to those of
            the step "size", of the last step that an adaptive integrator made [s], and "u", the efforts that are held.
        steps, rejected: the number of steps made, and of adaptive steps that had to be repeated.
        whole: whether steps follow each other in machine code, without Python in between.
        operations: how many a step takes at most; of scenes, whose steps have no fixed number, a large number.
    """

    whole: bool = True
    operations: int

    def __init__(self, compiled: Advance, actuation: Actuation, step: float, q: np.ndarray, v: np.ndarray):
        self.compiled, self.actuation, self.step = compiled, actuation, step
        self.state = {
            "number": np.zeros(1), "q": q[None].copy(), "v": v[None].copy(), "work": np.zeros(1), "error": np.zeros(1),
            "size": np.full(1, step), "u": actuation.constants[None].copy(),
        }  # fmt: skip
        actuation.begin(self.state["u"], self.state["q"])
        self._own = states_of(actuation.forcing)
        self.state |= {name: self.state["u"][:, actuation.forcing.layout.at("states")].copy() for name in self._own}
        self.steps = self.rejected = 0

    @property
    def efforts(self) -> np.ndarray:
        """The held efforts u."""
        return self.state["u"][0]

    @efforts.setter
    def efforts(self, u: np.ndarray) -> None:
        self.state["u"][0] = u

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return float(self.state["number"][0]) * self.step

    def begin(self, q: np.ndarray, v: np.ndarray) -> None:
        """Restarts from a state at time zero."""
        for name, value in (("q", q), ("v", v), ("size", self.step), ("u", self.actuation.constants)):
            self.state[name][0] = value
        for name in self._own:
            self.state[name][0] = self.actuation.constants[self.actuation.forcing.layout.at("states")]
        for name in ("number", "work", "error"):
            self.state[name][0] = 0.0
        self.actuation.begin(self.state["u"], self.state["q"])

    def load(self, carried: Mapping[str, np.ndarray]) -> None:
        """Continues from a state given by `carried`."""
        for name, array in self.state.items():
            array[0] = carried[name]

    def carried(self) -> dict[str, np.ndarray]:
        """Copies of the arrays that the next step begins from."""
        return {name: array[0].copy() for name, array in self.state.items()}

    def sample(self) -> None:
        """Calls the functions that are called once per step or at the sample times."""
        if self.actuation.samples:
            self.efforts = self.actuation.sampled(self.time, self.state["q"][0], self.state["v"][0], self.efforts)

    def observe(self) -> None:  # noqa: B027 - most have nothing to do
        """Updates `efforts` to the current state if they are called at every stage; compiled ones are evaluated later."""

    def advance(self, count: int, hold: int) -> None:
        """Advances by `count` steps, calling sampled functions every `hold` steps.

        Raises:
            FloatingPointError: if an adaptive step becomes too small.
            InputError: if the count is negative or not whole.
        """
        count = checked_count(count)
        while count:
            done = int(self.state["number"][0]) % hold
            if done == 0:
                self.sample()
            self.observe()
            steps = min(count, hold - done) if self.actuation.samples else count
            self.run({}, 1, steps)
            count -= steps

    @abstractmethod
    def look(self) -> dict[str, np.ndarray]:
        """The recorded quantities of the current state."""

    @abstractmethod
    def run(self, seen: Mapping[str, np.ndarray], records: int, every: int) -> None:
        """Advances by records · every steps, recording the state and the outputs after each `every` steps (records, ...).

        Raises:
            FloatingPointError: if an adaptive step becomes too small.
        """

    @abstractmethod
    def touched(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched | None:
        """The contact along a run that this stepper has made, in the steps that begin at the states (n, nq), (n, nv)."""

    @abstractmethod
    def gained(self, time: float, count: int, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> float:
        """The energy that contact has added by itself in `count` steps from a state at a time, with the efforts u [J].

        It is zero where springs of contact give back what they hold, and where it is not known.
        """


class CompiledStepper(Stepper):
    """One state advanced by a compiled step, or from Python where functions must be called or steps choose their lengths."""

    compiled: CompiledStep

    def __init__(self, compiled: CompiledStep, actuation: Actuation, step: float, q: np.ndarray, v: np.ndarray):
        super().__init__(compiled, actuation, step, q, v)
        self.whole = actuation.whole and not compiled.integrator.adaptive
        self._system: CalledSystem | None = None
        if not actuation.whole:
            code = compiled.code
            self._system = CalledSystem(
                code.mechanism, code.dynamics_kernel, code.projection_kernel if code.projects else None, actuation,
                self.efforts.copy(), code.jump_kernel if code.jumps else None, code.closing_kernel if code.closes else None,
                code.bounds, code.kick_kernel if code.integrator.kicks and code.touches else None,
            )  # fmt: skip

    def look(self) -> dict[str, np.ndarray]:
        code = self.compiled.code
        if not (code.outputs or code.closes):
            return {name: np.array(self.state[name][0]) for name in (*STATE, *self._own)}
        state = (self.state[name][0] for name in ("number", "q", "v", "work", "error", *self._own))
        seen = self.compiled.look(*state, self.step, self.efforts)
        return dict(zip((array.name for array in self.compiled.look.outputs), seen, strict=True))

    @property
    def operations(self) -> int:  # type: ignore[override]
        return self.compiled.recurrence.operations

    def observe(self) -> None:
        if self._system is not None:
            self._system.held = self.efforts.copy()
            self.efforts = self._system.efforts(self.time, self.state["q"][0], self._velocities)

    def run(self, seen: Mapping[str, np.ndarray], records: int, every: int) -> None:
        if self.whole:
            self._run_whole(seen, records, every)
            return
        for k in range(records):
            for n in range(every):
                if k or n:
                    self.observe()
                self._advance()
            as_carried = not self.compiled.code.closes and all(name in self.state for name in seen)
            looked = {name: self.state[name][0] for name in seen} if as_carried else self.look()
            for name, array in seen.items():
                array[k] = looked[name]

    def touched(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched | None:
        return self.compiled.touched(self.step, q, v, u)

    def gained(self, time: float, count: int, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> float:
        if count != 1 or not self.compiled.code.touches:  # it is found again for one step
            return 0.0
        u = self.compiled.efforts_along(np.array([time]), q[None], v[None], u[None])
        touched = self.touched(q[None], v[None], u)
        return 0.0 if touched is None else float(touched.record.gained[0])

    def _run_whole(self, seen: Mapping[str, np.ndarray], records: int, every: int) -> None:
        recurrence, self.steps = self.compiled.recurrence, self.steps + records * every
        if records > 1:
            self._over({array.name: seen[array.name][None] for array in recurrence.seen}).run(records, every)
            return
        rollout, scratch = self._once
        rollout.run(1 if seen else 0, every)
        for name, array in seen.items():
            array[0] = scratch[name][0, 0]

    @cached_property
    def _once(self) -> tuple[Rollout, dict[str, np.ndarray]]:
        """The rollout for single records, and the arrays it records to."""
        scratch = {array.name: np.empty((1, 1, *array.shape)) for array in self.compiled.recurrence.seen}
        return self._over(scratch), scratch

    @property
    def _velocities(self) -> np.ndarray:
        """v, followed by the drives' own states, as integrators treat both alike."""
        return np.concatenate([self.state[name][0] for name in ("v", *self._own)])

    def _over(self, seen: Mapping[str, np.ndarray]) -> Rollout:
        given = {"h": np.array([[self.step]]), "u": self.state["u"][None]}
        return self.compiled.recurrence.over(self.state, given, seen, batch=False)

    def _advance(self) -> None:
        """One step, divided into as many shorter ones as an adaptive integrator needs."""
        t, h = self.time, self.step
        q, v, work = self.state["q"][0], self._velocities, self.state["work"][0]
        if self.compiled.integrator.adaptive:
            after = self._within_tolerance(t, h, (q, v, float(work)))
        else:
            *after, _ = self._one(t, h, q, v, float(work))  # type: ignore[assignment]
        nv = self.compiled.mechanism.nv
        for name, value in zip(
            ("q", "v", "work", *self._own), (*after[:1], after[1][:nv], after[2], after[1][nv:]), strict=False
        ):
            self.state[name][0] = value
        self.state["number"] += 1.0

    def _within_tolerance(
        self, t: float, h: float, state: tuple[np.ndarray, np.ndarray, float]
    ) -> tuple[np.ndarray, np.ndarray, float]:
        end, size = t + h, min(float(self.state["size"][0]), h)
        while t < end:
            last = t + size >= end * (1.0 - 1e-15)
            size = end - t if last else size
            q1, v1, work1, error = self._one(t, size, *state)
            accepted = error <= 1.0  # not so for NaN
            if accepted:
                t, state = (end if last else t + size), (q1, v1, work1)
            else:
                self.rejected += 1
            factor = _SAFETY * error**-0.2 if error != 0.0 else _GROW
            growth = min(_GROW, max(_SHRINK, factor)) if np.isfinite(factor) else _SHRINK
            if not (last and accepted):
                size *= growth
            if size < 1e-13 * max(1.0, abs(t)):
                raise FloatingPointError(self._too_small(t, size, state[1]))
        self.state["size"][0] = max(size, 1e-3 * h)
        return state

    def _one(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, work: float
    ) -> tuple[np.ndarray, np.ndarray, float, float]:
        self.steps += 1
        if self._system is None:
            nv = self.compiled.mechanism.nv
            own = [v[nv:]] if self._own else []
            q1, v1, work1, error, *states = self.compiled.kernel(t, h, q, v[:nv], work, *own, self.efforts)
            return q1, np.concatenate([v1, *states]), float(work1), float(error)
        after, error = self.compiled.integrator.step(self._system, t, h, IntegratorState(q.tolist(), v.tolist(), work))
        return np.array(after.q), np.array(after.v), float(after.work), float(error)

    def _too_small(self, t: float, size: float, v: np.ndarray) -> str:
        worst = self.compiled.mechanism.v_names[int(np.argmax(np.abs(v)))]
        return (
            f"{self.compiled.mechanism.name}: {self.compiled.integrator.name} would need steps below {size:.3g} s at "
            f"t = {t:.6g} s, where {worst!r} moves fastest: the motion is stiff, discontinuous or diverges. Smooth the "
            "efforts, loosen `tolerance`, or take integrator='semi_implicit_euler'."
        )
