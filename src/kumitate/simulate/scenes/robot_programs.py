"""What a scene needs of a robot, as programs: its state before the impulses of a step, and its state after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ... import kinematics
from ...contact.impulse.problem import inertia
from ...dynamics import Acting, aba_with_loops, chord_closings, chord_rows, constraint_rows, link_motions
from ...dynamics.loops.jacobian import loop_jacobian
from ...model import Mechanism, PerLink, Tree, freedoms
from ...scalar import Program, Scalar, is_zero, trace
from ...spatial import Transform
from ..stepping.equations import Parts, applied_power

__all__ = ["ROW", "in_rows", "loop_program", "moved_program", "prepared_program"]

#: The velocities of a robot stand in rows of so many.
ROW = 6


def prepared_program(mechanism: Mechanism) -> Program:
    """(h, q, v) → what the impulses of a step need: see `MovingBodies` and `Robots` of `contact.scenes.arrays`.

    Of every link its pose (12: a rotation row by row, a position [m]); of every velocity (6 · rows) the twist of its joint's
    link about the own origin; the blocks (rows, rows, 6, 6) of the inertia of a step implicit in damping and springs; and the
    velocities (rows, 6) after such a step without drives, in the axes before it.
    """

    def prepared(h: Scalar, q: Any, v: Any) -> dict[str, Any]:
        tree, nv = mechanism.base_parameter_tree, mechanism.nv
        acting = Acting(mechanism.gravity, implicit_step=h)
        rates = aba_with_loops(tree, q, v, [0.0] * nv, acting)
        turning = kinematics.turning(tree, v)
        free = [v[k] + h * (rates[k] - turning[k]) if k < nv else 0.0 for k in _padded(nv)]
        poses = kinematics.link_poses(mechanism.tree, q)
        M = _whole_inertia(tree, q, v, h)
        entries = [[M[i].get(k, 0.0) if i < nv and k < nv else float(i == k) for k in _padded(nv)] for i in _padded(nv)]
        rows = range(len(_padded(nv)) // ROW)
        return {
            "poses": [
                [*(x for row in pose.rotation.matrix() for x in row), *pose.translation]
                for pose in (poses[link] for link in mechanism.tree.links)
            ],
            "columns": _columns(mechanism.tree, poses, q),
            "inertia": [[[line[_row(k)] for line in entries[_row(i)]] for k in rows] for i in rows],
            "undriven": [free[_row(i)] for i in rows],
        }

    return trace(prepared, {"h": (), "q": mechanism.nq, "v": mechanism.nv}, f"prepared_{mechanism.name}")


def _whole_inertia(tree: Tree, q: Any, v: Any, h: Scalar) -> list[dict[int, Scalar]]:
    """M of a step h, with the inertias of damping and springs along loops."""
    M = inertia(tree, q, v, h)
    found = [dict(M[i]) for i in range(tree.nv)]
    if tree.closed:
        motions, closings = link_motions(tree, q, v), chord_closings(tree, q, v)
        rows = constraint_rows(tree, closings, q, v, motions, implicit_step=h)
        soft = [row for row in rows if not is_zero(row.softness)]
        for row, rates in zip(soft, loop_jacobian(tree, motions, soft), strict=True):
            entries = {k: rate for k, rate in enumerate(rates) if not is_zero(rate)}
            for i, left in entries.items():
                for k, right in entries.items():
                    found[i][k] = found[i].get(k, 0.0) + left * right / row.softness
    return found


def loop_program(mechanism: Mechanism, drives: Mapping[str, int], efforts: int) -> Program:
    """(h, q, v, u) → what closes the loops of a robot.

    "closed" (rows of G, rows of six, 6): G v are the rates at which loops and couplings open. "along" (rows, 6): the efforts at
    the joints that are equal to those in loops. "axes" (degrees of freedom of loops, rows, 6): their rates per velocity; a row
    of zeros where no loop joint has a drive of its own.

    Args:
        drives: by the name of a loop with drives, where its efforts begin in u.
        efforts: how many numbers u has.
    """

    def loops(h: Scalar, q: Any, v: Any, u: Any) -> dict[str, Any]:
        tree, nv = mechanism.base_parameter_tree, mechanism.nv
        motions, closings = link_motions(tree, q, v), chord_closings(tree, q, v)
        rows = constraint_rows(tree, closings, q, v, motions, implicit_step=h)
        closed = loop_jacobian(tree, motions, [row for row in rows if is_zero(row.softness)])
        along, axes = list[Scalar]([0.0] * nv), list[list[Scalar]]()
        for chord, closing in zip(tree.chords, closings, strict=True):
            own = loop_jacobian(tree, motions, chord_rows(tree, motions, chord, closing)[1])
            axes += own
            for k, rates in enumerate(own if chord.name in drives else (), drives.get(chord.name, 0)):
                along = [effort + rate * u[k] for effort, rate in zip(along, rates, strict=True)]
        nothing = [[0.0] * nv]
        return {
            "closed": [in_rows(rates) for rates in closed or nothing],
            "along": in_rows(along),
            "axes": [in_rows(rates) for rates in (axes if freedoms(mechanism) > nv else nothing)],
        }

    return trace(loops, {"h": (), "q": mechanism.nq, "v": mechanism.nv, "u": efforts}, f"loops_{mechanism.name}")


def moved_program(mechanism: Mechanism) -> Program:
    """(h, q, v, after, tau) → q, v after a step with the velocities `after` all along it, in the axes before it (Moreau 1988);
    and the power of tau and of what resists, at the mean of both velocities, as the kinetic energy requires [W].
    """

    def moved(h: Scalar, q: Any, v: Any, after: Any, tau: Any) -> dict[str, Any]:
        tree, move = mechanism.tree, [h * rate for rate in after]
        mean = [0.5 * (a + b) for a, b in zip(v, after, strict=True)]
        return {
            "q": kinematics.normalized(tree, kinematics.integrate(tree, q, move)),
            "v": kinematics.carried(tree, after, move),
            "power": applied_power(mechanism, q, mean, Parts(tau, {}, {}, [], [], [])),
        }

    nv = mechanism.nv
    return trace(moved, {"h": (), "q": mechanism.nq, "v": nv, "after": nv, "tau": nv}, f"moved_{mechanism.name}")


def in_rows(values: Sequence[Scalar]) -> list[list[Scalar]]:
    """Velocities or efforts in rows of six, the last filled up by zeros."""
    filled = [*values, *[0.0] * (len(_padded(len(values))) - len(values))]
    return [filled[_row(k)] for k in range(len(filled) // ROW)]


def _row(number: int) -> slice:
    return slice(ROW * number, ROW * number + ROW)


def _padded(nv: int) -> range:
    """The velocities of whole rows."""
    return range(-(-nv // ROW) * ROW)


def _columns(tree: Tree, poses: PerLink[Transform], q: Sequence[Scalar]) -> list[list[Scalar]]:
    """Of every velocity, filled up to whole rows, [ω; v] of its joint's link about the own origin, in the axes of the world."""
    found: list[list[Scalar]] = [[0.0] * 6 for _ in _padded(tree.nv)]
    for link in tree.links:
        for k, S in enumerate(link.kind.subspace(link.coordinates(q)), link.v_start):
            found[k] = [*poses[link].rotation.rotate(S.angular), *poses[link].rotation.rotate(S.linear)]
    return found
