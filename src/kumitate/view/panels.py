"""The curves of a result in panels that each have one unit: of joints, of contact, of forces, of the whole mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..analysis import COMPONENTS, LoopEquations, closure_determinant, constraint_report
from ..compile import Kernel
from ..dynamics import Acting, Wrenches, joint_forces, loop_wrenches
from ..errors import InputError
from ..kinematics import link_poses, place_pose, total_mass, world_velocity
from ..model import WORLD, JointColumns, JointKind, Mechanism, check_resistance, joint_columns
from ..model.joints.contract import sort_of
from ..records.contact_record import ContactRecord
from ..records.readings import contact_loads, loop_forces
from ..records.record import Record, acted
from ..scalar import trace

#: The limit of an axis without impacts, as a multiple of the 95th percentile of nonzero values.
_ROOM = 1.6


class Panel(NamedTuple):
    """Curves of one quantity."""

    quantity: str  # its name, such as "Joint angle"
    unit: str  # of the values, empty for dimensionless ones
    names: tuple[str, ...]  # of the curves
    values: np.ndarray  # (n, curves)
    by_joint: bool = False  # whether the curves belong to the joints, so that panels may share a legend
    log: bool = False  # whether the axis of the values is logarithmic
    reach: tuple[float, float] | None = None  # the limits of the value axis, if they differ from those of the curves
    named: bool = True  # whether the curves are named in a legend
    note: str = ""  # a sentence about what the panel leaves out, and how to see it; empty if it leaves out nothing


def without_impacts(panel: Panel) -> Panel:
    """The panel with an axis limited to the sustained values, if single steps go far beyond them."""
    sizes = np.abs(panel.values[np.isfinite(panel.values)])
    highest = float(sizes.max(initial=0.0))
    acting = sizes[sizes > 1e-9 * highest]
    usual = _ROOM * float(np.sort(acting)[int(0.95 * (acting.size - 1))]) if acting.size else 0.0
    if highest <= 2.0 * usual:
        return panel
    low = float(np.nanmin(panel.values))
    return panel._replace(reach=(-usual if low < -0.05 * usual else -0.06 * usual, usual))


# --- the types of coordinates, each with its own words and units, and the columns of a joint by type ----------------------
class Sort(NamedTuple):
    """Names and units of one type of coordinate: of q, v, a and tau."""

    words: tuple[str, str, str, str]
    units: tuple[str, str, str, str]


ANGLE = Sort(("angle", "angular velocity", "angular acceleration", "torque"), ("rad", "rad/s", "rad/s²", "N·m"))
LENGTH = Sort(("position", "velocity", "acceleration", "force"), ("m", "m/s", "m/s²", "N"))
QUATERNION = Sort(("quaternion", "", "", ""), ("", "", "", ""))
SORTS = {"angle": ANGLE, "length": LENGTH, "plain": QUATERNION}


def unit_of(name: str, order: int) -> str:
    """The unit of a coordinate (order 0), of its rate (1), acceleration (2) or effort (3), "" if it has none."""
    return SORTS[sort_of(name)].units[order]


def joint_panel(
    prefix: str, order: int, sort: Sort, names: Sequence[str], values: np.ndarray, *, degrees: bool, by_joint: bool = False
) -> Panel:  # fmt: skip
    """The panel of coordinates of one type (order 0), of their rates (1), accelerations (2) or efforts (3)."""
    unit = sort.units[order]
    if degrees and unit.startswith("rad"):
        unit, values = unit.replace("rad", "deg"), np.rad2deg(values)
    quantity = prefix + sort.words[order]
    return Panel(quantity[0].upper() + quantity[1:], unit, tuple(names), values, by_joint)


def is_base(item: JointColumns) -> bool:
    """Whether the joint is a floating base: it has more than one type of coordinate."""
    return item.joint.parent == WORLD and item.kind.nv >= 3


def names_of(item: JointColumns, order: int) -> tuple[str, ...]:
    """The names of the joint's coordinates (order 0), or of its velocities, accelerations and efforts (1 to 3)."""
    return item.kind.coordinates if order == 0 else item.kind.velocities


