"""The motion that a joint is given as a function of time; its effort is what results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...errors import InputError, did_you_mean
from ...model import Mechanism
from ...scalar import Program, Scalar, call, directional, trace
from ...scalar.purity import judged

#: Times at which a function is tried before it is compiled [s].
_TRIED = (0.0, 0.7, 1.9)


class PrescribedMotion:
    """The motion of a joint as a function of time: its position, or its velocity. Derivatives are found by differentiation.

    >>> from math import isclose
    >>> from kumitate.scalar import sin
    >>> motion = PrescribedMotion(position=lambda t: 0.5 * sin(2.0 * t))
    >>> position, velocity, acceleration = motion.at(0.0)
    >>> position, isclose(velocity, 1.0), acceleration
    (0.0, True, 0.0)
    """

    def __init__(self, position: Callable[[Any], Any] | None = None, *, velocity: Callable[[Any], Any] | None = None):
        """The motion of a joint of one degree of freedom.

        Args:
            position: f(t) [rad or m], with continuous velocity; or
            velocity: f(t) [rad/s or m/s], continuous; the position is then integrated from the start.

        Raises:
            InputError: if both are given, or none; or if the function cannot be compiled, with the reason.
        """
        if (position is None) == (velocity is None):
            raise InputError("a prescribed motion is a position or a velocity as a function of time; give one of the two")
        self.positional = position is not None
        given = _program(position if position is not None else velocity)  # type: ignore[arg-type]
        self._orders = (
            [given, rate := _derivative(given), _derivative(rate)] if self.positional else [given, _derivative(given)]
        )

    def at(self, t: Scalar) -> list[Scalar]:
        """Position, velocity and acceleration at a time [s]; the position is zero where only the velocity is known."""
        values = [call(program, t)[0] for program in self._orders]
        return values if self.positional else [0.0, *values]

    def __call__(self, t: Any, q: Any, v: Any) -> np.ndarray:
        """As `at`, as a source of a simulation."""
        return np.array(self.at(t))


def _derivative(program: Program) -> Program:
    """The derivative of a function of time."""
    both = directional(program)
    return trace(lambda t: list(call(both, t, 1.0)["result_dot"]), {"t": ()}, program.name)


def _program(function: Callable[[Any], Any]) -> Program:
    """The program of a function of time."""
    if not callable(function):
        raise InputError(f"a prescribed motion is {function!r}; it must be a function of time, f(t)")

    def values(t: Any) -> Any:
        return np.reshape(np.asarray(function(t)), (1,))

    verdict = judged(values, [(t,) for t in _TRIED], 1, ("t",))
    if verdict.program is None:
        raise InputError(
            f"a prescribed motion must be a function of time that can be compiled, f(t), and {verdict.reason}. Write it with "
            "plain operators and NumPy's functions, or take a spline of kumitate.control.paths"
        )
    return trace(lambda t: call(verdict.program, t), {"t": ()}, "motion")  # type: ignore[arg-type]


class FollowingJoint(NamedTuple):
    """A joint that follows a motion.

    Attributes:
        name: of the joint; `q`, `v`: the indices of its coordinate and velocity; `positional`: whether its position is given.
    """

    name: str
    q: int
    v: int
    positional: bool


def motions_of(mechanism: Mechanism, given: Mapping[str, Any]) -> dict[str, PrescribedMotion]:
    """The motions of joints by name; a function of time stands for a position.

    Raises:
        InputError: for a name that is not a joint's, a joint of several degrees of freedom or with a drive, or for what is not
            a function of time.
    """
    found, known = {}, {joint.name: joint for joint in mechanism.joints}
    for name, motion in given.items():
        joint = known.get(name)
        if joint is None:
            kinds = [loop.kind.name for loop in mechanism.loops if loop.name == name]
            hint = f"is a loop of kind {kinds[0]}: a motion is of one degree of freedom" if kinds else "is not a joint"
            raise InputError(f"{mechanism.name}: motions names {name!r}, which {hint}{did_you_mean(name, known, lead=', ')}")
        if (joint.kind.nq, joint.kind.nv) != (1, 1):
            raise InputError(
                f"{mechanism.name}: the motion of {name!r}, a {joint.kind.name} joint, cannot be prescribed: it has "
                f"{joint.kind.nv} degrees of freedom, and a motion is of one. Write it as joints of one each"
            )
        if joint.drive is not None:
            raise InputError(
                f"{mechanism.name}: joint {name!r} follows a prescribed motion and has a drive; take the drive out with "
                f"`robot.with_drives({{{name!r}: None}})`, or the motion"
            )
        found[name] = motion if isinstance(motion, PrescribedMotion) else PrescribedMotion(motion)
    return found


def followers(mechanism: Mechanism, motions: Mapping[str, PrescribedMotion]) -> tuple[FollowingJoint, ...]:
    """Where the joints that follow motions stand in q and v."""
    at, q, v = {}, 0, 0
    for joint in mechanism.joints:
        at[joint.name] = q, v
        q, v = q + joint.kind.nq, v + joint.kind.nv
    return tuple(FollowingJoint(name, *at[name], motion.positional) for name, motion in motions.items())
