"""What the joints that close loops did in a run, with lines between two points and couplings: coordinates, speeds, forces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..analysis import loop_motion
from ..dynamics import Acting, Wrenches, chord_closings, loop_wrenches
from ..errors import KumitateError, warn
from ..model import Closing, Closure, Joint, JointKind, Mechanism, joint_columns
from ..model.edits import closed_by
from ..spatial import Motion
from .readings import along, contact_loads
from .record import Record, acted, check_line_laws


class LoopForces(NamedTuple):
    """Forces along a run, by the names of loops and couplings.

    Attributes:
        wrenches: [n; f] (n, 6) on `body_b` of each loop, about the origin and in the axes of its frame there [N·m, N].
        efforts: of each loop along its degrees of freedom (n, nv), all that acts along them: drive, spring, damping, friction.
        couplings: (n), the effort of each coupling at its `joint`; at the joint `of` it is −ratio times as large.
    """

    wrenches: dict[str, np.ndarray]
    efforts: dict[str, np.ndarray]
    couplings: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class LoopRecord:
    """One loop joint, or a line, along a run of n times.

    Attributes:
        name: of the loop; `kind`: of its joint, whose `coordinates` and `velocities` name the columns.
        q: (n, nq) of the kind [rad, m]; `v`, `a`: (n, nv). Angles are unwrapped; a line has its length.
        tau: (n, nv), the efforts of its drive [N·m, N]; of a joint that follows a motion the reaction.
    """

    name: str
    kind: Closure
    q: np.ndarray = field(repr=False)
    v: np.ndarray = field(repr=False)
    a: np.ndarray = field(repr=False)
    tau: np.ndarray = field(repr=False)
    _forces: Callable[[], tuple[np.ndarray, np.ndarray]] = field(repr=False)

    @property
    def effort(self) -> np.ndarray:
        """(n, nv) all that acts along its degrees of freedom: drive or reaction, spring, damping, friction [N·m, N].

        Of a line, positive where it pushes its ends apart.
        """
        return self._forces()[0]

    @property
    def wrench(self) -> np.ndarray:
        """[n; f] (n, 6) on `body_b`, about the origin and in the axes of its frame there [N·m, N]: as `joint_wrenches`."""
        return self._forces()[1]


@dataclass(frozen=True, eq=False)
class CouplingRecord:
    """One coupling along a run of n times.

    Attributes:
        name: of the coupling.
        q, v, a: (n) of its `joint` [rad or m, …].
    """

    name: str
    q: np.ndarray = field(repr=False)
    v: np.ndarray = field(repr=False)
    a: np.ndarray = field(repr=False)
    _forces: Callable[[], LoopForces] = field(repr=False)

    @property
    def effort(self) -> np.ndarray:
        """(n) the effort that it exerts at its `joint` [N·m or N]; at the joint `of` it is −ratio times as large."""
        return self._forces().couplings[self.name]


def loop_records(result: Record, *, welds: bool = False) -> dict[str, LoopRecord]:
    """The record of every loop, by name, in the order of the mechanism; rods and rolling have no coordinates.

    Loop joints that follow motions have coordinates in `q`; they stand in place of the welds that tie their massless bodies to
    `body_b`, under their own names; or the `welds` themselves.
    """
    m, moved = result.mechanism, {one.name: one for one in loop_motion(result.mechanism, result.q, result.v, result.a)}
    names = set() if welds else {joint.name for joint in m.joints} & set(result.settings.get("motions", ()))
    followed = {closed_by(name): m.joint(name) for name in names}
    drives, none, found = acted(result, "loop_tau"), np.zeros((len(result), 0)), {}
    for loop in m.loops:
        if (joint := followed.get(loop.name)) is not None:
            reacts = partial(_reaction, result, joint, loop.name)
            found[joint.name] = LoopRecord(joint.name, joint.kind, *result.joint(joint.name), reacts)
            continue
        motion, still = moved.get(loop.name), np.zeros((len(result), loop.kind.nv))
        q, v, a = (none, none, none) if motion is None else (motion.q, motion.v, motion.a)
        tau, acts = drives.get(loop.name, still), partial(_forces_of, result, loop.name)
        found[loop.name] = LoopRecord(loop.name, loop.kind, q, v, a, tau, acts)
    return found


def _forces_of(result: Record, loop: str) -> tuple[np.ndarray, np.ndarray]:
    forces = loop_forces(result)
    return forces.efforts[loop], forces.wrenches[loop]


def _reaction(result: Record, joint: Joint, weld: str) -> tuple[np.ndarray, np.ndarray]:
    """The effort and the wrench of a loop joint that follows a motion, from those of its weld."""
    tree, wrench = result.mechanism.tree, loop_forces(result).wrenches[weld]
    link = next(link for link in tree.links if link.name == joint.name)
    (along,) = link.kind.subspace([0.0] * link.kind.nq)  # a screw about a fixed axis, in any position
    unit = np.array(list(along.to_child(tree.places[joint.child].pose)), dtype=float)
    return wrench @ unit[:, None], wrench


def coupling_records(result: Record) -> dict[str, CouplingRecord]:
    """The record of every coupling, by name."""
    found = {}
    for item in result.mechanism.couplings:
        q, v, a, _ = (part[:, 0] for part in result.joint(item.joint))
        found[item.name] = CouplingRecord(item.name, q, v, a, partial(loop_forces, result))
    return found


def loop_arrays(result: Record) -> dict[str, dict[str, np.ndarray]]:
    """All arrays of the records, by the name of the loop or coupling and their own: for files.

    Warns:
        KumitateWarning: if forces are left out, because the run does not tell them.
    """
    parts = ("q", "v", "a", "tau")
    found = {name: {part: getattr(record, part) for part in parts} for name, record in loop_records(result, welds=True).items()}
    of_couplings = {f"{name} (coupling)" if name in found else name: name for name in result.couplings}
    found |= {name: {} for name in of_couplings}
    try:
        forces = loop_forces(result) if found else None
    except KumitateError as error:
        warn(f"forces of loops are left out: {error}")
        forces = None
    if forces is not None:
        for name, wrench in forces.wrenches.items():
            found[name] |= {"effort": forces.efforts[name], "wrench": wrench}
        for name, coupling in of_couplings.items():
            found[name]["effort"] = forces.couplings[coupling][:, None]
    return found


def loop_forces(result: Record) -> LoopForces:
    """The forces of all loops and couplings along a run; computed once for each run.

    Where loops are redundant, the motion does not determine all of them: they are least in norm, as of `joint_wrenches`.

    Raises:
        InputError: if what acted is not kept, or as `contact_loads`.
    """
    known: LoopForces | None = vars(result).get("_loop_forces")
    if known is None:
        known = vars(result)["_loop_forces"] = _loop_forces(result)
    return known


def _loop_forces(result: Record) -> LoopForces:
    m = result.mechanism
    check_line_laws(result, "forces of loops")
    loads, drives = contact_loads(result, acted(result, "wrenches")), acted(result, "loop_tau")
    moved, tau = _with_armature(result, loads.tau)
    state = {"q": result.q, "v": result.v, "tau": tau}
    wrenches, efforts, couplings = along(_forces, moved, state, loads.wrenches, drives)
    by_loop, at = {}, 0
    for loop in m.loops:
        by_loop[loop.name], at = efforts[:, at : at + loop.kind.nv], at + loop.kind.nv
    return LoopForces(
        {loop.name: wrenches[:, k] for k, loop in enumerate(m.loops)},
        by_loop,
        {item.name: couplings[:, k] for k, item in enumerate(m.couplings)},
    )


def _with_armature(result: Record, tau: np.ndarray) -> tuple[Mechanism, np.ndarray]:
    """The mechanism with an armature of 1 more in joints that follow motions, and efforts that move it alike: τ + v̇.

    Joints that follow motions may move nothing with inertia; as free joints their accelerations would have no equation.
    """
    followed = set(result.settings.get("motions", ()))
    if not followed:
        return result.mechanism, tau
    tau, joints = tau.copy(), []
    for item in joint_columns(result.mechanism):
        joint = item.joint
        if joint.name in followed:
            tau[:, item.v] += result.a[:, item.v]
            joint = replace(joint, armature=(1.0 + np.asarray(joint.armature)).tolist())
        joints.append(joint)
    return replace(result.mechanism, joints=tuple(joints)), tau


def _forces(m: Mechanism, q: Any, v: Any, tau: Any, pushes: Any, drives: Any) -> dict[str, Any]:
    tree = m.tree
    applied = Wrenches(tree, pushes) if pushes else None
    forces = loop_wrenches(tree, q, v, tau, Acting(m.gravity, applied, drives))
    chords = list(zip(tree.chords, chord_closings(tree, q, v), forces.chords, strict=True))
    turned = [list(force.to_parent(chord.turn)) for chord, _, force in chords]
    efforts = [S.dot(force) for chord, closing, force in chords for S in _free_motions(chord.closure, closing)]
    return {"wrenches": turned, "efforts": efforts, "couplings": forces.gears}


def _free_motions(closure: Closure, closing: Closing) -> tuple[Motion, ...]:
    """Unit motions of M along the degrees of freedom: of joints their subspace, of lines their direction."""
    if isinstance(closure, JointKind):
        return closure.subspace(closing.coordinates)
    return tuple(Motion(T.moment, T.force) for T in closing.active)
