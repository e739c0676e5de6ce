"""The contact of a step, from states to velocities; `simulate` calls it between the dynamics and the update of q."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from ...errors import InputError
from ...model import Bound, Mechanism
from ...model.tree.traversal import rolled_runs
from ...scalar import Program, Scalar, either, select, trace, when
from ..scene import Contact, contact_pairs
from .branch_factors import BranchFactors
from .contact_points import ContactPatch, contact_patches
from .jacobians import LinkJacobians, link_jacobians
from .problem import Problem, Solved, inertia, loop_equations
from .stops import stops_at

__all__ = ["impact_program"]

#: Residuals are relative to the speeds of the points, or to this if all are slower: the speed after 1 ms of free fall [m/s].
RESTING = 0.01


def impact_program(
    mechanism: Mechanism, contact: Contact | None, solve: Callable[[Problem], Solved], bounds: Sequence[Bound] = ()
) -> Program:
    """(h, q, v, v_free) → velocities after the step, work of contact, whether anything touches, the residual [m/s]; and for
    every point its impulse on A [N·s], position [m], normal, gap [m], velocity [m/s], all in the world's axes, and friction.
    `missed` is the residual, and `unsolved` that at which the model's iteration stopped, relative to the points' speeds.

    Args:
        contact: of bodies; None for stops of joints alone.
        solve: the contact model; `bounds`: the limits of joints that are stops, for models that take them.

    v_free: the velocities after a step h without contact, implicit in the joints' damping. Where joints have drives, a further
    input "resisting" (nv) is what these add to the inertias in the step.

    Raises:
        InputError: for chains of 100 or more links that are compiled as loops.
    """
    tree = mechanism.base_parameter_tree
    if rolled_runs(tree):
        raise InputError(
            f"{mechanism.name}: its chains of similar links are so long ({len(tree.links)} links) that they are compiled as "
            "loops, which impulse-based contact models do not support. Use contact='penalty'"
        )
    pairs = [] if contact is None else contact_pairs(mechanism, tree, contact)

    def impact(h: Scalar, q: Any, v: Any, v_free: Any, resisting: Any = ()) -> dict[str, Any]:
        jacobians = link_jacobians(tree, q)
        met = contact_patches(jacobians, pairs, v, v_free, h, mechanism)

        def pushed() -> Any:
            branch_factors = BranchFactors.of(jacobians, inertia(tree, q, v, h, resisting))
            sized = [patch.sized(branch_factors) for patch in met]
            stops = stops_at(bounds, q, v, v_free, h, branch_factors.factors)
            given = Problem.of(branch_factors, sized, loop_equations(tree, q, v_free, h, branch_factors.M), v_free, stops)
            solved = solve(given)
            found = solved.impulses
            targets = [[point.target for point in patch.points] for patch in met]
            residual, per_speed = given.residual(found, targets), 1.0 / (given.fastest + RESTING)
            judged = residual, residual * per_speed, solved.left * per_speed
            return found.points, found.stops, found.v, given.work(found), given.gained(found), judged

        nothing = [[[0.0, 0.0, 0.0] for _ in patch.points] for patch in met]
        reached = [bound.gap(q) + h * bound.sign * v_free[bound.v] < 0.0 for bound in bounds]
        near = reduce(either, (*(patch.near for patch in met), *reached))
        nobody = (nothing, [0.0 for _ in bounds], list(v_free), 0.0, 0.0, (0.0, 0.0, 0.0))
        found, stopped, v_after, work, gained, (residual, missed, unsolved) = when(near, pushed, nobody)
        impulses = [impulse for of_points in found for impulse in of_points]
        result: dict[str, Any] = {
            "v": v_after,
            "work": work,
            # NaN counts as touching: a failed solve must not be hidden by a step without contact
            "touching": select(sum((*(impulse[0] for impulse in impulses), *stopped), 0.0) <= 0.0, 0.0, 1.0),
            "gained": gained,
            "residual": residual,
            "missed": missed,
            "unsolved": unsolved,
        }
        return result | (_of_points(jacobians, met, impulses, v_after) if met else {})

    nv = mechanism.nv
    drives = {"resisting": nv} if mechanism.driven else {}
    return trace(impact, {"h": (), "q": mechanism.nq, "v": nv, "v_free": nv, **drives}, f"impact_{mechanism.name}")


def _of_points(
    jacobians: LinkJacobians, met: Sequence[ContactPatch], impulses: Sequence[Any], v_after: Sequence[Scalar]
) -> dict[str, Any]:
    """What is reported of every contact point."""
    points = [point for patch in met for point in patch.points]
    twists = jacobians.twists(v_after)
    reached = [frame.force(frame.along(patch.twist(jacobians, twists))) for patch in met for frame in patch.frames]
    return {
        "impulses": [list(point.frame.force(impulse)) for point, impulse in zip(points, impulses, strict=True)],
        "positions": [list(point.touch.point) for point in points],
        "normals": [list(point.touch.normal) for point in points],
        "gaps": [point.touch.gap for point in points],
        "velocities": [list(u) for u in reached],
        "frictions": [point.frame.friction for point in points],
    }
