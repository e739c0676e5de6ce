"""Forward dynamics at the start of a step that also closes the loops, by one linearised projection with the same factors.

A step leaves a small gap e in the loops, and a small rate ė. The next one begins with the Newton step J δq = −e and with the
impulse J δv = −ė, both the smallest in the metric of the mass matrix, M⁻¹Jᵀλ. J, M and Λ = J M⁻¹ Jᵀ are those that the
accelerations need at that state, so that closing costs two solves more, and not a factorisation of its own. Farther from
closed, `projected` finds the smallest change in that metric that satisfies the constraints.

Joints that follow prescribed motions are not released in the articulated-body algorithm, which then gives the accelerations
of all others; the effort follows from the force on the articulated body that the joint carries (Featherstone 2008, section
9.2: hybrid dynamics).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from ...kinematics import integrate
from ...model import PerLink, Tree, outward
from ...scalar import Scalar, Scalars, absolute, is_zero, maximum
from ..aba import Handle, accelerations, articulated
from ..acting import Acting
from ..motion import LinkMotion, acceleration, falling, link_motions
from ..passive import driving_force
from .articulated_loops import ArticulatedLoops, articulated_loops, with_rows_through
from .constraints import Row, chord_closings, constraint_rows, largest_gap


class Moving(NamedTuple):
    """Coordinates, velocities, accelerations and efforts of all joints."""

    q: Scalars
    v: Scalars
    vdot: Scalars
    tau: Scalars


def prescribed_dynamics(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> tuple[list[Scalar], list[Scalar]]:
    """v̇ (nv), and the efforts of the joints in `acting.prescribed`, in its order, in addition to those in tau [N·m or N].

    Arguments as for `aba_with_loops`.
    """
    if tree.closed:
        loops, decay = articulated_loops(tree, q, v, tau, acting), acting.baumgarte
        wanted = [-decay * (2.0 * row.rate + decay * row.error) for row in loops.rows]
        vdot = loops.accelerations(wanted)
        return vdot, efforts_in_loops(loops, wanted, Moving(q, v, vdot, tau), acting)
    motions = link_motions(tree, q, v)
    handles = articulated(tree, motions, q, v, tau, acting)
    moved = accelerations(tree, motions, lambda link: handles[link].releases, acting.gravity)
    vdot = [rate for link in tree.links for rate in moved[link][1]]
    return vdot, efforts_of_motion(tree, motions, handles, {}, Moving(q, v, vdot, tau), acting)


def efforts_in_loops(loops: ArticulatedLoops, wanted: Scalars, moving: Moving, acting: Acting) -> list[Scalar]:
    """As `efforts_of_motion`, while the loops' rows have the accelerations `wanted`."""
    if not acting.prescribed:
        return []
    pushes: dict[int, Scalar] = {}  # of the rows on each joint, with every joint further in locked
    for reach, force in zip(loops.reached, loops.forces(wanted), strict=True):
        for k, push in reach.push.items():
            pushes[k] = pushes.get(k, 0.0) + push * force
    return efforts_of_motion(loops.tree, loops.motions, loops.handles, pushes, moving, acting)


def efforts_of_motion(
    tree: Tree, motions: PerLink[LinkMotion], handles: PerLink[Handle], pushes: Mapping[int, Scalar], moving: Moving,
    acting: Acting,
) -> list[Scalar]:  # fmt: skip
    """The efforts of the joints in `acting.prescribed` while all joints move like this.

    `pushes`: of the loops' rows on joints, by index in v.
    """
    q, v, vdot, tau = moving
    A = outward(tree, lambda link, P: acceleration(motions[link], P, link.velocities(vdot)), falling(acting.gravity))
    found = {}
    for link in tree.links:
        k = link.v_start
        if k not in acting.prescribed:
            continue
        ((S,), (armature,)) = motions[link].S, link.armature
        (given,) = driving_force(link, link.velocities(tau), link.coordinates(q), link.velocities(v))
        carried = S.dot(handles[link].whole.force(A[link])) + armature * vdot[k]
        found[k] = carried - given - pushes.get(k, 0.0)
    return [found[k] for k in acting.prescribed]


