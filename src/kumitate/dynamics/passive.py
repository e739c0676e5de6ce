"""The forces that joints make by themselves: viscous damping and dry friction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model import Link
from ..scalar import sqrt

__all__ = ["FRICTION_VELOCITY", "driving_force", "passive_force", "passive_slope", "resisting_inertia"]

Scalar = Any

#: Speed at which dry friction has reached 71 % of its value [rad/s or m/s]: below it, friction acts like damping.
FRICTION_VELOCITY = 0.01


def passive_force(link: Link, v_joint: Sequence[Scalar]) -> list[Scalar]:
    """d·v + f·v/√(v² + ε²), opposing v, one value a degree of freedom [N·m or N] (N eq. 10; the smooth sign is ours)."""
    return [
        d * v + f * v / sqrt(v * v + FRICTION_VELOCITY**2) if f.__class__ is not float or f > 0.0 else d * v
        for d, f, v in zip(link.damping, link.friction, v_joint, strict=True)
    ]


def driving_force(link: Link, tau_joint: Sequence[Scalar], v_joint: Sequence[Scalar]) -> list[Scalar]:
    """What is left of the drives' forces when damping and friction are overcome [N·m or N]."""
    return [t - f for t, f in zip(tau_joint, passive_force(link, v_joint), strict=True)]


def resisting_inertia(link: Link, v_joint: Sequence[Scalar], implicit_step: Scalar) -> list[Scalar]:
    """The armatures, and what makes a step `implicit_step` [s] implicit in damping and friction: h·∂f/∂v [kg·m² or kg]."""
    slopes = passive_slope(link, v_joint)
    return [armature + implicit_step * slope for armature, slope in zip(link.armature, slopes, strict=True)]


def passive_slope(link: Link, v_joint: Sequence[Scalar]) -> list[Scalar]:
    """The derivative of `passive_force` by v, which is never negative."""
    slopes = []
    for d, f, v in zip(link.damping, link.friction, v_joint, strict=True):
        if f.__class__ is float and f == 0.0:
            slopes.append(d)
        else:
            scale = v * v + FRICTION_VELOCITY**2
            slopes.append(d + f * FRICTION_VELOCITY**2 / (scale * sqrt(scale)))
    return slopes
