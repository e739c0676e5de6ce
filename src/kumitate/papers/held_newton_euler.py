"""Held points by the extended Newton-Euler method, using only calls of inverse dynamics, INV (N 2-4, eq. 14-37).

N prints h + τ where (11) has h + g in (14)-(19), and ‖∂C/∂q‖ for ‖∂C/∂r‖ in one place of (14). Here ∂C/∂r is divided by its
length, so that these norms are one. (34)-(36) call INV with q̇ = 0, where the direction of sliding in (6) would be undefined, so
it is passed as an argument. Friction has two components along the surface, so that j_t is Σ t_i j_i.
"""

from __future__ import annotations

from typing import Any

from ..dynamics import Acting, passive_secant, rnea, solve_symmetric, spring_force
from ..dynamics.acting import Applied, LinkForces
from ..errors import InputError
from ..held.motion import HeldSystem
from ..held.point import HeldEnd, HeldPoints
from ..kinematics import jacobian_rate
from ..model import Place, Tree
from ..scalar import Scalar, Scalars, table
from ..spatial import Transform, Vector3, dot
from .jacobian_inertia import unit_vector


def newton_euler(tree: Tree, points: HeldPoints, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> HeldSystem:
    """The equations of the held points of a mechanism without loops; arguments as for `kumitate.dynamics.aba_with_loops`.

    Raises:
        InputError: if the mechanism has loops.
    """
    if tree.closed or acting.loop_tau:
        raise InputError(
            f"{points.mechanism.name} has loops; held_method 'newton_euler' supports open chains only. Use held_method='rows'"
        )
    still, weightless = table([0.0] * tree.nv), (0.0, 0.0, 0.0)
    springs = [force for link in tree.links for force in spring_force(link, link.coordinates(q))]

    def inv(v: Any, vdot: Any, gravity: Scalars, pushed: Applied | None = None) -> list[Scalar]:
        """INV(q, q̇, q̈, g, f) of (33), without the springs, which N does not have."""
        tau = rnea(tree, q, v, vdot, gravity=gravity, wrenches=pushed)
        return [t - k for t, k in zip(tau, springs, strict=True)]

    bias = inv(v, still, acting.gravity, acting.wrenches)  # b = INV(q, q̇, 0, g, 0)
    M = unit_vector(tree, q)
    push = [t - k - b for t, k, b in zip(tau, springs, bias, strict=True)]
    h = acting.implicit_step
    for link in tree.links:  # damping and springs implicit over a step h: h d + h² k act like armatures, plus the force h k q̇
        for i, (slope, k) in enumerate(zip(passive_secant(link, link.velocities(v)), link.stiffness, strict=True)):
            j = link.v_start + i
            M[j][j] = M[j][j] + h * (slope + h * k)
            push[j] = push[j] - h * k * v[j]
    for j, inertia in enumerate(acting.resisting):
        M[j][j] = M[j][j] + inertia

    def pressed(end: HeldEnd, axis: int, size: float) -> list[Scalar]:
        """INV(q, 0, 0, 0, …) with a force along one of the point's axes."""
        return inv(still, still, weightless, LinkForces({end.link: end.rows[axis].on[end.link] * size}))

    ends = points.ends(tree, q, v)
    gradients: list[list[Scalar]] = []
    for end in ends:
        j_c = pressed(end, 0, -1.0)  # (34)
        gradients += [j_c, pressed(end, 1, -1.0), pressed(end, 2, -1.0)]  # (35), (36): j_t, one direction at a time
    d = [solve_symmetric(M, j) for j in gradients]  # (17)
    Lambda = [[dot(row, j) for j in gradients] for row in d]  # m_c = dᵀ j_c of (15), and dᵀ j_t of (20)
    drift = [rate for k, end in enumerate(ends) for rate in _drift(tree, points, k, end, q, v)]  # (23)
    free = [dot(row, push) + rate for row, rate in zip(d, drift, strict=True)]  # −(a − dᵀτ) of (19), (22)

    def accelerations(forces: Scalars) -> list[Scalar]:
        b_n = [-dot((j[i] for j in gradients), forces) for i in range(tree.nv)]
        return solve_symmetric(M, [p - b for p, b in zip(push, b_n, strict=True)])  # (37)

    return HeldSystem(ends, Lambda, free, accelerations)


def _drift(tree: Tree, points: HeldPoints, k: int, end: HeldEnd, q: Scalars, v: Scalars) -> list[Scalar]:
    """The velocity-dependent accelerations along n, e₁, e₂: d(∂C/∂r)/dt J q̇ + ∂C/∂r J̇ q̇ of (23), J̇ by (31)."""
    point = points.points[k]
    place = tree.places[point.body]
    tip = Place(place.link, place.pose @ Transform(translation=Vector3.of(point.point)))
    linear = jacobian_rate(tree, q, v, tip)[3:]
    swing = Vector3.of([dot(row, v) for row in linear])
    bending = points.surfaces[k].at(end.r, end.rate).bending
    n, e_1, e_2 = end.axes
    return [n.dot(swing) + bending, e_1.dot(swing), e_2.dot(swing)]
