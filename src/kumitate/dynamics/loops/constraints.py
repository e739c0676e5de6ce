"""The constraint equations of chords and gears, a row per constrained direction, and their Jacobian by statics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...kinematics import chord_closing, gear_errors
from ...model import Chord, Closing, Link, PerLink, Place, Tree, inward, outward
from ...scalar import Scalar, Scalars, absolute, is_zero, maximum
from ...spatial import Dense, Force, Motion, NearestSolver, Release, Vector3, centripetal
from ..aba import Handle
from ..motion import LinkMotion, acceleration
from .chord_forces import chord_inertia, ends


@dataclass(frozen=True)
class Row:
    """Σ on·A + Σ along·v̇ + bias = −softness·λ: the equation that determines the force λ of this row.

    Attributes:
        on: the row's unit force on links, by index (−1: the world), in their frames and about their origins.
        along: the unit force on joints, by index in v.
        bias: the part of the row's acceleration that velocities cause; `rate`, `error`: its velocity and position.
        softness: the compliance of the row to its own force; zero if rigid.
        angular: whether the row's force is a moment; `holonomic`: whether it restricts positions, not velocities alone.
        owner: name of the chord or gear; `unit`: the row's unit force on a chord's follower, in the axes of its frame M.
    """

    on: Mapping[int, Force]
    along: Mapping[int, Scalar]
    bias: Scalar
    rate: Scalar
    error: Scalar
    softness: Scalar = 0.0
    angular: bool = False
    owner: str = ""
    unit: Force = field(default_factory=Force)
    holonomic: bool = True


def chord_closings(tree: Tree, q: Scalars, v: Scalars) -> list[Closing]:
    """The `Closing` of every chord: its motion and force subspaces, error and velocity at this state."""
    return [chord_closing(tree, q, v, chord) for chord in tree.chords]


def constraint_rows(
    tree: Tree, closings: Sequence[Closing], q: Scalars, v: Scalars, motions: PerLink[LinkMotion], *,
    implicit_step: Scalar = 0.0, resisting: Mapping[str, Scalars] | None = None,
) -> list[Row]:  # fmt: skip
    """The rows of all chords and gears. Armature and implicit damping along a chord's degrees of freedom give soft rows.

    `resisting`: inertia that drives add along them in such a step, by the chord's name.
    """
    rows: list[Row] = []
    for chord, closing in zip(tree.chords, closings, strict=True):
        rigid, free = chord_rows(tree, motions, chord, closing)
        rows += rigid
        drives = (resisting or {}).get(chord.name, ())
        for row, inertia in zip(free, chord_inertia(tree, chord, closing, implicit_step, drives), strict=True):
            if not is_zero(inertia):
                rows.append(replace(row, softness=1.0 / inertia))
    for gear, (error, rate) in zip(tree.gears, gear_errors(tree, q, v), strict=True):
        rows.append(Row({}, dict(gear.v_ratios), 0.0, rate, error, 0.0, True, gear.name))
    return rows


def largest_gap(tree: Tree, rows: Sequence[Row]) -> tuple[Scalar, Scalar]:
    """The largest error of any row [m] and the largest rate [m/s]; angles count times the mechanism's size."""
    error: Scalar = 0.0
    rate: Scalar = 0.0
    for row in rows:
        length = tree.size if row.angular else 1.0
        error, rate = maximum(error, absolute(row.error) * length), maximum(rate, absolute(row.rate) * length)
    return error, rate


def chord_rows(tree: Tree, motions: PerLink[LinkMotion], chord: Chord, closing: Closing) -> tuple[list[Row], list[Row]]:
    """The constraint rows of a chord, and the rows along its degrees of freedom, which are free and have no error."""
    bias = velocity_terms(tree, motions, chord, closing)

    def row(T: Force, rate: Scalar, error: Scalar, holonomic: bool = True) -> Row:
        moment = all(is_zero(part) for part in T.force)
        return Row(ends(chord, closing, T), {}, bias.dot(T), rate, error, 0.0, moment, chord.name, T, holonomic)

    rigid = [row(T, closing.twist.dot(T), closing.error.dot(T)) for T in closing.constraint[: chord.closure.holonomic_rows]]
    rigid += [row(T, closing.twist.dot(T), 0.0, False) for T in closing.constraint[chord.closure.holonomic_rows :]]
    return rigid, [row(T, 0.0, 0.0) for T in closing.active]