def sorted_columns(item: JointColumns, order: int) -> Iterable[tuple[Sort, list[int], list[str]]]:
    """The joint's columns by type: their indices and their names."""
    start = (item.q if order == 0 else item.v).start
    found: dict[Sort, tuple[list[int], list[str]]] = {}
    for k, name in enumerate(names_of(item, order)):
        places, names = found.setdefault(SORTS[sort_of(name)], ([], []))
        places.append(start + k)
        names.append(name)
    return [(sort, places, names) for sort, (places, names) in found.items()]


# --- panels of scenes: where many bodies move freely, a panel has one curve for each of them ------------------------------
#: Up to this number of free bodies, each has panels of its own; up to that number, curves have names.
_APART, _NAMED = 4, 12
#: What is drawn of rates and efforts: the sizes of vectors.
_SIZES = {LENGTH: ("", "speed", "size of acceleration", "size of force"),
          ANGLE: ("", "angular speed", "size of angular acceleration", "size of torque")}  # fmt: skip


def base_groups(
    bases: Sequence[JointColumns], mechanism: Mechanism
) -> tuple[list[JointColumns], Mapping[str, list[JointColumns]]]:  # fmt: skip
    """Floating bases: those that get panels of their own, and larger groups that share panels, by the word for them.

    The group of bodies on which no joints are mounted is apart from that of robots: a robot among a hundred bricks keeps its
    panels.
    """
    carriers = {joint.parent for joint in mechanism.joints if joint.kind.nv}
    groups: dict[str, list[JointColumns]] = {"bases": [], "bodies": []}
    for item in bases:
        groups["bases" if item.joint.child in carriers else "bodies"].append(item)
    few = {item.joint.name for group in groups.values() if len(group) <= _APART for item in group}
    apart = [item for item in bases if item.joint.name in few]
    return apart, {word: group for word, group in groups.items() if len(group) > _APART}


def many_bases(group: Sequence[JointColumns], word: str, order: int, values: np.ndarray, *, degrees: bool) -> Iterator[Panel]:
    """The panels of q (order 0), v (1), a (2) or tau (3) of many floating bases, each with a curve for every base.

    Of bodies that are free in space these are the positions in the world and the angles turned since the start; of joints in
    a plane, their coordinates; of rates and efforts, the sizes of the vectors. The note of the panels says so. `values` are of
    the whole mechanism, (n, nq) or (n, nv).
    """
    found: dict[tuple[str, Sort], dict[str, np.ndarray]] = {}
    for item in group:
        for sort, indices, names in sorted_columns(item, order):
            for what, kind, curve in _curves(item, sort, order, names, values[:, indices]):
                found.setdefault((what, kind), {})[item.joint.name] = curve
    for (what, kind), curves in found.items():
        panel = joint_panel("", order, kind, list(curves), np.column_stack(list(curves.values())), degrees=degrees)
        quantity = f"{what[0].upper()}{what[1:]} of {len(curves)} {word}"
        named = len(curves) <= _NAMED
        yield panel._replace(quantity=quantity, by_joint=named, named=named, note=_note(group, word))


def _curves(
    item: JointColumns, sort: Sort, order: int, names: Sequence[str], part: np.ndarray
) -> Iterator[tuple[str, Sort, np.ndarray]]:  # fmt: skip
    """What is drawn of the columns of one type of one base: the quantity, its type, and its values (n,)."""
    if sort is QUATERNION:
        yield "angle turned since the start", ANGLE, turned(part)
    elif order > 0:
        yield _SIZES[sort][order], sort, np.linalg.norm(part, axis=1)
    elif tuple(names) == ("x", "y", "z"):  # in the world, as the frames in which bodies start are turned differently
        X = np.array(item.joint.pose.matrix(), dtype=float)
        for k, place in enumerate((X[:3, 3] + part @ X[:3, :3].T).T):
            yield f"position {names[k]}", sort, place
    else:  # of motions in a plane or about a point
        for k, name in enumerate(names):
            yield name if sort is ANGLE else f"joint position {name}", sort, part[:, k]


