"""`Run`: a simulated motion with its figures, `Runs`: many with their page; the functions that simulate or read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import analysis
from .errors import InputError
from .model import Mechanism
from .model.things import ThingMotion, thing_named
from .model.values import POSITIVE, checked_number, checked_whole
from .options import takes_options_of
from .programs.catalogue import make_program
from .records.record import MADE_BY, Record, acted, check_line_laws
from .robot import Robot, as_robot
from .scalar.evaluate import evaluate_rows
from .share import RunWithRobot
from .simulate import run as runs_of_setups
from .simulate.bar import bar
from .simulate.checks import checked_state
from .simulate.setup import Experiment

if TYPE_CHECKING:
    from .simulate.simulation import MechanismSimulation

#: Of so many runs of a batch curves are drawn: more cannot be told apart.
_DRAWN = 12


class Run(RunWithRobot):
    """A simulated motion with its figures."""

    @cached_property
    def robot(self) -> Robot:
        """The mechanism that moved, with its functions."""
        return Robot(self.mechanism)

    def __getitem__(self, name: str) -> ThingMotion:
        """A robot or an object of a world by name, along the run: its own q, v, a and tau, and its poses.

        Raises:
            UnknownNameError: if there is none of this name, with the closest one.
        """

        def pose(body: str) -> np.ndarray:
            return self.robot.pose(self.q, body)

        return ThingMotion(thing_named(self.mechanism, name), self.q, self.v, pose, self.a, self.tau)

    def poses(self, samples: Any = slice(None)) -> np.ndarray:
        """The poses (m, number of bodies, 4, 4) of all bodies in the world at some of the times."""
        q, program = self.q[samples], make_program(self.mechanism, "poses")
        return evaluate_rows(program, np.atleast_2d(q)).reshape(*q.shape[:-1], *program.outputs[0].shape)

    def joint_wrenches(self, **options: Any) -> dict[str, np.ndarray]:
        """The force [n; f] (n, 6) at every joint and loop joint along the run; options as in `Robot.joint_wrenches`.

        Contact forces of the run are in them, as `kumitate.records.readings.contact_loads` says, and the wrenches and
        drives of loops that acted.

        Raises:
            InputError: if wrenches or drives of loops acted in a run of an earlier version, which does not keep them, and are
                not given.
        """
        check_line_laws(self, "joint forces")
        wrenches, loop_tau = (acted(self, name, options.pop(name, None)) for name in ("wrenches", "loop_tau"))
        if self.contact is None:
            return self.robot.joint_wrenches(self.q, self.v, self.tau, wrenches=wrenches, loop_tau=loop_tau, **options)
        from .records.readings import contact_loads

        tau, wrenches = contact_loads(self, wrenches)
        return self.robot.joint_wrenches(self.q, self.v, tau, wrenches=wrenches, loop_tau=loop_tau, **options)

    def save(self, path: str | Path) -> Path:
        """Writes the run to a file: HDF5 (.h5) or NumPy (.npz)."""
        from .records import archive

        return archive.save(self, path)

    def export(self, path: str | Path, **options: Any) -> Path:
        """Writes the run for other programs, by the suffix: .csv, .parquet, .mcap, .mp4, .glb, .usda.

        Tables have a row per time and a column per number, with units in the names: "q.hinge [rad]". Logs (.mcap) have poses,
        joint states and forces at `rate` [Hz], 100 unless given: see `kumitate.share.mcap_log`. Films
        (.mp4) are rendered from the page by Chromium, at `fps` and `size`: see `kumitate.share.film`. Animated scenes
        (.glb, .usda) have poses at `rate` [Hz], 60 unless given: see `kumitate.share.animated`.

        Raises:
            InputError: for another suffix, a folder that does not exist, options that the format does not have, or a package
                that is not installed.
        """
        from .share.run_files import write_run

        return write_run(self, path, **options)

    def rosbag(self, folder: str | Path, *, rate: float | None = 100.0) -> Path:
        """Writes the run as a bag of ROS 2, a folder that `ros2 bag play` takes: the log of `export` (.mcap) and its metadata.

        Args:
            rate: samples per second [Hz]; None for every recorded time.

        Raises:
            InputError: if mcap-ros2-support (extra `mcap`) is not installed, or a file stands where the folder should be.
        """
        from .share.mcap_log import write_bag

        return write_bag(self, folder, rate=rate)

    def to_pandas(self) -> Any:
        """The run as a `pandas.DataFrame`: a row per time, a column per number, with units in the names: "q.hinge [rad]".

        Raises:
            InputError: if pandas is not installed.
        """
        from .share.run_files import data_frame

        return data_frame(self)

    def figure(self, panels: Sequence[str] | None = None, *, degrees: bool = True) -> Any:
        """The figure of `plot` as a `matplotlib.figure.Figure`, to change and to save; notebooks display it.

        Raises:
            InputError: for a panel that does not exist, or if matplotlib is not installed.
        """
        from .view.figures import figure

        return figure(self, panels, degrees=degrees)

    def plot(self, path: str | Path, panels: Sequence[str] | None = None, *, degrees: bool = True) -> Path:
        """Draws the run over time as PDF, EPS, PNG or SVG, by the suffix; `panels` as in `kumitate.view.figures.plot`."""
        from .view import plot

        return plot(self, path, panels, degrees=degrees)

    def snapshots(self, path: str | Path, *, count: int = 8) -> Path:
        """Draws the mechanism at `count` times, as one picture."""
        from .view import snapshots

        count = checked_whole(self.mechanism.name, "count", count, 1, remedy="Give a number of pictures", error=InputError)
        # more poses than pictures: the common window and the plane of the motion are found from all of them
        samples = np.unique(np.linspace(0, len(self) - 1, 10 * (count - 1) + 1).round().astype(int))
        return snapshots(self, self.poses(samples), self.time[samples], path, count=count)

    def plot_balance(self, path: str | Path, contacts: Any = None, **options: Any) -> Path:
        """Draws zero-moment point and center of mass, with the support polygon of `contacts` (k, 2 or 3) and its margin.

        Options as in `kumitate.view.figures.plot_balance`.
        """
        from .view import plot_balance

        return plot_balance(self, path, contacts, **options)

    def plot_momentum(self, path: str | Path) -> Path:
        """Draws the momenta about the center of mass, and their rates."""
        from .view import plot_momentum

        return plot_momentum(self, path)

    def plot_power(self, path: str | Path, **options: Any) -> Path:
        """Draws the power of drives, gravity, damping, springs and wrenches; options as in `view.figures.plot_power`."""
        from .view import plot_power

        return plot_power(self, path, **options)

    def animate(self, path: str | Path, *, fps: int = 25, progress: Callable[[float], None] | None = None) -> Path:
        """Draws an animated GIF in real time; needs no display."""
        from .view import animate

        samples = self._frames(fps)
        return animate(self, self.poses(samples), self.time[samples], path, fps=fps, progress=progress)

    def page(
        self,
        path: str | Path,
        *,
        fps: int = 50,
        title: str = "",
        live: bool | MechanismSimulation = False,
        sliders: Sequence[str] | Mapping[str, tuple[float, float]] | None = None,
        pull: str | Sequence[str] | None = "all",
    ) -> Path:
        """Writes one self-contained HTML page: 3D playback and plots on one timeline, without a network.

        Args:
            fps: pictures per second of the motion.
            title: of the page; the mechanism's name if empty.
            live: whether a reader can take over at any time: the state there becomes that of a simulation in the page, and the
                recorded motion stays as a ghost. Of a run from a file, the `Simulation` that continues it.
            sliders, pull: of a live page, as of `Simulation.page`.

        Raises:
            InputError: for another suffix than .html or .htm, and if the file cannot be written; for a live page of what cannot
                play, with the reason.
        """
        from .view import playback, write_page

        simulation = MADE_BY.get(self) if live is True else live
        if live and simulation is None:
            raise InputError(
                f"{self.mechanism.name}: a run from a file, or of a batch, does not have its functions; give the simulation, "
                "run.page(path, live=kumitate.Simulation(…))"
            )
        samples = self._frames(fps)
        scene = playback(self, samples, self.poses(samples), title=title)
        if simulation:
            from .live.playable import with_takeover

            scene = with_takeover(scene, self, simulation, sliders, pull)
        return write_page(path, scene)

    def _repr_html_(self) -> str:
        """What notebooks display: the page in a frame, which plays in notebooks that are opened again; 3 MB at most."""
        from .share.notebook import run_html
        from .view import playback
        from .view.page import page_text

        def document(fps: int) -> str:
            samples = self._frames(fps)
            return page_text(playback(self, samples, self.poses(samples)))

        return run_html(repr(self), self.audit.lines(), document)

    def _frames(self, fps: float) -> np.ndarray:
        """The samples to show, at a constant rate; at least 150, if the run has as many."""
        fps = checked_number(self.mechanism.name, "fps", fps, POSITIVE, error=InputError)
        if len(self) < 2:
            return np.arange(len(self))
        wanted = np.linspace(self.time[0], self.time[-1], max(150, round((self.time[-1] - self.time[0]) * fps) + 1))
        return np.array(sorted(set(np.clip(np.searchsorted(self.time, wanted - 1e-9), 0, len(self) - 1).tolist())))


class Runs(runs_of_setups.Records):
    """N runs in a batch, with their page."""

    @cached_property
    def robot(self) -> Robot:
        """The mechanism that moved, with its functions."""
        return Robot(self.mechanism)

    def __repr__(self) -> str:
        lost = int(np.isfinite(self.lost).sum())
        ends = f", {lost} lost" if lost else ""
        return f"Runs({self.mechanism.name!r}, {len(self)} runs of {len(self.time)} times, to {self.time[-1]:g} s{ends})"

    def page(self, path: str | Path, *, shown: int = 0, fps: int = 50, title: str = "") -> Path:
        """Writes one self-contained HTML page: 3D playback of one run, with the coordinates of up to 12 runs beside it.

        Args:
            shown: the run that moves, from 0; a run that was lost ends there.
            fps: poses per second.

        Raises:
            InputError: if there is no such run.
        """
        from .view import write_page

        return write_page(path, self._scene(shown, fps, title))

    def _repr_html_(self) -> str:
        """What notebooks display: the page in a frame, which plays in notebooks that are opened again; 3 MB at most."""
        from .share.notebook import run_html
        from .view.page import page_text

        ends = [f"run {k} was lost at {self.lost[k]:g} s" for k in np.flatnonzero(np.isfinite(self.lost))[:20]]
        drawn = f"Run 0 moves; curves are of the first {min(len(self), _DRAWN)} of {len(self)} runs; those of lost runs stay."
        return run_html(repr(self), [drawn, *ends, *self.notes], lambda fps: page_text(self._scene(0, fps, "")))

    def _scene(self, shown: int, fps: float, title: str) -> dict[str, Any]:
        from .share.run_files import units
        from .view.scene import build_scene

        if not 0 <= shown < len(self):
            raise InputError(f"{self.mechanism.name}: there is no run {shown}; there are 0 to {len(self) - 1}")
        whole = int(np.isfinite(self.q[shown]).all(axis=1).sum())  # NaN after it was lost
        wanted = np.linspace(0, whole - 1, min(whole, max(150, round(self.time[whole - 1] * fps) + 1)))
        samples = np.unique(wanted.round().astype(int))
        poses = self.robot.compile("poses")(self.q[shown, samples])
        runs = range(min(len(self), _DRAWN))
        channels = [
            {
                "title": name, "unit": unit, "x": self.time,
                "series": [{"name": f"run {k}", "values": _held(self.q[k, :, column])} for k in runs],
            }
            for column, (name, unit) in enumerate(zip(self.mechanism.q_names[:_DRAWN], units(self.mechanism, 0), strict=False))
        ]  # fmt: skip
        return build_scene(self.mechanism, self.time[samples], poses, channels, title=title)


def _held(values: np.ndarray) -> np.ndarray:
    """A curve (n) that stays at its last value where the run was lost."""
    known = np.flatnonzero(np.isfinite(values))
    return values[np.minimum(np.arange(len(values)), known[-1])]


@contextmanager
def runs_in_errors() -> Iterator[None]:
    """Turns results stored in errors into runs."""
    try:
        yield
    except BaseException as error:
        if isinstance(kept := getattr(error, "result", None), Record):
            error.result = as_run(kept)  # type: ignore[attr-defined]
        raise


@takes_options_of(Experiment)
def simulate(robot: Robot | Mechanism, q: Any = None, v: Any = None, **options: Any) -> Run:
    """Simulates a robot from the state (q, v), or from its `start`.

    Args:
        robot: to simulate.
        q: initial coordinates (nq), those of the start by default; v: initial velocities (nv): those of the start if q is the
            start's too, else zero.
        options: as of `kumitate.simulate.setup.Experiment`.

    Raises:
        InputError: for what is not a robot, and if an argument has a wrong shape or value.
        DivergenceError: if the motion diverges, or contact has no usable solution; it carries the run up to there. So does,
            as its attribute `result`, any exception that ends a run early: Ctrl-C, or an error in a controller.

    Warns:
        KumitateWarning: of steps whose contact could not be solved, with the time and the bodies; also in the audit's notes.

    >>> from kumitate import load
    >>> run = simulate(load("pendulum"), duration=0.1)
    >>> run.audit.energy_drift < 1e-9
    True
    """
    robot = as_robot(robot)
    if q is None:
        q, v = robot.start[0], robot.start[1] if v is None else v
    with runs_in_errors(), bar(f"simulating {robot.name}", options.pop("progress", None)) as progress:
        return as_run(runs_of_setups.simulate(robot.mechanism, q, v, progress=progress, **_with_outputs(options)))


@takes_options_of(Experiment, runs_of_setups.simulate_batch, without=runs_of_setups.OF_ONE_RUN)
def simulate_batch(robot: Robot | Mechanism, q: Any, v: Any = None, **options: Any) -> Runs:
    """Simulates N runs in one batch, each as `simulate` would simulate it alone.

    Args:
        robot: to simulate; q: initial coordinates (N, nq); v: initial velocities (N, nv), at rest by default.
        options: as in `simulate`, the same for all runs; functions must be such that they can be compiled.

    Raises:
        InputError: if an argument has a wrong shape or value, or a function cannot be compiled.

    >>> from kumitate import load
    >>> runs = simulate_batch(load("pendulum"), [[0.1], [0.2], [0.3]], duration=0.1, every=10)
    >>> runs.q.shape
    (3, 11, 1)
    """
    robot = as_robot(robot)
    with bar(f"simulating {robot.name}, {len(q)} runs", options.pop("progress", None)) as progress:
        found = runs_of_setups.simulate_batch(robot.mechanism, q, v, progress=progress, **_with_outputs(options))
    return Runs(**{field.name: getattr(found, field.name) for field in fields(found)})


def _with_outputs(options: dict[str, Any]) -> dict[str, Any]:
    """Options with the outputs that they name."""
    if options.get("outputs"):
        from .outputs import named_outputs  # with the functions of robots: loaded where there are any

        options["outputs"] = named_outputs(options["outputs"])
    return options


@takes_options_of(cast(Any, analysis.linearize))  # whose q has no default
def linearize(
    robot: Robot | Mechanism, q: Any = None, v: Any = None, tau: Any = None, **options: Any
) -> analysis.Linearization:
    """The equations of motion near a state, ẋ = A x + B u, with their modes.

    Args:
        robot: to linearize; q: coordinates (nq), those of its `start` by default; v: velocities (nv), at rest by default.
        tau: constant forces of the drives (nv), zero by default; a `controller` is added to them.
        options: as of `kumitate.analysis.linearize`.

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

    >>> from tempfile import mkdtemp
    >>> from kumitate import load, simulate
    >>> run = simulate(load("pendulum"), duration=0.1)
    >>> again = open_run(run.save(f"{mkdtemp()}/swing.npz"))
    >>> bool((again.q == run.q).all())
    True
    """
    from .records import archive

    return as_run(archive.load(path))


def as_run(result: Record) -> Run:
    """A result as a run."""
    run = Run(**{field.name: getattr(result, field.name) for field in fields(Record)})
    if result in MADE_BY:
        MADE_BY[run] = MADE_BY[result]
    return run
