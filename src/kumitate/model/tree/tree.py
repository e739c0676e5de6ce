"""The tree on which the dynamics is computed: only moving links, each in the frame of its joint.

Bodies that are fixed to one another are one link. Every link's frame is rotated so that its joint moves along the kind's own
axes, and, where the kind allows it (a screw symmetry about z), rotated about z so that the constant rotation from the parent is
Rz(α) Rx(β). This is exact, done once on floats, and not visible outside: `Tree.places` gives the pose of each body's frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError, did_you_mean
from ...scalar import flatten, floats
from ...spatial import (
    AxisTurn,
    DenseRotation,
    Inertia,
    Matrix3,
    Rotation,
    RotationChain,
    Transform,
    Vector3,
    identity_rotation,
    zxz_rotation,
)  # fmt: skip
from ..joints import Closure, JointKind

if TYPE_CHECKING:
    from ..elements import Body, Coupling, Frame, Joint, Loop

WORLD_LINK = -1


#: The fields of links that hold constants.
CONSTANTS = ("placement", "inertia", "armature", "damping", "friction", "stiffness", "rest", "offset")


@dataclass(frozen=True)
class Link:
    """One moving link L and its joint.

    Attributes:
        name: of the joint.
        index: position in `Tree.links`; `parent` is the parent's, −1 for the world.
        kind: of the joint.
        placement: X_PF, the joint's fixed frame in the parent link.
        inertia: of all bodies of the link, in L.
        q_start, v_start: the indices of its first coordinate and velocity in q and v (symbols of a loop while a chain is
            rolled up).
        armature, damping, friction, stiffness, rest: one value per degree of freedom.
        offset: added to the coordinate that turns the link about z, `kind.turn` [rad].
    """

    name: str
    index: Any
    parent: Any
    kind: JointKind
    placement: Transform
    inertia: Inertia
    q_start: Any
    v_start: Any
    armature: tuple[Any, ...]
    damping: tuple[Any, ...]
    friction: tuple[Any, ...]
    offset: Any = 0.0
    stiffness: tuple[Any, ...] = ()
    rest: tuple[Any, ...] = ()

    @cached_property
    def numbers(self) -> dict[str, list[Any]]:
        """The numbers that each of its constants consists of, by field: kept, as chains are looked through again and again."""
        return {name: flatten(getattr(self, name))[0] for name in CONSTANTS}

    def coordinates(self, q: Sequence[Any]) -> list[Any]:
        """This joint's part of q."""
        return [q[self.q_start + k] for k in range(self.kind.nq)]

    def velocities(self, v: Sequence[Any]) -> list[Any]:
        """This joint's part of v, a or tau."""
        return [v[self.v_start + k] for k in range(self.kind.nv)]

    def is_link(self, index: int) -> Any:
        """Whether this is the link at `index` of the tree: True, False, or a condition while a chain is rolled up."""
        return self.index == index

    def pose(self, q: Sequence[Any]) -> Transform:
        """X_PL, the link in its parent."""
        return self.placement @ self.motion(q)

    def motion(self, q: Sequence[Any]) -> Transform:
        """X_FL, the link in the joint's fixed frame."""
        own = self.coordinates(q)
        if self.kind.turn is not None:
            own[self.kind.turn] = own[self.kind.turn] + self.offset
        return self.kind.transform(own)


@dataclass(frozen=True)
class Place:
    """A frame B fixed on a link: the link's index (−1: the world) and X_LB."""

    link: int
    pose: Transform


@dataclass(frozen=True)
class Chord:
    """A joint outside of the tree that closes a loop of it.

    Attributes:
        name: of the loop.
        closure: its kind.
        base, follower: the places of its frames F and M, as the closure names them.
        turn: the rotation of the closure's frames, whose axis is z, in those that the user gave.
        armature, damping, friction, stiffness, rest: one value per degree of freedom.
    """

    name: str
    closure: Closure
    base: Place
    follower: Place
    turn: Transform = field(default_factory=Transform)
    armature: tuple[float, ...] = ()
    damping: tuple[float, ...] = ()
    friction: tuple[float, ...] = ()
    stiffness: tuple[float, ...] = ()
    rest: tuple[float, ...] = ()


@dataclass(frozen=True)
class Gear:
    """A constant relation between coordinates: Σ ratio·q = offset, by their indices in q and in v."""

    name: str
    q_ratios: tuple[tuple[int, float], ...]
    v_ratios: tuple[tuple[int, float], ...]
    offset: float


