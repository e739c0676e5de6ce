"""`identify`: the parameters of a robot from its logs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError, warn
from ..model import Mechanism
from ..model.values import POSITIVE, checked_number
from ..robot import Robot
from .base_parameters import Unknowns, base_parameters, unknowns_of
from .equations import Fit, LogEquations, equations_of, fit, loop_base_parameters, robust_fit
from .identified import Identified
from .log import DEGREE, MotionLog, States, logs_of, states_of
from .physical import physical

#: What is unknown unless said otherwise.
ALL = ("inertia:*", "armature:*", "damping:*", "friction:*")
#: Numbers of samples that are tried for differentiation.
_WINDOWS = (5, 9, 15, 25, 41, 65, 101, 161)
#: Samples that the choice among them is made with.
_TRIED = 1500


def identify(
    log: Any, robot: Robot | Mechanism, *, find: Sequence[str] = ALL, window: int | None = None, spread: float = 1.0,
    loss: str = "squares",
) -> Identified:  # fmt: skip
    """The inertias, armatures, damping, dry friction and drive constants of a robot, from logs of its motion.

    Accelerations are found by differentiation of the log, if it does not contain them. The base parameters, which are all that
    a motion can show, are found by least squares in which each degree of freedom counts by its own noise. The bodies of the
    result can exist, and move like these base parameters; what no motion shows is as in the model.

    Args:
        log: a `MotionLog`, a result of `simulate`, or a mapping with "t" (n) [s], "q" (n, nq) and "tau" (n, nv) [N·m, N], with
            "v" and "a" (n, nv) if they are known, and "wrenches" from outside (see `MotionLog`); or a list of these.
        robot: the model. Everything that is not to be found is taken from it: springs, and inertias of known bodies.
        find: names "inertia:BODY", "armature:JOINT", "damping:JOINT", "friction:JOINT"; "drive:JOINT" for a factor K on the
            efforts of the log, such as a drive constant, if tau holds currents. * stands for any part of a name.
        window: how many samples around each one differentiation takes; by default the number for which the equations of motion
            hold best.
        spread: how far bodies may be from the model's, as the standard deviation of logarithms of masses and lengths.
        loss: "squares"; or "huber", which counts residuals beyond 2.5 standard deviations by their length, so that a few
            wrong efforts do little.

    Warns:
        KumitateWarning: where something seems to be wrong with the log (`Identified.doubts`).

    Raises:
        InputError: for logs of wrong shapes or too few samples, unknown names, or drive constants of which the log shows
            only the ratios.

    >>> import kumitate as km
    >>> arm = km.load("double_pendulum")
    >>> log = km.simulate(arm, [1.0, 0.5], duration=2.0, controller=lambda t, q, v: -0.5 * v)
    >>> found = km.identify(log, arm, find=["inertia:lower"])
    >>> abs(found["lower.Iyy"] - arm.mechanism.body("lower").spatial_inertia().rotational.yy) < 1e-8
    True
    """
    robot = robot if isinstance(robot, Robot) else Robot(robot)
    mechanism = robot.mechanism
    spread = checked_number("identify", "the spread", spread, POSITIVE, error=InputError)
    logs, unknowns = logs_of(log, mechanism), unknowns_of(mechanism, find)
    if not unknowns.names:
        raise InputError(f"identify: there is nothing to find by {', '.join(find)!r}; name at least one parameter")
    base = base_parameters(unknowns)
    if loss not in ("squares", "huber"):
        raise InputError(f"identify: the loss is {loss!r}; it must be 'squares' or 'huber'")
    if mechanism.tree.closed:
        _check_loops(unknowns, loss)
        base = loop_base_parameters(robot, unknowns, base)

    def least_squares(parts: Sequence[tuple[MotionLog, States]]) -> tuple[LogEquations, Fit]:
        equations = equations_of(robot, unknowns, base, parts)
        return equations, fit(equations, base.G @ unknowns.values, unknowns.drives)

    def solved(parts: Sequence[tuple[MotionLog, States]]) -> tuple[LogEquations, Fit]:
        return least_squares(parts) if loss == "squares" else robust_fit(robot, unknowns, base, parts, least_squares)

    if all(one.a is not None for one in logs):
        window = 0
    elif window is None:
        window = _best_window(robot, logs, solved)
    elif not isinstance(window, int) or window <= DEGREE:
        raise InputError(f"identify: the window is {window!r}; it must be a whole number above {DEGREE}, of samples")
    parts = [_inside(robot, one, window) for one in logs]
    equations, found = solved(parts)
    reach = _reach(unknowns, equations.sizes(base.G @ unknowns.values), parts)
    possible = physical(unknowns, base, equations, found, reach, spread)
    identified = Identified(robot, unknowns, base, equations, found, possible, tuple(parts), window, loss)
    for doubt in identified.doubts:
        warn(f"identify: {doubt}")
    return identified


def _check_loops(unknowns: Unknowns, loss: str) -> None:
    """Refuses what a log of a mechanism with loops does not show."""
    mechanism = unknowns.mechanism
    for loop in mechanism.loops:
        if any(loop.armature):  # type: ignore[arg-type]
            raise InputError(f"identify: loop {loop.name!r} has an armature, whose force is not known; give it none")
    if loss != "squares":
        raise InputError(
            f"identify: {mechanism.name} has closed loops, which mix efforts that are wrong with others. Take out such efforts "
            "(NaN), and leave out loss"
        )
    if unknowns.drives:
        raise InputError(
            f"identify: {mechanism.name} has closed loops, with which drive constants cannot be found. Scale its efforts, or "
            "lock the joints of the loops (`robot.locked`)"
        )


def _inside(robot: Robot, log: MotionLog, window: int) -> tuple[MotionLog, States]:
    """A log with its states, without the ends, where differentiation has samples on one side only."""
    states, cut = states_of(robot, log, window), window // 2 if log.a is None else 0
    inside = slice(cut, len(log) - cut)
    return log.rows(inside), States(*(part[inside] for part in states))


def _best_window(robot: Robot, logs: Sequence[MotionLog], solved: Any) -> int:
    """The window for which the efforts are explained best: shorter ones leave noise, longer ones cut off motion."""
    most = min(len(log) for log in logs) // 4
    tried = [window for window in _WINDOWS if window <= most]
    if not tried:
        raise InputError(f"identify: a log has {4 * most} samples; differentiation needs {4 * _WINDOWS[0]}. Give a longer one")

    def unlikely(window: int) -> float:  # minus the logarithm of the likelihood
        parts = []
        for log in logs:
            states, cut = states_of(robot, log, window), tried[-1] // 2  # the same samples for all windows
            chosen = np.arange(cut, len(log) - cut, max(1, len(log) * len(logs) // _TRIED))
            parts.append((log.rows(chosen), States(*(part[chosen] for part in states))))
        equations, found = solved(parts)
        return float(equations.samples @ np.log(found.noise))

    return min(tried, key=unlikely)


def _reach(unknowns: Unknowns, sizes: np.ndarray, parts: Sequence[tuple[MotionLog, States]]) -> np.ndarray:
    """For each property of joints, a value that would explain all efforts alone; what the model's are compared with."""
    v, a = (np.sqrt(np.mean(np.concatenate([getattr(states, key) for _, states in parts]) ** 2, axis=0)) for key in "va")
    efforts = np.maximum(sizes, 1e-6 * max(float(sizes.max(initial=0.0)), 1e-100))
    by_key = (efforts / np.maximum(a, 1e-6), efforts / np.maximum(v, 1e-6), efforts)
    return np.array([values[i] for values, own in zip(by_key, unknowns.dofs, strict=True) for i in own])
