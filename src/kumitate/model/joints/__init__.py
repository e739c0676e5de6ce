"""The kinds of joints, one file each, under one contract."""

from .closure import Closing, Closure
from .contract import JointKind
from .cylindrical import Cylindrical
from .distance import Distance
from .euler_angles import EulerAngles
from .fixed import Fixed
from .floating import Floating
from .floating_euler import FloatingEuler
from .helical import Helical
from .line import Line
from .planar import Planar
from .prismatic import Prismatic
from .revolute import Revolute
from .rolling import RollingDisc, RollingSphere
from .spherical import Spherical
from .spherical_euler import SphericalEuler
from .universal import Universal

__all__ = [
    "KINDS", "PARAMETRIC", "Closing", "Closure", "Cylindrical", "Distance", "EulerAngles", "Fixed", "Floating",
    "FloatingEuler", "Helical", "JointKind", "Line", "Planar", "Prismatic", "Revolute", "RollingDisc",
    "RollingSphere", "Spherical", "SphericalEuler", "Universal",
]  # fmt: skip

#: All kinds of joints without parameters, by name.
KINDS: dict[str, JointKind] = {
    kind.name: kind
    for kind in (
        Fixed(),
        Revolute(),
        Prismatic(),
        Cylindrical(),
        Universal(),
        Spherical(),
        SphericalEuler(),
        Planar(),
        Floating(),
        FloatingEuler(),
    )
}

#: The closures with parameters, such as `Helical(0.01)`: joints, and those that only close loops; by their names.
PARAMETRIC: dict[str, type[Closure]] = {
    kind.name: kind for kind in (Helical, EulerAngles, Distance, Line, RollingDisc, RollingSphere)
}