def velocity_terms(tree: Tree, motions: PerLink[LinkMotion], chord: Chord, closing: Closing) -> Motion:
    """The velocity-dependent part of M's acceleration in F, without the closure's own bias; A contains that of the links."""
    at_base = chord.base.pose @ closing.pose
    omega_F, swing_F = _turning(tree, motions, Place(chord.base.link, at_base))
    omega_M, swing_M = _turning(tree, motions, chord.follower)
    omega, v = closing.velocity.angular, closing.velocity.linear
    angular = omega_F.cross(omega) * -1.0  # the relative velocity's components turn with M
    linear = swing_M - swing_F - (omega_F + omega_M).cross(v)
    return Motion(angular, linear) - closing.bias


def _turning(tree: Tree, motions: PerLink[LinkMotion], place: Place) -> tuple[Vector3, Vector3]:
    """ω of a place's link, and the acceleration ω × (ω × r) of the place relative to its link's origin, in the place's axes."""
    if place.link < 0:
        return Vector3(), Vector3()
    omega, X = motions[tree.links[place.link]].omega, place.pose
    return X.rotation.unrotate(omega), X.rotation.unrotate(centripetal(omega, X.translation))


Carried = tuple[dict[int, Force], dict[int, Force]]


def carried_forces(tree: Tree, motions: PerLink[LinkMotion], rows: Sequence[Row]) -> PerLink[Carried]:
    """For each link, two dictionaries by row number: unit forces of the rows whose ends lie on different sides of its joint.

    The first in the link's frame and about its origin, the second in the parent's.
    """

    def carry(link: Link, children: list[Carried]) -> Carried:
        felt = {k: row.on[link.index] for k, row in enumerate(rows) if link.index in row.on}
        for _, from_child in children:
            for k, force in from_child.items():
                felt[k] = felt[k] + force if k in felt else force
        return felt, {k: force.to_parent(motions[link].X_PL) for k, force in felt.items()}

    return inward(tree, carry)


def row_drifts(tree: Tree, motions: PerLink[LinkMotion], rows: Sequence[Row]) -> list[Scalar]:
    """J̇v (rows): the accelerations of rows due to velocities alone."""
    still = [0.0] * tree.nv
    coasting = outward(tree, lambda link, A: acceleration(motions[link], A, link.velocities(still)), Motion())

    def at(index: int) -> Motion:
        return coasting[tree.links[index]] if index >= 0 else Motion()

    return [sum((at(index).dot(force) for index, force in row.on.items()), row.bias) for row in rows]


def loop_jacobian(tree: Tree, motions: PerLink[LinkMotion], rows: Sequence[Row]) -> list[list[Scalar]]:
    """J (rows, nv): J v are the rates of the rows, and Jᵀλ are the generalised forces of their forces λ."""
    J: list[list[Scalar]] = [[0.0] * tree.nv for _ in rows]
    for k, row in enumerate(rows):
        for i, ratio in row.along.items():
            J[k][i] = ratio
    carried = carried_forces(tree, motions, rows)
    for link in tree.links:
        for k, force in carried[link][0].items():
            for i, S in enumerate(motions[link].S):
                J[k][link.v_start + i] = J[k][link.v_start + i] + S.dot(force)
    return J


# --- the forces of the rows -----------------------------------------------------------------------------------------------
# Λ = J M⁻¹ Jᵀ may be singular: loops may be redundant, and in a singular posture they lose rank. The damped
# solve then leaves forces in the null space of Λ unchanged, and needs no branches in the code.
#
# The effect of the loops' rows on the joints of the tree.
#
# Every row is propagated inwards through the articulated bodies of ABA. This computes L⁻¹Jᵀ of M = L D Lᵀ, and hence Λ = J M⁻¹
# Jᵀ and the rows' free accelerations, without forming J or M.


@dataclass(frozen=True)
class RowResponse:
    """The effect of a row's unit force on the joints between it and the world.

    Attributes:
        push: w, the force along each of these joints, by index in v, with every joint further in locked (a row of L⁻¹Jᵀ).
        mobility: D⁻¹ of these joints.
        free: the row's acceleration with all rows' forces zero.
    """

    push: dict[int, Scalar]
    mobility: dict[int, Scalar]
    free: Scalar


