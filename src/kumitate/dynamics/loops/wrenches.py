"""The force at every joint of a mechanism with loops (row T-sing): exact where determined, else of least norm.

Redundant loops leave some forces undetermined, because internal stress does not change the motion. Among all forces λ of the
loops' rows that give the motion, the result minimizes Σ |f|² + |n|²/ℓ² over all movable joints of the tree and of the loops,
where ℓ is the mechanism's size (`Tree.size`) and half of |n|² is taken about each end of the joint. It does not depend on where
the loop is cut, how bodies are numbered or how the world is oriented.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...model import Closing, PerLink, Tree
from ...scalar import Scalar, Scalars, is_zero, sqrt
from ...spatial import DampedFactors, Force, Vector3, dot
from ..aba import accelerations, articulated
from ..acting import Acting
from ..motion import LinkMotion, falling, link_motions
from ..rnea import supports
from .chord_forces import chord_drive, with_chord_drives
from .constraints import (
    Row,
    carried_forces,
    chord_closings,
    constraint_rows,
    mobilities,
    propagate_rows,
    row_solver,
    solved_rows,
    with_forces,
)


@dataclass(frozen=True)
class JointForce:
    """The force of one joint as a function of the forces λ of the loops' rows: given + Σ units λ.

    Attributes:
        given: the part that does not depend on λ; `units`: by the row's number.
        to_base: from the reference point of both to the origin of the joint's other end, in their axes [m].
        counted: whether the norm counts this joint.
    """

    given: Force
    units: Mapping[int, Force]
    to_base: Vector3
    counted: bool = True

    def total(self, strengths: Scalars) -> Force:
        """The joint's force for given forces λ of the rows."""
        return sum((unit * strengths[k] for k, unit in self.units.items()), self.given)

    def measured(self, force: Force, length: float) -> list[Scalar]:
        """The components whose squares the norm sums: |f|² + |n|²/ℓ², half of n² about each end."""
        about_base = force.moment - self.to_base.cross(force.force)
        weight = sqrt(0.5) / length
        return [*(force.moment * weight), *(about_base * weight), *force.force]


def least_norm(joints: Sequence[JointForce], n: int, length: float) -> tuple[list[list[Scalar]], list[Scalar]]:
    """The metric (n, n) of Σ|force|² over joints as a function of the rows' forces λ, and the λ (n) that minimize the sum."""
    metric: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    pull: list[Scalar] = [0.0] * n
    for joint in joints:
        if joint.counted:
            units = {k: joint.measured(unit, length) for k, unit in joint.units.items()}
            given = joint.measured(joint.given, length)
            for i, a in units.items():
                pull[i] = pull[i] - dot(a, given)
                for j, b in units.items():
                    metric[i][j] = metric[i][j] + dot(a, b)
    for i in range(n):
        if is_zero(metric[i][i]):
            metric[i][i] = 1.0  # gears, and chords with both ends on one link, do not load a joint
    still = [[0.0] * n for _ in range(n)]
    return metric, DampedFactors(metric, still).solve(pull)


@dataclass(frozen=True)
class LoopWrenches:
    """The force [n; f] that each joint exerts on the link it carries, and each chord on its follower.

    Attributes:
        tree: one per link, in the link's frame and about its origin.
        chords: one per chord, in the axes of its frame M and about M's origin.
        gears: the strength λ of each gear: its forces at the joints are λ times the ratios.
    """

    tree: list[Force]
    chords: list[Force]
    gears: list[Scalar]


@dataclass(frozen=True)
class LoopLoads:
    """The forces of the loops, as far as the motion determines them.

    Attributes:
        rows: of the loops, with the forces λ; `Lambda` (rows, rows), `wanted` (rows): of Λ λ = wanted.
        needed: by link, the force [n; f] that its joint would exert on it if λ were zero.
    """

    rows: Sequence[Row]
    Lambda: Sequence[Scalars]
    wanted: Scalars
    needed: Sequence[Force]


def loop_wrenches(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> LoopWrenches:
    """All joint forces; arguments as for `aba_with_loops`, errors as for `joint_forces`."""
    tree.check_physical("loop_wrenches")
    motions, closings = link_motions(tree, q, v), chord_closings(tree, q, v)
    pushed = with_chord_drives(tree, closings, acting.at_an_instant("loop_wrenches"))
    rows = constraint_rows(tree, closings, q, v, motions)
    handles = articulated(tree, motions, q, v, tau, pushed)
    reached = propagate_rows(tree, motions, handles, rows, falling(acting.gravity))
    Lambda, wanted = mobilities(reached), [-reach.free for reach in reached]
    moved = accelerations(tree, motions, with_forces(handles, reached, solved_rows(tree, rows, Lambda, wanted)), acting.gravity)
    vdot = [rate for link in tree.links for rate in moved[link][1]]

    needed = supports(tree, motions, q, vdot, gravity=pushed.gravity, wrenches=pushed.wrenches)
    loads = LoopLoads(rows, Lambda, wanted, [needed[link][0] for link in tree.links])
    return least_wrenches(tree, q, motions, closings, acting, loads)


def least_wrenches(
    tree: Tree, q: Scalars, motions: PerLink[LinkMotion], closings: Sequence[Closing], acting: Acting, loads: LoopLoads
) -> LoopWrenches:
    """All joint forces of least norm under these loads; what acts has no part but by the drives of the chords."""
    rows = loads.rows
    # a joint of the tree carries the force that the motion requires minus that of the rows beyond it: W₀ − P λ
    carried = carried_forces(tree, motions, rows)
    joints = []
    for link, needed in zip(tree.links, loads.needed, strict=True):
        units = {k: force * -1.0 for k, force in carried[link][0].items()}
        joints.append(JointForce(needed, units, link.kind.transform(link.coordinates(q)).inverse().translation))
    own: dict[str, dict[int, Force]] = {}
    for k, row in enumerate(rows):
        own.setdefault(row.owner, {})[k] = row.unit
    for chord, closing in zip(tree.chords, closings, strict=True):
        units = own.get(chord.name, {})
        driven = chord_drive(chord, closing, acting.loop_tau)
        # a weld is not counted as a joint: its force follows from equilibrium
        joints.append(JointForce(driven, units, closing.pose.inverse().translation, counted=chord.closure.rows < 6))

    metric, start = least_norm(joints, len(rows), tree.size)
    # the null space itself matters here: more damping, and more sweeps to compensate; rounding in it grows as sweeps/damping
    strengths = row_solver(tree, rows, loads.Lambda, metric, damping=1e-5).solve(loads.wanted, start, sweeps=6)
    forces = [joint.total(strengths) for joint in joints]
    gears = strengths[len(strengths) - len(tree.gears) :]  # their rows are the last
    return LoopWrenches(forces[: len(tree.links)], forces[len(tree.links) :], gears)
