"""Panels of the forces in loops: how large those of loop joints, rods and lines are, and the efforts of couplings."""

from __future__ import annotations

import numpy as np

from ..simulate.results.loop_records import loop_forces
from ..simulate.results.result import Result
from .panel import Panel

#: Moments below this fraction of the largest force times the mechanism's size are rounding.
_NOTHING = 1e-9


def loop_panels(result: Result) -> list[Panel]:
    """The sizes of the force and of the moment of every loop, which do not depend on axes, then the efforts of couplings.

    Raises:
        KumitateError: as `loop_forces`.
    """
    if not result.mechanism.tree.closed or not len(result):
        return []
    forces = loop_forces(result)
    wrenches = np.array(list(forces.wrenches.values())).reshape(-1, len(result), 6)
    moments, pushes = (np.linalg.norm(wrenches[:, :, part], axis=2).T for part in (slice(3), slice(3, 6)))
    names, least = tuple(forces.wrenches), _NOTHING * result.mechanism.tree.size * pushes.max(initial=0.0)
    found = [Panel("Force of loop joints", "N", names, pushes)] if names else []
    if moments.max(initial=0.0) > least:
        found.append(Panel("Moment of loop joints", "N·m", names, moments))
    joints = {item.name: result.mechanism.joint(item.joint).kind.velocities[0] for item in result.mechanism.couplings}
    for unit, sliding in (("N·m", False), ("N", True)):
        own = tuple(name for name, velocity in joints.items() if (velocity == "position") == sliding)
        if own:
            found.append(Panel("Effort of couplings", unit, own, np.column_stack([forces.couplings[name] for name in own])))
    return found
