"""Mechanisms as frozen data: bodies, joints, shapes, loops, couplings and frames."""

from .bounds import Bound, JointColumns, bounds_of, by_loop, freedoms, in_loops, joint_columns, least_gap, loop_bounds
from .drives import (
    DRIVES,
    Command,
    DCMotor,
    Drive,
    DriveLaw,
    DriveWithState,
    EffortDrive,
    HydraulicCylinder,
    PositionDrive,
    VelocityDrive,
    drive_states,
)  # fmt: skip
from .edits import attach, cut, lock, merge, recut, reroot, weld, without_friction
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
    RollingDisc,
    RollingSphere,
    Spherical,
    SphericalEuler,
    Universal,
)  # fmt: skip
from .mechanism import WORLD, Driven, HasMechanism, Mechanism
from .sensors import Sensor
from .shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, HeightField, Hull, Mesh, Plane, Polygon, Shape, Sphere
from .tree.traversal import PerLink, inward, outward
from .tree.tree import Chord, Gear, Link, Place, Tree

__all__ = [
    "DRIVES", "KINDS", "WORLD", "Body", "Bound", "Box", "Capsule", "Chord", "Closing", "Closure", "Command", "Coupling",
    "Cylinder", "Cylindrical", "DCMotor", "Distance", "Drive", "DriveLaw", "DriveWithState", "Driven", "EffortDrive",
    "Ellipsoid", "EulerAngles", "Fixed", "Floating", "FloatingEuler", "Frame", "Gear", "Geometry", "HasMechanism",
    "HeightField", "Helical", "Hull", "HydraulicCylinder", "Joint", "JointColumns", "JointKind", "Limits", "Line",
    "Link", "Loop", "Mechanism", "Mesh", "PerLink", "Place", "Planar", "Plane", "Polygon", "PositionDrive", "Prismatic",
    "Revolute", "RollingDisc", "RollingSphere", "Sensor", "Shape", "Sphere", "Spherical", "SphericalEuler", "Tree",
    "Universal", "VelocityDrive", "attach", "bounds_of", "by_loop", "check_freedom", "check_inertias",
    "check_resistance", "cut", "drive_states", "freedoms", "in_loops", "inward", "joint_columns", "least_gap", "lock",
    "loop_bounds", "merge", "outward", "recut", "reroot", "weld", "without_friction",
]  # fmt: skip
