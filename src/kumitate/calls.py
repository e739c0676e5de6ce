"""How the functions of a robot are called: coordinates are checked, and plain calls for one state go straight to machine code.

A method of `Robot` finds its kernel by its options, checks q and reports errors: some ten microseconds of Python around one
of machine code. So the first call of a method without options stores its kernel, and later calls try it first: it accepts only
float64 arrays of the right shapes, or lists of numbers, and a compiled predicate tests whether quaternions in q are of unit
length. All other arguments go to the method as before, which converts or refuses them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .compile import Kernel
from .compile.kernel import predicate
from .errors import InputError
from .model import Line, Mechanism
from .scalar import absolute, active_scope, both, select, trace
from .scalar.arrays import is_masked, is_traced
from .simulate.checks import OFF_MANIFOLD, check_manifold

Class = TypeVar("Class", bound=type)
_empty = np.empty


class PlainCall(NamedTuple):
    """A function without options: its kernel, the shape of its result, and the test of q (None: every q is valid)."""

    kernel: Kernel
    shape: tuple[int, ...]
    sound: Callable[..., Any] | None


def checked_coordinates(mechanism: Mechanism, q: Any) -> np.ndarray:
    """q as an array, refused if its quaternions are not of unit length; traced values are returned as they are."""
    if active_scope() is not None and is_traced(q):
        return q  # type: ignore[no-any-return]
    try:
        array = np.asarray(None if is_masked(q) else q)
        array = array.astype(float, casting="same_kind" if array.dtype.kind in "cSUmM" else "unsafe", copy=False)
    except (TypeError, ValueError):
        raise InputError(
            f"{mechanism.name}: q is {q!r:.60}; give {mechanism.nq} real numbers, or (..., {mechanism.nq}) of them"
        ) from None
    if mechanism.nq != mechanism.nv and array.shape[-1:] == (mechanism.nq,):
        check_manifold(mechanism, array)
    return array


def unit_quaternions(mechanism: Mechanism) -> Callable[..., Any] | None:
    """The compiled form of `check_manifold`, a predicate of q; None if all q are configurations."""
    links = [link for link in mechanism.tree.links if link.kind.nq != link.kind.nv]
    if not links:
        return None

    def sound(q: Any) -> list[Any]:
        all_sound: Any = True
        for link in links:
            off = link.kind.off_manifold([q[link.q_start + k] for k in range(link.kind.nq)])
            all_sound = both(all_sound, absolute(off) < OFF_MANIFOLD)
        return [select(all_sound, 1.0, 0.0)]

    return predicate(trace(sound, {"q": mechanism.nq}, f"unit_quaternions_{mechanism.name}"))


def plain_calls(functions: Sequence[str], at_places: Sequence[str]) -> Callable[[Class], Class]:
    """Makes methods of a class of robots call their kernels directly where possible.

    Args:
        functions: methods that return the result of the kernel of the same name, with q as their first argument.
        at_places: such methods whose last argument is a body or frame.
    """

    def decorated(robots: Class) -> Class:
        for names, make in ((functions, _by_name), (at_places, _by_place)):
            for name in names:
                setattr(robots, name, make(name, getattr(robots, name)))
        return robots

    return decorated


def _by_name(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(robot: Any, *arrays: Any, **options: Any) -> Any:
        if options:
            return method(robot, *arrays, **options)
        plain = robot._plain_calls.get(name)
        if plain is None:
            found = method(robot, *arrays)
            robot._plain_calls[name] = _prepared(robot, name)
            return found
        kernel, shape, sound = plain
        out = _empty(shape)
        if kernel.single(out, *arrays) is None and (sound is None or sound(arrays[0]) is True):
            return out
        listed = _as_arrays(arrays)
        return method(robot, *arrays) if listed is None else call(robot, *listed)

    return call


def _as_arrays(arguments: Sequence[Any]) -> list[Any] | None:
    """The arguments with arrays in place of lists; None if there is no list, or one does not hold numbers alone."""
    if list not in map(type, arguments):
        return None
    try:
        arrays = [np.array(value) if type(value) is list else value for value in arguments]
    except ValueError:  # rows of different lengths: the method says so
        return None
    lists = [k for k, value in enumerate(arguments) if type(value) is list]
    if any(arrays[k].dtype.kind not in "fiu" for k in lists):
        return None
    for k in lists:
        arrays[k] = arrays[k].astype(float, copy=False)
    return arrays


def _by_place(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(robot: Any, *arguments: Any, **options: Any) -> Any:
        place = arguments[-1] if arguments else None
        if options or not isinstance(place, str):
            return method(robot, *arguments, **options)
        plain = robot._plain_calls.get((name, place))
        if plain is None:
            found = method(robot, *arguments)
            robot._plain_calls[name, place] = _prepared(robot, name, place=place)
            return found
        kernel, shape, sound = plain
        out = _empty(shape)
        if kernel.single(out, *arguments[:-1]) is None and (sound is None or sound(arguments[0]) is True):
            return out
        listed = _as_arrays(arguments)
        return method(robot, *arguments) if listed is None else call(robot, *listed)

    return call


def _prepared(robot: Any, name: str, **place: str) -> PlainCall:
    """The kernel for later plain calls. If a loop is a `Line`, states need more checks, so all calls go through the method."""
    kernel = robot.compile(name, **place)
    lines = any(isinstance(chord.closure, Line) for chord in robot.mechanism.tree.chords)
    sound = (lambda q: False) if lines or not robot.nv else robot._unit_quaternions
    return PlainCall(kernel, kernel.outputs[0].shape, sound)


# --- derivatives ----------------------------------------------------------------------------------------------------------
class ForwardDerivatives(NamedTuple):
    """Forward dynamics and its derivatives, with the leading axes of the states.

    Attributes:
        a: the accelerations (..., nv) [rad/s², m/s²].
        by_q: ∂a/∂q (..., nv, nv), along the degrees of freedom: entry (i, k) is the change of a[i] per small displacement k of
            `Robot.integrate`.
        by_v, by_tau: ∂a/∂v and ∂a/∂τ (..., nv, nv).
    """

    a: np.ndarray
    by_q: np.ndarray
    by_v: np.ndarray
    by_tau: np.ndarray


class InverseDerivatives(NamedTuple):
    """Inverse dynamics and its derivatives, with the leading axes of the states.

    Attributes:
        tau: the forces of the drives (..., nv) [N·m, N].
        by_q: ∂τ/∂q (..., nv, nv), along the degrees of freedom.
        by_v: ∂τ/∂v (..., nv, nv).
        by_a: ∂τ/∂a (..., nv, nv), the inertia matrix.
    """

    tau: np.ndarray
    by_q: np.ndarray
    by_v: np.ndarray
    by_a: np.ndarray


class SecondDerivatives(NamedTuple):
    """The second derivatives of inverse dynamics, contracted with weights w: Σ wᵢ ∂²τᵢ, with the leading axes of the states.

    Those by v and a, and by a twice, are zero.

    Attributes:
        by_qq: (..., nv, nv); entry (i, j) is the derivative along degree of freedom j of that along i. Symmetric, except
            between the axes of one joint that turns about several, where the order of the two moves matters.
        by_qv, by_qa: (..., nv, nv), row by coordinate, column by velocity or acceleration.
        by_vv: (..., nv, nv), symmetric.
    """

    by_qq: np.ndarray
    by_qv: np.ndarray
    by_vv: np.ndarray
    by_qa: np.ndarray