def turned(quaternions: np.ndarray) -> np.ndarray:
    """The angles from the first of unit quaternions (n, 4) to each of them, 0 to π rad, (n,).

    Half of the angle between the 4-vectors p and ±q is found from their distance, which is exact for small angles too:
    |p ∓ q| = 2 sin(φ/4).
    """
    first = quaternions[:1]
    near = np.where((quaternions * first).sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0) * quaternions
    return 4.0 * np.arcsin(np.minimum(0.5 * np.linalg.norm(near - first, axis=1), 1.0))


def _note(group: Sequence[JointColumns], word: str) -> str:
    first = group[0].joint
    curves = "a curve each" if len(group) <= _NAMED else "a curve each, without its name"
    parts = ", ".join(f'"{kind}:{first.name}"' for kind in ("q", "v", "a", "tau"))
    return (
        f"The {len(group)} free {word} share panels, with {curves}: their positions, of quaternions the angles turned "
        f"since the start, 0 to 180 deg, and of velocities, accelerations and efforts the sizes of the vectors. All components "
        f"of one, here {first.child}, are drawn by its joint's name: run.plot(path, panels=({parts}))."
    )


JOINT_PANELS = ("q", "v", "a", "tau")
_RATES = ("wx", "wy", "wz", "vx", "vy", "vz")


def joint_panels(result: Record, order: int, *, degrees: bool) -> Iterator[Panel]:
    """The panels of q (order 0), v (1), a (2) or tau (3)."""
    values = getattr(result, JOINT_PANELS[order])
    columns = list(joint_columns(result.mechanism))
    bases = [item for item in columns if is_base(item)]
    bare = len(bases) == len(columns) and result.contact is None
    apart, together = base_groups(bases, result.mechanism)
    prefixes = {base.joint.name: "base " if len(bases) == 1 else f"{base.joint.name}: " for base in apart}
    shown = [
        *(_panels_of_one(base, prefixes[base.joint.name], order, values, degrees=degrees) for base in apart),
        *(many_bases(group, word, order, values, degrees=degrees) for word, group in together.items()),
    ]
    for panel in (panel for panels in shown for panel in panels):
        if order < 3 or np.any(panel.values) or bare:  # an undriven floating base has no efforts to show
            yield panel
    yield from _panels_of_rest(result, [item for item in columns if not is_base(item)], order, values, degrees=degrees)


def panels_of_joint(result: Record, name: str, order: int, *, degrees: bool) -> Iterator[Panel]:
    """The panels of q (order 0), v (1), a (2) or tau (3) of one joint of the tree that moves, by its name."""
    moving = {item.joint.name: item for item in joint_columns(result.mechanism) if item.kind.nv}
    if name not in moving:
        raise InputError(
            f"{result.mechanism.name}: panel '{JOINT_PANELS[order]}:{name}': {name!r} is not a joint that moves; "
            f"there are {', '.join(moving) or 'none'}"
        )
    yield from _panels_of_one(moving[name], f"{name}: ", order, getattr(result, JOINT_PANELS[order]), degrees=degrees)


def _panels_of_one(item: JointColumns, prefix: str, order: int, values: np.ndarray, *, degrees: bool) -> Iterator[Panel]:
    for sort, indices, names in sorted_columns(item, order):
        short = [name[1:] if name in _RATES else name for name in names]
        yield joint_panel(prefix, order, sort, short, values[:, indices], degrees=degrees)


def _panels_of_rest(
    result: Record, items: list[JointColumns], order: int, values: np.ndarray, *, degrees: bool
) -> Iterator[Panel]:  # fmt: skip
    """The panels of all joints that are not floating bases, each with the curves of one type, and those of loop joints."""
    pooled: dict[Sort, tuple[list[int], list[str]]] = {}
    for item in items:
        for sort, indices, names in sorted_columns(item, order):
            whole = [item.joint.name if len(names_of(item, order)) == 1 else f"{item.joint.name}.{name}" for name in names]
            pooled.setdefault(sort, ([], []))[0].extend(indices)
            pooled[sort][1].extend(whole)
    loops = _loop_columns(result, order)
    for sort in dict.fromkeys((*pooled, *loops)):
        (indices, labels), closing = pooled.get(sort, ([], [])), loops.get(sort, {})
        word = "slider " if sort is LENGTH and ANGLE in pooled else "joint "
        curves = np.column_stack([values[:, indices], *closing.values()])
        yield joint_panel(word, order, sort, [*labels, *closing], curves, degrees=degrees, by_joint=True)


