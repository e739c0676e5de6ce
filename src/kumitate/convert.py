"""Conversion of states to and from the order and axes of other programs, also by `import kumitate.convert`."""

from .model.convert import Order, drake, mujoco, pinocchio

__all__ = ["Order", "drake", "mujoco", "pinocchio"]
