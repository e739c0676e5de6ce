"""Reading MJCF, the format of MuJoCo (mujoco.readthedocs.io, XML reference)."""

from __future__ import annotations

import os

from ....errors import ModelError
from ...mechanism import Mechanism
from ..notes import Notes
from ..weightless import note_weightless
from .bodies import BodyTree
from .compiled import CompiledModel, compiled_file
from .keyframes import with_keyframes
from .loops import Constraints
from .masks import kept_apart
from .sensors import note_sensors
from .unread import note_unread


def read_mjcf(path_or_text: str | os.PathLike[str], *, floating_base: bool = False, fix_inertia: bool = False) -> Mechanism:
    """The mechanism of an MJCF file, as MuJoCo's compiler resolves it (package `mujoco`, extra `mjcf`).

    Bodies, joints and sites have the file's names; elements without one have their kind and number, as "geom_3". A body without
    joints is fixed to its parent. Coordinates are MuJoCo's, in our order (`kumitate.convert`), except for free joints: theirs
    are zero where the body is in the file. <connect>, <weld>, <joint> and <tendon> of <equality> are loops and couplings.

    Args:
        path_or_text: a path, or the XML itself (a string that starts with `<`).
        floating_base: must be False; the file itself says which bodies are free.
        fix_inertia: whether physically impossible inertias are replaced by the nearest possible ones.

    Raises:
        ModelError: with MuJoCo's own reason and line, if it refuses the file.
        InputError: if MuJoCo is not installed.

    Warns:
        KumitateWarning: once for each kind of thing that is not simulated, with names and lines of the elements.
    """
    compiled = compiled_file(path_or_text)
    if floating_base:
        raise ModelError(
            f"{compiled.source}: floating_base was asked for, but MJCF says itself which bodies are free; write <freejoint/> "
            "into the body, or read the file without"
        )
    notes = Notes(compiled.source)
    tree = BodyTree(compiled, notes, fix_inertia=fix_inertia)
    constraints = Constraints(compiled, tree, notes)
    note_unread(compiled, notes)
    note_sensors(compiled, tree, notes)
    note_weightless(tree.bodies, tree.joints, tree.lines, notes)
    mechanism = Mechanism(
        compiled.spec.modelname or "model", tuple(tree.bodies), tuple(tree.joints), tuple(constraints.loops), tree.frames,
        _gravity(compiled), None if compiled.path is None else str(compiled.path), tuple(constraints.couplings),
        tuple(notes.faults), no_contact=tuple(kept_apart(compiled, tree, notes)),
    )  # fmt: skip
    mechanism = with_keyframes(compiled, mechanism, notes)
    notes.warn()
    return mechanism


def _gravity(compiled: CompiledModel) -> tuple[float, float, float]:
    option = compiled.model.opt
    if int(option.disableflags) & int(compiled.mujoco.mjtDisableBit.mjDSBL_GRAVITY):
        return 0.0, 0.0, 0.0
    x, y, z = option.gravity.tolist()
    return x, y, z
