"""Quantities derived from a result: zero-moment point, momenta about the center of mass, power of every source (T 5.2), loads,
and what the joints that close loops did, with lines between two points and couplings.

All times are computed in one batch by the functions of `analysis` and `dynamics`, compiled once per mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from ..analysis import (
    centroidal_momentum,
    centroidal_momentum_rate,
    fastest_rate,
    ground_wrench,
    loop_motion,
    powers,
    zero_moment_point,
)
from ..compile import Kernel, found_or_traced
from ..dynamics import Acting, Wrenches, chord_closings, loop_wrenches, rnea
from ..errors import InputError, KumitateError, warn
from ..kinematics import link_poses, place_pose
from ..model import Closing, Closure, Joint, JointKind, Mechanism, joint_columns
from ..model.edits import closed_by
from ..model.elements import in_order
from ..model.mechanism import digest
from ..scalar import trace
from ..spatial import Motion
from .record import Given, Record, acted, check_line_laws

#: Forces below this fraction of the weight are rounding: in free flight nothing supports a mechanism.
_HELD = 1e-9
#: Largest rate of damping and springs in closed loops, times the step.
_SLOW = 0.5


def along(
    page: Callable[..., Any], m: Mechanism, state: Mapping[str, Any],
    wrenches: Mapping[str, Any] | None = None, loop_tau: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """What a page computes of a mechanism at all times: page(m, *state, wrenches, drives of loops), compiled once for each.

    `state`: (n, …) or numbers; `wrenches`: (n, 6) or (6) by place; `loop_tau`: (n, nv of the loop) by loop.
    """
    pushes, drives = wrenches or {}, loop_tau or {}
    sizes = tuple((name, np.shape(values)[1:]) for name, values in state.items())
    return _kernel(page, m, sizes, tuple(pushes), tuple(drives))(*state.values(), *pushes.values(), *drives.values())


@lru_cache(64)
def _kernel(
    page: Callable[..., Any], m: Mechanism, sizes: tuple[tuple[str, Any], ...], pushed: tuple[str, ...], driven: tuple[str, ...]
) -> Kernel:
    freedoms = {loop.name: loop.kind.nv for loop in m.loops}
    inputs = dict(sizes) | {f"wrench_{name}": 6 for name in pushed} | {f"tau_{name}": freedoms[name] for name in driven}

    def at_one_time(*values: Any) -> Any:
        state, acting = values[: len(sizes)], values[len(sizes) :]
        return page(m, *state, dict(zip(pushed, acting, strict=False)), dict(zip(driven, acting[len(pushed) :], strict=True)))

    name, known = page.__name__.strip("_"), digest(m)
    key = None if known is None else f"reading {name} {sizes} {pushed} {driven} {known}"
    return Kernel(found_or_traced(key, lambda: trace(at_one_time, inputs, f"{name}_{m.name}")), quick=True)


class Balance(NamedTuple):
    """The ground reaction on a mechanism over time.

    Attributes:
        zmp: the zero-moment point (n, 3) on the ground [m]; on flat ground the center of pressure. NaN in free flight.
        force: the total supporting force (n, 3) [N], in the world's axes.
        moment: the moment about the zero-moment point (n, 3) [N·m]: along z only.
    """

    zmp: np.ndarray
    force: np.ndarray
    moment: np.ndarray


class Momenta(NamedTuple):
    """Momenta about the center of mass, in the world's axes, over time.

    Attributes:
        angular: (n, 3) [kg·m²/s], `linear`: (n, 3) [kg·m/s].
        angular_rate: (n, 3) [N·m], `linear_rate`: (n, 3) [N]: all external forces, weight included.
    """

    angular: np.ndarray
    linear: np.ndarray
    angular_rate: np.ndarray
    linear_rate: np.ndarray


class Powers(NamedTuple):
    """The power of each source, positive into the mechanism, (n, …) [W]; together the rate of the kinetic energy.

    Attributes:
        names: of the degrees of freedom (k): those of the tree as `Mechanism.v_names`, then the loops'.
        drives, damping, springs: (n, k), damping with dry friction.
        wrenches: by the name of the place, (n).
        gravity: (n).
    """

    names: tuple[str, ...]
    drives: np.ndarray
    damping: np.ndarray
    springs: np.ndarray
    wrenches: dict[str, np.ndarray]
    gravity: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """The sum of all sources (n) [W]: the rate of the kinetic energy if nothing else acts (such as contacts)."""
        by_joint = (self.drives + self.damping + self.springs).sum(axis=1)
        return np.asarray(by_joint + self.gravity + sum(self.wrenches.values()))


def balance_of(result: Record, *, height: float = 0.0, wrenches: Given | None = None) -> Balance:
    """The zero-moment point along a result, on horizontal ground at a `height` [m], and the ground reaction there.

    `wrenches` are known external [n; f], other than those of the ground, by name of a body or frame: arrays (n, 6) or (6), or
    functions of (t, q, v), in the axes of the world, about its origin. Those that acted in the run count unless others are
    given in their place; runs of earlier versions do not keep them.
    """
    m, pushes = result.mechanism, _pushes(result, wrenches)
    zmp, force, moment = along(_balance, m, {"q": result.q, "v": result.v, "a": result.a, "height": height}, pushes)
    held = np.abs(force[:, 2]) > _HELD * (m.tree.mass * float(np.linalg.norm(m.gravity)) + np.abs(force).max(initial=0.0))
    return Balance(np.where(held[:, None], zmp, np.nan), force, np.where(held[:, None], moment, np.nan))


def _balance(m: Mechanism, q: Any, v: Any, a: Any, height: Any, wrenches: Any, _: Any) -> dict[str, Any]:
    applied = Wrenches(m.tree, wrenches) if wrenches else None
    held = ground_wrench(m.tree, q, v, a, gravity=m.gravity, wrenches=applied)
    point = zero_moment_point(held, point=(0.0, 0.0, height))
    n, f = held[:3], held[3:]
    across = (point[1] * f[2] - point[2] * f[1], point[2] * f[0] - point[0] * f[2], point[0] * f[1] - point[1] * f[0])
    return {"zmp": point, "force": f, "moment": [a - b for a, b in zip(n, across, strict=True)]}


def momenta_of(result: Record) -> Momenta:
    """The momenta about the center of mass along a result, and their rates."""
    return Momenta(*along(_momenta, result.mechanism, {"q": result.q, "v": result.v, "a": result.a}))


def _momenta(m: Mechanism, q: Any, v: Any, a: Any, *_: Any) -> dict[str, Any]:
    momentum, rate = centroidal_momentum(m.tree, q, v), centroidal_momentum_rate(m.tree, q, v, a)
    return {"angular": momentum[:3], "linear": momentum[3:], "angular_rate": rate[:3], "linear_rate": rate[3:]}


def powers_of(result: Record, *, wrenches: Given | None = None, loop_tau: Given | None = None) -> Powers:
    """The power of each source along a result; `wrenches`, and drives' forces in loops by name, as in `balance_of`."""
    m = result.mechanism
    check_line_laws(result, "powers")
    pushes, driving = _pushes(result, wrenches), acted(result, "loop_tau", loop_tau)
    freedoms = {loop.name: loop.kind.velocities for loop in m.loops}
    for name in driving:
        if name not in freedoms:
            raise InputError(f"{m.name}: loop_tau names {name!r}, which is not a loop; known: {', '.join(freedoms) or 'none'}")
    state = {"q": result.q, "v": result.v, "tau": result.tau}
    put_in, lost, sprung, pushed, gravity = along(_powers, m, state, pushes, driving)
    labels = [name if len(rates) == 1 else f"{name}.{rate}" for name, rates in freedoms.items() for rate in rates]
    columns = {name: pushed[:, k] for k, name in enumerate(pushes)}
    return Powers((*m.v_names, *labels), put_in, lost, sprung, columns, gravity)


