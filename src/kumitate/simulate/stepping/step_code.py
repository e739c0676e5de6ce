"""The step of an integrator on a driven mechanism as programs and machine code, compiled once for all runs that share it.

`CompiledStep` has it with the functions that are compiled into it, and a `CompiledStepper` is a state that it advances.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import kinematics
from ...compile import Kernel, Recurrence, StoredProgram, found_or_traced
from ...model.mechanism import digest
from ...scalar import Array, Hole, Program, call, maximum, trace
from ..driving.actuation import Actuation
from ..driving.forcing import LAST, PUSHES
from ..integrators import IntegratorState
from ..kept import Kept
from . import equations
from .advance import Advance, Stepper, start_of
from .interaction import Interaction, StepDesign
from .jumps import jump_program, kick_program, pushes_of, seen_of_motion
from .outputs import STATE, evaluated
from .system import CalledSystem, StepParts, step_program

if TYPE_CHECKING:
    from ...compile import Rollout
    from ...records.contact_record import Touched

#: Roles whose programs call the contact of a step, which is most of their code and compiled once for all.
_TOUCHING = ("program", "accelerations", "jumps", "kicks")


class StepCode:
    """One integrator on one mechanism; traced and compiled on first use, unless it is on disk.

    Attributes:
        efforts: the slot for the compiled function (t, q, v, u) → u, if there is one; layout: what stands where in u.
        outputs: the quantities computed at every state that is recorded or looked at; bounds: the limits at which joints stop.
        key: everything that the code depends on, as text; None if unknown.
        touches: whether velocities may jump by contact of bodies, and not at stops of joints alone; alone: whether nothing
            touches the mechanism and no point of it is held; projects: whether loops and held points are closed by projection.
        efforts_follow: whether efforts at joints follow from the state, and are not only those that are given.
        settles: whether drives, stops and prescribed motions have efforts that depend on the motion in a step.
    """

    def __init__(self, design: StepDesign, interaction: Interaction, key: str | None = None):
        """The code for the sources of efforts of an actuation."""
        self.integrator, actuation, self.stabilisation, self.outputs, self.bounds = design
        self.forcing = forcing = actuation.forcing
        self.mechanism, self.parameters, self.layout = forcing.mechanism, forcing.parameters, forcing.layout
        self.interaction, self.key, self.kept = interaction, key, actuation.kept
        program = actuation.program
        self.efforts = None if program is None else Hole.of("efforts", program.inputs, program.outputs)
        self._kernels: dict[tuple[str, bool], Kernel] = {}
        held, self.touches = interaction.held is not None, interaction.touches
        self.alone = not held and interaction.forces is None and not self.touches
        self.projects = self.stabilisation.projects and (self.mechanism.tree.closed or held)
        self.efforts_follow = bool(self.mechanism.driven or forcing.following)
        self.settles = self.efforts_follow or bool(self.bounds)

    # --- programs -------------------------------------------------------------------------------------------------------------
    @cached_property
    def dynamics(self) -> Program:
        """(h, q, v, u) → v̇ and power, h being 0 where nothing is implicit."""
        if not self.mechanism.driven:
            return self._dynamics(pushed=False)
        return equations.driven_dynamics(self.motion, self.forcing, implicit=self.integrator.implicit_damping)

    @cached_property
    def motion(self) -> Program:
        """(h, q, v, u, tau, resisting) → v̇ and power by other efforts at the joints."""
        return self._dynamics(pushed=True)

    def _dynamics(self, *, pushed: bool, implicit_damping: bool | None = None) -> Program:
        implicit = self.integrator.implicit_damping if implicit_damping is None else implicit_damping
        held, pressing = self.interaction.held, self.interaction.forces
        return equations.dynamics_program(
            self.forcing, implicit_damping=implicit, baumgarte=self.stabilisation.baumgarte, held=held, pressing=pressing,
            pushed=pushed,
        )  # fmt: skip

    @cached_property
    def joint_efforts(self) -> Program:
        """(h, q, v, u) → the efforts at the joints, with those of drives and prescribed motions."""
        return equations.efforts_program(self.forcing, self.reactions if self.forcing.following else None)

    @cached_property
    def closes(self) -> bool:
        """Whether a step begins by closing loops, with the factors of its first accelerations; else it ends by projection.

        Held points and impacts have rows of their own, and the error estimates of adaptive steps need closed loops.
        """
        own_rows = self.interaction.held is not None or self.touches
        return self.projects and not (own_rows or self.integrator.adaptive or self.stabilisation.strict)

    @cached_property
    def closing(self) -> Program | None:
        """(h, q, v, u) → v̇, power, and the changes of q and v that close the loops; None where no step begins so."""
        if not self.closes:
            return None
        implicit, driven = self.integrator.implicit_damping, bool(self.mechanism.driven)
        program = equations.closing_program(
            self.forcing, implicit_damping=implicit, opens=self.integrator.opens, pressing=self.interaction.forces,
            pushed=driven,
        )  # fmt: skip
        return equations.driven_dynamics(program, self.forcing, implicit=implicit) if driven else program

    @cached_property
    def acting(self) -> Program:
        """(t, q, v, u) → u with the values of the compiled functions."""
        return equations.acting_program(self.efforts, self.mechanism.name)  # type: ignore[arg-type]

    @cached_property
    def projection(self) -> Program:
        """(q, v, row of parameters if there are any) → q, v with the loops closed."""
        return equations.projection_program(self.mechanism, self.interaction.held, self.parameters, self.forcing.fixed)

    @cached_property
    def jumps(self) -> Program | None:
        """(h, q, v, u) → the velocities after a step with impulses of contact and stops, and that contact; None without."""
        if not (self.touches or self.bounds):
            return None
        if not self.settles:
            return jump_program(self.forcing, self.dynamics, self.impacts)
        # steps with impulses are implicit whatever others are
        motion = self.motion if self.integrator.implicit_damping else self._dynamics(pushed=True, implicit_damping=True)
        return jump_program(self.forcing, motion, self.impacts, self.bounds, self.projection if self.projects else None)

    @cached_property
    def impacts(self) -> Program | None:
        """(h, q, v, v_free, and what else it needs) → the velocities after contact by impulses; None without."""
        begun, parted = bool(self.layout.count("overlaps")), self.integrator.kicks
        return self.interaction.impacts(resisted=self.settles, begun=begun, parted=parted) if self.touches else None

    @cached_property
    def kicks(self) -> Program | None:
        """The impulses of contact alone, for an integrator that takes them so; None without contact."""
        impacts = self.impacts if self.integrator.kicks else None
        return None if impacts is None else kick_program(self.forcing, impacts, resisted=self.settles)

    def slopes(self) -> dict[Program, Program]:
        """The derivatives of programs that are not found by differentiating what they do, as of `Interaction.slopes`."""
        return self.interaction.slopes(self.impacts)

    @cached_property
    def accelerations(self) -> Program:
        """(h, q, v, u) → v̇; where contact or stops make velocities jump, their mean rate over the step h that begins there."""

        def mean(h: Any, v: Any, jumped: Any) -> list[Any]:
            turning = kinematics.turning(self.mechanism.tree, v)
            return [(b - a) / h + turn for a, b, turn in zip(v, jumped["v"], turning, strict=True)]

        return self._of_motion("accelerations", "acceleration", mean)

    @cached_property
    def reactions(self) -> Program:
        """(h, q, v, u) → the efforts of joints with prescribed motions; where velocities jump, their means over the step."""
        return self._of_motion("reactions", "efforts", lambda h, v, jumped: list(jumped["efforts"]))

    def _of_motion(self, name: str, wanted: str, mean: Callable[[Any, Any, Any], list[Any]]) -> Program:
        """(h, q, v, u) → what the dynamics gives, or the mean of it over a step in which velocities jump."""
        dynamics = None if self.touches else self.dynamics
        return seen_of_motion(f"{name}_{self.mechanism.name}", self.forcing, dynamics, self.jumps, self.bounds, wanted, mean)

    @cached_property
    def program(self) -> Program:
        """(t, h, q, v, work, u) → q, v, work, error: one step."""
        parts = StepParts(self.dynamics, self.projection if self.projects else None, self.jumps, self.closing, self.kicks)
        return step_program(self.forcing, self.integrator, parts, self.efforts, self.bounds, self.kept)

    @cached_property
    def repeated(self) -> Program:
        """(number, q, v, work, error, the drives' own states if there are any, h, u) → all but the last two one step later.

        `number` counts the steps since the start; `error` is the largest error estimate since then. What is `kept` of the last
        step follows the states.
        """

        def advanced(number: Any, q: Any, v: Any, work: Any, error: Any, *rest: Any) -> dict[str, Any]:
            *_, h, u = rest
            after = call(self.program, number * h, h, q, v, work, *rest[: len(self.layout.own_states)], u)
            return {"number": number + 1.0, **after, "error": maximum(error, after["error"])}

        return trace(advanced, self._sizes, self.program.name)

    @cached_property
    def recorded(self) -> Program:
        """The inputs of `repeated` → the recorded quantities of a state: q, v, work, error, the drives' states and the outputs.

        Where steps leave small gaps in the loops for the next step to close, they are closed here.
        """
        seen = equations.seen_program(self.mechanism, self.projection, self.parameters) if self.closes else None

        def look(number: Any, q: Any, v: Any, work: Any, error: Any, *rest: Any) -> dict[str, Any]:
            *parts, h, u = rest
            states, kept = parts[: len(self.layout.own_states)], parts[len(self.layout.own_states) :]
            u = self.layout.with_states(u, [x for part in states for x in part])
            if seen is not None:
                q, v = call(seen, q, v, *self.layout.row(u)).values()
            signals = signals_of(self, number * h, h, q, v, u, dict(zip(self.kept, kept, strict=True)))
            own = dict(zip(self.layout.own_states, map(list, states), strict=True))
            return {"q": list(q), "v": list(v), "work": work, "error": error, **own, **evaluated(self.outputs, signals)}

        return trace(look, self._sizes, f"record_{self.mechanism.name}")

    @property
    def _sizes(self) -> dict[str, int | tuple[int, ...]]:
        m, layout = self.mechanism, self.layout
        more = {**layout.own_states, **self.kept, "h": (), "u": layout.size}
        return {"number": (), "q": m.nq, "v": m.nv, "work": (), "error": (), **more}

    @cached_property
    def observables(self) -> Program:
        """(q, v, row of parameters if there are any) → energies, center of mass, momentum."""
        return equations.observables_program(self.mechanism, self.parameters)

    # --- their code -----------------------------------------------------------------------------------------------------------
    def kernel(self, role: str, *, quick: bool = False) -> Kernel:
        """The machine code of the program of this name, compiled on first use; `quick`: as of `Kernel`, for records."""
        if (role, quick) not in self._kernels:
            shared = self._shared if role in _TOUCHING else []
            self._kernels[role, quick] = Kernel(self._stored(role), shared=shared, quick=quick)
        return self._kernels[role, quick]

    @cached_property
    def recurrence(self) -> Recurrence:
        """A loop of steps in machine code."""
        return Recurrence(self._stored("repeated"), self._stored("recorded"), shared=self._shared)

    @cached_property
    def kernels(self) -> StepParts:
        """The parts of a step for functions that are called from Python."""
        some = {
            "projection": self.projects,
            "jumps": self.jumps,
            "closing": self.closes,
            "kicks": self.integrator.kicks and self.touches,
        }
        return StepParts(self.kernel("dynamics"), **{role: self.kernel(role) for role, there in some.items() if there})

    @cached_property
    def _shared(self) -> list[Program | StoredProgram]:
        """The contact of a step: most of its code, and called by what is recorded of a run too."""
        return [self._stored("impacts")] if self.touches else []

    def _stored(self, role: str) -> Program | StoredProgram:
        key = self.key
        if key is not None and role == "observables":  # of the mechanism alone
            key = digest(self.mechanism) if self.parameters is None else f"{digest(self.mechanism)} {key}"
        return found_or_traced(None if key is None else f"{role} {key}", lambda: getattr(self, role))


def signals_of(
    code: StepCode, t: Any, h: Any, q: Any, v: Any, u: Any, kept: Mapping[str, Any] | None = None
) -> Callable[[str], Any]:
    """The signals that outputs are computed from, by name, at one state while tracing; each is computed on first use.

    Those of `forcing.SIGNALS`, and inputs; inside, also "u", all efforts, those of compiled functions in their places.
    """
    values: dict[str, Any] = {"t": t, "q": q, "v": v, "parameters": u[code.layout.at("parameters")]}
    nv = code.mechanism.nv
    values |= {name: u[own] for name, own in code.forcing.own.items()} | dict(kept or {})
    made: dict[str, Callable[[], Any]] = {
        "u": lambda: u if code.efforts is None else call(code.efforts, t, q, v, u),
        "tau": lambda: (call(code.joint_efforts, h, q, v, signal("u")) if code.efforts_follow else signal("u"))[:nv],
        PUSHES: lambda: code.interaction.pushes(code, h, q, v, signal("u")),
        LAST: lambda: signal(PUSHES),  # where those of the last step are not `kept`
        # where contact or stops make velocities jump, their mean over the step that begins here
        "a": lambda: call(code.accelerations, h, q, v, signal("u")),
    }

    def signal(name: str) -> Any:
        if name not in values:
            command = code.layout.group("commands").get(name)  # a function, whose values only the compiled efforts have
            values[name] = made[name]() if command is None else signal("u")[command]
        return values[name]

    return signal


# --- the code with functions, and states that it advances -----------------------------------------------------------------
#: How an adaptive step follows from the error of the last one.
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
        return np.asarray(code.kernel("dynamics", quick=True)(equations.NO_STEP, q, v, u)[0])

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
