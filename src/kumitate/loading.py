"""`load`: a robot from a file, a sample's name, or a mechanism made in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .errors import InputError
from .model import Mechanism
from .model.values import shown
from .robot import Robot


def load(
    source: str | Path | Mechanism,
    *,
    floating_base: bool = False,
    fix_inertia: bool = False,
    keep_angles: bool = False,
    gravity: Sequence[float] | None = None,
    xacro_args: Mapping[str, Any] | None = None,
) -> Robot:
    """A robot from a file, the name of a sample or of a robot, or a mechanism made in Python.

    Args:
        source: path of a file (.urdf, .sdf, .xml for MJCF, .xacro, .yaml with the loops of a URDF,
            kumitate's own .json); the name of a sample (see `samples`);
            or that of a robot such as "panda": of example-robot-data (extra `robots`), or of robot_descriptions (extra
            `descriptions`), which downloads it once. `kumitate robots` lists all names.
        floating_base: whether the root link of the file floats freely instead of being fixed to the world.
        fix_inertia: whether inertias in such a file that are physically impossible are replaced by the nearest possible ones.
        keep_angles: whether angles in such a file within 1e-10 rad of a quarter turn are kept as written, not read as one.
        gravity: acceleration of free fall in the world [m/s²] (3), in the place of the file's or sample's own.
        xacro_args: values of <xacro:arg> of a .xacro file, by name.

    Raises:
        ModelError: if the file breaks a rule; InputError: if there is no such file, sample or robot; it suggests close matches.

    >>> load("pendulum").nv
    1
    >>> load("pendulum", gravity=(0, 0, -1.62)).mechanism.gravity
    (0.0, 0.0, -1.62)
    """
    options: dict[str, Any] = {"floating_base": floating_base, "fix_inertia": fix_inertia, "keep_angles": keep_angles}
    mechanism, start = _loaded(source, xacro_args, options)
    return Robot(mechanism if gravity is None else replace(mechanism, gravity=gravity), start=start)  # type: ignore[arg-type]


def _loaded(
    source: str | Path | Mechanism, xacro_args: Mapping[str, Any] | None, options: dict[str, Any]
) -> tuple[Mechanism, Any]:
    """The mechanism, and the state at which simulations begin if it is a sample's."""
    if isinstance(source, Mechanism):
        return source, None
    if not isinstance(source, str | Path):
        raise InputError(f"{shown(source)} cannot be loaded; give the path of a file, a name, or a kumitate.Mechanism")
    from .model.samples import SAMPLES, sample  # loaded only by name

    if str(source) in SAMPLES:
        if options["floating_base"]:
            raise InputError(f"floating_base is for robot files; the sample {source!r} says itself how it is held")
        chosen = sample(str(source))
        return chosen.build(), (chosen.q, chosen.v)
    from .model.read import names_file, read_file  # loaded only to read a file
    from .model.read.robot_names import RobotFile, described_robot, similar

    named = RobotFile(Path(source)) if names_file(source) else described_robot(str(source))
    if named is None:
        raise InputError(
            f"there is no sample {source!r}, nor a robot of this name; {similar(str(source), list(SAMPLES))}The samples are "
            f"{', '.join(SAMPLES)}; robots come with pip install 'kumitate[robots]', or 'kumitate[descriptions]', which "
            "downloads them; `kumitate robots` lists all names"
        )
    if named.path.suffix.lower() == ".xacro":
        options |= {"arguments": {**named.arguments, **(xacro_args or {})}, "packages": named.packages}
    elif xacro_args:
        raise InputError(f"{source}: xacro_args are for .xacro files; leave them out")
    return read_file(source if names_file(source) else named.path, **options), None


def samples() -> list[str]:
    """The names of the mechanisms that come with the package.

    >>> "pa10" in samples()
    True
    """
    from .model.samples import SAMPLES  # as above

    return list(SAMPLES)