# --- steps that close loops -----------------------------------------------------------------------------------------------
def projected(
    tree: Tree,
    q: Scalars,
    v: Scalars,
    *,
    velocities_only: bool = False,
    fixed: Collection[int] = (),
    more: Callable[[Scalars, Scalars], list[Row]] | None = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """q after one Newton step towards closed loops, and v without the part that opens them.

    Both changes are M⁻¹Jᵀλ, the effect of an impulse in the loops. Near closed loops the error converges quadratically.

    Args:
        q, v: coordinates (nq) and velocities (nv), with small loop errors.
        fixed: indices in v of joints of one degree of freedom that do not take part.
        velocities_only: whether to leave q unchanged.
        more: further constraint rows, at q and v.
    """

    def all_rows(q: Scalars) -> list[Row]:
        return [*_rows(tree, q, v), *(more(q, v) if more is not None else [])]

    if not velocities_only:
        rows = all_rows(q)
        q = integrate(tree, q, _response(tree, q, rows, [-row.error for row in rows], fixed))
    rows = all_rows(q)
    change = _response(tree, q, rows, [-row.rate for row in rows], fixed)
    return list(q), [rate + more for rate, more in zip(v, change, strict=True)]


def _rows(tree: Tree, q: Scalars, v: Scalars) -> list[Row]:
    return constraint_rows(tree, chord_closings(tree, q, v), q, v, link_motions(tree, q, v))


def _response(tree: Tree, q: Scalars, rows: Sequence[Row], wanted: Scalars, fixed: Collection[int]) -> list[Scalar]:
    """M⁻¹Jᵀλ with Λλ = wanted, at rest."""
    still, weightless = [0.0] * tree.nv, Acting((0.0, 0.0, 0.0), prescribed=dict.fromkeys(fixed, 0.0))
    motions = link_motions(tree, q, still)
    handles = articulated(tree, motions, q, still, still, weightless)
    return with_rows_through(tree, motions, handles, rows, weightless.gravity).response(wanted)


class ClosingStep(NamedTuple):
    """How a step begins.

    Attributes:
        acceleration: v̇ (nv); `move`: δq (nv), of the coordinates; `change`: δv (nv).
        gap: the largest error of a loop before, angles times the mechanism's size [m].
        shares: of the damping in the pivot of every rigid row of the loops; at an angle δ from a singular posture they are as
            1/δ².
        paces: of these rows, the largest rate of the joints in their loops [1/s], that of sliding ones over the size.
        efforts: of the joints in `acting.prescribed`, in its order [N·m or N].
    """

    acceleration: list[Scalar]
    move: list[Scalar]
    change: list[Scalar]
    gap: Scalar
    shares: list[Scalar]
    paces: list[Scalar]
    efforts: list[Scalar]


def closing_step(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting, opening: Scalar = 0.0) -> ClosingStep:
    """v̇ of a tree with loops, and the changes of q and v that close them.

    Args:
        tree, q, v, tau, acting: as for `aba_with_loops`. With an implicit step h, v̇ contains δv/h, and the change is zero.
        opening: a step that moves along v opens the loops by this times J̇v [s²]; they are closed as much too far.
    """
    loops = articulated_loops(tree, q, v, tau, acting)
    gap, _ = largest_gap(tree, loops.rows)
    missing, against = _missing(loops, opening), [-row.rate for row in loops.rows]
    if is_zero(acting.implicit_step):
        wanted: list[Scalar] = [0.0] * len(against)
        acceleration, move, change = loops.accelerations_and_responses(wanted, missing, against)
    else:
        wanted, change = [rate / acting.implicit_step for rate in against], [0.0] * tree.nv
        acceleration, move = loops.accelerations_and_responses(wanted, missing)
    efforts = efforts_in_loops(loops, wanted, Moving(q, v, acceleration, tau), acting)
    rigid = [(row, share) for row, share in zip(loops.rows, loops.solver.shares, strict=True) if is_zero(row.softness)]
    shares, paces = [share for _, share in rigid], _paces(loops, [row for row, _ in rigid], v)
    return ClosingStep(acceleration, move, change, gap, shares, paces, efforts)


def _paces(loops: ArticulatedLoops, rows: Sequence[Row], v: Scalars) -> list[Scalar]:
    """The largest rate of the joints in the loop of each of these rows [1/s]."""
    tree, rates = loops.tree, [absolute(rate) for rate in v]
    for link in tree.links:
        for k, S in enumerate(loops.motions[link].S, link.v_start):
            if all(is_zero(part) for part in S.angular):
                rates[k] = rates[k] / tree.size

    def pace(row: Row) -> Scalar:
        sides = [{link.index for link in tree.ancestors(end)} for end in row.on]
        between = set.union(*sides) - set.intersection(*sides) if sides else set()
        moving = [rate for index in sorted(between) for rate in tree.links[index].velocities(rates)]
        return reduce(maximum, [*moving, *(rates[k] for k in row.along)], 0.0)

    return [pace(row) for row in rows]


def _missing(loops: ArticulatedLoops, opening: Scalar) -> list[Scalar]:
    """J δq (rows): against the errors, and against those that this step will make; nothing along soft rows and those
    of velocities alone."""
    if is_zero(opening):
        return [-row.error for row in loops.rows]
    return [
        opening * drift - row.error if is_zero(row.softness) and row.holonomic else 0.0
        for row, drift in zip(loops.rows, loops.drift(), strict=True)
    ]