def _loop_columns(result: Record, order: int) -> dict[Sort, dict[str, np.ndarray]]:
    """The columns of loop joints and lines, by type and name; only of joints without quaternions."""
    found: dict[Sort, dict[str, np.ndarray]] = {}
    for record in result.loops.values():  # those that follow motions are among the joints already
        if record.kind.nq != record.kind.nv or record.name in result.mechanism.q_names:
            continue
        values = (record.q, record.v, record.a, record.tau)[order]
        for k, name in enumerate(getattr(record.kind, "coordinates", ())):
            whole = record.name if record.kind.nv == 1 else f"{record.name}.{name}"
            found.setdefault(SORTS[sort_of(name)], {})[whole] = values[:, k]
    return found


# --- the curves of contact: forces on each body, centers of pressure, gaps, penetration, residuals of its laws ------------
#: All panels, and those drawn by default.
CONTACT_PANELS = ("contact_forces", "center_of_pressure", "contact_gaps", "penetration", "contact_residual")
USUAL_CONTACT_PANELS = ("contact_forces", "center_of_pressure", "penetration", "contact_residual")
#: Of more touched bodies than this, those with the largest impulses are shown; positions are shown for fewer bodies.
_BODIES, _PLACES = 8, 3
#: Gaps beyond this belong to unused contact slots [m].
_FAR = 1e3


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
        gaps = np.column_stack([record.gap[:, _points(record, body)].min(axis=1) for body in bodies])
        yield Panel("Contact gap", "m", tuple(bodies), np.where(gaps < _FAR, gaps, np.nan), note=note)
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


# --- the panels of a result -----------------------------------------------------------------------------------------------
_XYZ = ("x", "y", "z")

#: The available panels: of the joints, then of the whole mechanism.
PANELS = (
    *JOINT_PANELS, "energy", "determinant", "joint_forces", "loop_forces", "center_of_mass", "center_of_mass_velocity",
    "momentum", *CONTACT_PANELS,
)  # fmt: skip
#: The panels of a body or frame, as in "position:hand", with their units.
_PLACE_PANELS = {"position": "m", "velocity": "m/s"}
#: All panels of one part, a body, frame or joint.
_NAMED_PANELS = (*_PLACE_PANELS, *JOINT_PANELS)
#: Those of the thesis: (a) angle, (b) velocity, (c) acceleration, (d) torque, (e) energy.
DEFAULT_PANELS = (*JOINT_PANELS, "energy")
#: Those of the thesis for a floating base (figures 3.21, 3.22): the center of mass shows what internal forces cannot change.
FLOATING_PANELS = (*JOINT_PANELS, "center_of_mass", "center_of_mass_velocity", "energy")


