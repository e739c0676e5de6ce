"""Standing with both feet held: gravity compensation of a closed mechanism, and pushes (thesis 6.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..dynamics import chord_closings, chord_drives, constraint_rows, link_motions, loop_jacobian, rnea
from ..errors import InputError
from ..scalar import Scalar, both, is_zero, select, sin, table
from ..spatial import dot, nearest_solution
from .controllers import CompiledPage, Controller, mechanism_of
from .paths import Spline

#: Damping of J Jᵀ per square of the mechanism's size: directions that the loops hardly constrain are left to the drives.
DAMPING = 1e-12


def closed_gravity_compensation(robot: Any) -> Controller:
    """The joint forces of least norm that hold a mechanism with loops at rest in its posture.

    `gravity_compensation` holds the tree with zero loop forces: of two feet on the floor, one carries everything. The
    loops' forces λ are free, however, because drives and loops can work against each other: tau = g − Jᵀλ holds it with any λ,
    and with the same motion. This law takes the λ with the least tau, so that both legs share the load; springs are included.
    """
    mechanism = mechanism_of(robot)
    tree, nv = mechanism.base_parameter_tree, mechanism.nv

    def holding(q: Any) -> list[Scalar]:
        still = table([0.0] * nv)
        closings = chord_closings(tree, q, still)
        load = rnea(tree, q, still, still, gravity=mechanism.gravity, wrenches=chord_drives(tree, closings, {}, None))
        motions = link_motions(tree, q, still)
        rows = constraint_rows(tree, closings, q, still, motions)
        J = loop_jacobian(tree, motions, [row for row in rows if is_zero(row.softness)])
        A = [[dot(a, b) for b in J] for a in J]
        E = [[DAMPING * tree.size**2 if i == j else 0.0 for j in range(len(J))] for i in range(len(J))]
        strengths = nearest_solution(A, [dot(row, load) for row in J], E, sweeps=1) if J else []
        return [load[k] - dot((row[k] for row in J), strengths) for k in range(nv)]

    page = CompiledPage(holding, {"q": mechanism.nq}, f"closed_gravity_{mechanism.name}")
    return lambda t, q, v: page(q)


def push(force: Sequence[float], shape: Callable[[Any], Any]) -> Controller:
    """A force that keeps its direction: a wrench [n; f] (6) without moment, for the `wrenches` of `simulate`.

    The key in `wrenches` is the body or frame at whose origin it acts.

    Args:
        force: (3) in the world [N].
        shape: the factor of the force at time t, such as `pulse(1.0, 1.1)`.

    Raises:
        InputError: if the force does not have three components.

    >>> push((-7.0, 0.0, 0.0), pulse(1.0, 1.1))(1.05, None, None)
    array([ 0.,  0.,  0., -7.,  0.,  0.])
    """
    if len(force) != 3:
        raise InputError(f"a push has {len(force)} components; give a force of 3, in the axes of the world")
    wrench = np.array([0.0, 0.0, 0.0, *force])
    return lambda t, q, v: wrench * shape(t) + 0.0


def pulse(start: float, end: float, *, rise: float = 0.0) -> Callable[[Any], Any]:
    """A function of time: one between `start` and `end` [s], zero otherwise.

    Args:
        rise: how long it takes to rise and to fall [s], by fifth-order polynomials that are half way up at `start` and `end`;
            its integral stays end − start. Integrators are only of first order across a jump.

    Raises:
        InputError: if it would have to fall before it has risen.

    >>> on, soft = pulse(1.0, 1.1), pulse(1.0, 1.1, rise=0.01)
    >>> on(0.9), on(1.0), on(1.1), soft(0.995), round(soft(1.0), 9), soft(1.05)
    (0.0, 1.0, 0.0, 0.0, 0.5, 1.0)
    """
    if not 0.0 <= rise < end - start:
        raise InputError(f"a pulse from {start} to {end} s cannot rise for {rise} s; give less than its duration")
    if rise == 0.0:
        return lambda t: select(both(t >= start, t < end), 1.0, 0.0)
    times = [start - rise / 2.0, start + rise / 2.0, end - rise / 2.0, end + rise / 2.0]
    return Spline(times, [0.0, 1.0, 1.0, 0.0], velocities=[0.0] * 4, accelerations=[0.0] * 4)


def half_sine(start: float, end: float) -> Callable[[Any], Any]:
    """A function of time that rises to one and falls again as half a sine, from `start` to `end` [s]; zero otherwise.

    >>> blow = half_sine(1.0, 1.1)
    >>> blow(0.9), round(blow(1.05), 12), blow(1.2)
    (0.0, 1.0, 0.0)

    Raises:
        InputError: if it does not end after its start.
    """
    if not end > start:
        raise InputError(f"a half sine from {start} s to {end} s: it must end after its start. The second number is a time too")
    rate = float(np.pi) / (end - start)
    return lambda t: select(both(t >= start, t < end), sin(rate * (t - start)), 0.0)
