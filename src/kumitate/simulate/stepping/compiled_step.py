"""The step of an integrator on a driven mechanism as programs and machine code, compiled once for all runs that share it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import kinematics
from ...compile import Kernel, Recurrence, StoredProgram, found_or_traced
from ...model.mechanism import digest
from ...scalar import Hole, Program, call, maximum, trace
from .actuation import Actuation
from .advance import Advance
from .driven import acting_program, driven_dynamics, efforts_program
from .equations import (
    NO_STEP,
    closing_program,
    dynamics_program,
    motion_program,
    observables_program,
    projection_program,
    seen_program,
)
from .jumps import jump_program, kick_program, seen_of_motion
from .kept import Kept
from .outputs import Signals, evaluated
from .stepper import CompiledStepper
from .system import states_of, step_program, with_states

if TYPE_CHECKING:
    from ..interactions import Interaction, StepDesign
    from ..results.contact_record import Touched


class StepCode:
    """One integrator on one mechanism; traced and compiled on first use, unless it is on disk.

    Attributes:
        efforts: the slot for the compiled function (t, q, v, u) → u, if there is one.
        outputs: the quantities computed at every state that is recorded or looked at.
        parameters: of the simulation; layout: what stands where in u.
        interaction: with the surroundings.
        key: everything that the code depends on, as text; None if unknown.
        bounds: the limits at which joints stop.
    """

    def __init__(self, design: StepDesign, interaction: Interaction, key: str | None = None):
        """The code for the sources of efforts of an actuation."""
        integrator, actuation, stabilisation, outputs, bounds = design
        self.bounds, forcing = bounds, actuation.forcing
        self.mechanism, self.integrator, self.outputs = forcing.mechanism, integrator, outputs
        self.parameters, self.layout = forcing.parameters, forcing.layout
        self._forcing, self.interaction, self._stabilisation, self.key = forcing, interaction, stabilisation, key
        program = actuation.program
        self.efforts = None if program is None else Hole.of("efforts", program.inputs, program.outputs)

    # --- programs -------------------------------------------------------------------------------------------------------------
    @cached_property
    def dynamics(self) -> Program:
        """(h, q, v, u) → v̇ and power, h being 0 where nothing is implicit."""
        if self.motion is None:
            return dynamics_program(self.mechanism, self._forcing, **self._settings)
        return driven_dynamics(self.motion, self._forcing, implicit=self.integrator.implicit_damping)

    @cached_property
    def motion(self) -> Program | None:
        """(h, q, v, u, tau, resisting) → v̇ and power by other efforts at the joints; None if no joint has a drive."""
        return motion_program(self.mechanism, self._forcing, **self._settings) if self.mechanism.driven else None

    @property
    def _settings(self) -> dict[str, Any]:
        return {
            "implicit_damping": self.integrator.implicit_damping, "baumgarte": self._stabilisation.baumgarte,
            "held": self.interaction.held, "pressing": self.interaction.forces,
        }  # fmt: skip

    @cached_property
    def joint_efforts(self) -> Program:
        """(h, q, v, u) → the efforts at the joints, with those of drives and prescribed motions."""
        return efforts_program(self._forcing, self.reactions if self._forcing.following else None)

    @property
    def efforts_follow(self) -> bool:
        """Whether efforts at joints follow from the state, and are not only those that are given."""
        return bool(self.mechanism.driven or self._forcing.following)

    @property
    def inputs(self) -> dict[str, slice]:
        """Where each input and command stands in u, and each gain that is a parameter."""
        return {**self._forcing.own, **self._forcing.layout.group("commands")}

    @property
    def functions(self) -> set[str]:
        """The commands of drives that are functions: only the compiled efforts contain their values."""
        return {name for name, source in self._forcing.commands.items() if callable(source)}

    @property
    def projects(self) -> bool:
        """Whether loops and held points are kept closed by projection."""
        return self._stabilisation.projects and (self.mechanism.tree.closed or self.interaction.held is not None)

    @property
    def closes(self) -> bool:
        """Whether a step begins by closing loops, with the factors of its first accelerations; else it ends by projection.

        Held points and impacts have rows of their own, and the error estimates of adaptive steps need closed loops.
        """
        alone = self.interaction.held is None and not self.touches
        return self.projects and alone and not (self.integrator.adaptive or self._stabilisation.strict)

    @property
    def alone(self) -> bool:
        """Whether nothing touches the mechanism and no point of it is held."""
        return self.interaction.held is None and self.interaction.forces is None and not self.touches

    @cached_property
    def closing(self) -> Program:
        """(h, q, v, u) → v̇, power, and the changes of q and v that close the loops."""
        implicit, driven = self.integrator.implicit_damping, bool(self.mechanism.driven)
        program = closing_program(
            self.mechanism, self._forcing, implicit_damping=implicit, opens=self.integrator.opens,
            pressing=self.interaction.forces, pushed=driven,
        )  # fmt: skip
        return driven_dynamics(program, self._forcing, implicit=implicit) if driven else program

    @cached_property
    def acting(self) -> Program:
        """(t, q, v, u) → u with the values of the compiled functions."""
        return acting_program(self.efforts, self.mechanism.name)  # type: ignore[arg-type]

    @cached_property
    def projection(self) -> Program:
        """(q, v, row of parameters if there are any) → q, v with the loops closed."""
        return projection_program(self.mechanism, self.interaction.held, self.parameters, self._forcing.fixed)

    @cached_property
    def jumps(self) -> Program | None:
        """(h, q, v, u) → the velocities after a step with impulses of contact and stops, and that contact; None without."""
        if not (self.touches or self.bounds):
            return None
        if not self.settles:
            return jump_program(self._forcing, self.dynamics, self.impacts)
        motion = self.motion if self.integrator.implicit_damping else None
        if motion is None:  # steps with impulses are implicit whatever others are
            motion = motion_program(self.mechanism, self._forcing, **{**self._settings, "implicit_damping": True})
        return jump_program(self._forcing, motion, self.impacts, self.bounds, self.projection if self.projects else None)

    @cached_property
    def impacts(self) -> Program | None:
        """(h, q, v, v_free, and what else it needs) → the velocities after contact by impulses; None without."""
        begun, parted = bool(self.layout.points), self.integrator.kicks
        return self.interaction.impacts(resisted=self.settles, begun=begun, parted=parted) if self.touches else None

    @cached_property
    def kicks(self) -> Program | None:
        """The impulses of contact alone, for an integrator that takes them so; None without contact."""
        impacts = self.impacts if self.integrator.kicks else None
        return None if impacts is None else kick_program(self._forcing, impacts, resisted=self.settles)

    @property
    def settles(self) -> bool:
        """Whether drives, stops and prescribed motions have efforts that depend on the motion in a step."""
        return bool(self.mechanism.driven or self.bounds or self._forcing.following)

    def slopes(self) -> dict[Program, Program]:
        """The derivatives of programs of the step that are not found by differentiating what they do.

        Raises:
            InputError: if the interaction has no derivatives.
        """
        return self.interaction.slopes(self.impacts)

    def pushes(self, h: Any, q: Any, v: Any, u: Any) -> list[Any]:
        """What pushes at every point of contact, as `Interaction.pushes`."""
        return self.interaction.pushes(self, h, q, v, u)

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
        return seen_of_motion(f"{name}_{self.mechanism.name}", self._forcing, dynamics, self.jumps, self.bounds, wanted, mean)

    @property
    def touches(self) -> bool:
        """Whether velocities may jump by contact of bodies, and not at stops of joints alone."""
        return self.interaction.touches

    @cached_property
    def program(self) -> Program:
        """(t, h, q, v, work, u) → q, v, work, error: one step."""
        projection = self.projection if self.projects else None
        closing = self.closing if self.closes else None
        row = self.layout.at("parameters")
        return step_program(
            self.mechanism, self.integrator, self.dynamics, projection, self.efforts, self.jumps, closing, row, self.bounds,
            self._forcing, self.kicks,
        )  # fmt: skip

    @cached_property
    def repeated(self) -> Program:
        """(number, q, v, work, error, the drives' own states if there are any, h, u) → all but the last two one step later.

        `number` counts the steps since the start; `error` is the largest error estimate since then.
        """

        def advanced(number: Any, q: Any, v: Any, work: Any, error: Any, *rest: Any) -> dict[str, Any]:
            *states, h, u = rest
            after = call(self.program, number * h, h, q, v, work, *states, u)
            return {"number": number + 1.0, **after, "error": maximum(error, after["error"])}

        return trace(advanced, self._sizes, self.program.name)

    @cached_property
    def recorded(self) -> Program:
        """The inputs of `repeated` → the recorded quantities of a state: q, v, work, error, the drives' states and the outputs.

        Where steps leave small gaps in the loops for the next step to close, they are closed here.
        """
        seen = seen_program(self.mechanism, self.projection, self.parameters) if self.closes else None

        def look(number: Any, q: Any, v: Any, work: Any, error: Any, *rest: Any) -> dict[str, Any]:
            *states, h, u = rest
            u = with_states(self._forcing, u, [x for part in states for x in part])
            if seen is not None:
                q, v = call(seen, q, v, *self.layout.row(u)).values()
            signals = Signals(self, number * h, h, q, v, u)
            own = dict(zip(states_of(self._forcing), map(list, states), strict=True))
            return {"q": list(q), "v": list(v), "work": work, "error": error, **own, **evaluated(self.outputs, signals)}

        return trace(look, self._sizes, f"record_{self.mechanism.name}")

    @property
    def _sizes(self) -> dict[str, int | tuple[int, ...]]:
        m, states = self.mechanism, states_of(self._forcing)
        return {"number": (), "q": m.nq, "v": m.nv, "work": (), "error": (), **states, "h": (), "u": self.layout.size}

    # --- their code -----------------------------------------------------------------------------------------------------------
    @cached_property
    def kernel(self) -> Kernel:
        """One step as a kernel."""
        return Kernel(self._stored("program"), shared=self._shared)

    @cached_property
    def recurrence(self) -> Recurrence:
        """A loop of steps in machine code."""
        return Recurrence(self._stored("repeated"), self._stored("recorded"), shared=self._shared)

    @cached_property
    def look_kernel(self) -> Kernel:
        """The recorded quantities of a state as a kernel."""
        return Kernel(self._stored("recorded"))

    @cached_property
    def dynamics_kernel(self) -> Kernel:
        """The accelerations of the run and the power."""
        return Kernel(self._stored("dynamics"))

    @cached_property
    def closing_kernel(self) -> Kernel:
        """The accelerations with which a step begins, and what closes the loops there."""
        return Kernel(self._stored("closing"))

    @cached_property
    def accelerations_kernel(self) -> Kernel:
        """(h, q, v, u) → v̇, as `accelerations`."""
        return Kernel(self._stored("accelerations"), shared=self._shared)

    @cached_property
    def jump_kernel(self) -> Kernel:
        """The velocities after a step with contact, and that contact."""
        return Kernel(self._stored("jumps"), shared=self._shared)

    @cached_property
    def kick_kernel(self) -> Kernel:
        """The velocities after contact alone."""
        return Kernel(self._stored("kicks"), shared=self._shared)

    @cached_property
    def efforts_kernel(self) -> Kernel:
        """(h, q, v, u) → the efforts at the joints."""
        return Kernel(self._stored("joint_efforts"))

    @cached_property
    def acting_kernel(self) -> Kernel:
        """(t, q, v, u) → u, as `acting`."""
        return Kernel(self._stored("acting"))

    @cached_property
    def projection_kernel(self) -> Kernel:
        """(q, v) → q, v with the loops closed."""
        return Kernel(self._stored("projection"))

    @cached_property
    def observables(self) -> Kernel:
        """(q, v, row of parameters if there are any) → energies, center of mass, momentum."""
        varied = "" if self.parameters is None else f" {self.key}"
        key = None if self.key is None else f"observables {digest(self.mechanism)}{varied}"
        return Kernel(found_or_traced(key, lambda: observables_program(self.mechanism, self.parameters)))

    def observed(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> list[np.ndarray]:
        """Energies, center of mass and momentum of states (n, nq), (n, nv) with efforts and parameters u (n, size)."""
        return list(self.observables(q, v, *self._rows(u)))

    def closed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States (n, nq), (n, nv) with their loops closed, by the mechanism as it was made."""
        own = [] if self.parameters is None else [np.tile(self.parameters.blank, (len(q), 1))]
        return tuple(self.projection_kernel(q, v, *own))

    def _rows(self, u: np.ndarray) -> list[np.ndarray]:
        return [] if self.parameters is None else [np.ascontiguousarray(u[..., self.layout.at("parameters")])]

    @cached_property
    def _shared(self) -> list[StoredProgram]:
        """The contact of a step: most of its code, and called by what is recorded of a run too."""
        contact = self._stored("impacts") if self.touches else None
        return [contact] if isinstance(contact, StoredProgram) else []

    def _stored(self, role: str) -> Program | StoredProgram:
        return found_or_traced(None if self.key is None else f"{role} {self.key}", lambda: getattr(self, role))


class CompiledStep(Advance):
    """The code of a step with the functions that are compiled into it.

    Attributes:
        code: everything that does not depend on the functions.
        recurrence, kernel, look: the loop of steps, one step, and the recorded quantities of a state, as in `StepCode`.
    """

    def __init__(self, code: StepCode, efforts: Program | None):
        """The code with the program (t, q, v, u) → u in its slot; None if no function is compiled in."""
        self.code, self._fillings = code, {} if efforts is None else {"efforts": efforts}
        self.mechanism, self.integrator = code.mechanism, code.integrator

    @property
    def follows(self) -> bool:
        return self.code.efforts_follow

    @property
    def keeps_closed(self) -> bool:
        return self.code.alone and self.code.projects

    def stepper(self, actuation: Actuation, step: float, q: np.ndarray, v: np.ndarray) -> CompiledStepper:
        return CompiledStepper(self, actuation, step, q, v)

    def rows(self, actuation: Actuation, step: float) -> Recurrence:
        return self.recurrence

    def observed(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> list[np.ndarray]:
        return self.code.observed(q, v, u)

    def closed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.code.closed(q, v)

    def joint_efforts(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        return np.asarray(self.code.efforts_kernel(h, q, v, u))

    def accelerations(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        code = self.code
        found = code.accelerations_kernel(h, q, v, u) if code.bounds else code.dynamics_kernel(NO_STEP, q, v, u)[0]
        return np.asarray(found)

    def touched(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched | None:
        return self.code.interaction.record(self.code, h, q, v, u)

    @cached_property
    def recurrence(self) -> Recurrence:
        return self.code.recurrence.filled(self._fillings)

    @cached_property
    def kernel(self) -> Kernel:
        return self.code.kernel.filled(self._fillings)

    @cached_property
    def look(self) -> Kernel:
        return self.code.look_kernel.filled(self._fillings)

    def efforts_along(self, time: np.ndarray, q: np.ndarray, v: np.ndarray, held: np.ndarray) -> np.ndarray:
        """u at many states: `held` (n, size) or (size), with the compiled functions' values evaluated in one batch."""
        held = np.broadcast_to(held, (len(time), held.shape[-1]))
        return held if self.code.efforts is None else self._acting(time, q, v, held)

    @cached_property
    def _acting(self) -> Kernel:
        return self.code.acting_kernel.filled(self._fillings)


_CODES, _STEPS = Kept[StepCode](64), Kept[CompiledStep](64)


def compiled_step(design: StepDesign, interaction: Interaction) -> CompiledStep:
    """The step, compiled unless it is still in memory; functions are compiled separately and put into its slot for them."""
    integrator, actuation, stabilisation, outputs, bounds = design
    forcing, program = actuation.forcing, actuation.program
    sizes = tuple((name, len(values)) for name, values in forcing.inputs.items())
    varied = None if forcing.parameters is None else forcing.parameters.key
    targets = (*(name for name, source in forcing.commands.items() if callable(source)), *forcing.following)
    shape = (
        tuple(forcing.places),
        tuple(forcing.drives.items()),
        sizes,
        program is not None,
        varied,
        targets,
        *([forcing.overlaps.size] if forcing.overlaps else ()),
    )
    asked = tuple((output.name, output.key) for output in outputs)
    settings = (integrator.settings, shape, stabilisation, asked, bool(bounds))
    known, content = digest(forcing.mechanism), interaction.content
    text = None if known is None or content is None else repr((known, content, settings))
    key: Hashable = None if interaction.key is None else (forcing.mechanism, interaction.key, settings)
    code = _CODES.get(key, lambda: StepCode(design, interaction, text))
    functions = None if program is None else str(program)
    return _STEPS.get(None if key is None else (key, functions), lambda: CompiledStep(code, program))
