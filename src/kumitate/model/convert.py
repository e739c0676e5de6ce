"""Conversion between our states of a mechanism and another program's, joint by joint, and MuJoCo's actuators in its order.

The force g·ctrl + b₀ + b₁·l + b₂·l̇ of an actuator, with its length l = gear·q, acts times its gear at the joint: `scale` and
`offset` of an `Actuator` make of a ctrl the target of the drive that this is (`model.read.mjcf.bodies`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from ..errors import InputError
from ..spatial import Transform, quaternion_of, quaternion_product, quaternion_rotation
from .drives import Control
from .elements import Actuator, drive_targets
from .mechanism import HasMechanism, Mechanism
from .tree.tree import WORLD_LINK, Link, alignment

# --- the state of one joint in other programs: tables in terms of the names of our components -----------------------------
# Sources: Pinocchio's joint models and its URDF reader; MuJoCo's documentation of joint types and of `qvel`; Drake's of
# `QuaternionFloatingJoint`, `PlanarJoint` and `UniversalJoint`.

#: Coordinates that together are of unit length.
UNIT_VECTORS = (("qx", "qy", "qz", "qw"), ("cos", "sin"))


def quaternion_matrix(q: np.ndarray) -> np.ndarray:
    """R_AB (..., 3, 3) of unit quaternions (..., 4), x y z w, of B in A."""
    rows: Any = quaternion_rotation(list(np.moveaxis(q, -1, 0))).matrix()  # its entries are arrays
    return np.stack([np.stack(list(row), axis=-1) for row in rows], axis=-2)


@dataclass(frozen=True)
class Layout:
    """The state of one joint in another program.

    Attributes:
        q, v: our names of the components, in their order; "cos" and "sin" stand for an angle.
        turned: velocities, vector by vector, that they give in the axes of the other frame: F's where ours are in M's
            (`to_parent`), else M's where ours are in F's.
        oriented: whether the components depend on the axes of both frames.
        in_world: whether the coordinates place the child in the world instead of in F.
    """

    q: tuple[str, ...]
    v: tuple[str, ...]
    turned: tuple[tuple[str, ...], ...] = ()
    to_parent: bool = True
    oriented: bool = False
    in_world: bool = False

    def coordinates(self, q: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """Their coordinates (..., k) for ours, which have these names."""
        named = {name: q[..., i] for i, name in enumerate(names)}
        if "cos" in self.q:
            named |= {"cos": np.cos(named["angle"]), "sin": np.sin(named["angle"])}
        return np.stack([named[name] for name in self.q], axis=-1)

    def our_coordinates(self, q: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """Our coordinates, with these names, for theirs (..., k); an angle from cosine and sine lies within −π…π."""
        named = {name: q[..., i] for i, name in enumerate(self.q)}
        if "cos" in self.q:
            named["angle"] = np.arctan2(named["sin"], named["cos"])
        return np.stack([named[name] for name in names], axis=-1)


#: By the name of our kind, then by their type of joint; the first type is assumed if only names are known.
Table = dict[str, dict[str, Layout]]

_ANGLE = Layout(("angle",), ("angle",))
_POSITION = Layout(("position",), ("position",))
_TWO_ANGLES = Layout(("first_angle", "second_angle"), ("first_angle", "second_angle"))
_LINEAR, _ANGULAR = ("vx", "vy", "vz"), ("wx", "wy", "wz")

PINOCCHIO: Table = {
    "revolute": {"revolute": _ANGLE, "continuous": Layout(("cos", "sin"), ("angle",))},
    "prismatic": {"prismatic": _POSITION},
    "universal": {"universal": _TWO_ANGLES},
    "spherical": {"spherical": Layout(("qx", "qy", "qz", "qw"), _ANGULAR, oriented=True)},
    # their velocity is along the axes of the child
    "planar": {"planar": Layout(("x", "y", "cos", "sin"), ("x", "y", "angle"), (("x", "y"),), to_parent=False, oriented=True)},
    "floating": {"floating": Layout(("x", "y", "z", "qx", "qy", "qz", "qw"), (*_LINEAR, *_ANGULAR), oriented=True)},
}

MUJOCO: Table = {
    "revolute": {"hinge": _ANGLE},
    "prismatic": {"slide": _POSITION},
    "spherical": {"ball": Layout(("qw", "qx", "qy", "qz"), _ANGULAR, oriented=True)},
    # the position moves along the world's axes, the orientation about the body's own
    "floating": {
        "free": Layout(("x", "y", "z", "qw", "qx", "qy", "qz"), (*_LINEAR, *_ANGULAR), (_LINEAR,), oriented=True, in_world=True)
    },
}

DRAKE: Table = {
    "revolute": {"revolute": _ANGLE},
    "prismatic": {"prismatic": _POSITION},
    "universal": {"universal": _TWO_ANGLES},
    "planar": {"planar": Layout(("x", "y", "angle"), ("x", "y", "angle"), oriented=True)},
    # both velocities are along the axes of the parent's frame
    "floating": {
        "quaternion_floating": Layout(
            ("qw", "qx", "qy", "qz", "x", "y", "z"), (*_ANGULAR, *_LINEAR), (_LINEAR, _ANGULAR), oriented=True
        )
    },
}


# --- orders ---------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class JointOrder:
    """One joint, ours and theirs. All arrays have leading axes of a batch.

    Attributes:
        link: the joint's link, with our indices in q and v.
        name: of the joint in the other program.
        layout: of their coordinates.
        q, v: their indices in q and v.
        base: if they give the child's pose in the world: F's orientation in it (4), x y z w, and position (3).
    """

    link: Link
    name: str
    layout: Layout
    q: slice
    v: slice
    base: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def our_q(self) -> slice:
        """Our indices in q."""
        return slice(self.link.q_start, self.link.q_start + self.link.kind.nq)

    @property
    def our_v(self) -> slice:
        """Our indices in v, a and tau."""
        return slice(self.link.v_start, self.link.v_start + self.link.kind.nv)

    def coordinates(self, q: np.ndarray) -> np.ndarray:
        """Their coordinates (..., k) for our q (..., nq)."""
        own = q[..., self.our_q] if self.base is None else _placed(*self.base, q[..., self.our_q])
        return self.layout.coordinates(own, self.link.kind.coordinates)

    def our_coordinates(self, q: np.ndarray) -> np.ndarray:
        """Our coordinates (..., k) for their q (..., nq)."""
        own = self.layout.our_coordinates(q[..., self.q], self.link.kind.coordinates)
        if self.base is None:
            return own
        back = self.base[0] * [-1.0, -1.0, -1.0, 1.0]
        return _placed(back, -quaternion_matrix(back) @ self.base[1], own)

    # --- velocities, accelerations, forces --------------------------------------------------------------------------------
    def velocities(self, q: np.ndarray, x: np.ndarray, v: np.ndarray | None = None) -> np.ndarray:
        """Their velocities or forces (..., k) for ours, x (..., nv), at our q; accelerations, if our velocities v are given."""
        own = x[..., self.our_v] + (0.0 if v is None else self._drift(v))
        for columns in self._vectors():
            own[..., columns] = _times(self._turn(q), own[..., columns])
        return own[..., _places(self.layout.v, self.link.kind.velocities)]

    def our_velocities(self, q: np.ndarray, x: np.ndarray, v: np.ndarray | None = None) -> np.ndarray:
        """Our velocities or forces (..., k) for theirs, x (..., nv), at our q; accelerations, if our velocities v are given."""
        own = x[..., self.v][..., _places(self.link.kind.velocities, self.layout.v)]
        for columns in self._vectors():
            own[..., columns] = _times(np.swapaxes(self._turn(q), -1, -2), own[..., columns])
        return own - (0.0 if v is None else self._drift(v))

    def _vectors(self) -> list[list[int]]:
        """The columns of the vectors that they give along other axes; one of a plane has two."""
        return [_places(names, self.link.kind.velocities) for names in self.layout.turned]

    def _turn(self, q: np.ndarray) -> np.ndarray:
        """T (..., 3, 3), with x' = T x for the vectors that they give along other axes."""
        named = dict(zip(self.link.kind.coordinates, np.moveaxis(q[..., self.our_q], -1, 0), strict=True))
        if "angle" in named:  # about z
            half = 0.5 * named["angle"]
            named |= {"qx": np.zeros_like(half), "qy": np.zeros_like(half), "qz": np.sin(half), "qw": np.cos(half)}
        R = quaternion_matrix(np.stack([named[name] for name in UNIT_VECTORS[0]], axis=-1))
        if self.base is not None:
            R = quaternion_matrix(self.base[0]) @ R
        return R if self.layout.to_parent else np.swapaxes(R, -1, -2)

    def _drift(self, v: np.ndarray) -> np.ndarray:
        """Ω x (..., k) of the vectors x in v, with d/dt (T x) = T (ẋ + Ω x): ω × x, or its opposite for turns to the child."""
        own, drift = v[..., self.our_v], np.zeros((*v.shape[:-1], self.link.kind.nv))
        angular = [k for k, name in enumerate(self.link.kind.velocities) if name in (*_ANGULAR, "angle")]
        omega = np.zeros((*own.shape[:-1], 3))
        omega[..., 3 - len(angular) :] = own[..., angular]  # an angle is about z
        cross = np.cross(omega[..., None, :], np.eye(3)).swapaxes(-1, -2)
        for columns in self._vectors():
            drift[..., columns] = _times(cross if self.layout.to_parent else -cross, own[..., columns])
        return drift


