"""`Run`: a simulated motion with its pictures; how it is made, and read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import analysis
from .errors import InputError
from .model import Mechanism
from .model.values import POSITIVE, checked_number, checked_whole
from .programs import PROGRAMS, make_program
from .robot import Robot
from .simulate import archive, run, simulation
from .simulate.checks import checked_state
from .simulate.outputs import STATE, Output, function_output, signal_output, trial
from .simulate.reading import SIGNALS, checked_inputs
from .simulate.result import Result

if TYPE_CHECKING:
    from .simulate.many import Runs

__all__ = ["Run", "Simulation", "linearize", "open_run", "simulate", "simulate_batch"]


class Run(Result):
    """A simulated motion with its pictures."""

    @cached_property
    def robot(self) -> Robot:
        """The mechanism that moved, with its functions."""
        return Robot(self.mechanism)

    def poses(self, samples: Any = slice(None)) -> np.ndarray:
        """The poses (m, number of bodies, 4, 4) of all bodies in the world at some of the times."""
        return self.robot.compile("poses")(self.q[samples])

    def joint_wrenches(self, **options: Any) -> dict[str, np.ndarray]:
        """The force [n; f] (n, 6) at every joint and loop joint along the run; options as of `Robot.joint_wrenches`.

        Contact forces of the run are in them, as `kumitate.simulate.contact_loads` says.

        Raises:
            InputError: if wrenches or drives of loops acted that are not given again: a run keeps their names only.
        """
        for option in ("wrenches", "loop_tau"):
            missing = set(self.settings.get(option) or ()) - set(options.get(option) or ())
            if missing:
                raise InputError(
                    f"{self.mechanism.name}: {option} of {', '.join(sorted(missing))} acted in this run; give them again, "
                    f"{option}={{name: (n, …) array}}, as the run does not keep their values"
                )
        if self.contact is None:
            return self.robot.joint_wrenches(self.q, self.v, self.tau, **options)
        from .simulate.contact_loads import contact_loads

        tau, wrenches = contact_loads(self, options.pop("wrenches", None))
        return self.robot.joint_wrenches(self.q, self.v, tau, wrenches=wrenches, **options)

    def save(self, path: str | Path) -> Path:
        """Writes the run to a file: HDF5 (.h5) or NumPy (.npz)."""
        return archive.save(self, path)

    def plot(self, path: str | Path, panels: Sequence[str] | None = None, *, degrees: bool = True) -> Path:
        """Draws the run over time as PDF, EPS, PNG or SVG, by the suffix; `panels` as of `kumitate.view.figures.plot`."""
        from .view import figures

        return figures.plot(self, path, panels, degrees=degrees)

    def snapshots(self, path: str | Path, *, count: int = 8) -> Path:
        """Draws the mechanism at `count` times, as one picture."""
        from .view import snapshots

        count = checked_whole(self.mechanism.name, "count", count, 1, remedy="Give a number of pictures", error=InputError)
        # more poses than pictures: the common window and the plane of the motion are found from all of them
        samples = np.unique(np.linspace(0, len(self) - 1, 10 * (count - 1) + 1).round().astype(int))
        return snapshots.snapshots(self, self.poses(samples), self.time[samples], path, count=count)

    def plot_balance(self, path: str | Path, contacts: Any = None, **options: Any) -> Path:
        """Draws zero-moment point and mass centre, with the support polygon of `contacts` (k, 2 or 3) and the margin inside it.

        Options as of `kumitate.view.balance.plot_balance`.
        """
        from .view import balance

        return balance.plot_balance(self, path, contacts, **options)

    def plot_momentum(self, path: str | Path) -> Path:
        """Draws the momenta about the mass centre, and their rates."""
        from .view import balance

        return balance.plot_momentum(self, path)

    def plot_power(self, path: str | Path, **options: Any) -> Path:
        """Draws what drives, gravity, damping, springs and wrenches put in; options as of `view.balance.plot_power`."""
        from .view import balance

        return balance.plot_power(self, path, **options)

    def animate(self, path: str | Path, *, fps: int = 25, progress: Callable[[float], None] | None = None) -> Path:
        """Draws an animated GIF in real time; needs no display."""
        from .view import animate

        samples = self._frames(fps)
        return animate.animate(self, self.poses(samples), self.time[samples], path, fps=fps, progress=progress)

    def page(self, path: str | Path, *, fps: int = 50, title: str = "") -> Path:
        """Writes one self-contained HTML page: 3D playback and plots on one timeline, without a network."""
        from .view import page
        from .view.playback import playback

        samples = self._frames(fps)
        return page.write_page(path, playback(self, samples, self.poses(samples), title=title))

    def _frames(self, fps: float) -> np.ndarray:
        """Which samples to show, at a constant rate; of short runs 150, if there are as many."""
        fps = checked_number(self.mechanism.name, "fps", fps, POSITIVE, error=InputError)
        if len(self) < 2:
            return np.arange(len(self))
        wanted = np.linspace(self.time[0], self.time[-1], max(150, round((self.time[-1] - self.time[0]) * fps) + 1))
        return np.unique(np.clip(np.searchsorted(self.time, wanted - 1e-9), 0, len(self) - 1))


class Simulation(simulation.Simulation):
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

    def __init__(self, robot: Robot | Mechanism, *, outputs: Sequence[str] | Mapping[str, Any] = (), **options: Any):
        """A simulation of a robot from its `start`.

        Args:
            robot: to simulate.
            outputs: what is computed of every state besides: names of functions of `Robot` that need no more than q, v,
                accelerations and efforts, such as "energy", "center_of_mass", "pose:hand" or "velocity:hand"; "a", "tau"; or a
                dictionary by names of your own, of such names or of functions of (t, q, v) that can be compiled. Further
                parameters of a function are the signals "a" and "tau", inputs, or outputs before it, by their names.
            options: as of `kumitate.simulate`.
        """
        self.robot = robot = Robot(robot) if isinstance(robot, Mechanism) else robot
        named = outputs if isinstance(outputs, Mapping) else {name: name for name in outputs}
        start = options.pop("start", robot.start)
        inputs = checked_inputs(robot.name, options.pop("inputs", None))
        found: list[Output] = []
        for name, what in named.items():
            found.append(_output(robot.mechanism, name, what, start, inputs, found))
        super().__init__(robot.mechanism, start=start, outputs=found, inputs=inputs, **options)

    def run(self, q: Any = None, v: Any = None, **options: Any) -> Run:
        """Simulates from a state, or from the start; options as of `kumitate.simulate.simulation.Simulation.run`."""
        with _runs_in_errors():
            return _as_run(super().run(q, v, **options))


def _output(
    mechanism: Mechanism,
    name: str,
    what: Any,
    start: tuple[Any, Any],
    inputs: Mapping[str, np.ndarray],
    before: Sequence[Output],
) -> Output:
    """The output of a name of a function of `Robot`, of a signal, or of a function."""
    if name in inputs or (name in STATE and what != name):
        taken = "an input" if name in inputs else "what every state records"
        raise InputError(f"{mechanism.name}: an output is called {name!r}, the name of {taken}. Take another")
    if callable(what):
        q, v = (np.asarray(part, dtype=float) for part in start)
        return function_output(mechanism, name, what, [trial(mechanism, t, q, v, inputs) for t in (0.0, 0.7)], before)
    if what in SIGNALS:
        return signal_output(mechanism, what, name)
    function, _, place = str(what).partition(":")
    known = [key for key in PROGRAMS if key not in _NEED_MORE]
    if function not in known:
        close = get_close_matches(function, [*known, *SIGNALS], 1)
        raise InputError(
            f"{mechanism.name}: there is no output {what!r}{f', did you mean {close[0]!r}?' if close else ''}; there are "
            f"{', '.join(SIGNALS)}, {', '.join(known)}"
        )
    options = {"place": place} if place else {}
    if bool(place) != (function in _AT_PLACES):
        wants = f"the name of a body or frame, {function}:NAME" if not place else "no name"
        raise InputError(f"{mechanism.name}: the output {what!r} needs {wants}")
    if place and place not in mechanism.tree.places:
        close = get_close_matches(place, list(mechanism.tree.places), 1)
        raise InputError(
            f"{mechanism.name}: the output {what!r} is of {place!r}, which is not a body or frame"
            f"{f'; did you mean {close[0]!r}?' if close else ''}"
        )
    return Output(name, (function, place), lambda: make_program(mechanism, function, **options))


#: Functions of a place, and those that outputs cannot be: they need more than a state and what acts.
_AT_PLACES = ("pose", "velocity", "jacobian", "jacobian_rate")
_NEED_MORE = ("forward_dynamics", "inverse_dynamics", "reach", "integrate", "difference")


@contextmanager
def _runs_in_errors() -> Iterator[None]:
    """Results that errors carry become runs."""
    try:
        yield
    except BaseException as error:
        if isinstance(kept := getattr(error, "result", None), Result):
            error.result = _as_run(kept)  # type: ignore[attr-defined]
        raise


def simulate(robot: Robot | Mechanism, q: Any = None, v: Any = None, **options: Any) -> Run:
    """Simulates a robot from the state (q, v), or from its `start`; options as of `kumitate.simulate.run.simulate`.

    >>> from kumitate import load
    >>> run = simulate(load("pendulum"), duration=0.1)
    >>> run.audit.energy_drift < 1e-9
    True
    """
    if isinstance(robot, Mechanism):
        robot = Robot(robot)
    q, v = (robot.start[k] if part is None else part for k, part in enumerate((q, v)))
    with _runs_in_errors():
        return _as_run(run.simulate(robot.mechanism, q, v, **options))


def simulate_batch(robot: Robot | Mechanism, q: Any, v: Any = None, **options: Any) -> Runs:
    """Simulates N runs side by side; options as of `kumitate.simulate.many.simulate_batch`.

    Args:
        robot: to simulate; q: initial coordinates (N, nq); v: initial velocities (N, nv), at rest by default.
    """
    from .simulate import many

    return many.simulate_batch(robot.mechanism if isinstance(robot, Robot) else robot, q, v, **options)


def linearize(
    robot: Robot | Mechanism, q: Any = None, v: Any = None, tau: Any = None, **options: Any
) -> analysis.Linearization:
    """The equations of motion near a state, ẋ = A x + B u, with their modes; options as of `kumitate.analysis.linearize`.

    Args:
        robot: to look at; q: coordinates (nq), those of its `start` by default; v: velocities (nv), at rest by default.
        tau: constant forces of the drives (nv), none by default; a `controller` comes on top.

    >>> from kumitate import load
    >>> linear = linearize(load("pendulum"), [0.0], controller=lambda t, q, v: -0.4 * v)
    >>> [round(mode.frequency, 6) for mode in linear.modes], linear.stable
    ([3.132092], True)
    """
    if isinstance(robot, Mechanism):
        robot = Robot(robot)
    q = checked_state(robot.mechanism, "q", robot.nq, robot.start[0] if q is None else q)
    return analysis.linearize(analysis.LoopEquations(robot.mechanism), q, v, tau, **options)


def open_run(path: str | Path) -> Run:
    """A run from its file, without simulating it again.

    Raises:
        InputError: if the file is missing, broken, or of a later version.
    """
    return _as_run(archive.load(path))


def _as_run(result: Result) -> Run:
    return Run(**{field.name: getattr(result, field.name) for field in fields(Result)})
