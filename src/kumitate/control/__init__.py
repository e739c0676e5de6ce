"""Controllers as functions of time and state, what they follow, and the laws of the thesis's chapters 6 and 7."""

from .actuator_limits import joint_stops, limited, speed_limited
from .compiled_page import Page
from .controllers import Controller, computed_torque, gravity_compensation, inverse_dynamics, pd, scheduled, total, undriven
from .legged.gait import FootPlan, Gait
from .legged.linear_pendulum import MassCenterPlan, mass_center_plan
from .legged.pushes import closed_gravity_compensation, half_sine, pulse, push
from .legged.whole_body_ik import Motion, Upright
from .loop_accelerations import loop_accelerations
from .operational_space import operational_space
from .paths.pose_spline import PoseSpline
from .paths.smooth_steps import blend, clamp, smooth_clamp, smooth_step, smooth_trapezoid
from .paths.spline import Spline
from .paths.trapezoid import Trapezoid
from .reaction_null_space import (
    BasePartition,
    actuated_columns,
    partition,
    reaction_rate,
    reactionless_acceleration,
    reactionless_velocity,
)  # fmt: skip
from .reactionless import joint_acceleration_torque, reactionless
from .sensor_models import Delayed, Noisy, Sampled
from .three_joint_model import ThreeJointModel
from .virtual_loop import closed_by, virtual_loop

__all__ = [
    "BasePartition", "Controller", "Delayed", "FootPlan", "Gait", "MassCenterPlan", "Motion", "Noisy", "Page", "PoseSpline",
    "Sampled", "Spline", "ThreeJointModel", "Trapezoid", "Upright", "actuated_columns", "blend", "clamp", "closed_by",
    "closed_gravity_compensation", "computed_torque", "gravity_compensation", "half_sine", "inverse_dynamics",
    "joint_acceleration_torque", "joint_stops", "limited", "loop_accelerations", "mass_center_plan",
    "operational_space", "partition", "pd", "pulse", "push", "reaction_rate", "reactionless", "reactionless_acceleration",
    "reactionless_velocity", "scheduled", "smooth_clamp", "smooth_step", "smooth_trapezoid", "speed_limited", "total",
    "undriven", "virtual_loop",
]  # fmt: skip
