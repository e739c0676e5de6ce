"""The forces on links from the drives, springs, damping and friction of joints that close loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...model import Chord, Closing, Tree
from ...scalar import Scalar, is_zero
from ...spatial import Force
from ..acting import Acting
from ..passive import driving_force, springy
from ..wrenches import Applied, LinkForces
from .constraints import ends
from .line_pulls import pulls


def with_chord_drives(tree: Tree, closings: Sequence[Closing], acting: Acting) -> Acting:
    """`acting` with the drives, springs, damping and friction of chords added to its wrenches."""
    return replace(acting, wrenches=chord_drives(tree, closings, acting.loop_tau, acting.wrenches, acting.implicit_step))


def chord_drives(
    tree: Tree,
    closings: Sequence[Closing],
    efforts: Mapping[str, Sequence[Scalar]],
    others: Applied | None,
    implicit_step: Scalar = 0.0,
) -> Applied | None:
    """The forces of the drives, springs, damping and friction of chords, added to `others`; `efforts` by the chord's name."""
    pushes: dict[int, Force] = {}
    for chord, closing in zip(tree.chords, closings, strict=True):
        if closing.active:
            for index, force in ends(chord, closing, chord_drive(chord, closing, efforts, implicit_step)).items():
                pushes[index] = pushes.get(index, Force()) + force
    return LinkForces(pushes, others) if pushes else others


def chord_drive(chord: Chord, closing: Closing, efforts: Mapping[str, Sequence[Scalar]], implicit_step: Scalar = 0.0) -> Force:
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