@dataclass(frozen=True)
class Limbs:
    """Chains below one link that are alike but for their numbers.

    Attributes:
        parent: the link that carries them (−1: the world).
        chains: the links of each, from its root to its tip.
        q_stride, v_stride: from one to the next in q and in v.
    """

    parent: int
    chains: tuple[tuple[int, ...], ...]
    q_stride: int
    v_stride: int


@dataclass(frozen=True)
class Tree:
    """The links, parents before children, depth first, and the chords and gears that close loops.

    Attributes:
        links: the moving ones.
        places: of bodies and frames, by name.
        nq, nv: sizes of q and v.
        chords, gears: constraints that close loops.
        mass: of all moving bodies [kg]; `size`: the mean distance of two joints on one link [m], 1 if no link has two. Neither
            changes when inertias and frames are moved: they are scales for tolerances.
        limbs: those that traversals compute side by side; none unless `with_limbs` noted them.
    """

    links: tuple[Link, ...]
    places: dict[str, Place] = field(compare=False)
    nq: int
    nv: int
    chords: tuple[Chord, ...] = ()
    gears: tuple[Gear, ...] = ()
    mass: float = 1.0
    size: float = 1.0
    limbs: tuple[Limbs, ...] = ()

    def check_physical(self, purpose: str) -> None:
        """Refuses a `BaseParameterTree`, by an `InputError`, for a purpose that needs the inertias of bodies."""

    def place(self, name: str, where: str) -> Place:
        """The place of the body or frame of a name; `where` the name was given, "a wrench acts on", for the `InputError`."""
        if name not in self.places:
            hint = did_you_mean(name, self.places, f"there are {', '.join(self.places)}")
            raise InputError(f"{where} {name!r}, which is not a body or frame; {hint}")
        return self.places[name]

    @property
    def closed(self) -> bool:
        """Whether chords or gears constrain the links."""
        return bool(self.chords or self.gears)

    def children(self, index: int) -> list[Link]:
        """The links carried by link `index` (−1: by the world)."""
        return [self.links[i] for i in self._children[index]]

    def ancestors(self, index: int) -> list[Link]:
        """Link `index`, its parent, and so on to the world."""
        chain = []
        while index != WORLD_LINK:
            chain.append(self.links[index])
            index = self.links[index].parent
        return chain

    def __post_init__(self) -> None:
        children: dict[int, list[int]] = {index: [] for index in range(-1, len(self.links))}
        for link in self.links:
            children[link.parent].append(link.index)
        object.__setattr__(self, "_children", children)

    _children: dict[int, list[int]] = field(init=False, repr=False, compare=False, default_factory=dict)


def build_tree(
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    loops: Sequence[Loop],
    couplings: Sequence[Coupling],
    frames: Sequence[Frame],
) -> Tree:
    """The tree of a mechanism's parts; there may be joints that move no inertia (`inertia_checks` refuses those)."""
    places: dict[str, Place] = {"world": Place(WORLD_LINK, Transform())}
    links: list[Link] = []
    q_start = v_start = 0
    carried = {body.name: body for body in bodies}
    for joint in joints:
        parent = places[joint.parent]
        kind = joint.kind
        body_inertia = carried[joint.child].spatial_inertia()
        at_joint = parent.pose @ joint.pose
        if kind.nv == 0:
            places[joint.child] = Place(parent.link, _numeric(at_joint))
            if parent.link != WORLD_LINK:
                whole = links[parent.link].inertia + body_inertia.to_parent(places[joint.child].pose)
                links[parent.link] = replace(links[parent.link], inertia=whole)
            continue
        turn = Transform(alignment(joint.axis, joint.second_axis))
        placement, extra = _placement(_numeric(at_joint @ turn), kind)
        X_BL = _numeric(turn @ extra)  # the same in F and M, so that it commutes with the joint's motion
        places[joint.child] = Place(len(links), _numeric(X_BL.inverse()))
        links.append(
            Link(
                joint.name, len(links), parent.link, kind, placement, body_inertia.to_parent(places[joint.child].pose),
                q_start, v_start, **_passive(joint),
            )
        )  # fmt: skip
        q_start += kind.nq
        v_start += kind.nv
    for frame in frames:
        base = places[frame.body]
        places[frame.name] = Place(base.link, _numeric(base.pose @ frame.pose))
    chords, gears = _chords(loops, places), _gears(couplings, links)
    mass = sum(floats(link.inertia.mass for link in links)) or 1.0
    return Tree(tuple(links), places, q_start, v_start, chords, gears, mass, _size(links, chords))


