"""Controllers as functions of time and state, their references, and the control laws of the thesis's chapters 6 and 7.

Planned motions are in `paths`, and exported here as well.
"""

from .controllers import (
    CompiledPage,
    Controller,
    closed_gravity_compensation,
    computed_torque,
    gravity_compensation,
    inverse_dynamics,
    joint_stops,
    limited,
    operational_space,
    pd,
    push,
    scheduled,
    speed_limited,
    total,
    undriven,
)
from .fmu_controller import FmuController
from .holding import holding_drives, holding_efforts
from .paths import PoseSpline, Spline, Trapezoid, blend, half_sine, pulse, smooth_clamp, smooth_step, smooth_trapezoid
from .reaction_null_space import (
    BasePartition,
    actuated_columns,
    joint_acceleration_torque,
    partition,
    reaction_rate,
    reactionless,
    reactionless_acceleration,
    reactionless_velocity,
)
from .sensor_models import Delayed, Noisy, Sampled
from .virtual_loop import closed_by, loop_accelerations, virtual_loop

__all__ = [
    "BasePartition", "CompiledPage", "Controller", "Delayed", "FmuController", "Noisy",
    "PoseSpline", "Sampled", "Spline", "Trapezoid", "actuated_columns", "blend",
    "closed_by", "closed_gravity_compensation", "computed_torque", "gravity_compensation", "half_sine", "holding_drives",
    "holding_efforts",    "inverse_dynamics", "joint_acceleration_torque", "joint_stops", "limited", "loop_accelerations",
    "operational_space", "partition", "pd", "pulse", "push", "reaction_rate", "reactionless", "reactionless_acceleration",
    "reactionless_velocity", "scheduled", "smooth_clamp", "smooth_step", "smooth_trapezoid", "speed_limited", "total",
    "undriven", "virtual_loop",
]  # fmt: skip
