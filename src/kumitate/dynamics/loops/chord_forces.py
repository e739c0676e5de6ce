"""The forces that chords exert of their own: drives, springs, dampers and friction, and how steps are implicit in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...model import Chord, Closing, Tree
from ...scalar import Scalar, Scalars, is_zero, maximum
from ...spatial import Force
from ..acting import Acting, Applied, LinkForces
from ..passive import driving_force, resisting_inertia, springy


def with_chord_drives(tree: Tree, closings: Sequence[Closing], acting: Acting) -> Acting:
    """`acting` with the drives, springs, damping and friction of chords added to its wrenches."""
    return replace(acting, wrenches=chord_drives(tree, closings, acting.loop_tau, acting.wrenches, acting.implicit_step))


def chord_drives(
    tree: Tree, closings: Sequence[Closing], efforts: Mapping[str, Scalars], others: Applied | None, implicit_step: Scalar = 0.0
) -> Applied | None:
    """The forces of the drives, springs, damping and friction of chords, added to `others`; `efforts` by the chord's name."""
    pushes: dict[int, Force] = {}
    for chord, closing in zip(tree.chords, closings, strict=True):
        if closing.active:
            for index, force in ends(chord, closing, chord_drive(chord, closing, efforts, implicit_step)).items():
                pushes[index] = pushes.get(index, Force()) + force
    return LinkForces(pushes, others) if pushes else others


def chord_drive(chord: Chord, closing: Closing, efforts: Mapping[str, Scalars], implicit_step: Scalar = 0.0) -> Force:
    """The force of a chord's drive, spring, damping and friction on its follower, in the axes of its frame M."""
    effort = efforts.get(chord.name, (0.0,) * len(closing.rates))
    springs = free_springs(chord, closing)
    at = chord.rest if springs else closing.coordinates  # at rest length: its spring is added separately
    passive = driving_force(chord, effort, at, closing.rates, implicit_step)
    strengths = [force - own for force, own in zip(passive, pulls(chord, closing, implicit_step), strict=True)]
    driven = sum((T * strength for T, strength in zip(closing.active, strengths, strict=True)), Force())
    return sum((T * -(k * x) for T, k, x in springs), driven)


def free_springs(chord: Chord, closing: Closing) -> list[tuple[Force, Scalar, Scalar]]:
    """The springs of a chord whose spring has no free length, −k p: unit forces, stiffness and stretch in all directions.

    Empty for other chords, whose springs act along their degrees of freedom.
    """
    if not closing.springs or not springy(chord) or any(not is_zero(rest) for rest in chord.rest):
        return []
    (k,) = chord.stiffness
    return [(T, k, x) for T, x in closing.springs]


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


def chord_inertia(tree: Tree, chord: Chord, closing: Closing, implicit_step: Scalar, drives: Scalars = ()) -> list[Scalar]:
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


def ends(chord: Chord, closing: Closing, T: Force) -> dict[int, Force]:
    """The force T on M's link, and its opposite on F's."""
    if chord.base.link == chord.follower.link:
        return {}  # both ends are on one link
    back = T.to_parent(closing.pose).to_parent(chord.base.pose)
    return {chord.base.link: back * -1.0, chord.follower.link: T.to_parent(chord.follower.pose)}
