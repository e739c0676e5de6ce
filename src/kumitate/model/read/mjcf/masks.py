"""Pairs of bodies that never touch in an MJCF file: those of <exclude>, and those that contype and conaffinity keep apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from ...mechanism import WORLD
from ..notes import Notes
from .bodies import BodyTree
from .compiled import CompiledModel


def kept_apart(compiled: CompiledModel, tree: BodyTree, notes: Notes) -> Iterator[tuple[str, str]]:
    """The pairs of bodies that never touch; those of masks only where no joints connect them, as others touch on request."""
    yield from _excluded(compiled, tree, notes)
    names = tree.body_names
    for one, two in _masked(compiled):
        yield names[one], names[two]


def _excluded(compiled: CompiledModel, tree: BodyTree, notes: Notes) -> Iterator[tuple[str, str]]:
    """The pairs of bodies of <exclude>; a signature is the numbers of both, of 16 bits each."""
    for at, signature in enumerate(compiled.model.exclude_signature.tolist()):
        one, two = tree.body_names[signature >> 16], tree.body_names[signature & 0xFFFF]
        if WORLD in (one, two):
            notes.add("<exclude> of the world: not used", compiled.names("exclude")[at], compiled.line("exclude", at))
        else:
            yield one, two


def _masked(compiled: CompiledModel) -> Iterator[tuple[int, int]]:
    """The pairs of bodies, none of whose geoms may touch: where contype and conaffinity have no bit in common, either way.

    Geoms that nothing may touch are only drawn, and pairs of <pair> touch whatever their masks.
    """
    model = compiled.model
    kinds, masks, owner = model.geom_contype, model.geom_conaffinity, model.geom_bodyid
    touching = np.flatnonzero((kinds != 0) | (masks != 0))
    near = (kinds[touching, None] & masks[None, touching]) != 0
    near |= near.T
    if near.all():
        return
    bodies = np.unique(owner[touching])
    of = {int(body): np.flatnonzero(owner[touching] == body) for body in bodies if model.body_weldid[body] != 0}
    paired = {frozenset((int(owner[a]), int(owner[b]))) for a, b in zip(model.pair_geom1, model.pair_geom2, strict=True)}
    for one, two in combinations(of, 2):
        joined = model.body_rootid[one] == model.body_rootid[two]
        if not joined and not near[np.ix_(of[one], of[two])].any() and frozenset((one, two)) not in paired:
            yield one, two
