"""A tree prepared for assembly by inverse inertias."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import warn
from ...model import Tree
from ...model.tree.dh_frames import with_dh_frames
from ...model.tree.regular_inertias import with_regular_inertias
from ...scalar import Scalar
from ...spatial import AxisTurn, Inertia, Transform, Vector3
from .connectivity import WORLD, carriers


@dataclass(frozen=True)
class Prepared:
    """An equivalent tree with simpler frames and invertible inertias: the same motion, but other frames and joint forces.

    Attributes:
        moved: the pose of every link's new frame in its original one, by the link's index.
        lent: inertia that was moved from a parent to the link, by the link's index.
        centers: the links' centers of mass, and the world's origin.
        carriers: the index of the link, or of the world, that carries each link.
        frail: the joints of light links between heavy ones to which no inertia could be moved.
    """

    tree: Tree
    moved: dict[int, Transform]
    lent: dict[int, Inertia]
    centers: dict[int, Vector3]
    carriers: dict[int, int]
    frail: tuple[str, ...] = ()

    def warn_of_lost_digits(self) -> None:
        """Warns if light links between heavy ones will cost digits, because inverse inertias are assembled.

        Warns:
            KumitateWarning: naming their joints.
        """
        if self.frail:
            warn(
                f"joints {', '.join(map(repr, self.frail))} carry links more than a million times lighter than links on both "
                "sides of them; the methods 'ada' and 'dca' add inverse inertias, and rounding loses as many digits as the "
                "ratio has. Use method='aba', or give these links more inertia"
            )

    def to_center(self, index: int) -> Transform:
        """The pose of a link's handle in the link's frame."""
        return Transform(translation=self.centers[index])

    def from_center(self, index: int, X_LF: Transform) -> Transform:
        """The pose of a frame F of a link, or of the world, in the frame of its handle."""
        return Transform(X_LF.rotation, X_LF.translation - self.centers[index])


def prepared(tree: Tree) -> Prepared:
    """The tree prepared for assembly: frames and inertias are moved in ways that do not change the motion.

    Raises:
        InputError: for a base-parameter tree, whose links may have no inverse inertias.
    """
    tree.check_physical("assembly by inverse inertias")
    framed = with_dh_frames(tree)
    regular = with_regular_inertias(framed)
    moved = {}
    for name, place in tree.places.items():
        if place.link != WORLD and place.link not in moved:
            X = place.pose @ framed.places[name].pose.inverse()
            R = X.rotation.matrix()
            turn = AxisTurn.by(2, _exact(math.atan2(R[1][0], R[0][0])))  # about and along its own z: see `with_dh_frames`
            moved[place.link] = Transform(turn, Vector3(0.0, 0.0, _exact(X.translation.z)))
    centers = {link.index: link.inertia.first_moment * (1.0 / link.inertia.mass) for link in regular.tree.links}
    return Prepared(regular.tree, moved, regular.lent, {WORLD: Vector3(), **centers}, carriers(tree), regular.frail)


def _exact(value: Scalar) -> float:
    """The value, or zero if it is only rounding error."""
    return 0.0 if abs(float(value)) < 1e-13 else float(value)
