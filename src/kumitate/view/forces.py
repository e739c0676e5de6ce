"""The joint forces of a motion as curves: those it determines, and those of least norm."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..analysis import COMPONENTS, LoopEquations, constraint_report
from ..compile import Kernel
from ..dynamics import Acting, Wrenches, joint_forces, loop_wrenches
from ..model import check_resistance
from ..scalar import trace
from ..simulate.results.acted import acted
from ..simulate.results.contact_loads import contact_loads
from ..simulate.results.result import Result

#: Curves below this fraction of the largest force, or moment, are left out: they would be invisible.
_NOTHING = 1e-4


class ForceCurves(NamedTuple):
    """Components of joint forces with the same unit, either all determined by the motion or none.

    Attributes:
        determined: whether the motion determines them; otherwise they are of least norm (`dynamics.loops.wrenches`).
        moments: whether they are moments [N·m] or forces [N].
        names: "joint1 fx"; `values`: (n, names).
    """

    determined: bool
    moments: bool
    names: tuple[str, ...]
    values: np.ndarray


def force_curves(result: Result) -> list[ForceCurves]:
    """The wrench of every joint on the body it carries, about that body's frame and in its axes.

    Loop joints come last: their wrench on `body_b`, about and in their frame there. Components that are
    zero all the time are left out.
    Contact forces, external wrenches and drives of loops are in them.

    Raises:
        ModelError: if a motion of the mechanism has no inertia; InputError: as `contact_loads` and `acted`.
    """
    mechanism, tree = result.mechanism, result.mechanism.tree
    check_resistance(mechanism)
    places = {joint.name: tree.places[joint.child] for joint in mechanism.joints}

    loads, drives = contact_loads(result, acted(result, "wrenches")), acted(result, "loop_tau")

    def wrenches(q: Any, v: Any, tau: Any, *values: Any) -> list[list[Any]]:
        applied = Wrenches(tree, dict(zip(loads.wrenches, values, strict=False))) if loads.wrenches else None
        if tree.closed:
            driven = dict(zip(drives, values[len(loads.wrenches) :], strict=True))
            found = loop_wrenches(tree, q, v, tau, Acting(mechanism.gravity, applied, driven))
            of_tree, of_loops = found.tree, found.chords
        else:
            of_tree, of_loops = joint_forces(tree, q, v, tau, Acting(mechanism.gravity, wrenches=applied)), []
        carried = [force.to_child(places[link.name].pose) for link, force in zip(tree.links, of_tree, strict=True)]
        turned = [force.to_parent(chord.turn) for chord, force in zip(tree.chords, of_loops, strict=True)]
        return [list(force) for force in (*carried, *turned)]

    sizes: dict[str, int | tuple[int, ...]] = {"q": mechanism.nq, "v": mechanism.nv, "tau": mechanism.nv}
    sizes |= {f"wrench_{k}": 6 for k in range(len(loads.wrenches))}
    sizes |= {f"drive_{name}": force.shape[-1] for name, force in drives.items()}
    kernel = Kernel(trace(wrenches, sizes, f"forces_{mechanism.name}"))
    values = kernel(result.q, result.v, loads.tau, *loads.wrenches.values(), *drives.values())
    known = constraint_report(LoopEquations(mechanism), result.q[0]).determined
    joints = [*(link.name for link in tree.links), *(chord.name for chord in tree.chords)]
    values = values.reshape(len(result), len(joints), 6)  # without joints the array lacks its further axes
    curves = []
    for determined in (True, False):
        for moments in (False, True):
            half = range(3) if moments else range(3, 6)
            chosen = [(i, k) for i, name in enumerate(joints) for k in half if known[name][k] == determined]
            columns = [values[:, i, k] for i, k in chosen]
            least = max(_NOTHING * float(np.abs(values[:, :, list(half)]).max(initial=0.0)), 1e-9)
            kept = [j for j, column in enumerate(columns) if np.abs(column).max() > least]
            if kept:
                names = tuple(f"{joints[chosen[j][0]]} {COMPONENTS[chosen[j][1]]}" for j in kept)
                curves.append(ForceCurves(determined, moments, names, np.column_stack([columns[j] for j in kept])))
    return curves