def _powers(m: Mechanism, q: Any, v: Any, tau: Any, wrenches: Any, loop_tau: Any) -> dict[str, Any]:
    found = powers(m.tree, q, v, tau, gravity=m.gravity, wrenches=wrenches, loop_tau=loop_tau)
    return {key: found[key] for key in ("drives", "damping", "springs", "wrenches", "gravity")}


def _pushes(result: Record, given: Given | None) -> dict[str, np.ndarray]:
    """The wrenches on a result, on bodies and frames that exist."""
    found = acted(result, "wrenches", given)
    for name in found:
        result.mechanism.tree.place(name, f"{result.mechanism.name}: a wrench acts on")
    return found


# --- Contact as loads on bodies, from which joint forces are computed in runs with contact ------------------------------
class Loads(NamedTuple):
    """The loads on a mechanism along a run in addition to gravity, damping and friction.

    Attributes:
        tau: efforts (n, nv) that reproduce the run's accelerations [N·m, N].
        wrenches: [n; f] (n, 6) by the name of a body, in the world's axes about the body's origin [N·m, N].
    """

    tau: np.ndarray
    wrenches: dict[str, np.ndarray]


def contact_loads(result: Record, others: Mapping[str, Any] | None = None) -> Loads:
    """The loads of a run with contact: its contact forces, and the efforts that go with them.

    Contact forces are means over a step, in which joint damping and springs are implicit. For joints to transmit what they
    did, the efforts are those that give the run's mean accelerations, with all that a joint exerts along its axes included. Of
    mechanisms with loops they are the run's own, exact to the order of the step: an `InputError` if damping or springs are too
    fast for it. `others` are other wrenches that acted, (n, 6) by the name of a body or frame, likewise.
    """
    mechanism, record = result.mechanism, result.contact
    if record is None:
        return Loads(result.tau, dict(others or {}))
    if mechanism.tree.closed:
        step = float(result.settings.get("step", 0.0))
        rate, joint = fastest_rate(mechanism, result.q[0], result.v[0])
        if rate * step > _SLOW:
            raise InputError(
                f"{mechanism.name}: damping, springs or drives at {joint!r} act at {rate:.3g} 1/s, too fast for steps "
                f"of {step:g} s to tell the forces at the joints of closed loops with contact; simulate with a smaller step"
            )
    origins = along(_origins, mechanism, {"q": result.q})
    wrenches = {name: np.broadcast_to(values, (len(result), 6)) for name, values in (others or {}).items()}
    for k, body in enumerate(mechanism.bodies):
        signs = np.array([(a == body.name) * 1.0 - (b == body.name) * 1.0 for a, b in record.bodies])
        if not signs.any():
            continue
        force = record.force * signs[:, None]
        pushed = force.any(axis=2, keepdims=True)  # elsewhere the position says nothing
        arm = np.where(pushed, record.position - origins[:, None, k], 0.0)
        moment = np.cross(arm, force).sum(axis=1)
        if record.moment is not None:
            moment += (record.moment * signs[:, None]).sum(axis=1)
        wrenches[body.name] = wrenches.get(body.name, 0.0) + np.concatenate([moment, force.sum(axis=1)], axis=1)
    state = {"q": result.q, "v": result.v, "a": result.a}
    return Loads(result.tau if mechanism.tree.closed else along(_efforts, mechanism, state, wrenches), wrenches)


