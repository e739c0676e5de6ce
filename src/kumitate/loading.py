"""`load`: a robot from a file, a sample's name, or a mechanism made in Python."""

from __future__ import annotations

from pathlib import Path

from .errors import InputError
from .model import Mechanism
from .model.samples import SAMPLES, sample
from .robot import Robot

__all__ = ["load", "samples"]


def load(
    source: str | Path | Mechanism, *, floating_base: bool = False, fix_inertia: bool = False, keep_angles: bool = False
) -> Robot:
    """A robot from a file, a sample's name, or a mechanism made in Python.

    Args:
        source: path of a file (.urdf, .sdf, kumitate's own .json); or the name of a sample (see `samples`).
        floating_base: whether the root link of the file floats freely instead of being fixed to the world.
        fix_inertia: whether inertias in such a file that are physically impossible are replaced by the nearest possible ones.
        keep_angles: whether angles in such a file within 1e-10 rad of a quarter turn are kept as written, not read as one.

    Raises:
        ModelError: if the file breaks a rule; InputError: if there is no such file or sample.

    >>> load("pendulum").nv
    1
    """
    if isinstance(source, Mechanism):
        return Robot(source)
    if str(source) not in SAMPLES:
        from .model.read import names_file, read_file  # loaded only to read a file

        if names_file(source):
            return Robot(read_file(source, floating_base=floating_base, fix_inertia=fix_inertia, keep_angles=keep_angles))
    if floating_base:
        raise InputError(f"floating_base is for robot files; the sample {source!r} says itself how it is held")
    chosen = sample(str(source))
    return Robot(chosen.build(), start=(chosen.q, chosen.v))


def samples() -> list[str]:
    """The names of the mechanisms that come with the package."""
    return list(SAMPLES)