def _size(links: Sequence[Link], chords: Sequence[Chord]) -> float:
    """The mean distance of two joints on one link."""
    ends: dict[int, list[Any]] = {link.index: [np.zeros(3)] for link in links}
    held = [(link.parent, link.placement) for link in links]
    held += [(place.link, place.pose) for chord in chords for place in (chord.base, chord.follower)]
    for index, pose in held:
        if index != WORLD_LINK:
            ends[index].append(np.array(list(pose.translation)))
    between = (float(np.linalg.norm(a - b)) for points in ends.values() for a, b in combinations(points, 2))
    lengths = [length for length in between if length > 1e-9]
    return sum(lengths) / len(lengths) if lengths else 1.0


def _passive(item: Joint | Loop) -> dict[str, Any]:
    """Damping and the like; the armature is the joint's and its drive's."""
    passive = {key: getattr(item, key) for key in ("armature", "damping", "friction", "stiffness", "rest")}
    if item.drive is not None:
        passive["armature"] = tuple(part + item.drive.reflected_inertia for part in passive["armature"])
    return passive


def _chords(loops: Sequence[Loop], places: dict[str, Place]) -> tuple[Chord, ...]:
    chords = []
    for loop in loops:
        turn = Transform(alignment(loop.axis, loop.second_axis))
        base, follower = (
            Place(places[body].link, _numeric(places[body].pose @ pose @ turn))
            for body, pose in ((loop.body_a, loop.pose_a), (loop.body_b, loop.pose_b))
        )
        chords.append(Chord(loop.name, loop.kind, base, follower, turn, **_passive(loop)))
    return tuple(chords)


def _gears(couplings: Sequence[Coupling], links: list[Link]) -> tuple[Gear, ...]:
    by_name = {link.name: link for link in links}
    gears = []
    for coupling in couplings:
        ends = ((by_name[coupling.joint], 1.0), (by_name[coupling.of], -coupling.ratio))
        q_ratios, v_ratios = (tuple((getattr(link, key), r) for link, r in ends) for key in ("q_start", "v_start"))
        gears.append(Gear(coupling.name, q_ratios, v_ratios, coupling.offset))
    return tuple(gears)


def alignment(axis: Sequence[float], second: Sequence[float] | None) -> Rotation:
    """The rotation that takes z to `axis` (and y to `second`): the identity for z itself, the shortest turn otherwise."""
    z = np.asarray(axis)
    if second is not None:
        y = np.asarray(second)
        columns = np.column_stack([np.cross(y, z), y, z])
    elif np.abs(z[:2]).max() < 1e-15:  # not by z₃, which is 1 to rounding up to tilts of 1e-8
        if z[2] > 0.0:
            return identity_rotation()
        columns = np.diag([1.0, -1.0, -1.0])
    else:  # Rodrigues' formula about z × axis
        w = np.array([-z[1], z[0], 0.0])
        skew = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
        # near −z, 1 + z₃ would lose all digits; it is |w|² / (1 − z₃)
        share = 1.0 / (1.0 + z[2]) if z[2] >= 0.0 else (1.0 - z[2]) / (w @ w)
        columns = np.eye(3) + skew + skew @ skew * share
    return DenseRotation(Matrix3.of(columns.tolist()))


def _placement(X_PF: Transform, kind: JointKind) -> tuple[Transform, Transform]:
    """X_PF with its rotation as turns about axes, and the turn about z that was taken out of it (given to F and M alike)."""
    alpha, beta, gamma = zxz_rotation(X_PF.rotation.matrix())  # type: ignore[arg-type]
    turns = [AxisTurn.by(2, alpha), AxisTurn.by(0, beta)]
    if kind.screw_symmetric:
        return Transform(RotationChain(tuple(turns)), X_PF.translation), Transform(AxisTurn.by(2, -gamma))
    return Transform(RotationChain((*turns, AxisTurn.by(2, gamma))), X_PF.translation), Transform()


def exact(X: Transform, tolerance: float = 4e-15) -> Transform:
    """A numeric pose that is a product of others, with what rounding has left of zeros and ones taken out."""
    shift = floats(X.translation)
    least = tolerance * max(map(abs, shift))
    rows = [[_whole(float(x), tolerance) for x in row] for row in X.rotation.matrix()]
    return Transform(DenseRotation(Matrix3.of(rows)), Vector3(*(0.0 if abs(x) <= least else x for x in shift)))


def _whole(value: float, tolerance: float) -> float:
    nearest = float(round(value))
    return nearest if abs(value - nearest) < tolerance else value


def _numeric(X: Transform) -> Transform:
    """The pose with a dense rotation of floats, entries within rounding of 0 and ±1 made exact."""
    rows = [[_whole(float(value), 1e-15) for value in row] for row in X.rotation.matrix()]
    return Transform(DenseRotation(Matrix3.of(rows)), Vector3(*floats(X.translation)))
