"""Contact as loads on bodies, from which joint forces are computed in runs with contact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...analysis import fastest_rate
from ...compile import Kernel
from ...dynamics import Wrenches, rnea
from ...errors import InputError
from ...kinematics import link_poses, place_pose
from ...scalar import trace
from .result import Result

#: Largest rate of damping and springs in closed loops, times the step.
_SLOW = 0.5


class Loads(NamedTuple):
    """The loads on a mechanism along a run in addition to gravity, damping and friction.

    Attributes:
        tau: efforts (n, nv) that reproduce the run's accelerations [N·m, N].
        wrenches: [n; f] (n, 6) by the name of a body, in the world's axes about the body's origin [N·m, N].
    """

    tau: np.ndarray
    wrenches: dict[str, np.ndarray]


def contact_loads(result: Result, others: Mapping[str, Any] | None = None) -> Loads:
    """The loads of a run with contact: its contact forces, and the efforts that go with them.

    Contact forces are means over a step, in which joint damping and springs are implicit. For joints to transmit what they
    did, the efforts are those that give the run's mean accelerations, with all that a joint exerts along its axes included. Of
    mechanisms with loops they are the run's own, exact to the order of the step.

    Args:
        others: other wrenches that acted, (n, 6) by the name of a body or frame, likewise.

    Raises:
        InputError: if the mechanism has loops and joints whose damping or springs are too fast for the step.
    """
    mechanism, record = result.mechanism, result.contact
    if record is None:
        return Loads(result.tau, dict(others or {}))
    tree = mechanism.tree
    touched = list(dict.fromkeys(name for pair in record.bodies for name in pair if name in tree.places))

    def origins(q: Any) -> list[list[Any]]:
        poses = link_poses(tree, q)
        return [list(place_pose(tree, poses, tree.places[name]).translation) for name in touched]

    wrenches = {name: np.broadcast_to(values, (len(result), 6)) for name, values in (others or {}).items()}
    if touched:
        at = Kernel(trace(origins, {"q": mechanism.nq}, f"touched_{mechanism.name}"))(result.q)
        for k, name in enumerate(touched):
            signs = np.array([(a == name) * 1.0 - (b == name) * 1.0 for a, b in record.bodies])
            force = record.force * signs[:, None]
            pushed = force.any(axis=2, keepdims=True)  # elsewhere the position says nothing
            arm = np.where(pushed, record.position - at[:, None, k], 0.0)
            moment = np.cross(arm, force).sum(axis=1)
            if record.moment is not None:
                moment += (record.moment * signs[:, None]).sum(axis=1)
            total = np.concatenate([moment, force.sum(axis=1)], axis=1)
            wrenches[name] = wrenches.get(name, 0.0) + total
    if tree.closed:
        step = float(result.settings.get("step", 0.0))
        rate, joint = fastest_rate(mechanism, result.q[0], result.v[0])
        if rate * step > _SLOW:
            raise InputError(
                f"{mechanism.name}: damping, springs or drives at {joint!r} act at {rate:.3g} 1/s, too fast for steps "
                f"of {step:g} s to tell the forces at the joints of closed loops with contact; simulate with a smaller step"
            )
        return Loads(result.tau, wrenches)
    names = list(wrenches)

    def efforts(q: Any, v: Any, a: Any, *values: Any) -> Any:
        return rnea(tree, q, v, a, gravity=mechanism.gravity, wrenches=Wrenches(tree, dict(zip(names, values, strict=True))))

    nv = mechanism.nv
    inputs: dict[str, int | tuple[int, ...]] = {
        "q": mechanism.nq,
        "v": nv,
        "a": nv,
        **{f"wrench_{k}": 6 for k in range(len(names))},
    }
    program = trace(efforts, inputs, f"efforts_{mechanism.name}")
    return Loads(Kernel(program)(result.q, result.v, result.a, *wrenches.values()), wrenches)
