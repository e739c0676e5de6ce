"""A tree made ready for assembling by inverse inertias."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

from ...errors import KumitateWarning
from ...model import Tree
from ...model.tree.dh_frames import with_dh_frames
from ...model.tree.regular_inertias import with_regular_inertias
from ...scalar import Scalar
from ...spatial import AxisTurn, Inertia, Transform, Vector3
from .connectivity import WORLD, carriers

__all__ = ["Prepared", "prepared"]


@dataclass(frozen=True)
class Prepared:
    """A tree with few numbers and with inverse inertias: it moves as before, its frames and joint forces are not as before.

    Attributes:
        moved: the pose of every link's frame in its former one, by the link's index.
        lent: inertia that links carry in their parents' stead.
        centers: the links' mass centres, and the world's origin.
        carriers: the link, or the world, that carries a link.
        frail: the joints of light links between heavy ones that stay light.
    """

    tree: Tree
    moved: dict[int, Transform]
    lent: dict[int, Inertia]
    centers: dict[int, Vector3]
    carriers: dict[int, int]
    frail: tuple[str, ...] = ()

    def warn_of_lost_digits(self) -> None:
        """Tells of light links that nothing could be lent, where inverse inertias are assembled.

        Warns:
            KumitateWarning: naming their joints.
        """
        if self.frail:
            warnings.warn(
                f"joints {', '.join(map(repr, self.frail))} carry links more than a million times lighter than links on both "
                "sides of them: beside their inverse inertias those of the others lose as many digits by rounding in methods "
                "'ada' and 'dca'. Take method='aba', or give such links more inertia",
                KumitateWarning,
                stacklevel=3,
            )

    def to_center(self, index: int) -> Transform:
        """The pose of a link's handle in the link."""
        return Transform(translation=self.centers[index])

    def from_center(self, index: int, X_LF: Transform) -> Transform:
        """The pose of a frame of a link, or of the world, seen from the handle there."""
        return Transform(X_LF.rotation, X_LF.translation - self.centers[index])


def prepared(tree: Tree) -> Prepared:
    """The tree made ready for assembling: frames and inertias moved where the motion stays the same.

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
    """Zero where rounding alone left something."""
    return 0.0 if abs(float(value)) < 1e-13 else float(value)
