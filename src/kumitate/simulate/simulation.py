"""`MechanismSimulation`: a mechanism with all that acts on it, compiled once; run, stepped, or many of them side by side."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np

from ..analysis import loop_equations
from ..errors import DivergenceError, InputError, keep_result, kept_up_to
from ..model import bounds_of, check_resistance
from ..records.record import MADE_BY, Record
from ..version import __version__
from .batch import Batch, SettledAttributes
from .checks import by_name, check_memory, checked_rows, first_notes, fitted_sample_time, run_times, step_notes, steps_held
from .divergence import FAST, RUNAWAY, Exchange, GainingStep, divergence, leaps, runaway
from .driving.actuation import Actuation, How
from .driving.forcing import LAST, PUSH, Forcing, commands_of
from .driving.motion import FollowedStarts, check_followed, motions_of, with_followed_loops
from .integrators import FollowingSteps, stopping
from .interactions import Asked, StepDesign, interaction_of
from .parameters.variation import variation_of
from .rows import Rows, fill, result_of
from .setup import Experiment, Setup, Until
from .starts import Starts
from .stepping.advance import Advance, State, Stepper
from .stepping.interaction import Stabilisation
from .stepping.outputs import STATE
from .stepping.step_code import CompiledStep, compiled_step

if TYPE_CHECKING:
    from ..contact.plan import ContactPlan
    from ..records.contact_record import Touched
    from .device_batch import DeviceBatch


class MechanismSimulation(SettledAttributes):
    """A mechanism, what drives it and what surrounds it, with the compiled step that moves it.

    Attributes:
        setup: what it was made of; settings: of it, as plain data, which results of `run` keep.
        mechanism: the simulated mechanism; that of the setup, unless loop joints follow motions.
        step_size: [s]; integrator: of the steps; bounds: the limits at which joints stop.
        actuation: the functions and constants that drive it, and how each is evaluated.
        interaction: with its surroundings: contact, held points, or none.
        outputs: the additional quantities computed from its states; parameters: that may differ from state to state.
        notes: sentences for people, such as which integrator "auto" took and why.
    """

    def __init__(self, setup: Setup):
        """A simulation of a setup; nothing is compiled before it is needed."""
        setup.check()
        mechanism, start = with_followed_loops(setup.mechanism, setup.motions, (setup.q, setup.v))
        check_resistance(mechanism, setup.motions or {})
        self.setup, self.mechanism, self.step_size = setup, mechanism, float(setup.step)
        self._starts = Starts(mechanism, *start)
        self._busy = Lock()
        self._idle: dict[float, Stepper] = {}
        self.notes = first_notes(mechanism, setup.limits)
        wrenches, loop_tau, inputs = setup.wrenches or {}, setup.loop_tau or {}, setup.inputs or {}
        sources = (setup.controller, *wrenches.values(), *loop_tau.values(), *filter(callable, inputs.values()))
        self.parameters = variation_of(mechanism, setup.contact, sources, setup.parameters)
        around = (setup.contact, setup.held, setup.held_method, self.parameters, setup.integrator)
        wanted, needed = setup.traced_for(self.parameters)
        self.interaction = interaction_of(mechanism, *around, wanted=wanted, needed=needed)
        self._hold = steps_held(setup.sample_time, setup.step)
        asked = Asked(setup.integrator, self.step_size, setup.tolerance, *self._starts.default, setup.equal_steps)
        self.bounds = tuple(bounds_of(mechanism)) if setup.limits else ()
        self.integrator = stopping(self.interaction.integrator(asked, self.notes), self.bounds)
        commands, others = commands_of(mechanism, inputs, self._starts.default[0], None if setup.outputs else sources)
        motions = motions_of(mechanism, setup.motions or {})
        overlaps = self.interaction.overlaps(self._starts.default[0])
        forcing = Forcing(mechanism, setup.controller, wrenches, loop_tau, others, commands, self.parameters, motions, overlaps)
        if motions:
            check_followed(mechanism, self.interaction.of_many_bodies)
            self.bounds = tuple(bound for bound in self.bounds if bound.v not in forcing.fixed)
            self.integrator = FollowingSteps(self.integrator)
        self._stabilisation = Stabilisation(setup.baumgarte is None, float(setup.baumgarte or 0.0), setup.strict)
        self._loops = loop_equations(mechanism)
        follow = FollowedStarts(self._loops, forcing.following, list(motions.values())) if motions else None
        self.notes += follow.notes(self._starts.default[0]) if follow else []
        self._starts.close(self._loops, self.interaction.start, forcing.drives, follow)
        self.actuation = Actuation.of(
            forcing, *self._starts.default, traced=setup.traced, sampled=bool(self._hold), stages=setup.sample_time == 0.0,
            held=self.interaction.of_many_bodies,
        )  # fmt: skip
        self.outputs = tuple(setup.outputs(self, *self._starts.default) if callable(setup.outputs) else setup.outputs)
        if self.interaction.touches and not self.integrator.kicks and any(output.key == LAST for output in self.outputs):
            kept = {LAST: PUSH * len(self.interaction.touching_bodies)}
            self.actuation = replace(self.actuation, kept=kept)
        self.interaction.check(self._stabilisation)
        self.settings: dict[str, Any] = {
            "kumitate": __version__, "step": setup.step, "integrator": self.integrator.name, "tolerance": setup.tolerance,
            "sample_time": setup.sample_time, "forcing": self.actuation.mode, "wrenches": list(wrenches),
            "motions": list(motions), "loop_tau": list(forcing.drives), "stabilisation": setup.stabilisation,
            "baumgarte": setup.baumgarte, "held": [point.label for point in setup.held], "limits": setup.limits,
            "contact": self.interaction.plain, "inputs": {k: x.tolist() for k, x in forcing.values_of_inputs.items()},
        }  # fmt: skip

    @classmethod
    def of(cls, asked: Experiment) -> Self:
        """The simulation of an experiment, which notes if the step was made shorter."""
        fitted = asked.fitted
        simulation = cls(fitted)
        simulation.notes += step_notes(asked.step, fitted.step, simulation._hold)
        return simulation

    def __repr__(self) -> str:
        varied = "" if self.parameters is None else f", parameters={[one.name for one in self.parameters.asked]}"
        return f"Simulation({self.mechanism.name!r}, step={self.step_size:g}, integrator={self.integrator.name!r}{varied})"

    @cached_property
    def compiled(self) -> Advance:
        """The steps; shared by simulations whose compiled parts are the same."""
        design = StepDesign(self.integrator, self.actuation, self._stabilisation, self.outputs, self.bounds)
        return self.interaction.advance(design) or compiled_step(design, self.interaction)

    @property
    def whole(self) -> bool:
        """Whether steps in straight-line code follow each other without Python in between."""
        compiled = isinstance(self.compiled, CompiledStep) and not self.integrator.adaptive
        return compiled and not self.actuation.lines(but=How.COMPILED)

    @cached_property
    def side_by_side(self) -> Self:
        """The same simulation for many motions and derivatives, with code of its own; itself if it has that already."""
        if self.setup.side_by_side or not (self.interaction.of_many_bodies and self.interaction.begins_traced):
            return self
        return type(self)(replace(self.setup, side_by_side=True))

    @property
    def straight(self) -> CompiledStep:
        """The steps of one robot in straight-line code, which have derivatives; scenes of many bodies are refused."""
        if not isinstance(self.compiled, CompiledStep):
            raise InputError(f"{self.mechanism.name}: {self.compiled.refusal}")
        return self.compiled

    def check_without_python(self, taker: str) -> None:
        """Refuses steps that `taker`, such as "a page", could make with Python alone: with functions to call, or adaptive."""
        owner = self.mechanism.name
        if self.integrator.adaptive:
            raise InputError(
                f"{owner}: {taker} makes steps of equal length, and {self.integrator.name} chooses its own. Take "
                "integrator='rk4', or 'semi_implicit_euler' where damping or springs are stiff"
            )
        if called := self.actuation.lines(but=How.COMPILED):
            raise InputError(
                f"{owner}: {taker} has no Python, and {called[0]}. Write it so that it can be compiled (plain arithmetic and "
                "NumPy, no state of its own, without sample_time), or make it an input, which is set from outside"
            )

    # --- step by step -----------------------------------------------------------------------------------------------------
    def start(self, q: Any = None, v: Any = None, *, parameters: Mapping[str, Any] | None = None) -> State:
        """The initial state of a simulation.

        Args:
            q: coordinates (nq), those of the start by default; v: velocities (nv): those of the start if q is the start's too,
                else zero.
            parameters: values by name; of those that are not given, the mechanism's own.

        Raises:
            InputError: for another shape, or if a loop is open; for parameters that do not exist or are impossible.
        """
        with self._busy:
            self._stepper.begin(*self._starts.given(q, v, self.bounds))
            self.actuation.put_parameters(self._stepper.efforts[None], by_name("parameters", parameters))
            return self._seen()

    def step(
        self,
        state: State,
        count: int = 1,
        *,
        tau: Any = None,
        wrenches: Mapping[str, Any] | None = None,
        loop_tau: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> State:
        """The state `count` steps later.

        Args:
            state: a state of this simulation.
            tau: efforts at the joints (nv) over these steps [N·m, N], where the simulation has no controller; zero by default.
            wrenches: [n; f] (6) by place over these steps, where the simulation was made with `wrenches={place: None}`.
            loop_tau: forces of drives in loops, likewise.
            inputs: values over these steps, by name; of those that are not given, the values that the simulation was made with.
            parameters: values from these steps on, by name; those that are not given stay as they are in the state.

        Raises:
            InputError: for a negative count; for inputs or parameters that do not exist, of wrong shapes, or impossible.
            DivergenceError: if the motion diverges.
        """
        stepper = self._stepper
        with self._busy:
            if state is stepper.reached:
                stepper.rest()
            else:
                stepper.load(state.carried)
            stepper.reached = None
            given = (by_name("wrenches", wrenches), by_name("loop_tau", loop_tau), by_name("inputs", inputs))
            self.actuation.put(stepper.efforts, tau, *given)
            if parameters is not None:
                self.actuation.put_parameters(stepper.efforts[None], by_name("parameters", parameters))
            try:
                stepper.advance(count, self._hold or 1)
            except FloatingPointError as error:
                raise DivergenceError(str(error)) from None
            after = self._seen()
            if not after.v.dot(after.v) < FAST * FAST:  # else none is fast
                self._check_speed(state, after, count)
            stepper.reached = after
        return after

    def _check_speed(self, state: State, after: State, count: int) -> None:
        """Raises a `DivergenceError` if velocities after `count` steps are beyond all bounds, or come from nothing."""
        fastest = np.abs(after.v).max(initial=0.0)
        if not fastest < RUNAWAY:
            touching = self.interaction.touching(state.q)
            motion = (self.mechanism, after.time, state.q[None], np.array([state.v, after.v]))
            raise DivergenceError(divergence(*motion, self.integrator, self.step_size, touching))
        if fastest > FAST and leaps(state.v, after.v):
            q, v, work = (np.array([getattr(one, name) for one in (state, after)]) for name in ("q", "v", "work"))
            u = self._stepper.efforts.copy()
            if gain := self.gain(q, v, work, u, self._stepper.gained(state.time, count, state.q, state.v, u)):
                raise DivergenceError(runaway(self.mechanism, state.time, gain, q[:1], v[0], self.integrator, self.step_size))

    def gain(self, q: np.ndarray, v: np.ndarray, work: np.ndarray, u: np.ndarray, added: float = 0.0) -> GainingStep | None:
        """The step at which states (n, nq), (n, nv) with the work done until then (n) [J] run away; None if they do not.

        `u`: the efforts, with parameters; `added`: what contact has added by itself in the first step [J].
        """
        kinetic, potential, *_ = self._stepper.compiled.observed(q, v, np.tile(u, (len(q), 1)))
        mass = float(self.mechanism.tree.mass)
        return Exchange().follow(kinetic, potential, work, mass, lambda step: 0.0 if step else added)

    def explain_contact(self) -> ContactPlan:
        """Which bodies may touch, how their contact is computed and why, and what that costs, before anything is compiled.

        Raises:
            InputError: without contact.

        >>> from kumitate import Body, Geometry, Joint, Mechanism, Simulation, Sphere
        >>> ball = Body("ball", 1.0, inertia=(0.004, 0.004, 0.004), collisions=(Geometry(Sphere(0.1)),))
        >>> thrown = Mechanism("thrown", (ball,), (Joint("free", "floating", "world", "ball"),))
        >>> print(Simulation(thrown, contact="rigid").explain_contact().pairs[0].material)
        friction 0.5
        """
        plan = self.interaction.plan()
        if plan is None:
            raise InputError(f"{self.mechanism.name}: nothing can touch; give contact='rigid', or a kumitate.Contact")
        return plan

    def save(self, state: State, path: str | Path) -> Path:
        """Writes a state to an .npz file, from which `restore` reads it back exactly.

        Raises:
            InputError: for another suffix, or if the file cannot be written.
        """
        from ..records.archive import write_carried  # with the formats of files

        return write_carried(state.carried, repr(self), path)

    def restore(self, path: str | Path) -> State:
        """The state that `save` wrote.

        Raises:
            InputError: if the file is missing, damaged, or of another simulation.
        """
        from ..records.archive import read_carried

        with self._busy:
            self._stepper.load(read_carried(self._stepper.carried(), repr(self), path))
            return self._seen()

    @cached_property
    def _stepper(self) -> Stepper:
        return self.compiled.stepper(self.actuation, self.step_size, *self._starts.default)

    def _begun(self, q: np.ndarray, v: np.ndarray, step: float) -> Stepper:
        """A stepper from a state for one run: that of the run before, if it made steps of this length and is over."""
        stepper = self._idle.pop(step, None)
        if stepper is None:
            return self.compiled.stepper(self.actuation, step, q, v)
        stepper.begin(q, v)
        return stepper

    def _seen(self) -> State:
        stepper = self._stepper
        seen, carried, shown = stepper.look(), stepper.carried(), self.actuation.parameters(stepper.efforts)
        outputs = {name: seen[name] for name in self._outputs}
        return State(stepper.time, seen["q"], seen["v"], float(seen["work"]), outputs, carried, shown, self.mechanism)

    @cached_property
    def _outputs(self) -> list[str]:
        """The names of what is recorded of a state beside its motion."""
        return [array.name for array in self.compiled.seen if array.name not in (*STATE, "states")]

    @overload
    def batch(
        self, q: Any, v: Any = ..., *, parameters: Mapping[str, Any] | None = ..., target: Literal["cpu"] = ...
    ) -> Batch: ...

    @overload
    def batch(
        self, q: Any, v: Any = ..., *, parameters: Mapping[str, Any] | None = ..., target: Literal["cuda"], dtype: Any = ...
    ) -> DeviceBatch: ...

    def batch(
        self,
        q: Any,
        v: Any = None,
        *,
        parameters: Mapping[str, Any] | None = None,
        target: str = "cpu",
        dtype: Any = np.float32,
    ) -> Batch | DeviceBatch:
        """A batch of many states.

        Args:
            q: initial coordinates (N, nq), or the number N of states that begin at the start; v: velocities (N, nv), zero
                unless given.
            parameters: values by name, as of `Batch.set`.
            target: "cpu", or "cuda" for states that stay on an NVIDIA GPU; dtype: in which it computes; "cpu" takes float64.

        Raises:
            InputError: for wrong shapes or values, or if the step cannot be made without Python.
        """
        if isinstance(q, int | np.integer):
            start = self.starts(None, v, int(q))
        else:
            rows = checked_rows(self.mechanism, "q", q, self.mechanism.nq)
            start = self.starts(rows, v, len(rows))
        if target == "cuda":
            from .device_batch import DeviceBatch

            return DeviceBatch(self.side_by_side, *start, by_name("parameters", parameters), dtype)
        if target != "cpu":
            raise InputError(f"there is no target {target!r}; there are cpu, cuda")
        return Batch(self.side_by_side, *start, by_name("parameters", parameters))

    def touching(self, state: State) -> Touched | None:
        """The contact of the step that begins at a state; None without contact of bodies."""
        with self._busy:
            self._stepper.load(state.carried)
            q, v, u = (state.carried[name][None] for name in ("q", "v", "u"))
            return self._stepper.touched(q, v, self.compiled.efforts_along(np.array([state.time]), q, v, u))

    def run(
        self,
        q: Any = None,
        v: Any = None,
        *,
        duration: float,
        every: int | None = None,
        until: Until | None = None,
        progress: Callable[[float], None] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Record:
        """Simulates from an initial state.

        Args:
            q: initial coordinates (nq), those of the start by default; v: initial velocities (nv): those of the start if q is
                the start's too, else zero.
            duration: [s]; if it is not a multiple of the step, all steps of the run are equally shorter, and so are the times
                for which sampled efforts are held.
            every, until, progress: as of `Experiment`.
            parameters: values over the run, by name; of those that are not given, the mechanism's own. The result's
                mechanism is one made with these values.

        Raises:
            InputError: if an argument has a wrong shape or value.
            DivergenceError: if the motion diverges, or contact has no usable solution; it carries the result up to there. So
                does, as its attribute `result`, any exception that ends a run early: Ctrl-C, or an error in a controller.
        """
        begin = clock.perf_counter()
        step, count, every = run_times(self.mechanism.name, duration, self.step_size, every)
        check_memory(self.mechanism, count // every + 1)
        q0, v0 = self._starts.given(q, v, self.bounds)
        self.interaction.warn()
        stepper = self._begun(q0, v0, step)
        self.actuation.put_parameters(stepper.efforts[None], by_name("parameters", parameters))
        times = np.arange(0, count + 1, every) * step
        rows = Rows.of(stepper, times, every)
        failure, interruption = "", None
        try:
            failure = fill(stepper, rows, self._hold or 1, self.interaction, progress, until)
        except BaseException as error:  # Ctrl-C, or an error in a controller: what was computed is kept
            if rows.reached == 0:
                raise
            interruption = error
        rows.cut()

        def finished() -> Record:
            result = self._result(rows, stepper, duration)
            return replace(result, audit=replace(result.audit, wall_time=clock.perf_counter() - begin))

        try:
            result = finished()
        except KeyboardInterrupt as error:  # a second Ctrl-C interrupts the evaluation too
            interruption, result = error, finished()
        if interruption is not None:
            keep_result(interruption, result)
            raise interruption
        if progress is not None:
            progress(1.0)
        if failure:
            raise DivergenceError(f"{failure} {kept_up_to(result.time[-1])}", result)
        MADE_BY[result] = self
        stepper.rest()
        self._idle.clear()
        self._idle[step] = stepper
        return result

    def result(self, time: np.ndarray, seen: Mapping[str, np.ndarray], efforts: np.ndarray, every: int) -> Record:
        """The result of one row of a batch.

        Args:
            time: (n) [s], of the records, from the start on.
            seen: what `Batch.record` gave of the row at these times, by name, (n, ...).
            efforts: the constants that acted, (size of u), with `tau` first.
            every: steps from one record to the next.
        """
        stepper = self.compiled.stepper(self.actuation, self.step_size, seen["q"][0], seen["v"][0])
        stepper.steps = every * (len(time) - 1)
        outputs = {name: array for name, array in seen.items() if name not in STATE}
        u = np.tile(efforts, (len(time), 1))
        rows = Rows(time, **{name: seen[name] for name in STATE}, u=u, outputs=outputs, every=every, reached=len(time) - 1)
        return self._result(rows, stepper, float(time[-1]))

    def _result(self, rows: Rows, stepper: Stepper, duration: float) -> Record:
        """The result of a recorded motion, of the mechanism that its parameters make."""
        step, settings = stepper.step, {"duration": duration, **self.settings, "step": stepper.step}
        settings["sample_time"] = fitted_sample_time(settings["sample_time"], self.step_size, step)
        notes = [*self.notes, *step_notes(self.step_size, step, self._hold)]
        return result_of(rows, stepper, self.interaction, self._loops, self.bounds, settings, notes)

    def starts(self, q: Any, v: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
        """`count` initial states with their loops closed, as `Starts.many`."""
        return self._starts.many(q, v, count, lambda q, v: self.compiled.closed(q, v))
