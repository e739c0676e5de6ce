"""The live viewer: a simulation that plays in a browser page, with sliders, buttons, and bodies to drag with the mouse."""

from .session import LiveView

__all__ = ["LiveView"]
