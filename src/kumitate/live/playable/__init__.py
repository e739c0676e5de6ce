"""The page that is the simulator: the programs of a simulation, what a person may set of it, and both as data for a page."""

from .page import live_scene, playable, with_takeover

__all__ = ["live_scene", "playable", "with_takeover"]
