"""The operations of forward dynamics saved by merging three revolute joints into a spherical one, by method (T 8.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from kumitate.dynamics import Acting, aba_with_loops, crba, factored_with_loops
from kumitate.dynamics.ada import ada
from kumitate.dynamics.dca import dca
from kumitate.dynamics.hybrid import hybrid
from kumitate.errors import ModelError
from kumitate.model import Mechanism
from kumitate.papers import merge_spherical
from kumitate.scalar import trace

__all__ = ["MergingCost", "merging_costs"]

#: Each method's page, and whether it needs the links' own inertias (`tree`) or not (`base_parameter_tree`).
_METHODS: dict[str, tuple[Callable[..., Any], str]] = {
    "aba": (aba_with_loops, "base_parameter_tree"),
    "crba": (partial(factored_with_loops, crba), "base_parameter_tree"),
    "ada": (lambda *state, **options: ada(*state, **options).vdot, "tree"),
    "dca": (lambda *state, **options: dca(*state, **options).vdot, "tree"),
    "hybrid": (hybrid, "tree"),
}


@dataclass(frozen=True)
class MergingCost:
    """The operations of one evaluation of forward dynamics by a method; None where it refuses the mechanism.

    Attributes:
        method: as `forward_dynamics` names it.
        separate: with three revolute joints each.
        euler, quaternion: with spherical joints by three angles, by a quaternion.
    """

    method: str
    separate: int | None
    euler: int | None
    quaternion: int | None


def merging_costs(
    mechanism: Mechanism, joints: Sequence[Sequence[str]] | Sequence[str] | None = None, *, lump: bool = False
) -> tuple[MergingCost, ...]:
    """The operations before and after `merge_spherical`, with its arguments.

    ADA and DCA refuse bodies without mass whose inertia has no inverse, so that some mechanisms only have them merged.

    Raises:
        ModelError: if nothing can be merged.
    """
    forms: dict[str, Mechanism | None] = {"separate": mechanism}
    for by in ("euler", "quaternion"):
        try:
            forms[by] = merge_spherical(mechanism, joints, by=by, lump=lump).mechanism
        except ModelError:
            if by == "euler":
                raise
            forms[by] = None  # damping and the like act on angles only
    return tuple(MergingCost(name, *(_operations(name, form) for form in forms.values())) for name in _METHODS)


def _operations(method: str, mechanism: Mechanism | None) -> int | None:
    if mechanism is None:
        return None
    page, tree = _METHODS[method]
    inputs: dict[str, int | tuple[int, ...]] = {"q": mechanism.nq, "v": mechanism.nv, "tau": mechanism.nv}
    try:
        program = trace(
            lambda q, v, tau: page(getattr(mechanism, tree), q, v, tau, Acting(mechanism.gravity)), inputs, f"{method}_merged"
        )
    except ModelError:
        return None
    return program.operations.total()
