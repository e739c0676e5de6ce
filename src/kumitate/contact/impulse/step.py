"""The contact of a step, from states to velocities; `simulate` calls it between the dynamics and the update of q."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Protocol

from ...errors import InputError
from ...model import Mechanism, freedoms
from ...model.tree.traversal import rolled_runs
from ...scalar import Program, Scalar, Scalars, either, select, trace, when
from ..scene import Contact, contact_pairs
from .contact_points import contact_patches
from .jacobians import link_jacobians
from .problem import Problem, Solved
from .splitting import before_springs

#: Residuals are relative to the speeds of the points, or to this if all are slower: the speed after 1 ms of free fall [m/s].
RESTING = 0.01


class Parameters(Protocol):
    """The parameters of a simulation."""

    @property
    def size(self) -> int: ...
    def at(self, row: Scalars) -> Any: ...


def impact_program(
    mechanism: Mechanism,
    contact: Contact,
    solve: Callable[[Problem], Solved],
    parameters: Parameters | None = None,
    *,
    resisted: bool = False,
    begun: bool = False,
    parted: bool = False,
) -> Program:
    """(h, q, v, v_free) → velocities after the step, work of contact, whether anything touches, the residual [m/s]; and for
    every point its impulse on A [N·s], position [m], normal, gap [m], velocity [m/s], all in the world's axes, and friction.
    Where there is torsional or rolling friction also "moments" on A [N·m·s].
    `missed` is the residual, and `unsolved` that at which the model's iteration stopped, relative to the points' speeds.
    Where surfaces are compliant, "smooth" is 1 in steps in which nothing pushes but springs that the step resolves, and "glide"
    the velocities (nv) with which everything then moves.

    With `parameters`, a row of them is the last input. If `resisted`, an input "resisting" (`freedoms`) before it is the
    inertia that drives and stops of joints add in the step. If `begun`, an input "left_out" behind that says by how much less
    deep than they are points count for their springs [m]. If `parted`, two more inputs are the last ones: "implicit", the
    time for which `v_free` is implicit in damping and springs, in place of h; and "closed", which is 1 where only points
    without a gap take part, and stay closed.

    v_free: the velocities after a step h without contact, implicit in the joints' damping.

    Raises:
        InputError: for chains of 100 or more links that are compiled as loops.
    """
    tree = mechanism.base_parameter_tree
    if rolled_runs(tree):
        raise InputError(
            f"{mechanism.name}: its chains of similar links are so long ({len(tree.links)} links) that they are compiled as "
            "loops, which impulse-based contact models do not support. Use contact='penalty'"
        )
    pairs = contact_pairs(mechanism, tree, contact)
    springs = any(pair.surface.stiffness is not None for pair in pairs)

    def impact(h: Scalar, q: Any, v: Any, v_free: Any, *more: Any) -> dict[str, Any]:
        tree, those, gravity = mechanism.base_parameter_tree, pairs, mechanism.gravity
        resisting = more[0] if resisted else ()
        left_out = more[int(resisted)] if begun else ()
        *_, implicit, closed = more if parted else (h, None)
        if parameters is not None:
            varied = parameters.at(more[resisted + begun])
            tree, those, gravity = varied.mechanism.base_parameter_tree, list(map(varied.pair, pairs)), varied.mechanism.gravity
        jacobians = link_jacobians(tree, q)
        first = before_springs(tree, jacobians.poses, v, v_free, h, gravity) if springs else ()
        met = contact_patches(jacobians, those, v, v_free, h, mechanism, gravity, closed, left_out)

        def pushed() -> Any:
            given = Problem.at(mechanism, jacobians, met, implicit, q, v, v_free, resisting, as_free=parted)
            solved = solve(given)
            found = solved.impulses
            per_speed = 1.0 / (given.fastest + RESTING)
            residual = given.residual(found, given.targets) if solved.residual is None else solved.residual
            judged = residual, residual * per_speed, solved.left * per_speed
            return found.points, found.v, given.work(found), given.added(found), given.springs_alone(found), judged

        nothing = [[frame.nothing for frame in patch.frames] for patch in met]
        near = reduce(either, (patch.near for patch in met))
        nobody = (nothing, list(v_free), 0.0, 0.0, 1.0, (0.0, 0.0, 0.0))
        found, v_after, work, gained, smooth, (residual, missed, unsolved) = when(near, pushed, nobody)
        points = [point for patch in met for point in patch.points]
        impulses = [impulse for of_points in found for impulse in of_points]
        twists = jacobians.twists(v_after)
        reached = [frame.velocity(patch.twist(jacobians, twists)) for patch in met for frame in patch.frames]
        turning = any(point.frame.turns for point in points)
        return {
            "v": v_after,
            "work": work,
            # NaN counts as touching: a failed solve must not be hidden by a step without contact
            "touching": select(sum((impulse[0] for impulse in impulses), 0.0) <= 0.0, 0.0, 1.0),
            "gained": gained,
            **({"smooth": smooth, "glide": [0.5 * (a + b) for a, b in zip(first, v_after, strict=True)]} if springs else {}),
            "impulses": [list(point.frame.force(impulse)) for point, impulse in zip(points, impulses, strict=True)],
            **(
                {"moments": [list(p.frame.moment(parts)) for p, parts in zip(points, impulses, strict=True)]} if turning else {}
            ),
            "positions": [list(point.touch.point) for point in points],
            "normals": [list(point.touch.normal) for point in points],
            "gaps": [point.touch.gap for point in points],
            "velocities": [list(u) for u in reached],
            "frictions": [point.frame.friction for point in points],
            "residual": residual,
            "missed": missed,
            "unsolved": unsolved,
        }

    nv = mechanism.nv
    inputs: dict[str, int | tuple[int, ...]] = {"h": (), "q": mechanism.nq, "v": nv, "v_free": nv}
    inputs |= {"resisting": freedoms(mechanism)} if resisted else {}
    inputs |= {"left_out": sum(pair.capacity for pair in pairs)} if begun else {}
    if parameters is not None:
        inputs["parameters"] = parameters.size
    inputs |= {"implicit": (), "closed": ()} if parted else {}
    return trace(impact, inputs, f"impact_{mechanism.name}")
