"""Spatial algebra over scalars: motions, forces, transforms, inertias (thesis, appendix A)."""

from .dense import (
    SWEEPS,
    DampedFactors,
    Dense,
    Elimination,
    Factors,
    NearestSolver,
    RangeInverse,
    SparseFactors,
    dot,
    nearest_solution,
)
from .inertia import ArticulatedBody, ArticulatedInertia, Inertia, InverseInertia, Release, centripetal
from .motion import Force, Motion, Transform, pose
from .rotation import (
    AxisTurn,
    DenseRotation,
    Rotation,
    RotationChain,
    identity_rotation,
    is_rotation,
    quaternion_exp,
    quaternion_log,
    quaternion_normalized,
    quaternion_of,
    quaternion_product,
    quaternion_rate,
    quaternion_rotation,
    zxz_rotation,
)
from .vector import Matrix3, Symmetric3, Vector3

__all__ = [
    "SWEEPS", "ArticulatedBody", "ArticulatedInertia", "AxisTurn", "DampedFactors", "Dense", "DenseRotation", "Elimination",
    "Factors", "Force", "Inertia", "InverseInertia", "Matrix3", "Motion", "NearestSolver", "RangeInverse", "Release",
    "Rotation", "RotationChain", "SparseFactors", "Symmetric3", "Transform", "Vector3", "centripetal", "dot",
    "identity_rotation", "is_rotation", "nearest_solution", "pose", "quaternion_exp", "quaternion_log", "quaternion_normalized",
    "quaternion_of", "quaternion_product", "quaternion_rate", "quaternion_rotation", "zxz_rotation",
]  # fmt: skip
