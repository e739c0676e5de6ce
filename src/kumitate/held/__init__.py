"""Points held on surfaces: their equations, and two ways to solve them together with the dynamics."""

from .point import CylinderSurface, HeldPoint, PlaneSurface, SphereSurface

__all__ = ["CylinderSurface", "HeldPoint", "PlaneSurface", "SphereSurface"]
