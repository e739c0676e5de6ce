"""The derivatives of a step's contact, by the implicit function theorem: those of a Newton step at the solution.

At the solution x* of the contact laws a Newton step N gives x* again, whatever the state p is: x*(p) = N(x*(p), p). There N
does not change with x*, as every point keeps its mode, so that dx*/dp = ∂N/∂p. The steps are regularised, which leaves an error
of 1/STIFF in the derivatives of the impulses; a second step with the same factors takes it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from ...model import Mechanism
from ...scalar import Program, Scalar, Scalars, absolute, call, directional, either, maximum, select, trace, when
from ...spatial import Vector3
from ..laws import STIFF
from ..scene import Contact, contact_pairs
from .contact_points import ContactPatch, contact_patches
from .jacobians import link_jacobians
from .newton import Approach, again, newton
from .problem import Problem
from .step import RESTING, Parameters

#: Where they move the velocities by more than this part of the points' speeds, there was no solution to differentiate at.
SETTLED = 1e-5
_NOWHERE = float("nan")


def impact_slopes(impacts: Program, mechanism: Mechanism, contact: Contact, parameters: Parameters | None = None) -> Program:
    """`directional` of a program of `impact_program`, for its output "v"; NaN for others, and where there is no solution."""
    both = directional(_refined_program(impacts, mechanism, contact, parameters))
    names = [array.name for array in impacts.outputs]

    def slopes(*given: Any) -> dict[str, Any]:
        half = len(given) // 2
        state, along = given[:half], given[half:]
        found = call(impacts, *state)
        still = [[[0.0] * 3 for _ in found["impulses"]], [0.0] * mechanism.nv]
        moved = call(both, *state, found["impulses"], found["v"], *along, *still)
        settled = moved["moved"] <= SETTLED
        rates = {f"{name}_dot": _unknown(found[name]) for name in names}
        return found | rates | {"v_dot": [select(settled, rate, _NOWHERE) for rate in moved["v_dot"]]}

    sizes: dict[str, int | tuple[int, ...]] = {array.name: array.shape for array in impacts.inputs}
    return trace(slopes, sizes | {f"{name}_dot": shape for name, shape in sizes.items()}, f"{impacts.name}_dot")


def _unknown(value: Any) -> Any:
    return [_unknown(item) for item in value] if isinstance(value, list) else _NOWHERE


def _refined_program(impacts: Program, mechanism: Mechanism, contact: Contact, parameters: Parameters | None) -> Program:
    """The inputs of `impacts`, impulses and velocities near the solution → better velocities "v", and how far they "moved"."""
    pairs = contact_pairs(mechanism, mechanism.base_parameter_tree, contact)
    resisted, begun = (any(array.name == name for array in impacts.inputs) for name in ("resisting", "left_out"))

    def refined(h: Scalar, q: Any, v: Any, v_free: Any, *more: Any) -> dict[str, Any]:
        *extra, impulses, after = more
        resisting = extra[0] if resisted else ()
        left_out = extra[int(resisted)] if begun else ()
        tree, those, gravity = mechanism.base_parameter_tree, pairs, mechanism.gravity
        if parameters is not None:
            varied = parameters.at(extra[-1])
            tree, those, gravity = varied.mechanism.base_parameter_tree, list(map(varied.pair, pairs)), varied.mechanism.gravity
        jacobians = link_jacobians(tree, q)
        met = contact_patches(jacobians, those, v, v_free, h, mechanism, gravity, left_out=left_out)

        def pushed() -> Any:
            given = Problem.at(mechanism, jacobians, met, h, q, v, v_free, resisting)
            targets = given.targets
            guess = given.after(_along_axes(given.patches, impulses), [0.0 for _ in given.loops])
            approach = Approach(first=0.0, strength=STIFF, alike=0.0)
            better, factors = newton(given, guess, targets, approach)
            guess = again(given, better, targets, approach, factors)  # at the same point: the factors are still right
            changes = (absolute(a - b) for a, b in zip(guess.v, after, strict=True))
            return list(guess.v), reduce(maximum, changes, 0.0) / (given.fastest + RESTING)

        near = reduce(either, (patch.near for patch in met))
        found, moved = when(near, pushed, (list(v_free), 0.0))
        return {"v": found, "moved": moved}

    points = next(array.shape for array in impacts.outputs if array.name == "impulses")
    sizes = {array.name: array.shape for array in impacts.inputs}
    return trace(refined, {**sizes, "impulses": points, "after": mechanism.nv}, f"refined_{mechanism.name}")


def _along_axes(patches: Sequence[ContactPatch], impulses: Sequence[Scalars]) -> list[list[list[Scalar]]]:
    """Impulses (points, 3) in the axes of the world along those of the points of every patch."""
    taken = iter(impulses)
    return [
        [point.frame.components(Vector3.of(impulse)) for point, impulse in zip(patch.points, taken, strict=False)]
        for patch in patches
    ]  # fmt: skip
