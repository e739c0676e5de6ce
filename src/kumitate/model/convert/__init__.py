"""Conversion of states to and from the order and axes of other programs: Pinocchio, MuJoCo, Drake."""

from .order import Order, drake, mujoco, pinocchio

__all__ = ["Order", "drake", "mujoco", "pinocchio"]