def panels_of(result: Record, panels: Sequence[str] | None = None, *, degrees: bool = True) -> list[Panel]:
    """The panels of a result, in the given order.

    Args:
        panels: any of "q", "v", "a", "tau" (one panel per unit: angles, lengths, quaternions; floating bases get
            panels of their own, but more than four share panels; joints that close loops come last), "q:elbow", "v:elbow",
            "a:elbow" and "tau:elbow" for all components of a joint of that name, "energy", "determinant" (det(J Jᵀ) of the
            loops), "joint_forces" (up to four panels: those that the motion determines, and the others), "loop_forces" (the
            sizes of the forces and moments of loop joints, and the efforts of couplings), "center_of_mass",
            "center_of_mass_velocity", "momentum" (two panels), "contact_forces" (two panels: normal, tangential),
            "center_of_pressure", "contact_gaps", "penetration", "contact_residual", "position:hand" and "velocity:hand" for a
            body or frame of that name. Default: q, v, a, tau and energy, with a single loop the determinant, with a floating
            base those of the center of mass, with contact its panels except the gaps.
        degrees: whether angles and their rates are given in degrees.

    Raises:
        InputError: for a panel that does not exist.
    """
    usual = FLOATING_PANELS if any(map(is_base, joint_columns(result.mechanism))) else DEFAULT_PANELS
    usual = (*usual, "determinant") if has_one_loop(result) else usual
    usual = usual if result.contact is None else (*usual, *USUAL_CONTACT_PANELS)
    wanted = usual if panels is None else (panels,) if isinstance(panels, str) else tuple(panels)
    if other := [name for name in wanted if name not in PANELS and name.partition(":")[0] not in _NAMED_PANELS]:
        known = (*PANELS, *(f"{kind}:NAME" for kind in _NAMED_PANELS))
        raise InputError(f"{result.mechanism.name}: there is no panel {other[0]!r}; there are {', '.join(known)}")
    return [panel for name in wanted for panel in _panels(result, name, degrees=degrees)]


def has_one_loop(result: Record) -> bool:
    """Whether the mechanism has one loop, closed by a joint: its determinant measures the distance to a singular posture."""
    chords = result.mechanism.tree.chords
    return len(chords) == 1 and isinstance(chords[0].closure, JointKind)


def _panels(result: Record, name: str, *, degrees: bool) -> Iterator[Panel]:
    kind, _, part = name.partition(":")
    if kind in JOINT_PANELS:
        order = JOINT_PANELS.index(kind)
        one = panels_of_joint(result, part, order, degrees=degrees) if part else None
        found = one or joint_panels(result, order, degrees=degrees)
        yield from found if kind != "a" or result.contact is None else map(without_impacts, found)
    elif name == "energy":
        yield Panel("Energy", "J", result.energy._fields, np.column_stack(result.energy))
    elif name == "determinant":
        if result.mechanism.loops:  # open mechanisms have no determinant
            values = closure_determinant(result.mechanism, result.q)
            yield Panel("Determinant of the loops' J Jᵀ", "", ("det(J Jᵀ)",), values[:, None])
    elif name in ("joint_forces", "loop_forces"):
        yield from (force_panels if name == "joint_forces" else loop_panels)(result)
    elif name in CONTACT_PANELS:
        yield from contact_panels(result, name)
    elif kind in _PLACE_PANELS:
        yield _place_panel(result, kind, part)
    elif name == "center_of_mass":
        yield Panel("Center of mass", "m", _XYZ, result.center_of_mass)
    elif name == "center_of_mass_velocity":
        mass = total_mass(result.mechanism.tree) or np.nan  # without moving mass the velocity is undefined
        yield Panel("Velocity of center of mass", "m/s", _XYZ, result.momentum[:, 3:] / mass)
    else:
        yield Panel("Angular momentum about origin", "kg·m²/s", _XYZ, result.momentum[:, :3])
        yield Panel("Linear momentum", "kg·m/s", _XYZ, result.momentum[:, 3:])


def _place_panel(result: Record, kind: str, name: str) -> Panel:
    """The position or velocity of a body or frame in the world; components that are zero throughout are left out."""
    tree = result.mechanism.tree
    place = tree.place(name, f"{result.mechanism.name}: the panel {kind} is of")

    def motion(q: Any, v: Any) -> list[Any]:
        if kind == "velocity":
            return world_velocity(tree, q, v, place)[3:]
        return list(place_pose(tree, link_poses(tree, q), place).translation)

    program = trace(motion, {"q": tree.nq, "v": tree.nv}, f"{kind}_{name}_{result.mechanism.name}")
    values = Kernel(program)(result.q, result.v)
    seen = [k for k in range(3) if np.any(values[:, k])] or list(range(3))
    names = tuple(_XYZ[k] for k in seen)
    return Panel(f"{kind.capitalize()} of {name}", _PLACE_PANELS[kind], names, values[:, seen])
