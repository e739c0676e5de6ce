"""Many simulated motions with their page; the public name of `run.Runs`."""

from .run import Runs

__all__ = ["Runs"]
