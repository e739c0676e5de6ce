"""Mechanisms as frozen data: bodies, joints, shapes, loops, couplings and frames."""

from .edits import SphericalMerge, attach, cut, lock, merge, merge_spherical, recut, reroot, weld, without_friction
from .elements import Body, Coupling, Frame, Joint, Limits, Loop
from .inertia_checks import check_freedom, check_inertias, check_resistance
from .joints import (
    KINDS,
    Closing,
    Closure,
    Cylindrical,
    Distance,
    EulerAngles,
    Fixed,
    Floating,
    FloatingEuler,
    Helical,
    JointKind,
    Line,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    SphericalEuler,
    Universal,
)  # fmt: skip
from .mechanism import WORLD, Mechanism
from .shapes import Box, Capsule, Cylinder, Geometry, Hull, Mesh, Plane, Polygon, Shape, Sphere
from .tree.traversal import PerLink, inward, outward
from .tree.tree import Chord, Gear, Link, Place, Tree

__all__ = [
    "KINDS", "WORLD", "Body", "Box", "Capsule", "Chord", "Closing", "Closure", "Coupling", "Cylinder", "Cylindrical",
    "Distance", "EulerAngles", "Fixed", "Floating", "FloatingEuler", "Frame", "Gear", "Geometry", "Helical", "Hull", "Joint",
    "JointKind", "Limits", "Line", "Link", "Loop", "Mechanism", "Mesh", "PerLink", "Place", "Planar", "Plane", "Polygon",
    "Prismatic", "Revolute", "Shape", "Sphere", "Spherical", "SphericalEuler", "SphericalMerge", "Tree", "Universal", "attach",
    "check_freedom", "check_inertias", "check_resistance", "cut", "inward", "lock", "merge", "merge_spherical", "outward",
    "recut", "reroot", "weld", "without_friction",
]  # fmt: skip
