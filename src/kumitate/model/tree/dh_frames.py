"""Link frames in Denavit and Hartenberg's form, in which the placement of the next link takes the fewest numbers.

A frame may be rotated about and shifted along its own joint's axis without effect on results: the rotation is added to the
joint's angle. Where that saves numbers, every link's origin is put at the foot of the common normal to its parent's axis, and
its x axis along the common normal to its first child's: from link to link there is then one rotation about x and a shift along
x and z. Robot files mostly have such frames already.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...scalar import floats
from ...spatial import AxisTurn, RotationChain, Transform, Vector3, zxz_rotation
from .tree import WORLD_LINK, Link, Place, Tree

#: Lengths [m] and angles [rad] below this count as zero.
_TINY = 1e-13


def with_dh_frames(tree: Tree) -> Tree:
    """The tree with its frames moved along and about their joints' axes; `places` is changed accordingly."""
    moved: list[Link] = []
    changes: list[Transform] = []  # G of L' = L·G
    for link in tree.links:
        X_PF = link.placement if link.parent == WORLD_LINK else changes[link.parent].inverse() @ link.placement
        G = _change(X_PF, tree.children(link.index)) if link.kind.turn is not None else Transform()
        placement, turn = _split(X_PF @ G, link)
        changes.append(G)
        moved.append(replace(link, placement=placement, inertia=link.inertia.to_parent(G.inverse()), offset=link.offset + turn))

    def seen(place: Place) -> Place:
        return place if place.link == WORLD_LINK else Place(place.link, (changes[place.link].inverse() @ place.pose).dense())

    places = {name: seen(place) for name, place in tree.places.items()}
    chords = tuple(replace(chord, base=seen(chord.base), follower=seen(chord.follower)) for chord in tree.chords)
    return replace(tree, links=tuple(moved), places=places, chords=chords)


def _change(X_PF: Transform, children: list[Link]) -> Transform:
    """G = Tz(s) Rz(ψ): s by the parent's axis, ψ by the first child's."""
    alpha, beta, _ = zxz_rotation(X_PF.rotation.matrix())  # type: ignore[arg-type]
    p = X_PF.translation
    # p = d z_P + a x' + e z_L with x' along the common normal, and z_L = −sin β across + cos β z_P: the origin moves back by e
    normal = Vector3(math.cos(alpha), math.sin(alpha), 0.0)
    across = Vector3(-math.sin(alpha), math.cos(alpha), 0.0)
    # axes that are almost parallel meet their common normal very far away
    s = p.dot(across) / math.sin(beta) if abs(math.sin(beta)) > 1e-3 else 0.0  # −e
    foot = (p.dot(normal), p.z + s * math.cos(beta))
    if sum(abs(x) > _TINY for x in foot) >= _numbers(p):
        s = 0.0
    psi = 0.0
    if children:
        child_alpha, child_beta, _ = zxz_rotation(children[0].placement.rotation.matrix())  # type: ignore[arg-type]
        if _generic(child_beta):
            psi = child_alpha
        elif abs(math.sin(child_beta)) < _TINY:  # parallel axes: x along the offset
            q = children[0].placement.translation
            psi = math.atan2(q.y, q.x) if _numbers(Vector3(q.x, q.y, 0.0)) == 2 else 0.0
    if not _generic(psi):
        psi = 0.0
    return Transform(AxisTurn.by(2, psi), Vector3(0.0, 0.0, s))


def _generic(angle: float) -> bool:
    """Whether a rotation by the angle takes multiplications."""
    return abs(math.sin(2.0 * angle)) > _TINY


def _numbers(p: Vector3) -> int:
    return sum(abs(x) > _TINY for x in floats(p))


def _split(X_PF: Transform, link: Link) -> tuple[Transform, float]:
    """The placement without its last rotation about z if the joint's angle can absorb it, and that rotation."""
    rows = np.array([list(row) for row in X_PF.rotation.matrix()])
    rows[np.abs(rows - rows.round()) < 1e-15] = rows.round()[np.abs(rows - rows.round()) < 1e-15]
    alpha, beta, gamma = zxz_rotation(rows.tolist())
    turns = [AxisTurn.by(2, alpha), AxisTurn.by(0, beta)]
    if link.kind.turn is None:
        turns.append(AxisTurn.by(2, gamma))
        gamma = 0.0
    p = Vector3(*(0.0 if abs(x) < _TINY else float(x) for x in X_PF.translation))
    return Transform(RotationChain(tuple(turns)), p), gamma
