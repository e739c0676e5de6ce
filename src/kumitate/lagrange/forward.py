"""Forward dynamics by Lagrange's equations, from the energies only, O(n³) (thesis 4.2.1).

The masses of a base-parameter tree may be zero where its first moments are not, so there may not be a center of mass. Programs
are inlined, evaluated over numbers or symbols of another trace, where known values simplify them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..dynamics import Acting, chord_closings, link_motions, passive_force, solve_symmetric
from ..dynamics.acting import LinkForces
from ..dynamics.loops.chord_forces import with_chord_drives
from ..dynamics.loops.schur import with_rows
from ..dynamics.loops.wrenches import LoopLoads, LoopWrenches, least_wrenches
from ..errors import InputError
from ..kinematics import link_poses, link_twists, rate
from ..model import KINDS, Link, Tree
from ..scalar import Program, Scalar, Scalars, directional, gradient, inlined, is_zero, trace
from ..spatial import Force, dot


def tree_kinetic(tree: Tree, q: Scalars, v: Scalars) -> Scalar:
    """T = ½ Σ V·I V of the links [J], without the armatures of the drives."""
    twists = link_twists(tree, q, v)
    return 0.5 * sum((twists[link].dot(link.inertia.times(twists[link])) for link in tree.links), 0.0)


def tree_potential(tree: Tree, q: Scalars, gravity: Scalars) -> Scalar:
    """U = −Σ g·(m p + R h) of the links' masses m, origins p and first moments h, and ½ k (q − rest)² of springs [J]."""
    poses = link_poses(tree, q)
    energy: Scalar = 0.0
    for link in tree.links:
        place = poses[link].rotation.rotate(link.inertia.first_moment) + poses[link].translation * link.inertia.mass
        energy = energy - sum((g * x for g, x in zip(gravity, place, strict=True)), 0.0)
        if all(is_zero(stiffness) for stiffness in link.stiffness):
            continue  # joints with quaternions do not have springs
        for stiffness, rest, x in zip(link.stiffness, link.rest, link.coordinates(q), strict=True):
            energy = energy + 0.5 * stiffness * (x - rest) * (x - rest)
    return energy


def applied_power(tree: Tree, q: Scalars, v: Scalars, forces: Sequence[Scalars]) -> Scalar:
    """The power [W] of a force [n; f] on each link, in the link's frame and about its origin: linear in v."""
    twists = link_twists(tree, q, v)
    power: Scalar = 0.0
    for link, force in zip(tree.links, forces, strict=True):
        power = power + sum((x * f for x, f in zip(twists[link], force, strict=True)), 0.0)
    return power


