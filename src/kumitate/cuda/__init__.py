"""Robots on NVIDIA GPUs: the same programs, a thread for each state, by the driver alone.

`robot.compile(function, target="cuda")` gives a `DeviceKernel`, and a simulation's `batch(…, target="cuda")` keeps its states
on the GPU. Nothing here is loaded before.
"""

from .arrays import DeviceArray, to_device
from .driver import Device, gpu
from .kernel import DeviceKernel, DeviceRecurrence

__all__ = ["Device", "DeviceArray", "DeviceKernel", "DeviceRecurrence", "gpu", "to_device"]
