"""The passive forces of joints: springs, viscous damping and dry friction."""

from __future__ import annotations

from typing import Protocol

from ..scalar import Scalar, Scalars, is_zero, sqrt

#: Speed at which dry friction has reached 71 % of its value [rad/s or m/s]: below it, friction acts like damping.
FRICTION_VELOCITY = 0.01


class Passive(Protocol):
    """Anything with springs, damping and friction along its degrees of freedom: a link's joint, or a chord."""

    @property
    def armature(self) -> tuple[Scalar, ...]: ...
    @property
    def damping(self) -> tuple[Scalar, ...]: ...
    @property
    def friction(self) -> tuple[Scalar, ...]: ...
    @property
    def stiffness(self) -> tuple[Scalar, ...]: ...
    @property
    def rest(self) -> tuple[Scalar, ...]: ...


def passive_force(joint: Passive, v_joint: Scalars) -> list[Scalar]:
    """d·v + f·v/√(v² + ε²), opposing v, one value per degree of freedom [N·m or N] (N eq. 10; the smooth sign is ours)."""
    return [
        d * v + f * v / sqrt(v * v + FRICTION_VELOCITY**2) if not is_zero(f) else d * v
        for d, f, v in zip(joint.damping, joint.friction, v_joint, strict=True)
    ]


def spring_force(joint: Passive, q_joint: Scalars) -> list[Scalar]:
    """k·(q − rest), the force that deflects the springs, one value per degree of freedom [N·m or N]."""
    if not springy(joint):
        return [0.0] * len(joint.stiffness)
    return [k * (x - rest) for k, x, rest in zip(joint.stiffness, q_joint, joint.rest, strict=True)]


def driving_force(
    joint: Passive, tau_joint: Scalars, q_joint: Scalars, v_joint: Scalars, implicit_step: Scalar = 0.0
) -> list[Scalar]:
    """The drives' forces minus those of springs, damping and friction [N·m or N].

    With an implicit step h, springs are evaluated at the position that the current velocity leads to: k·(q + h·v − rest).
    """
    lost = zip(spring_force(joint, q_joint), passive_force(joint, v_joint), strict=True)
    left = [tau - spring - passive for tau, (spring, passive) in zip(tau_joint, lost, strict=True)]
    if not springy(joint):
        return left
    return [force - implicit_step * k * v for force, k, v in zip(left, joint.stiffness, v_joint, strict=True)]


def resisting_inertia(joint: Passive, v_joint: Scalars, implicit_step: Scalar) -> list[Scalar]:
    """The armatures, plus for an implicit step h [s] h·f/v of damping and friction and h²·k of springs [kg·m² or kg]."""
    slopes = passive_secant(joint, v_joint)
    return [
        armature + implicit_step * (slope + implicit_step * k)
        for armature, slope, k in zip(joint.armature, slopes, joint.stiffness, strict=True)
    ]


def springy(joint: Passive) -> bool:
    """Whether it has springs; symbolic values count as nonzero."""
    return any(not is_zero(k) for k in joint.stiffness)


def passive_slope(joint: Passive, v_joint: Scalars) -> list[Scalar]:
    """The derivative of `passive_force` with respect to v, which is never negative."""
    scales = [v * v + FRICTION_VELOCITY**2 for v in v_joint]
    rough = zip(joint.damping, joint.friction, scales, strict=True)
    return [d if is_zero(f) else d + f * FRICTION_VELOCITY**2 / (scale * sqrt(scale)) for d, f, scale in rough]


def passive_secant(joint: Passive, v_joint: Scalars) -> list[Scalar]:
    """`passive_force` divided by v, by which a step is implicit in it: d + f/√(v² + ε²) [N·m·s/rad or N·s/m].

    The force f(v)/v · v' at the velocity v' after the step never drives the motion, so that friction brings a joint to rest and
    never past it, however light the joint and long the step. By the slope ∂f/∂v, which is nearly zero at speed, friction would
    act in full beyond the stop. Of order one as well, and (1/2) f(v)/v · v'² bounds the potential of f from above, so that
    every step lowers what implicit Euler minimises (Voss and Eckhardt 1980, on Weiszfeld's method).
    """
    return [
        d if is_zero(f) else d + f / sqrt(v * v + FRICTION_VELOCITY**2)
        for d, f, v in zip(joint.damping, joint.friction, v_joint, strict=True)
    ]


def passive_curve(joint: Passive, v_joint: Scalars) -> list[Scalar]:
    """The derivative of `passive_secant` with respect to v: of dry friction, as damping is linear."""
    scales = [v * v + FRICTION_VELOCITY**2 for v in v_joint]
    rough = zip(joint.friction, v_joint, scales, strict=True)
    return [0.0 if is_zero(f) else -f * v / (scale * sqrt(scale)) for f, v, scale in rough]
