"""States in the orders and axes of other programs, and back: Pinocchio, MuJoCo, Drake."""

from .order import Order
from .peers import drake, mujoco, pinocchio

__all__ = ["Order", "drake", "mujoco", "pinocchio"]