@dataclass(frozen=True)
class EnergyDerivatives:
    """Programs of the exact derivatives of T(q, v) and U(q), taken on their graphs; each is called with the state.

    Attributes:
        kinetic: ∂T/∂v = M v; rising: its rate along (q̇, v̇); leaning: ∂T/∂q; potential: ∂U/∂q.
        numbers: their further inputs: the mechanism's constants, if these are not built in.
    """

    kinetic: Program
    rising: Program
    leaning: Program
    potential: Program
    numbers: tuple[Scalar, ...] = ()

    def momentum(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """∂T/∂v (nv); for a unit vector v it is a column of M, as T is quadratic in v."""
        return inlined(self.kinetic, (q, v, *self._given))

    def momentum_rate(self, q: Scalars, v: Scalars, qdot: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """∂T/∂v (nv), and its rate at v̇ = 0."""
        along = [[0.0] * len(given) for given in self._given]
        both = inlined(self.rising, (q, v, *self._given, qdot, [0.0] * len(v), *along))
        return both[: len(v)], both[len(v) :]

    def slope(self, q: Scalars, v: Scalars, gravity: Scalars) -> list[Scalar]:
        """∂(U − T)/∂q (nq)."""
        of_U, of_T = inlined(self.potential, (q, gravity, *self._given)), inlined(self.leaning, (q, v, *self._given))
        return [u - t for u, t in zip(of_U, of_T, strict=True)]

    @property
    def _given(self) -> list[list[Scalar]]:
        return [list(self.numbers)] if self.numbers else []


def energy_derivatives(tree: Tree, made: Callable[[Scalars], Tree] | None = None, count: int = 0) -> EnergyDerivatives:
    """The derivatives of a tree's energies.

    `made` makes a similar tree from `count` constants, which are then given at every call, as `numbers`; without it the
    constants are those of the tree.
    """
    known = made is None
    more: dict[str, int | tuple[int, ...]] = {} if known else {"numbers": count}
    sizes: dict[str, int | tuple[int, ...]] = {"q": tree.nq, "v": tree.nv, **more}

    def own(numbers: Sequence[Scalars]) -> Tree:
        return tree if made is None else made(numbers[0])

    kinetic = trace(lambda q, v, *numbers: tree_kinetic(own(numbers), q, v), sizes, "kinetic")
    of_place = {"q": tree.nq, "gravity": 3, **more}
    potential = trace(lambda q, g, *numbers: tree_potential(own(numbers), q, g), of_place, "potential")
    momentum = gradient(kinetic, "v")
    return EnergyDerivatives(momentum, directional(momentum), gradient(kinetic, "q"), gradient(potential, "q"))


# --- forward dynamics -----------------------------------------------------------------------------------------------------
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
    """Refuses a tree of more than `MOST_LINKS` links."""
    if len(tree.links) > MOST_LINKS:
        raise InputError(
            f"lagrange: the tree has {len(tree.links)} links; at most {MOST_LINKS} are supported. Use aba, which is O(n)"
        )


def joint_equations(
    derivatives: EnergyDerivatives, tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting
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
    derivatives: EnergyDerivatives, tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting
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
    resisted = [force for link in tree.links for force in passive_force(link, link.velocities(v))]
    driven = [t - f for t, f in zip(tau, resisted, strict=True)]
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
    pairs = ((along(unit, xdot), along(own, column)) for unit, column in zip(units, columns, strict=True))
    apart = [[a - b for a, b in zip(*pair, strict=True)] for pair in pairs]
    if all(is_zero(part) for row in apart for part in row):
        return [still] * n
    square = [[dot(a, b) for b in columns] for a in columns]  # EᵀE: E has more rows than columns
    return [solve_symmetric(square, [dot(column, part) for column in columns]) for part in apart]


# --- the force at every joint ---------------------------------------------------------------------------------------------
# Every joint is released: its link moves in its parent with six redundant coordinates, and the joint is a constraint on them.
# In
#
#     M' v̇' + c' + g' = F + Jᵀ λ,
#
# which follows from the energies of the released tree, F + Jᵀ λ along a link's six coordinates is the force that its joint
# transmits: all that acts there, the multipliers of the constraint and the efforts along its degrees of freedom. Loops are
# further constraints, whose multipliers the accelerations need anyway.


def joint_forces(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> LoopWrenches:
    """The force [n; f] of every joint on its link, and of every chord on its follower; arguments and errors as for `lagrange`.

    Components that redundant loops leave undetermined are least in the norm of `dynamics.loops.wrenches`. A tree of base
    parameters, in which joints transmit other forces, is refused.
    """
    tree.check_physical("joint_forces")
    check_size(tree)
    closings, motions = chord_closings(tree, q, v), link_motions(tree, q, v)
    pushed = with_chord_drives(tree, closings, acting.at_an_instant("joint_forces"))
    M, push = joint_equations(energy_derivatives(tree), tree, q, v, tau, pushed)
    if not tree.closed:
        needed = _released_forces(tree, q, v, solve_symmetric(M, push), pushed)
        return LoopWrenches(needed, [], [])
    system = with_rows(tree, q, v, closings, M, push)
    wanted = [-(a + b) for a, b in zip(system.drift, system.pull, strict=True)]
    needed = _released_forces(tree, q, v, system.solved(tree), pushed)
    return least_wrenches(tree, q, motions, closings, acting, LoopLoads(system.rows, system.Lambda, wanted, needed))


def _released_forces(tree: Tree, q: Scalars, v: Scalars, vdot: Scalars, acting: Acting) -> list[Force]:
    """The forces along the six coordinates of every link in its parent that make it move with v̇."""
    released, place, speed, rise = _released(tree), [], [], []
    for link in tree.links:
        own, rates = link.coordinates(q), link.velocities(v)
        S, turning = link.kind.subspace(own), link.kind.subspace_rate(own, rates)
        place += KINDS["floating"].locate(link.motion(q))
        for k in range(6):
            along = [column[k] for column in S]
            speed.append(dot(along, rates))
            rise.append(dot(along, link.velocities(vdot)) + dot([column[k] for column in turning], rates))
    by_link = {link.index: acting.on(link, q) for link in tree.links}
    derivatives, still = energy_derivatives(released), [0.0] * released.nv
    push = generalised_push(derivatives, released, place, speed, still, Acting(acting.gravity, LinkForces(by_link)))
    inertial = derivatives.momentum(place, rise)  # M' v̇', T being quadratic
    forces = [a - b for a, b in zip(inertial, push, strict=True)]
    return [Force.of(forces[6 * k : 6 * k + 6]) for k in range(len(tree.links))]


def _released(tree: Tree) -> Tree:
    """The tree with a free joint in place of each, and no loops."""
    free, none = KINDS["floating"], (0.0,) * 6

    def link(k: int, before: Link) -> Link:
        return replace(
            before, kind=free, q_start=free.nq * k, v_start=free.nv * k, armature=none, damping=none, friction=none,
            offset=0.0, stiffness=none, rest=none,
        )  # fmt: skip

    links = tuple(link(k, before) for k, before in enumerate(tree.links))
    return replace(tree, links=links, chords=(), gears=(), limbs=(), nq=free.nq * len(links), nv=free.nv * len(links))
