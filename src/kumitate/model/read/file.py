"""A model file of any kind, told apart by its suffix."""

from __future__ import annotations

from pathlib import Path

from ...errors import InputError
from ..mechanism import Mechanism
from .content import file_text
from .json import from_json
from .sdf import read_sdf
from .urdf import read_urdf

__all__ = ["names_file", "read_file"]


def names_file(source: str | Path) -> bool:
    """Whether this is the path of a file, rather than the bare name of a sample.

    >>> names_file("arm.urdf"), names_file("robots/arm"), names_file("pa10")
    (True, True, False)
    """
    path = Path(source)
    return bool(path.suffix) or path.parent != Path(".")


def read_file(path: str | Path, *, floating_base: bool = False, fix_inertia: bool = False) -> Mechanism:
    """The mechanism of a .urdf or .sdf file, or of kumitate's own .json.

    Args:
        path: of the file; capitals in its suffix do not matter.
        floating_base: whether the root link floats freely instead of being fixed to the world; kumitate's own files say it.
        fix_inertia: whether inertias that no body has are replaced by the nearest that one can have.

    Raises:
        ModelError: if the file breaks a rule; InputError: if it is of another kind.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".urdf":
        return read_urdf(path, floating_base=floating_base, fix_inertia=fix_inertia)
    if suffix == ".sdf":
        return read_sdf(path, floating_base=floating_base, fix_inertia=fix_inertia)
    if suffix == ".json":
        if floating_base:
            raise InputError(f"{path}: floating_base is for robot files; kumitate's own say themselves how the root is held")
        return from_json(file_text(path), str(path))
    raise InputError(f"{path}: files with the suffix {suffix!r} cannot be read; kumitate reads .urdf, .sdf and its own .json")
