"""Reading MJCF, MuJoCo's format, from what MuJoCo's own compiler makes of it."""

from .reader import read_mjcf

__all__ = ["read_mjcf"]
