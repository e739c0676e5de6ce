"""`Simulation`: a robot with its controller, wrenches and contact, compiled once and stepped; loaded on first use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .errors import InputError, did_you_mean
from .model import Mechanism, Sensor
from .options import takes_options_of
from .programs import PROGRAMS, make_program
from .robot import Robot, as_robot
from .run import Run, as_run, runs_in_errors
from .scalar import Program, trace
from .simulate import run as single
from .simulate import simulation
from .simulate.bar import bar
from .simulate.batch import Batch
from .simulate.checks import by_name
from .simulate.interactions import Interaction
from .simulate.parameters import Variation
from .simulate.prescribed.loops import with_followed_loops
from .simulate.stepping.commands import COMMANDS
from .simulate.stepping.equations import row_of
from .simulate.stepping.outputs import STATE, Output, function_output, signal_output, trial
from .simulate.stepping.reading import SIGNALS, checked_inputs
from .simulate.stepping.state import State

if TYPE_CHECKING:
    from .live import LiveView
    from .simulate.slopes import SlopedStep, StepSlopes
    from .simulate.slopes.step import RolloutTape

__all__ = ["Simulation", "checked_output"]

#: Functions of a body or frame, and those that cannot be outputs: they need more than a state and the forces that act.
_AT_PLACES = ("pose", "velocity", "jacobian", "jacobian_rate")
#: What sensors read of a mechanism beside its geometry, by the names of parameters.
_MASSES = frozenset(("mass", "center_of_mass"))
_READ_BY = {
    **dict.fromkeys(("subtree_center", "subtree_velocity"), _MASSES),
    **dict.fromkeys(("accelerometer", "proper_acceleration"), frozenset(("gravity",))),
    **dict.fromkeys(("force", "torque", "subtree_angular_momentum"), _MASSES | {"moment", "inertia", "gravity"}),
}
_NEED_MORE = ("forward_dynamics", "inverse_dynamics", "reach", "integrate", "difference")


class Simulation(simulation.MechanismSimulation):
    """A robot, what drives it and what surrounds it, compiled once: run, stepped, or many of them side by side.

    >>> from kumitate import load
    >>> sim = Simulation(load("pendulum"), integrator="rk4", outputs=["pose:bob", "energy"])
    >>> state = sim.start()
    >>> for _ in range(100):
    ...     state = sim.step(state, tau=[0.1])
    >>> round(state.time, 6), state.outputs["pose:bob"].shape
    (0.1, (4, 4))
    >>> batch = sim.batch(1000)
    >>> batch.tau[:] = 0.1
    >>> batch.step(100)
    >>> bool(abs(batch.q[7] - state.q).max() < 1e-12)
    True
    """

    @takes_options_of(cast(Any, simulation.MechanismSimulation.__init__), single.simulate)
    def __init__(self, robot: Robot | Mechanism, *, outputs: Sequence[str] | Mapping[str, Any] = (), **options: Any):
        """A simulation of a robot from its `start`.

        Args:
            robot: to simulate.
            outputs: further quantities computed of every state: names of functions of `Robot` that need only q, v,
                accelerations and efforts, such as "energy", "center_of_mass", "pose:hand" or "velocity:hand"; "a", "tau"; or a
                dictionary by names of your own, of such names or of functions of (t, q, v) that can be compiled. Further
                parameters of a function are the signals "a" and "tau", inputs, or outputs before it, by their names.
            options: as of `kumitate.simulate`.

        Raises:
            InputError: if an argument has a wrong name, shape or value.
        """
        self.robot = robot = as_robot(robot)
        _check_options(robot.name, options)
        outputs = (outputs,) if isinstance(outputs, str) else outputs
        self._given = (robot, {"outputs": outputs, **options})
        named = outputs if isinstance(outputs, Mapping) else {name: name for name in outputs}
        _check_forces(robot.name, named, options)
        given = options.pop("start", None)
        mechanism, start = with_followed_loops(robot.mechanism, options.get("motions"), robot.start if given is None else given)
        self.robot = robot = robot if mechanism is robot.mechanism else Robot(mechanism, start=start)
        inputs, driven = by_name("inputs", options.pop("inputs", None)), robot.mechanism.driven
        known = checked_inputs(
            robot.name, {name: values for name, values in inputs.items() if not driven or name not in COMMANDS}
        )
        known |= {name: np.zeros(len(driven)) for name in COMMANDS if driven}
        found: list[Output] = []
        for name, what in named.items():
            found.append(_output(robot.mechanism, name, what, start, known, found))
        super().__init__(robot.mechanism, start=start, outputs=found, inputs=inputs, **options)
        if self.parameters is not None:  # outputs are computed of each row's own numbers
            found = []
            for name, what in named.items():
                found.append(_output(robot.mechanism, name, what, start, known, found, self.parameters))
        self.outputs = tuple(_felt(self.mechanism, output, named, self.interaction) for output in found)
        self._settle()

    def __reduce__(self) -> tuple[Any, ...]:
        """What it was made of: a copy finds its programs among those that are compiled. Functions must have copies, too."""
        return _simulation_of, (type(self), *self._given)

    @takes_options_of(simulation.MechanismSimulation.run)
    def run(self, q: Any = None, v: Any = None, **options: Any) -> Run:
        """Simulates from a state, or from the start.

        Args:
            q: initial coordinates (nq), those of the start by default; v: initial velocities (nv): those of the start if q is
                the start's too, else zero.
            options: as of `kumitate.simulate.simulation.MechanismSimulation.run`.

        Raises:
            InputError, DivergenceError: as of `kumitate.simulate`.
        """
        with runs_in_errors(), bar(f"simulating {self.mechanism.name}", options.pop("progress", None)) as progress:
            return as_run(super().run(q, v, progress=progress, **options))

    def view(self, *, host: str = "127.0.0.1", port: int = 8080, dark: bool = False) -> LiveView:
        """Plays this simulation live in a browser page, which notebooks display; it runs until `close`.

        The page has joint sliders that keep loops closed, play, pause, step, reset, forces of contact and energies; a body
        that is dragged with the mouse follows by a damped spring. Needs the extra live.

        Args:
            host: the address to listen at, this computer alone by default; "0.0.0.0" opens the page to the network.
            port: to listen at, or the next free one.
            dark: whether the page is dark.

        Raises:
            InputError: if viser is not installed, or the steps cannot be made one by one.

        >>> from kumitate import load
        >>> view = Simulation(load("pendulum")).view(port=8092)
        >>> view.player.play()
        >>> view.close()
        """
        from .live import LiveView

        return LiveView(self._with_pulls(), host=host, port=port, dark=dark)

    def _with_pulls(self) -> Simulation:
        """The same simulation with a wrench as an input on every body that has none."""
        robot, options = self._given
        given = by_name("wrenches", options.get("wrenches"))
        bodies = {joint.child: None for joint in self.mechanism.joints if joint.kind.nv > 0}
        return Simulation(robot, **{**options, "wrenches": {**bodies, **given}})

    def slopes(
        self,
        state: State | Batch,
        *,
        tau: Any = None,
        wrenches: Mapping[str, Any] | None = None,
        loop_tau: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> StepSlopes:
        """A step from a state, or from all states of a batch, and its derivatives: δx' = A δx + B δu.

        Args:
            state: of this simulation; a batch is not changed.
            tau, wrenches, loop_tau, inputs: over the step, as of `step`; a batch has its own.

        Raises:
            InputError: for steps that cannot be differentiated, with the reason; for inputs with a wrong name or shape.

        >>> from kumitate import load
        >>> sim = Simulation(load("pendulum"), integrator="semi_implicit_euler")
        >>> found = sim.slopes(sim.start(), tau=[0.1])
        >>> found.A.shape, found.by("tau").shape
        ((2, 2), (2, 1))
        """
        if isinstance(state, Batch):
            if any(given is not None for given in (tau, wrenches, loop_tau, inputs)):
                raise InputError(f"{self.mechanism.name}: a batch has efforts and inputs of its own; write to its arrays")
            return self._sloped(state.time, state.q, state.v, state.efforts)
        q, v, u = (state.carried[name].copy() for name in ("q", "v", "u"))
        given = (by_name("wrenches", wrenches), by_name("loop_tau", loop_tau), by_name("inputs", inputs))
        self.actuation.put(u, tau, *given)
        return self._sloped(state.carried["number"] * self.step_size, q, v, u)

    def rollout(self, start: Batch, efforts: Mapping[str, Any] | None = None, *, steps: int, every: int = 1) -> RolloutTape:
        """The motion of a batch over some steps, with efforts of their own in each; `RolloutTape.back` gives gradients.

        Args:
            start: the batch at whose states it begins; it is not changed.
            efforts: by name, (N, steps, size) or (steps, size): "tau", wrenches by place, drives of loops, inputs; of others,
                those of the batch.
            steps: their number; every: steps from one recorded state to the next. Others are computed again on the way back.

        Raises:
            InputError: for steps that cannot be differentiated; for an unknown name or a wrong shape.

        >>> from kumitate import load
        >>> sim = Simulation(load("pendulum"), integrator="semi_implicit_euler")
        >>> motion = sim.rollout(sim.batch(5), {"tau": 0.1 * np.ones((40, 1))}, steps=40, every=10)
        >>> gradient = motion.back(by_q=np.ones((5, 5, 1)))
        >>> motion.q.shape, gradient.efforts["tau"].shape
        ((5, 5, 1), (5, 40, 1))
        """
        from .simulate.slopes.step import RolloutTape

        return RolloutTape(self, self._sloped, start, efforts or {}, steps, every)

    @cached_property
    def _sloped(self) -> SlopedStep:
        from .simulate.slopes import SlopedStep

        return SlopedStep(self)

    def result(self, time: Any, seen: Mapping[str, Any], efforts: Any, every: int) -> Run:
        """The run of one row of a batch; arguments as of `kumitate.simulate.simulation.MechanismSimulation.result`."""
        return as_run(super().result(time, seen, efforts, every))


def _simulation_of(kind: type[Simulation], robot: Robot, options: dict[str, Any]) -> Simulation:
    """The simulation of a robot with these options."""
    return kind(robot, **options)


def checked_output(mechanism: Mechanism, name: Any) -> None:
    """Checks the name of an output.

    Raises:
        InputError: for an unknown name, with the closest known one.
    """
    _output(mechanism, str(name), str(name), ((), ()), {}, ())


def _output(
    mechanism: Mechanism,
    name: str,
    what: Any,
    start: tuple[Any, Any],
    inputs: Mapping[str, np.ndarray],
    before: Sequence[Output],
    parameters: Variation | None = None,
) -> Output:
    """The output of a name of a function of `Robot`, of a signal, or of a function."""
    if name in inputs or (name in STATE and what != name):
        taken = "an input" if name in inputs else "what every state records"
        raise InputError(f"{mechanism.name}: an output is called {name!r}, the name of {taken}. Take another")
    if callable(what):
        q, v = (np.asarray(part, dtype=float) for part in start)
        row = {} if parameters is None else {"parameters": parameters.blank}
        trials = [{**trial(mechanism, t, q, v, inputs), **row} for t in (0.0, 0.7)]
        return function_output(mechanism, name, what, trials, before)
    if isinstance(what, Sensor):
        return _sensor_output(mechanism, name, what, parameters)
    if what in SIGNALS:
        return signal_output(mechanism, what, name)
    function, _, place = str(what).partition(":")
    known = [key for key in PROGRAMS if key not in _NEED_MORE]
    if function not in known:
        raise InputError(
            f"{mechanism.name}: there is no output {what!r}{did_you_mean(function, [*known, *SIGNALS], lead=', ')}; there are "
            f"{', '.join(SIGNALS)}, {', '.join(known)}"
        )
    options = {"place": place} if place else {}
    if bool(place) != (function in _AT_PLACES):
        wants = f"the name of a body or frame, {function}:NAME" if not place else "no name"
        raise InputError(f"{mechanism.name}: the output {what!r} needs {wants}")
    if place and place not in mechanism.tree.places:
        raise InputError(
            f"{mechanism.name}: the output {what!r} is of {place!r}, which is not a body or frame"
            f"{did_you_mean(place, mechanism.tree.places, lead='; ')}"
        )
    if parameters is None:
        return Output(name, (function, place), lambda: make_program(mechanism, function, **options))
    return Output(name, (function, place), lambda: _varied_program(parameters, function, options))


def _check_options(name: str, options: Mapping[str, Any]) -> None:
    """Refuses options that there are not."""
    known = list(signature(simulation.MechanismSimulation).parameters)[1:]  # the first is the mechanism
    for option in options:
        if option not in known:
            raise InputError(
                f"{name}: a simulation has no option {option!r}{did_you_mean(option, known, lead='; ')}; there are "
                f"{', '.join(known)}"
            )


def _check_forces(name: str, outputs: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Refuses sensors of forces between bodies where other forces act on these, which are not among an output's signals."""
    acting = next((key for key in ("contact", "wrenches", "held") if options.get(key)), None)
    found = next((own for own, what in outputs.items() if isinstance(what, Sensor) and what.kind in ("force", "torque")), None)
    if acting and found is not None:
        raise InputError(
            f"{name}: the output {found!r} is of a force between bodies, which is the rest of all that act on them, and "
            f"{acting} acts too. Leave it out; results have the forces of contact, and efforts of the joints"
        )


