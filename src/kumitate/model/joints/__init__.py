"""The kinds of joints, under one contract."""

from .along_axes import Cylindrical, Fixed, Helical, Planar, Prismatic, Revolute
from .closures import Distance, Line, RollingDisc, RollingSphere
from .contract import Closing, Closure, JointKind
from .turning import EulerAngles, Floating, FloatingEuler, Spherical, SphericalEuler, Universal

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
