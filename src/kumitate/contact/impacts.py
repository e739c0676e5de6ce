"""A step's contact, from states to velocities: what `simulate` calls between the dynamics and the change of q."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import InputError
from ..model import Mechanism
from ..model.traversal import rolled_runs
from ..scalar import Program, select, trace
from .columns import columns
from .limbs import Limbs
from .meetings import meetings
from .problem import Impulses, Problem, inertia, loop_equations
from .scene import Contact, contact_pairs

__all__ = ["impact_program"]

Scalar = Any


def impact_program(mechanism: Mechanism, contact: Contact, solve: Callable[[Problem], Impulses]) -> Program:
    """(h, q, v, v_free) → velocities after the step, the work of contact, whether anything touches, the residual [m/s]; and of
    every point its impulse on A [N·s], position [m], normal, gap [m], velocity [m/s], all in the world's axes, and friction.

    v_free: the velocities after a step h without contact, implicit in the joints' damping.

    Raises:
        InputError: for chains that are rolled up, from 100 links on.
    """
    tree = mechanism.lean_tree
    if rolled_runs(tree):
        raise InputError(
            f"{mechanism.name}: its chains of like links are so long ({len(tree.links)} links) that they become loops of code, "
            "which models that change velocities cannot follow; take contact='penalty'"
        )
    pairs = contact_pairs(mechanism, tree, contact)

    def impact(h: Scalar, q: Any, v: Any, v_free: Any) -> dict[str, Any]:
        jacobians = columns(tree, q)
        limbs = Limbs.of(jacobians, inertia(tree, q, v, h))
        met = meetings(limbs, pairs, v, v_free, h, mechanism)
        given = Problem.of(limbs, met, loop_equations(tree, q, v_free, h, limbs.M), v_free)
        found = solve(given)
        points = [point for meeting in met for point in meeting.points]
        impulses = [impulse for meeting in found.points for impulse in meeting]
        twists = jacobians.twists(found.v)
        reached = [spot.force(spot.along(meeting.twist(jacobians, twists))) for meeting in met for spot in meeting.spots]
        pushed: Scalar = 0.0
        for of_points in found.points:
            for impulse in of_points:
                pushed = pushed + impulse[0]
        return {
            "v": found.v,
            "work": given.work(found),
            "touching": select(pushed > 0.0, 1.0, 0.0),
            "gained": given.gained(found),
            "impulses": [list(point.spot.force(impulse)) for point, impulse in zip(points, impulses, strict=True)],
            "positions": [list(point.touch.point) for point in points],
            "normals": [list(point.touch.normal) for point in points],
            "gaps": [point.touch.gap for point in points],
            "velocities": [list(u) for u in reached],
            "frictions": [point.spot.friction for point in points],
            "residual": given.residual(found, [[point.target for point in meeting.points] for meeting in met]),
        }

    nv = mechanism.nv
    return trace(impact, {"h": (), "q": mechanism.nq, "v": nv, "v_free": nv}, f"impact_{mechanism.name}")
