"""`Simulation`: a robot with its controller, wrenches and contact, compiled once and stepped; loaded on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from .errors import InputError
from .model import Mechanism
from .options import takes_options_of
from .outputs import named_outputs
from .robot import Robot, as_robot
from .run import Run, as_run, runs_in_errors
from .simulate import simulation
from .simulate.bar import bar
from .simulate.batch import Batch
from .simulate.checks import by_name
from .simulate.setup import Experiment, Setup, options_of
from .simulate.stepping.advance import State

if TYPE_CHECKING:
    from .live import LiveView
    from .slopes import SlopedStep, StepSlopes
    from .slopes.step import RolloutTape


@runtime_checkable
class OfWorld(Protocol):
    """What is a `World`, which this module does not load."""

    @property
    def robot(self) -> Robot:
        """All of it as one robot."""

    def simulation_options(self, **options: Any) -> dict[str, Any]:
        """The options of a simulation of it, with others."""


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

    @takes_options_of(cast(Any, Setup))
    def __init__(self, robot: Robot | Mechanism | Setup | OfWorld, *, start: tuple[Any, Any] | None = None, **options: Any):
        """A simulation of a robot from its `start`; nothing is compiled before it is needed.

        Args:
            robot: to simulate; or a `World`; or a `Setup`, which has all options.
            start: the state (q, v) that runs begin at unless told otherwise; that of the robot by default.
            options: as of `kumitate.simulate`.

        Raises:
            InputError: if an option has a wrong name, shape or value, or excludes another.
        """
        if isinstance(world := cast(Any, robot), OfWorld):
            robot, options = world.robot, world.simulation_options(**options)
        if isinstance(robot, Setup):
            setup, self.robot = robot, Robot(robot.mechanism, start=(robot.q, robot.v))
        else:
            self.robot = as_robot(robot)
            options_of(Setup, self.robot.name, options)
            setup = Setup(self.robot.mechanism, *(self.robot.start if start is None else start), **options)
        super().__init__(replace(setup, outputs=named_outputs(setup.outputs)))
        if self.mechanism is not setup.mechanism:  # a loop joint that follows a motion has a coordinate
            self.robot = Robot(self.mechanism, start=self._starts.default)
        self._settle()

    def __reduce__(self) -> tuple[Any, ...]:
        """What it was made of: a copy finds its programs among those that are compiled. Functions must have copies, too."""
        return type(self), (self.setup,)

    @takes_options_of(simulation.MechanismSimulation.run, Experiment)
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

    def view(
        self, *, host: str = "127.0.0.1", port: int = 8080, dark: bool = False, reload: Callable[[], Simulation] | None = None
    ) -> LiveView:
        """Plays this simulation live in a browser page, which notebooks display; it runs until `close`.

        The page has play, step, reset and slow motion, a past to go back to and to plot, sliders of joints that keep loops
        closed, of the targets of drives, inputs and parameters, and forces of contact; a body that is dragged with the mouse
        follows by a damped spring. Needs the extra live.

        Args:
            host: the address to listen at, this computer alone by default; "0.0.0.0" opens the page to the network.
            port: to listen at, or the next free one.
            dark: whether the page is dark.
            reload: makes the simulation again, by a button of the page, such as from files that have changed.

        Raises:
            InputError: if viser is not installed, or the steps cannot be made one by one.

        >>> from kumitate import load
        >>> view = Simulation(load("pendulum")).view(port=8092)
        >>> view.player.play()
        >>> view.close()
        """
        from .live import LiveView

        again = None if reload is None else lambda: reload()._with_pulls()
        return LiveView(self._with_pulls(), host=host, port=port, dark=dark, reload=again)

    def _with_pulls(self) -> Simulation:
        """The same simulation with a wrench as an input on every body that has none."""
        bodies = {joint.child: None for joint in self.mechanism.joints if joint.kind.nv > 0}
        return Simulation(replace(self.setup, wrenches={**bodies, **(self.setup.wrenches or {})}))

    def page(
        self,
        path: str | Path,
        *,
        sliders: Sequence[str] | Mapping[str, tuple[float, float]] | None = None,
        pull: str | Sequence[str] | None = "all",
        title: str = "",
    ) -> Path:
        """Writes one self-contained HTML page that is the simulator: the step as WebAssembly, without a network or a server.

        Bodies are dragged by a spring; sliders act at once; the last minute can be gone back to, plotted and saved as a table.
        The page can check that its steps have the same bits as native code.

        Args:
            sliders: what can be set: inputs, "target" for the targets of drives, gains ("kp"), and parameters such as
                "gravity", "mass:hand" or "friction:floor"; or their ends by name, (low, high). By default all inputs and gains,
                gravity, and the friction of the floor.
            pull: the bodies that can be dragged: "all", names, or None.
            title: of the page; the mechanism's name if empty.

        Raises:
            InputError: for functions that cannot be compiled, adaptive steps and scenes of more than 100 bodies, which pages
                cannot play, with what to do; for sliders and bodies that there are not; if the file cannot be written.

        >>> from tempfile import mkdtemp
        >>> from kumitate import load
        >>> path = Simulation(load("pendulum")).page(f"{mkdtemp()}/pendulum.html", sliders=["gravity"])
        >>> path.name
        'pendulum.html'
        """
        from .live.playable import live_scene
        from .view.page import write_page

        return write_page(path, live_scene(self, sliders, pull, title=title))

    def fmu(
        self, path: str | Path, *, version: str = "2.0", platforms: Sequence[str] | str | None = None, page: bool = True
    ) -> Path:
        """Writes the simulation as a unit of FMI (.fmu), which Simulink, Dymola, OpenModelica and others simulate.

        In co-simulation it makes the steps of this simulation, with its contact, stops and drives; every processor gives the
        same bits. In model exchange, where velocities never jump, the tool integrates the derivatives at the closed state next
        to its own. Efforts, wrenches, targets and inputs that no function gives are inputs; coordinates, velocities and the
        outputs of the simulation are outputs; its parameters can be changed while it runs.

        Args:
            version: of FMI, "2.0" or "3.0".
            platforms: for which there are binaries, "x86_64-linux", "aarch64-linux", "x86_64-windows", "x86_64-darwin",
                "aarch64-darwin" or "all", by the extra fmu; by default this one, by the C compiler that is found.
            page: whether a page inside is the simulator.

        Raises:
            InputError: for functions that cannot be compiled, adaptive steps, scenes of many bodies and parameters that the
                model does not depend on linearly, with what to do; for another suffix, version or platform.

        >>> from tempfile import mkdtemp
        >>> from kumitate import load
        >>> sim = Simulation(load("pendulum"), outputs=["energy"])
        >>> sim.fmu(f"{mkdtemp()}/pendulum.fmu", page=False).name
        'pendulum.fmu'
        """
        from .export import write_fmu

        return write_fmu(self, path, version=version, platforms=platforms, page=page)

    def _repr_html_(self) -> str:
        """What notebooks display: a page that simulates, in a frame; or why it cannot."""
        from .live.playable import live_scene
        from .share.notebook import live_html
        from .view.page import page_text

        return live_html(repr(self), lambda: page_text(live_scene(self)))

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
        begun, u = state.carried, state.carried["u"].copy()
        given = (by_name("wrenches", wrenches), by_name("loop_tau", loop_tau), by_name("inputs", inputs))
        self.actuation.put(u, tau, *given)
        if len(u) != (expected := self.side_by_side.actuation.forcing.layout.size):
            raise InputError(
                f"{self.mechanism.name}: springs of contact overlap at the start, which {expected - len(u)} numbers of their "
                "state say in steps that are differentiated. Make the simulation with side_by_side=True"
            )
        return self._sloped(begun["number"] * self.step_size, begun["q"], begun["v"], u)

    def rollout(self, start: Batch, efforts: Mapping[str, Any] | None = None, *, steps: int, every: int = 1) -> RolloutTape:
        """The motion of a batch over some steps, with efforts of their own in each; `RolloutTape.back` gives gradients.

        Args:
            start: the batch at whose states it begins; it is not changed.
            efforts: by name, (N, steps, size) or (steps, size): "tau", wrenches by place, drives of loops, inputs; of others,
                those of the batch.
            steps: their number; every: steps from one recorded state to the next. Others are computed again on the way back.

        Raises:
            InputError: for steps that cannot be differentiated; for an unknown name or a wrong shape.

        >>> import numpy as np
        >>> from kumitate import load
        >>> sim = Simulation(load("pendulum"), integrator="semi_implicit_euler")
        >>> motion = sim.rollout(sim.batch(5), {"tau": 0.1 * np.ones((40, 1))}, steps=40, every=10)
        >>> gradient = motion.back(by_q=np.ones((5, 5, 1)))
        >>> motion.q.shape, gradient.efforts["tau"].shape
        ((5, 5, 1), (5, 40, 1))
        """
        from .slopes.step import RolloutTape

        return RolloutTape(self.side_by_side, self._sloped, start, efforts or {}, steps, every)

    @cached_property
    def _sloped(self) -> SlopedStep:
        from .slopes import SlopedStep

        return SlopedStep(self.side_by_side)

    def result(self, time: Any, seen: Mapping[str, Any], efforts: Any, every: int) -> Run:
        """The run of one row of a batch; arguments as of `kumitate.simulate.simulation.MechanismSimulation.result`."""
        return as_run(super().result(time, seen, efforts, every))
