"""Forward dynamics by Lagrange's equations, from the energies only, O(n³) (thesis 4.2.1)."""

from __future__ import annotations

from ..dynamics import Acting, chord_closings, passive_force, solve_symmetric
from ..dynamics.loops.chord_forces import with_chord_drives
from ..dynamics.loops.schur import with_rows
from ..errors import InputError
from ..kinematics import rate
from ..model import Link, Tree
from ..scalar import Program, Scalar, Scalars, directional, gradient, inlined, is_zero, trace
from ..spatial import dot
from .derivatives import EnergyDerivatives, applied_power, energy_derivatives

#: A longer chain is traced as loops, which do not have a gradient; and O(n³) would be too slow for it.
MOST_LINKS = 64


def lagrange(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> list[Scalar]:
    """The joint accelerations v̇ (nv) from T(q, v) and U(q) by exact derivatives; arguments as for `aba_with_loops`.

    Chords and gears enter by Lagrange multipliers: M v̇ + c + g = tau + Jᵀ λ with J v̇ = −J̇v.

    Raises:
        InputError: for more than `MOST_LINKS` links.
    """
    check_size(tree)
    acting.at_an_instant("lagrange")
    derivatives = energy_derivatives(tree)
    if not tree.closed:
        return solve_symmetric(*joint_equations(derivatives, tree, q, v, tau, acting))
    closings = chord_closings(tree, q, v)
    M, push = joint_equations(derivatives, tree, q, v, tau, with_chord_drives(tree, closings, acting))
    return with_rows(tree, q, v, closings, M, push).solved(tree)


def check_size(tree: Tree) -> None:
    """Refuses a tree of more than `MOST_LINKS` links.

    Raises:
        InputError: naming the method to take.
    """
    if len(tree.links) > MOST_LINKS:
        raise InputError(
            f"lagrange: the tree has {len(tree.links)} links; at most {MOST_LINKS} are supported. Use aba, which is O(n)"
        )


def joint_equations(
    derivatives: EnergyDerivatives,
    tree: Tree,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    acting: Acting,
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """M (nv, nv) and push (nv) of M v̇ = push, for the tree without its chords and gears.

    M v̇ + c + g = tau − damping and friction + external forces, with M = ∂²T/∂v². Velocities need not be rates of coordinates:
    with q̇ = E(q) v, column by column E_j, these are the equations of Boltzmann and Hamel in quasi-velocities,

        d/dt ∂T/∂v_j − Σ_r γ_jr ∂T/∂v_r − E_j·∂(T − U)/∂q = tau_j,    E γ_j = Ė_j − (∂(E v)/∂q) E_j.

    γ is zero where v = q̇; for quaternions it gives Euler's equations.
    """
    q, n = [q[k] for k in range(tree.nq)], tree.nv
    units = [[float(i == j) for i in range(n)] for j in range(n)]
    M = [derivatives.momentum(q, unit) for unit in units]  # T is quadratic in v: M e_j is the momentum of unit velocity
    for k, armature in enumerate(a for link in tree.links for a in link.armature):
        # ½ armature·v² of a rotor, which does not rotate with the link and does not enter γ
        M[k][k] = M[k][k] + armature
    return M, generalised_push(derivatives, tree, q, v, tau, acting)


def generalised_push(
    derivatives: EnergyDerivatives,
    tree: Tree,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    acting: Acting,
) -> list[Scalar]:
    """The push (nv) of `joint_equations`."""
    q, v, n = [q[k] for k in range(tree.nq)], [v[k] for k in range(tree.nv)], tree.nv
    qdot, E = rate(tree, q, v), [rate(tree, q, [float(i == j) for i in range(n)]) for j in range(n)]
    p, pdot = derivatives.momentum_rate(q, v, qdot)
    slope = derivatives.slope(q, v, acting.gravity)
    bias = [rise + dot(column, slope) for rise, column in zip(pdot, E, strict=True)]
    for link in tree.links:
        for k, turned in enumerate(_turning(link, q, v)):
            bias[link.v_start + k] = bias[link.v_start + k] - dot(turned, link.velocities(p))
    driven = [t - f for t, f in zip(tau, _passive(tree, v), strict=True)]
    if acting.wrenches is not None:
        forces = [part for link in tree.links for part in acting.on(link, q)]
        sizes: dict[str, int | tuple[int, ...]] = {"q": tree.nq, "v": n, "forces": (len(tree.links), 6)}
        power = trace(lambda q, v, forces: applied_power(tree, q, v, forces), sizes, "power")
        driven = [t + f for t, f in zip(driven, inlined(gradient(power, "v"), (q, v, forces)), strict=True)]
    return [t - h for t, h in zip(driven, bias, strict=True)]


def _turning(link: Link, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    """γ_j of a joint's velocities: how the variation of v differs from the rate of the variation of quasi-coordinates."""
    x, own, n = link.coordinates(q), link.velocities(v), link.kind.nv
    moving: Program = directional(trace(link.kind.rate, {"x": link.kind.nq, "v": n}, "rate"))
    units = [[float(i == j) for i in range(n)] for j in range(n)]
    still: list[Scalar] = [0.0] * n

    def along(velocity: Scalars, shift: Scalars) -> list[Scalar]:
        both = inlined(moving, (x, velocity, shift, still))
        return both[len(both) // 2 :]

    columns, xdot = [link.kind.rate(x, unit) for unit in units], link.kind.rate(x, own)
    apart = [
        [a - b for a, b in zip(along(unit, xdot), along(own, column), strict=True)]
        for unit, column in zip(units, columns, strict=True)
    ]
    if all(is_zero(part) for row in apart for part in row):
        return [still] * n
    square = [[dot(a, b) for b in columns] for a in columns]  # EᵀE: E has more rows than columns
    return [solve_symmetric(square, [dot(column, part) for column in columns]) for part in apart]


def _passive(tree: Tree, v: Scalars) -> list[Scalar]:
    return [force for link in tree.links for force in passive_force(link, link.velocities(v))]