def _origins(m: Mechanism, q: Any, *_: Any) -> list[list[Any]]:
    """Of all bodies, in the world."""
    poses = link_poses(m.tree, q)
    return [list(place_pose(m.tree, poses, m.tree.places[body.name]).translation) for body in m.bodies]


def _efforts(m: Mechanism, q: Any, v: Any, a: Any, wrenches: Any, _: Any) -> Any:
    return rnea(m.tree, q, v, a, gravity=m.gravity, wrenches=Wrenches(m.tree, wrenches))


# --- joints that close loops, lines and couplings: coordinates, speeds, forces ---------------------------------------------
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
        found[loop.name] = LoopRecord(
            loop.name, loop.kind, q, v, a, drives.get(loop.name, still), partial(_forces_of, result, loop.name)
        )
    return found


def _forces_of(result: Record, loop: str) -> tuple[np.ndarray, np.ndarray]:
    return loop_forces(result).efforts[loop], loop_forces(result).wrenches[loop]


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
    """All arrays of the records, by the name of the loop or coupling and their own: for files. Warns of forces left out."""
    parts = ("q", "v", "a", "tau")
    found = {name: {part: getattr(record, part) for part in parts} for name, record in loop_records(result, welds=True).items()}
    of_couplings = {f"{name} (coupling)" if name in found else name: name for name in result.couplings}
    found |= {name: {} for name in of_couplings}
    try:
        forces = loop_forces(result)
    except KumitateError as error:
        warn(f"forces of loops are left out: {error}")
        return found
    for name, wrench in forces.wrenches.items():
        found[name] |= {"effort": forces.efforts[name], "wrench": wrench}
    for name, coupling in of_couplings.items():
        found[name]["effort"] = forces.couplings[coupling][:, None]
    return found


def loop_forces(result: Record) -> LoopForces:
    """The forces of all loops and couplings along a run; computed once for each run.

    Where loops are redundant, the motion does not determine all of them: they are least in norm, as of `joint_wrenches`.
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
    return LoopForces(
        {loop.name: wrenches[:, k] for k, loop in enumerate(m.loops)},
        {loop.name: efforts[:, v : v + loop.kind.nv] for loop, _, v in in_order(m.loops)},
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