def _sensor_output(
    mechanism: Mechanism, name: str, sensor: Sensor, parameters: Variation | None, points: Sequence[tuple[str, str]] = ()
) -> Output:
    """What a sensor measures."""
    from .programs.of_sensors import sensor_program  # loaded only where there is one

    kinds = {kind.name for kind, _ in parameters.columns} if parameters else set()
    varied = sorted(kinds & _READ_BY.get(sensor.kind, frozenset()))
    if varied:
        raise InputError(
            f"{mechanism.name}: the {sensor.kind} sensor {name!r} measures the mechanism as it was made, and depends on what "
            f"the parameters change: {', '.join(varied)}. Leave one of the two out"
        )
    program = sensor_program(mechanism, sensor, points)
    return Output(name, ("sensor", str(program)), lambda: program)


def _felt(mechanism: Mechanism, output: Output, named: Mapping[str, Any], around: Interaction) -> Output:
    """An output with the points of contact, if it is of a touch sensor, which feels nothing where nothing can touch.

    In a scene any bodies may touch, so that it is a sum over what pushes on the sensor's body.
    """
    sensor = named[output.name]
    if getattr(sensor, "kind", "") != "touch":
        return output
    if not around.of_many_bodies:
        return _sensor_output(mechanism, output.name, sensor, None, around.touching_bodies)
    body = next((frame.body for frame in mechanism.frames if frame.name == sensor.of), sensor.of)
    return _sensor_output(mechanism, output.name, sensor, None, [(body, "")])._replace(feels=body)


def _varied_program(parameters: Variation, function: str, options: dict[str, Any]) -> Program:
    """The program of a function of `Robot` that reads the parameters of a state, too."""
    mechanism = parameters.plant.mechanism
    _, inputs = PROGRAMS[function](mechanism, **options)

    def page(*given: Any) -> Any:
        *state, row = given
        return PROGRAMS[function](parameters.at(row).mechanism, **options)[0](*state)

    return trace(page, {**inputs, **row_of(parameters)}, f"{function}_{mechanism.name}")
