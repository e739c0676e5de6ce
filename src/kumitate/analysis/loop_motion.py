"""The motion of joints that close loops, and the distance of the loops from a singular posture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel
from ..errors import ModelError
from ..kinematics import chord_closing, chord_motion, rate
from ..model import Bound, Chord, JointKind, Line, Mechanism, freedoms
from ..scalar import Program, Scalar, Scalars, call, directional, either, trace
from ..scalar.arrays import SymbolArray

#: What functions may read of loop joints and lines: their coordinates and rates (`Mechanism.loop_q_names`, `loop_v_names`).
LOOPS = ("loop_q", "loop_v")
#: Singular values below this fraction of the largest count as zero.
_RANK = 1e-9


class LoopMotion(NamedTuple):
    """The motion of one joint that closes a loop, or of a line between two points.

    Attributes:
        name: of the loop; `kind`: of its joint.
        q: coordinates (n, nq) of the joint's kind; angles are unwrapped between successive rows.
        v, a: their velocities and accelerations (n, nv), in SI units.
    """

    name: str
    kind: JointKind | Line
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


def loop_motion(mechanism: Mechanism, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[LoopMotion]:
    """The motion of every joint that closes a loop and has degrees of freedom, and of every line; rods and rolling have none.

    Args:
        q: (n, nq), `v`, `a`: (n, nv) of the tree's joints, at successive times.
    """
    tree, chords = mechanism.tree, _moving(mechanism)
    if not chords:
        return []
    moved = directional(loop_coordinates(mechanism))

    def accelerated(q: Any, v: Any, a: Any) -> dict[str, Any]:
        found = call(moved, q, v, rate(tree, q, v), a)
        return {name: found[name] for name in (*LOOPS, "loop_v_dot")}

    sizes = {"q": mechanism.nq, "v": mechanism.nv, "a": mechanism.nv}
    coordinates, rates, accelerations = Kernel(trace(accelerated, sizes, f"loop_acceleration_{mechanism.name}"))(q, v, a)
    found, at_q, at_v = [], 0, 0
    for chord, kind in chords:
        own, dof = coordinates[:, at_q : at_q + kind.nq].copy(), slice(at_v, at_v + kind.nv)
        for k in kind.angles:
            own[:, k] = np.unwrap(own[:, k])
        found.append(LoopMotion(chord.name, kind, own, rates[:, dof], accelerations[:, dof]))
        at_q, at_v = at_q + kind.nq, at_v + kind.nv
    return found


@lru_cache(64)
def loop_coordinates(mechanism: Mechanism) -> Program:
    """(q, v) → "loop_q" and "loop_v": the coordinates of loop joints and lines (`Mechanism.loop_q_names`), and their rates.

    Angles are between −π and π.
    """
    tree, chords = mechanism.tree, _moving(mechanism)

    def motion(q: Any, v: Any) -> dict[str, Any]:
        closings = [chord_closing(tree, q, v, chord) for chord, _ in chords]
        return {
            "loop_q": [x for closing in closings for x in closing.coordinates],
            "loop_v": [x for closing in closings for x in closing.rates],
        }

    return trace(motion, {"q": mechanism.nq, "v": mechanism.nv}, f"loop_motion_{mechanism.name}")


def loops_at(mechanism: Mechanism, q: Any, v: Any) -> dict[str, Any]:
    """`LOOPS` at a state: arrays of numbers, or of symbols while tracing."""
    if isinstance(q, SymbolArray):
        return {name: SymbolArray(values) for name, values in call(loop_coordinates(mechanism), list(q), list(v)).items()}
    return dict(zip(LOOPS, _loop_kernel(mechanism)(q, v), strict=True))


@lru_cache(64)
def _loop_kernel(mechanism: Mechanism) -> Kernel:
    return Kernel(loop_coordinates(mechanism))


def joint_motion(m: Mechanism, q: Scalars, v: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """The coordinates and velocities of all joints, as `Driven` counts them; q, v where no loop joint has a drive or a stop."""
    if freedoms(m) == m.nv:
        return list(q), list(v)
    moved = call(loop_coordinates(m), q, v)
    return [*q, *moved["loop_q"]], [*v, *moved["loop_v"]]


def joint_coordinates(m: Mechanism, q: Scalars) -> list[Scalar]:
    """The coordinates of `joint_motion` alone."""
    return list(q) if freedoms(m) == m.nv else [*q, *call(_loop_places(m), q)]


@lru_cache(64)
def _loop_places(mechanism: Mechanism) -> Program:
    """q → the coordinates of loop joints and lines."""
    tree, chords = mechanism.tree, _moving(mechanism)

    def places(q: Any) -> list[Scalar]:
        still = [0.0] * tree.nv
        return [x for chord, _ in chords for x in chord_closing(tree, q, still, chord).coordinates]

    return trace(places, {"q": mechanism.nq}, f"loop_places_{mechanism.name}")


def near_limits(m: Mechanism, bounds: Sequence[Bound], q: Scalars) -> Any:
    """Whether a joint may be beyond one of its limits: False is certain. It costs less than `joint_coordinates`."""
    still = [0.0] * m.nv
    found, at = [bound.gap(q) < 0.0 for bound in bounds if bound.q < m.nq], m.nq
    for chord, kind in _moving(m):
        own = [replace(bound, q=bound.q - at) for bound in bounds if at <= bound.q < at + kind.nq]
        X_FM, V_FM = chord_motion(m.tree, q, still, chord)
        place, facing = kind.closing(X_FM, V_FM).coordinates, kind.facing(X_FM)
        found += [bound.near(place, facing) for bound in own]
        at += kind.nq
    return reduce(either, found)


def joint_accelerations(m: Mechanism, q: Scalars, v: Scalars, vdot: Scalars) -> list[Scalar]:
    """The rates of the velocities of `joint_motion`, while the tree's joints accelerate at vdot (nv)."""
    if freedoms(m) == m.nv:
        return list(vdot)
    moved = call(directional(loop_coordinates(m)), q, v, rate(m.tree, q, v), vdot)
    return [*vdot, *moved["loop_v_dot"]]


