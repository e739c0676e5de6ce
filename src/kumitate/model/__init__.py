"""What a mechanism is, as frozen data."""

from .edits import attach, cut, lock, merge, reroot, weld, without_friction
from .geometry import Box, Capsule, Cylinder, Geometry, Mesh, Shape, Sphere
from .joints import (
    KINDS,
    Cylindrical,
    Fixed,
    Floating,
    FloatingEuler,
    JointKind,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    SphericalEuler,
    Universal,
)  # fmt: skip
from .mechanism import WORLD, Mechanism
from .parts import Body, Frame, Joint, Limits, Loop
from .traversal import PerLink, inward, outward
from .tree import Link, Place, Tree

__all__ = [
    "KINDS", "WORLD", "Body", "Box", "Capsule", "Cylinder", "Cylindrical", "Fixed", "Floating", "FloatingEuler", "Frame",
    "Geometry", "Joint", "JointKind", "Limits", "Link", "Loop", "Mechanism", "Mesh", "PerLink", "Place", "Planar", "Prismatic",
    "Revolute", "Shape", "Sphere", "Spherical", "SphericalEuler", "Tree", "Universal", "attach", "cut", "inward", "lock",
    "merge", "outward", "reroot", "weld", "without_friction",
]  # fmt: skip