def _places(names: Sequence[str], among: Sequence[str]) -> list[int]:
    return [among.index(name) for name in names]


def _times(matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The product, of the leading square block where a vector of a plane is shorter."""
    n = x.shape[-1]
    return np.einsum("...ij,...j->...i", matrix[..., :n, :n], x)


def _placed(turn: np.ndarray, shift: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Poses (..., 7), quaternion before position, transformed from a frame to its parent."""
    product: Any = quaternion_product(list(turn), list(np.moveaxis(pose[..., :4], -1, 0)))
    position = _times(quaternion_matrix(turn), pose[..., 4:]) + shift
    return np.concatenate([np.stack(product, axis=-1), position], axis=-1)


def actuators_of(mechanism: Mechanism, model: Any) -> tuple[Actuator, ...]:
    """The actuators of a `mujoco.MjModel`, in its order."""
    drives = {joint.name: joint.drive for joint in mechanism.joints}
    found: list[Actuator] = []
    for at in range(model.nu):
        kind, control = control_of(model, at)
        through_joint = int(model.actuator_trntype[at]) in (0, 1)  # mjTRN_JOINT, mjTRN_JOINTINPARENT
        joint = model.joint(int(model.actuator_trnid[at][0])).name if through_joint else ""
        drive, fault = drives.get(joint), ""
        if drive is None:
            fault = "it drives no joint that has a drive here"
        # mjDYN_NONE, mjGAIN_FIXED; mjBIAS_NONE or mjBIAS_AFFINE
        elif model.actuator_dyntype[at] or model.actuator_gaintype[at] or model.actuator_biastype[at] > 1:
            fault = "its force is not linear in ctrl"
        elif drive.kind != kind:
            fault = f"it is a {kind} drive there, and its joint has a drive of kind {drive.kind!r} here"
        elif any(one.joint == joint for one in found):
            fault = "another one drives its joint"
        linear = (0.0, 0.0) if fault else (control.scale, control.offset)
        found.append(Actuator(control.actuator, joint, control.gear, control.lower, control.upper, *linear, fault))
    return tuple(found)


def control_of(model: Any, at: int) -> tuple[str, Control]:
    """The kind of drive that a linear actuator of a `mujoco.MjModel` is, and how its ctrl is the drive's target."""
    gear = float(model.actuator_gear[at][0])
    limited = bool(model.actuator_ctrllimited[at])
    lower, upper = model.actuator_ctrlrange[at].tolist() if limited else (-float("inf"), float("inf"))
    b = model.actuator_biasprm[at][:3].tolist() if model.actuator_biastype[at] else [0.0, 0.0, 0.0]
    kind, per_target = next(
        (pair for pair in (("position", -b[1] * gear), ("velocity", -b[2] * gear)) if pair[1]), ("effort", 1.0 / (gear or 1.0))
    )
    gain, name = float(model.actuator_gainprm[at][0]), model.actuator(at).name or f"actuator_{at}"
    return kind, Control(name, at, gear, lower, upper, gain / per_target, b[0] / per_target)


#: The tolerance of the length of quaternions, and of cosine and sine.
_OFF = 1e-6


@dataclass(frozen=True)
class Order:
    """Conversion between our states of a mechanism and another program's.

    All functions take one state or batches with leading axes, (..., nq) and (..., nv), and give float64. The mechanism must be
    the same in both programs, as when both read one file: the same frames, axes of joints and zero positions.

    Attributes:
        mechanism: its name.
        peer: the other program's.
        joints: in the other program's order.
        our_nq, our_nv: sizes of our states; `nq`, `nv`: of theirs.
        actuators: of MuJoCo's model, in its order.
        driven: our joints and loops with drives, in the order of their targets.
    """

    mechanism: str
    peer: str
    joints: tuple[JointOrder, ...]
    our_nq: int
    our_nv: int
    nq: int
    nv: int
    actuators: tuple[Actuator, ...] = ()
    driven: tuple[str, ...] = ()

    # --- states -----------------------------------------------------------------------------------------------------------
    @overload
    def to(self, q: Any) -> np.ndarray: ...
    @overload
    def to(self, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]: ...
    @overload
    def to(self, q: Any, v: Any, a: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...
    def to(self, q: Any, v: Any = None, a: Any = None) -> Any:
        """Their coordinates for ours; also velocities v and accelerations a = v̇, if they are given.

        Raises:
            InputError: for wrong shapes, quaternions not of unit length, or accelerations without velocities.
        """
        q = self._coordinates(q)
        parts = [self._filled(q.shape[:-1], self.nq, ((joint.q, joint.coordinates(q)) for joint in self.joints))]
        if v is not None:
            v = self._array("v", v, self.our_nv)
            parts.append(self._theirs(q, v))
        if a is not None:
            parts.append(self._theirs(q, self._array("a", a, self.our_nv), self._needed(v)))
        return parts[0] if len(parts) == 1 else tuple(parts)

    @overload
    def back(self, q: Any) -> np.ndarray: ...
    @overload
    def back(self, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]: ...
    @overload
    def back(self, q: Any, v: Any, a: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...
    def back(self, q: Any, v: Any = None, a: Any = None) -> Any:
        """Our coordinates for theirs; also velocities and accelerations, if they are given. The inverse of `to`.

        An angle that they write as cosine and sine comes back within −π…π.

        Raises:
            InputError: for wrong shapes, quaternions not of unit length, or accelerations without velocities.
        """
        ours = self._coordinates_back(q)
        parts = [ours]
        if v is not None:
            v = self._ours(ours, self._array("v", v, self.nv))
            parts.append(v)
        if a is not None:
            parts.append(self._ours(ours, self._array("a", a, self.nv), self._needed(v)))
        return parts[0] if len(parts) == 1 else tuple(parts)

    # --- forces and matrices ------------------------------------------------------------------------------------------------
    def forces_to(self, q: Any, tau: Any) -> np.ndarray:
        """Their generalised forces (..., nv) for ours at our q, with the same power: tau'·v' = tau·v."""
        # the map of velocities is orthogonal, so that its inverse transpose is itself
        return self._theirs(self._coordinates(q), self._array("tau", tau, self.our_nv))

    def forces_back(self, q: Any, tau: Any) -> np.ndarray:
        """Our generalised forces (..., nv) for theirs at their q."""
        return self._ours(self._coordinates_back(q), self._array("tau", tau, self.nv))

    def velocity_matrix(self, q: Any) -> np.ndarray:
        """The orthogonal A (..., nv, nv) at our q: v' = A v and tau' = A tau, their quantities with primes.

        Inertia matrices are M' = A M Aᵀ, Jacobians J' = J Aᵀ.
        """
        q = self._coordinates(q)[..., None, :]
        return np.swapaxes(self._theirs(q, np.eye(self.our_nv)), -1, -2)

    def control(self, ctrl: Any) -> Any:
        """The targets of our drives (..., driven) for MuJoCo's `ctrl` (..., nu), clipped to its range; also while tracing.

        Raises:
            InputError: for another shape; if an actuator has no drive here, or a drive no actuator there.
        """
        remedy = "Give the mujoco.MjModel of the robot's file, and the robot as it was read from it"
        return drive_targets(self.mechanism, self.peer, self.actuators, self.driven, ctrl, remedy)

    # --- arrays -------------------------------------------------------------------------------------------------------------
    def _coordinates(self, q: Any) -> np.ndarray:
        array = self._array("q", q, self.our_nq)
        for joint in self.joints:
            self._check_unit(joint, array[..., joint.our_q], joint.link.kind.coordinates)
        return array

    def _coordinates_back(self, q: Any) -> np.ndarray:
        array = self._array("q", q, self.nq)
        for joint in self.joints:
            self._check_unit(joint, array[..., joint.q], joint.layout.q)
        pieces = ((joint.our_q, joint.our_coordinates(array)) for joint in self.joints)
        return self._filled(array.shape[:-1], self.our_nq, pieces)

    def _theirs(self, q: np.ndarray, x: np.ndarray, v: np.ndarray | None = None) -> np.ndarray:
        x = _spread(x, q, v)
        return self._filled(x.shape[:-1], self.nv, ((joint.v, joint.velocities(q, x, v)) for joint in self.joints))

    def _ours(self, q: np.ndarray, x: np.ndarray, v: np.ndarray | None = None) -> np.ndarray:
        x = _spread(x, q, v)
        return self._filled(x.shape[:-1], self.our_nv, ((joint.our_v, joint.our_velocities(q, x, v)) for joint in self.joints))

    @staticmethod
    def _filled(lead: tuple[int, ...], size: int, pieces: Iterable[tuple[slice, np.ndarray]]) -> np.ndarray:
        out = np.empty((*lead, size))
        for places, values in pieces:
            out[..., places] = values
        return out

    # --- checks -------------------------------------------------------------------------------------------------------------
    def _array(self, name: str, values: Any, size: int) -> np.ndarray:
        array = np.asarray(values, dtype=float)
        if array.ndim == 0 or array.shape[-1] != size:
            raise InputError(
                f"{self.mechanism}: {name} has the shape {array.shape}; its last axis must have {size} components. Ours are "
                f"nq={self.our_nq}, nv={self.our_nv}, {self.peer}'s nq={self.nq}, nv={self.nv}"
            )
        return array

    def _needed(self, v: np.ndarray | None) -> np.ndarray:
        if v is None:
            raise InputError(f"{self.mechanism}: accelerations are given without velocities v, which they depend on; give both")
        return v

    def _check_unit(self, joint: JointOrder, part: np.ndarray, names: tuple[str, ...]) -> None:
        for unit in (part[..., [names.index(name) for name in group]] for group in UNIT_VECTORS if group[0] in names):
            off = np.abs(1.0 - np.linalg.norm(unit, axis=-1))
            if not (off < _OFF).all():
                worst = part.reshape(-1, len(names))[int(np.argmax(np.nan_to_num(off, nan=np.inf)))]
                raise InputError(
                    f"{self.mechanism}: q of joint {joint.link.name!r} is {worst.tolist()}, where a part is {off.max():.3g} "
                    f"off unit length; its components must be ({', '.join(names)}), in this order"
                )


def _spread(x: np.ndarray, *others: np.ndarray | None) -> np.ndarray:
    """x broadcast to the common leading axes of all arrays."""
    lead = np.broadcast_shapes(x.shape[:-1], *(other.shape[:-1] for other in others if other is not None))
    return np.broadcast_to(x, (*lead, x.shape[-1]))


# --- the joints of other programs, matched with ours ----------------------------------------------------------------------
def pinocchio(robot: Mechanism | HasMechanism, model: Any, *, continuous: Collection[str] = ()) -> Order:
    """Conversion to and from Pinocchio's states.

    There, positions stand before quaternions (x, y, z, w) and linear before angular velocities, both of a free joint in the
    body's axes; a "continuous" joint is written by its cosine and sine; joints come depth first, children by their names.

    Args:
        robot: a robot or mechanism.
        model: a `pinocchio.Model`; or the names of its moving joints in order, if Pinocchio is not installed.
        continuous: with names: the joints that are written by cosine and sine. A model contains this.

    Raises:
        InputError: if a joint is missing on either side (fixed ones do not count), or is of another kind.
    """
    if isinstance(model, Sequence):
        joints = [(name, "continuous" if name in continuous else None) for name in model]
        return _order(robot, "Pinocchio", PINOCCHIO, joints)
    pairs = list(zip(model.names, model.joints, strict=True))[1:]  # the first is the universe
    joints = [(name, _pinocchio_type(joint.shortname())) for name, joint in pairs]
    return _order(robot, "Pinocchio", PINOCCHIO, joints, (model.nq, model.nv))


def mujoco(robot: Mechanism | HasMechanism, model: Any) -> Order:
    """Conversion to and from MuJoCo's states (qpos, qvel, qacc, qfrc), and from its ctrl (`Order.control`).

    There, positions stand before quaternions (w, x, y, z) and linear before angular velocities; a free joint's coordinates are
    those of the body in the world, its linear velocity along the world's axes, its angular velocity along the body's.

    Args:
        robot: a robot or mechanism.
        model: a `mujoco.MjModel`; or the names of its joints in order, if only states are converted.

    Raises:
        InputError: if a joint is missing on either side (fixed ones do not count), or is of another kind.
    """
    if isinstance(model, Sequence):
        return _order(robot, "MuJoCo", MUJOCO, [(name, None) for name in model])
    types = ("free", "ball", "slide", "hinge")  # mjtJoint
    joints = [(model.joint(i).name, types[int(model.jnt_type[i])]) for i in range(model.njnt)]
    order = _order(robot, "MuJoCo", MUJOCO, joints, (model.nq, model.nv))
    mechanism = robot if isinstance(robot, Mechanism) else robot.mechanism
    driven = tuple(joint.name for joint in mechanism.driven)
    return replace(order, actuators=actuators_of(mechanism, model), driven=driven)


def drake(robot: Mechanism | HasMechanism, names: Sequence[str]) -> Order:
    """Conversion to and from Drake's states.

    There, quaternions (w, x, y, z) stand before positions and angular before linear velocities, both of a floating joint along
    the axes of the parent's frame. Floating joints by Euler angles and ball joints are not converted.

    Args:
        robot: a robot or mechanism.
        names: of the plant's moving joints, in the order of its positions.

    Raises:
        InputError: if a joint is missing on either side (fixed ones do not count), or is of another kind.
    """
    return _order(robot, "Drake", DRAKE, [(name, None) for name in names])


def _pinocchio_type(shortname: str) -> str:
    """The type behind names like "JointModelRUBX"; the name itself if it is unknown."""
    kinds = {
        "R([XYZ]|evoluteUnaligned)": "revolute",
        "R(UB[XYZ]|evoluteUnboundedUnaligned)": "continuous",
        "P([XYZ]|rismaticUnaligned)": "prismatic",
        "FreeFlyer": "floating",
        "Spherical": "spherical",
        "Planar": "planar",
        "Universal": "universal",
    }
    return next((kind for form, kind in kinds.items() if re.fullmatch(f"JointModel{form}", shortname)), shortname)


# --- matching ---------------------------------------------------------------------------------------------------------------
def _order(
    robot: Mechanism | HasMechanism, peer: str, table: Table, theirs: Sequence[tuple[str, str | None]],
    sizes: tuple[int, int] | None = None,
) -> Order:  # fmt: skip
    """The order for joints of theirs: their names, and their types as the table calls them (None: not known)."""
    mechanism = robot if isinstance(robot, Mechanism) else robot.mechanism
    tree = mechanism.tree
    links = {link.name: link for link in tree.links}
    joints, q, v = [], 0, 0
    for (name, kind), ours in zip(theirs, _matched(mechanism.name, peer, [name for name, _ in theirs], links), strict=True):
        link = links[ours]
        layout = _layout(mechanism.name, peer, table, link, kind)
        joint = mechanism.joint(ours)
        turn = alignment(joint.axis, joint.second_axis).matrix()
        if layout.oriented and np.abs(np.array([list(row) for row in turn], dtype=float) - np.eye(3)).max() > 1e-12:
            raise InputError(  # orientations and planes about other axes than the frame's own, which no other program has
                f"{mechanism.name}: the coordinates of joint {ours!r} are along axes that axis={tuple(joint.axis)} turns "
                f"away from its frame's, which {peer} cannot say; turn the joint's pose instead and leave the axis at z"
            )
        base = _base(mechanism.name, peer, link) if layout.in_world else None
        joints.append(JointOrder(link, name, layout, slice(q, q + len(layout.q)), slice(v, v + len(layout.v)), base))
        q, v = q + len(layout.q), v + len(layout.v)
    if sizes is not None and (q, v) != tuple(sizes):
        raise InputError(
            f"{mechanism.name}: the joints have nq={q} and nv={v} in {peer}'s order, but its model has nq={sizes[0]} and "
            f"nv={sizes[1]}; is the model changed by hand?"
        )
    return Order(mechanism.name, peer, tuple(joints), tree.nq, tree.nv, q, v)


def _matched(mechanism: str, peer: str, theirs: Sequence[str], links: dict[str, Link]) -> Iterator[str]:
    """Our name of each of their joints. If one free joint is left on each side, they match: programs name it differently."""
    repeated = sorted({name for name in theirs if list(theirs).count(name) > 1})
    if repeated:
        raise InputError(f"{mechanism}: {peer}'s joints have names that repeat, {repeated}; joints are matched by name")
    extra = [name for name in theirs if name not in links]
    missing = [name for name in links if name not in theirs]
    same = {}
    if len(extra) == len(missing) == 1 and links[missing[0]].kind.nv == 6 and links[missing[0]].parent == WORLD_LINK:
        same = {extra[0]: missing[0]}
        extra, missing = [], []
    if extra or missing:
        some, lacking = (
            ", ".join(map(repr, names[:6])) + f", … ({len(names)} in all)" * (len(names) > 6) for names in (extra, missing)
        )
        faults = [f"{peer} has {some}, which move nothing here"] * bool(extra) + [f"{peer} lacks {lacking}"] * bool(missing)
        raise InputError(
            f"{mechanism}: the joints are not the same: {'; '.join(faults)}. Read the same file in both programs, with the "
            "base held alike, and lock the same joints; fixed joints do not count"
        )
    return (same.get(name, name) for name in theirs)


def _layout(mechanism: str, peer: str, table: Table, link: Link, kind: str | None) -> Layout:
    layouts = table.get(link.kind.name, {})
    if kind is None and layouts:
        return next(iter(layouts.values()))
    if kind not in layouts:
        there = f"{kind!r} in {peer}" if kind is not None else f"and {peer} has no such joint"
        known = ", ".join(f"{ours} to {' or '.join(types)}" for ours, types in table.items())
        raise InputError(
            f"{mechanism}: joint {link.name!r} is {link.kind.name!r} here {there}; states are converted from {known}"
        )
    return layouts[kind]


def _base(mechanism: str, peer: str, link: Link) -> tuple[np.ndarray, np.ndarray] | None:
    """The pose of a joint's fixed frame in the world: orientation x, y, z, w and position; None for the world itself."""
    if link.parent != WORLD_LINK:
        raise InputError(
            f"{mechanism}: joint {link.name!r} hangs on a moving body; {peer}'s free joints hang on the world, so that "
            "the same coordinates do not exist there"
        )
    if link.placement.almost_equal(Transform(), 0.0):
        return None
    return np.array(quaternion_of(link.placement.rotation)), np.array(list(link.placement.translation))