def _moving(mechanism: Mechanism) -> list[tuple[Chord, JointKind | Line]]:
    """The chords with degrees of freedom."""
    moving = (chord for chord in mechanism.tree.chords if chord.closure.nv)
    return [(chord, chord.closure) for chord in moving if isinstance(chord.closure, JointKind | Line)]


def closure_determinant(mechanism: Mechanism, q: np.ndarray) -> np.ndarray:
    """det(J Jᵀ) of the loops over a motion (n); it is zero in singular postures (thesis 3.3, figure 3.17 f).

    J has six rows per loop, the relative velocity of the loop's two ends with its joint cut, and one column per joint velocity,
    including the joints of loops. Rows that are zero in every posture (those out of the plane of a planar loop) would make the
    determinant always zero, as in the thesis with its 6×4 J. It is therefore the product of the r largest squared singular
    values, where r is the largest rank of the motion. Lengths are relative to the mechanism's size, so it is dimensionless.

    Args:
        q: (n, nq).

    Raises:
        ModelError: for a mechanism without loops, or with a loop that is not closed by a joint.
    """
    tree = mechanism.tree
    chords = [(chord, chord.closure) for chord in tree.chords if isinstance(chord.closure, JointKind)]
    if not chords or len(chords) < len(tree.chords):
        raise ModelError(f"{mechanism.name}: a closure determinant needs loops, each closed by a joint")

    def closure(q: Any) -> list[list[Any]]:
        rows: list[list[Any]] = []
        for chord, kind in chords:
            units = [[float(i == k) for i in range(tree.nv)] for k in range(tree.nv)]
            columns: list[list[Scalar]] = [list(chord_closing(tree, q, unit, chord).twist) for unit in units]
            S = kind.subspace(chord_closing(tree, q, [0.0] * tree.nv, chord).coordinates)
            for other, its in chords:
                columns += [[-x for x in motion] for motion in S] if other is chord else [[0.0] * 6] * its.nv
            rows += [list(row) for row in zip(*columns, strict=True)]
        return rows

    J = Kernel(trace(closure, {"q": mechanism.nq}, f"closure_{mechanism.name}"))(q)
    angular = np.arange(J.shape[1]) % 6 < 3
    sliding = ~np.any(J[:, angular], axis=(0, 1))
    J = J * np.where(angular, 1.0, 1.0 / tree.size)[:, None] * np.where(sliding, tree.size, 1.0)
    values = np.linalg.svd(J, compute_uv=False)
    rank = int((values > _RANK * values[:, :1]).sum(axis=1).max())
    return np.prod(values[:, :rank] ** 2, axis=1)
