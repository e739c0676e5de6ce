"""The steps of one robot in straight-line code, with the functions compiled into them, and a state that they advance."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from ...compile import Kernel, Recurrence
from ...model.mechanism import digest
from ...scalar import Array, Program
from ..driving.actuation import Actuation
from ..integrators import IntegratorState
from ..kept import Kept
from .advance import Advance, Stepper, start_of
from .equations import NO_STEP
from .interaction import Interaction, StepDesign
from .jumps import pushes_of
from .outputs import STATE
from .step_code import StepCode
from .system import CalledSystem

if TYPE_CHECKING:
    from ...compile import Rollout
    from ...records.contact_record import Touched

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 4.0


class CompiledStep(Advance):
    """The code of a step, `code`, with the functions that are compiled into it."""

    def __init__(self, code: StepCode, efforts: Program | None):
        """The code with the program (t, q, v, u) → u in its slot; None if no function is compiled in."""
        self.code, self._fillings = code, {} if efforts is None else {"efforts": efforts}
        self.mechanism, self.integrator, self.follows = code.mechanism, code.integrator, code.efforts_follow
        self.keeps_closed = code.alone and code.projects
        self._filled: dict[str, Kernel] = {}

    def kernel(self, role: str) -> Kernel:
        """As of `StepCode`, with the functions filled in."""
        if role not in self._filled:
            self._filled[role] = self.code.kernel(role).filled(self._fillings)
        return self._filled[role]

    @cached_property
    def recurrence(self) -> Recurrence:
        """The loop of steps, with the functions filled in."""
        return self.code.recurrence.filled(self._fillings)

    def stepper(self, actuation: Actuation, step: float, q: np.ndarray, v: np.ndarray) -> CompiledStepper:
        return CompiledStepper(self, actuation, step, start_of(actuation, step, q[None], v[None]))

    @property
    def seen(self) -> Sequence[Array]:
        return self.recurrence.seen

    def rows(
        self, actuation: Actuation, step: float, state: Mapping[str, np.ndarray], *, batch: bool = True
    ) -> Callable[[Mapping[str, np.ndarray]], Rollout]:
        given = {"h": np.array([[step]]), "u": state["u"][:, None]}
        return partial(self.recurrence.over, state, given, batch=batch)

    def observed(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> list[np.ndarray]:
        return list(self.code.kernel("observables", quick=True)(q, v, *self.code.layout.row(u)))

    def closed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        varied = self.code.parameters
        row = [] if varied is None else [np.tile(varied.blank, (len(q), 1))]
        return tuple(self.code.kernel("projection")(q, v, *row))

    def joint_efforts(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        return np.asarray(self.code.kernel("joint_efforts")(h, q, v, u))

    def accelerations(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        code = self.code
        if code.bounds:
            return np.asarray(code.kernel("accelerations", quick=True)(h, q, v, u))
        return np.asarray(code.kernel("dynamics", quick=True)(NO_STEP, q, v, u)[0])

    def touched(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched | None:
        return self.code.interaction.record(self.code, h, q, v, u)

    @property
    def acting(self) -> Kernel | None:
        return None if self.code.efforts is None else self.kernel("acting")


class CompiledStepper(Stepper):
    """One state advanced by a compiled step, or from Python where functions must be called or steps choose their lengths."""

    compiled: CompiledStep

    def __init__(self, compiled: CompiledStep, actuation: Actuation, step: float, state: dict[str, np.ndarray]):
        super().__init__(compiled, actuation, step, state)
        self.whole = actuation.whole and not compiled.integrator.adaptive
        self._system: CalledSystem | None = None
        if not actuation.whole:
            self._system = CalledSystem(actuation, compiled.code.kernels, compiled.code.bounds, self.efforts.copy())

    def begin(self, q: np.ndarray, v: np.ndarray) -> None:
        super().begin(q, v)
        if self._system is not None:
            self._system.forget()

    def look(self) -> dict[str, np.ndarray]:
        code = self.compiled.code
        if not (code.outputs or code.closes):
            return {name: self.state[name][0].copy() for name in (*STATE, *self._own)}
        state = (self.state[name][0] for name in ("number", "q", "v", "work", "error", *self._own, *self.actuation.kept))
        kernel = self.compiled.kernel("recorded")
        return dict(zip((array.name for array in kernel.outputs), kernel(*state, self.step, self.efforts), strict=True))

    @property
    def operations(self) -> int:  # type: ignore[override]
        return self.compiled.recurrence.operations

    def observe(self) -> None:
        if self._system is not None:
            self._system.held = self.efforts.copy()
            self.efforts[:] = self._system.efforts(self.time, self.state["q"][0], self._velocities)  # type: ignore[arg-type]

    def run(self, seen: Mapping[str, np.ndarray], records: int, every: int) -> None:
        if self.whole and records > 1:
            self.steps += records * every
            self._over({array.name: seen[array.name][None] for array in self.compiled.seen}).run(records, every)
            return
        if self.whole:
            self.steps += every
            rollout, scratch = self._once
            rollout.run(1 if seen else 0, every)
            for name, array in seen.items():
                array[0] = scratch[name][0, 0]
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

    @cached_property
    def _over(self) -> Callable[[Mapping[str, np.ndarray]], Rollout]:
        return self.compiled.rows(self.actuation, self.step, self.state, batch=False)

    @cached_property
    def _once(self) -> tuple[Rollout, dict[str, np.ndarray]]:
        """The rollout for single records, and the arrays it records to."""
        scratch = {array.name: np.empty((1, 1, *array.shape)) for array in self.compiled.seen}
        return self._over(scratch), scratch

    @property
    def _velocities(self) -> np.ndarray:
        """v, followed by the drives' own states, as integrators treat both alike."""
        return np.concatenate([self.state[name][0] for name in ("v", *self._own)])

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
            q1, v1, work1, error, *more = self.compiled.kernel("program")(t, h, q, v[:nv], work, *own, self.efforts)
            states, kept = more[: len(own)], more[len(own) :]
            for name, pushes in zip(self.actuation.kept, kept, strict=True):
                self.state[name][0] = pushes
            return q1, np.concatenate([v1, *states]), float(work1), float(error)
        after, error = self.compiled.integrator.step(self._system, t, h, IntegratorState(q.tolist(), v.tolist(), work))
        for name in self.actuation.kept:
            self.state[name][0] = pushes_of(self._system.jumped, h)
        return np.array(after.q), np.array(after.v), float(after.work), float(error)

    def _too_small(self, t: float, size: float, v: np.ndarray) -> str:
        worst = self.compiled.mechanism.v_names[int(np.argmax(np.abs(v)))]
        return (
            f"{self.compiled.mechanism.name}: {self.compiled.integrator.name} would need steps below {size:.3g} s at "
            f"t = {t:.6g} s, where {worst!r} moves fastest: the motion is stiff, discontinuous or diverges. Smooth the "
            "efforts, loosen `tolerance`, or take integrator='semi_implicit_euler'."
        )


_CODES, _STEPS = Kept[StepCode](64), Kept[CompiledStep](64)


def compiled_step(design: StepDesign, interaction: Interaction) -> CompiledStep:
    """The step, compiled unless it is still in memory; functions are compiled separately and put into its slot for them."""
    integrator, actuation, stabilisation, outputs, bounds = design
    forcing, program = actuation.forcing, actuation.program
    functions = tuple(name for name, source in forcing.commands.items() if callable(source))
    varied = None if forcing.parameters is None else forcing.parameters.key
    shape = (forcing.layout.sizes, program is not None, varied, functions, forcing.following)
    asked = tuple((output.name, output.key) for output in outputs)
    settings = (integrator.settings, shape, stabilisation, asked, bool(bounds))
    known, content = digest(forcing.mechanism), interaction.content
    text = None if known is None or content is None else repr((known, content, settings))
    key: Hashable = None if interaction.key is None else (forcing.mechanism, interaction.key, settings)
    code = _CODES.get(key, lambda: StepCode(design, interaction, text))
    listing = None if program is None else str(program)
    return _STEPS.get(None if key is None else (key, listing), lambda: CompiledStep(code, program))
