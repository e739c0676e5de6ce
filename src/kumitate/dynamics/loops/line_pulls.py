"""The forces that chords exert of their own, those of nonlinear springs and dampers, and how steps are implicit in them."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Chord, Closing, Tree
from ...scalar import Scalar, is_zero, maximum
from ..passive import resisting_inertia

#: The least inertia of rows that divide by a varying one, relative to the mechanism's mass: it vanishes with the step.
_LEAST = 1e-30


def pulls(chord: Chord, closing: Closing, implicit_step: Scalar = 0.0) -> list[Scalar]:
    """The force against each degree of freedom [N·m or N].

    With an implicit step h, linearised at the coordinate that the current velocity leads to, as springs are (`passive`).
    """
    own = chord.closure.pull(closing.coordinates, closing.rates)
    if is_zero(implicit_step):
        return own
    stiffnesses = (k for k, _ in _opposing(chord, closing))
    return [force + implicit_step * k * v for force, k, v in zip(own, stiffnesses, closing.rates, strict=True)]


def chord_inertia(
    tree: Tree, chord: Chord, closing: Closing, implicit_step: Scalar, drives: Sequence[Scalar] = ()
) -> list[Scalar]:
    """The armature of each degree of freedom, with h·∂f/∂v + h²·∂f/∂q of all forces in an implicit step h [kg·m² or kg].

    `drives`: those slopes of drives, for each degree of freedom; zero unless given.
    """
    slopes = [implicit_step * (d + implicit_step * k) for k, d in _opposing(chord, closing)]
    passive = resisting_inertia(chord, closing.rates, implicit_step)
    whole = [a + b + c for a, b, c in zip(passive, slopes, drives or (0.0,) * len(slopes), strict=True)]
    return [inertia if isinstance(inertia, int | float) else maximum(inertia, _LEAST * tree.mass) for inertia in whole]


def _opposing(chord: Chord, closing: Closing) -> list[tuple[Scalar, Scalar]]:
    """The slopes that oppose motion: steps are explicit in those that drive it, which would give negative inertia."""
    slopes = chord.closure.pull_slopes(closing.coordinates, closing.rates)
    return [(maximum(k, 0.0), maximum(d, 0.0)) for k, d in slopes]
