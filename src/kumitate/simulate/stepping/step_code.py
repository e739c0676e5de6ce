"""The step of an integrator on a driven mechanism as programs and machine code, compiled once for all runs that share it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from ... import kinematics
from ...compile import Kernel, Recurrence, StoredProgram, found_or_traced
from ...model.mechanism import digest
from ...scalar import Hole, Program, call, maximum, trace
from ..driving.forcing import LAST, PUSHES
from . import equations
from .interaction import Interaction, StepDesign
from .jumps import jump_program, kick_program, seen_of_motion
from .outputs import evaluated
from .system import StepParts, step_program

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
