"""Reading xacro sources of URDF, which the package `xacrodoc` expands (extra `xacro`)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...errors import InputError, ModelError
from ..mechanism import Mechanism
from .content import file_bytes
from .urdf import urdf_mechanism
from .xml import parsed_xml

__all__ = ["read_xacro"]


def read_xacro(
    path: str | os.PathLike[str],
    *,
    floating_base: bool = False,
    fix_inertia: bool = False,
    keep_angles: bool = False,
    arguments: Mapping[str, Any] | None = None,
    packages: Mapping[str, str] | None = None,
) -> Mechanism:
    """The mechanism of a xacro file. Lines in messages are those of the expanded text.

    Packages that the file names by $(find …) are sought like those of meshes: in the folders above it and in ROS's own places.
    Expanding a file evaluates expressions in it, so that files should be of a source that you trust.

    Args:
        path: of the file, such as arm.urdf.xacro.
        floating_base, fix_inertia, keep_angles: as of `read_urdf`.
        arguments: values of <xacro:arg>, by name.
        packages: folders of packages, by name.

    Raises:
        InputError: if xacrodoc is not installed.
        ModelError: with xacro's reason, if the file cannot be expanded; and as `read_urdf`.
    """
    try:
        import xacrodoc
    except ImportError:
        raise InputError(
            f"{path}: xacro files are expanded by the package xacrodoc, which is not installed; pip install 'kumitate[xacro]'"
        ) from None
    _, place = file_bytes(path)
    try:
        if packages:
            xacrodoc.packages.update_package_cache({name: str(folder) for name, folder in packages.items()})
        given = {name: str(value) for name, value in (arguments or {}).items()}
        text = xacrodoc.XacroDoc.from_file(str(place.absolute()), subargs=given, resolve_packages=False).to_urdf_string()
    except Exception as error:  # of any kind: the file's own expressions are evaluated
        said = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(
            f"{path}: xacro cannot expand the file: {said}. Correct what it names; values of <xacro:arg> are given by "
            "km.load(…, xacro_args={'name': 'value'})"
        ) from None
    robot = parsed_xml(text.encode(), f"{path} (expanded)", "robot")
    return urdf_mechanism(robot, place, floating_base=floating_base, fix_inertia=fix_inertia, keep_angles=keep_angles)
