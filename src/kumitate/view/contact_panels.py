"""The curves of contact: forces on each body, centers of pressure, gaps, penetration, residuals of the contact laws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..analysis import COMPONENTS, LoopEquations, constraint_report
from ..compile import Kernel
from ..dynamics import Acting, Wrenches, joint_forces, loop_wrenches
from ..model import check_resistance
from ..records.contact_record import ContactRecord
from ..records.readings import contact_loads, loop_forces
from ..records.record import Record, acted
from ..scalar import trace
from .panel import Panel, without_impacts

#: All panels, and those drawn by default.
CONTACT_PANELS = ("contact_forces", "center_of_pressure", "contact_gaps", "penetration", "contact_residual")
USUAL_CONTACT_PANELS = ("contact_forces", "center_of_pressure", "penetration", "contact_residual")
#: Of more touched bodies than this, those with the largest impulses are shown; positions are shown for fewer bodies.
_BODIES, _PLACES = 8, 3
#: Gaps beyond this belong to unused contact slots [m].
_APART = 1e3


def contact_panels(result: Record, name: str) -> Iterator[Panel]:
    """The panels of this name in `CONTACT_PANELS`; no panels for a run without contact."""
    record = result.contact
    if record is None or not record.bodies:
        return
    bodies, note = _bodies(result, record)
    if name == "contact_forces":
        forces = [_forces(record, body) for body in bodies]
        for k, words in enumerate(("Normal contact force", "Tangential contact force")):
            values = np.column_stack([pair[k] for pair in forces])
            yield without_impacts(Panel(words, "N", tuple(bodies), values, note=note))
    elif name == "center_of_pressure":
        yield _places(record, bodies)
    elif name == "contact_gaps":
        yield Panel("Contact gap", "m", tuple(bodies), np.column_stack([_gap(record, body) for body in bodies]), note=note)
    elif name == "penetration":
        yield Panel("Deepest penetration", "m", ("deepest of all points",), record.penetration[:, None], log=True)
    else:
        yield Panel("Residual of contact laws", "m/s", ("a step's largest",), record.residual[:, None], log=True)


def _bodies(result: Record, record: ContactRecord) -> tuple[list[str], str]:
    """The bodies of the mechanism with the largest impulses, in the model's order, and a sentence if others touched too."""
    moving = [body.name for body in result.mechanism.bodies if result.mechanism.tree.places[body.name].link >= 0]
    pushed = {name: float(_forces(record, name)[0].sum()) for name in moving if _points(record, name)}
    largest = sorted(pushed, key=lambda name: -pushed[name])[:_BODIES]
    touched = sum(impulse > 0.0 for impulse in pushed.values())
    note = (
        f"Of the {touched} bodies that touched, the {_BODIES} with the largest impulses have curves of contact; "
        "`run.contact` has the forces and gaps of all points."
    )
    return [name for name in pushed if name in largest], note if touched > _BODIES else ""


def _points(record: ContactRecord, body: str) -> list[int]:
    return [k for k, pair in enumerate(record.bodies) if body in pair]


def _forces(record: ContactRecord, body: str) -> tuple[np.ndarray, np.ndarray]:
    """The sum of the normal forces' sizes on a body, and the size of the sum of its tangential forces, each (n,) [N]."""
    chosen = _points(record, body)
    signs = np.array([1.0 if record.bodies[k][0] == body else -1.0 for k in chosen])
    normal = record.normal_force[:, chosen]
    across = record.force[:, chosen] - normal[..., None] * record.normal[:, chosen]
    return normal.sum(axis=1), np.linalg.norm(np.einsum("nmk,m->nk", across, signs), axis=1)


def _gap(record: ContactRecord, body: str) -> np.ndarray:
    """The smallest gap of a body's points (n,) [m]; NaN where none is near."""
    smallest = record.gap[:, _points(record, body)].min(axis=1)
    return np.where(smallest < _APART, smallest, np.nan)


def _places(record: ContactRecord, bodies: list[str]) -> Panel:
    """x and y of the center of pressure of each body, or of all together where there are many."""
    if len(bodies) > _PLACES:
        center = record.center_of_pressure()
        return Panel("Center of pressure of all", "m", ("x", "y"), center[:, :2])
    names, columns = [], []
    for body in bodies:
        weight = record.normal_force[:, _points(record, body)]
        total = weight.sum(axis=1, keepdims=True)
        moment = np.einsum("nm,nmk->nk", weight, record.position[:, _points(record, body)])
        names += [axis if len(bodies) == 1 else f"{body} {axis}" for axis in "xy"]
        columns.append(moment[:, :2] / np.where(total > 0.0, total, np.nan))
    return Panel("Center of pressure", "m", tuple(names), np.hstack(columns))


# --- the joint forces of a motion as curves: those it determines, and those of least norm ---------------------------------
#: Curves below this fraction of the largest force, or moment, are left out: they would be invisible.
_UNSEEN = 1e-4


def force_panels(result: Record) -> list[Panel]:
    """The wrench of every joint on the body it carries, about that body's frame and in its axes.

    Loop joints come last: their wrench on `body_b`, about and in their frame there. Components that are zero all the time are
    left out. Those that the motion determines have panels of their own; the others are of least norm
    (`dynamics.loops.wrenches`). Contact forces, external wrenches and drives of loops are in them.
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

    sizes = {"q": mechanism.nq, "v": mechanism.nv, "tau": mechanism.nv, **{f"wrench_{name}": 6 for name in loads.wrenches}}
    sizes |= {f"drive_{name}": force.shape[-1] for name, force in drives.items()}
    kernel = Kernel(trace(wrenches, sizes, f"forces_{mechanism.name}"))
    values = kernel(result.q, result.v, loads.tau, *loads.wrenches.values(), *drives.values())
    known = constraint_report(LoopEquations(mechanism), result.q[0]).determined
    joints = [*(link.name for link in tree.links), *(chord.name for chord in tree.chords)]
    values = values.reshape(len(result), len(joints), 6)  # without joints the array lacks its further axes
    panels = []
    for determined, how in ((True, "determined"), (False, "least in norm")):
        for what, unit, half in (("force", "N", range(3, 6)), ("moment", "N·m", range(3))):
            least = max(_UNSEEN * float(np.abs(values[:, :, list(half)]).max(initial=0.0)), 1e-9)
            chosen = [(i, k) for i, name in enumerate(joints) for k in half if known[name][k] == determined]
            curves = {
                f"{joints[i]} {COMPONENTS[k]}": values[:, i, k] for i, k in chosen if np.abs(values[:, i, k]).max() > least
            }
            if curves:
                panels.append(Panel(f"Joint {what}, {how}", unit, tuple(curves), np.column_stack(list(curves.values()))))
    return panels


# --- panels of the forces in loops: how large those of loop joints, rods and lines are, and the efforts of couplings ------
#: Moments below this fraction of the largest force times the mechanism's size are rounding.
_NOTHING = 1e-9


def loop_panels(result: Record) -> list[Panel]:
    """The sizes of the force and of the moment of every loop, which do not depend on axes, then the efforts of couplings."""
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