def propagate_rows(
    tree: Tree, motions: PerLink[LinkMotion], handles: PerLink[Handle], rows: Sequence[Row], root: Motion
) -> list[RowResponse]:
    """Propagates every row inwards; `root` is the acceleration of the world."""
    found = [RowResponse({}, {}, row.bias) for row in rows]
    free = [row.bias for row in rows]

    def carry(link: Link, children: list[dict[int, Force]]) -> dict[int, Force]:
        motion, handle = motions[link], handles[link]
        felt: dict[int, Force] = {}
        for k, row in enumerate(rows):
            own = [row.on[link.index]] if link.index in row.on else []
            forces = own + [child[k] for child in children if k in child]
            along = [row.along.get(link.v_start + i, 0.0) for i in range(len(motion.S))]
            if not forces and not any(along):
                continue
            force = sum(forces[1:], forces[0]) if forces else Force()
            for i, (S, release) in enumerate(zip(motion.S, handle.releases, strict=True)):
                push = S.dot(force) + along[i]
                found[k].push[link.v_start + i], found[k].mobility[link.v_start + i] = push, release.mobility
                free[k] = free[k] + push * release.free
                force = force - release.gain * push
            free[k] = free[k] + motion.bias.dot(force)
            felt[k] = force.to_parent(motion.X_PL)
        return felt

    carried = inward(tree, carry)
    for k, row in enumerate(rows):
        at_world = [row.on[-1]] if -1 in row.on else []
        at_world += [carried[link][k] for link in tree.children(-1) if k in carried[link]]
        for force in at_world:
            free[k] = free[k] + root.dot(force)
    return [replace(reach, free=acceleration) for reach, acceleration in zip(found, free, strict=True)]


def with_forces(
    handles: PerLink[Handle], reached: Sequence[RowResponse], forces: Scalars, *, alone: bool = False
) -> Callable[[Link], list[Release]]:
    """The releases of every link's joint, with the rows' forces included; with `alone`, with nothing else acting."""

    def released(link: Link) -> list[Release]:
        releases = []
        for i, release in enumerate(handles[link].releases):
            k = link.v_start + i
            push = sum((reach.push[k] * force for reach, force in zip(reached, forces, strict=True) if k in reach.push), 0.0)
            releases.append(replace(release, free=(0.0 if alone else release.free) + release.mobility * push))
        return releases

    return released


#: Damping of Λ, relative to the inverse of the mechanism's total mass (or of mass times length squared). Among 1e-5 … 1e-10
#: this passes singular postures most accurately: less lets rounding in the null space through, more resolves too little.
DAMPING = 1e-6


def mobilities(reached: Sequence[RowResponse]) -> list[list[Scalar]]:
    """Λ = J M⁻¹ Jᵀ (rows, rows): the accelerations of all rows per unit force of each."""
    Lambda: list[list[Scalar]] = [[0.0] * len(reached) for _ in reached]
    for i, a in enumerate(reached):
        for j, b in enumerate(reached[: i + 1]):
            common = [a.push[k] * (a.mobility[k] * b.push[k]) for k in a.push if k in b.push]
            Lambda[i][j] = Lambda[j][i] = sum(common, 0.0)
    return Lambda


def row_solver(
    tree: Tree,
    rows: Sequence[Row],
    Lambda: Sequence[Scalars],
    metric: Sequence[Scalars] | None = None,
    *,
    damping: float = DAMPING,
) -> NearestSolver:
    """Solves (Λ + softness) λ = wanted for the forces λ nearest to a start where Λ does not determine them.

    Args:
        metric: (rows, rows), the metric of "nearest"; by default that of forces, and of moments over the mechanism's size.
        damping: of Λ, as `DAMPING`.
    """
    soft = [list(line) for line in Lambda]
    for i, row in enumerate(rows):
        soft[i][i] = soft[i][i] + row.softness
    if metric is None:
        metric = Dense.diagonal([tree.size**-2 if row.angular else 1.0 for row in rows]).rows
    return NearestSolver(soft, [[damping / tree.mass * entry for entry in line] for line in metric])


def solved_rows(
    tree: Tree, rows: Sequence[Row], Lambda: Sequence[Scalars], wanted: Scalars, *, damping: float = DAMPING
) -> list[Scalar]:
    """The forces λ of (Λ + softness) λ = wanted, the smallest where Λ does not determine them; damping as for `row_solver`."""
    return row_solver(tree, rows, Lambda, damping=damping).solve(wanted)
