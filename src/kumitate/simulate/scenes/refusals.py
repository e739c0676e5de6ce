"""What simulations have and scenes of many bodies have not: what is refused, and what is said."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import InputError
from ...model import Bound, Mechanism, drive_states

__all__ = ["check_scene"]


def check_scene(mechanism: Mechanism, bounds: Sequence[Bound], outputs: bool, parameters: bool, baumgarte: bool) -> list[str]:
    """Refuses what a scene of many bodies does not have, if any of it is asked for; returns what is said of the others.

    Args:
        bounds: the limits at which joints stop elsewhere; those of loop joints do not in scenes.

    Raises:
        InputError: naming what is refused, and what to do instead.
    """
    if outputs or parameters:
        raise InputError(
            f"{mechanism.name}: a scene of many free bodies has no outputs and no parameters; compute outputs from the "
            "states of its runs, with functions of kumitate.Robot, and make a simulation for each value of a parameter"
        )
    for joint in mechanism.driven:
        if drive_states(joint.drive):
            raise InputError(
                f"{mechanism.name}: the {joint.drive.kind} drive of {joint.name!r} has a state of its own, which scenes of "
                f"many free bodies cannot simulate; take it out by with_drives({{{joint.name!r}: None}})"
            )
    if baumgarte and mechanism.tree.closed:
        closing = [*(loop.name for loop in mechanism.loops), *(coupling.name for coupling in mechanism.couplings)]
        raise InputError(
            f"{mechanism.name}: a scene of many free bodies closes its loops ({', '.join(closing)}) by projection after every "
            "step, not by errors that decay; leave out `baumgarte`"
        )
    in_loops = dict.fromkeys(bound.name for bound in bounds if bound.v >= mechanism.nv)
    if not in_loops:
        return []
    return [
        f"limits of loop joints ({', '.join(map(repr, in_loops))}): not stops in a scene of many free bodies, where only those "
        "of joints of the tree are. Cut the loop at another joint, by kumitate.model.recut(mechanism, loop, joint)"
    ]
