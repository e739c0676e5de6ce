"""A mechanism: a tree of bodies and joints, and the loops that close it.

Frozen, checked when it is created, independent of any algorithm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from math import inf
from typing import Any, NamedTuple, Protocol, TypeVar

from ..errors import ModelError, UnknownNameError, did_you_mean
from .drives import Drive, drive_states
from .elements import Actuator, Body, Coupling, Frame, Joint, Loop, NamedState, drive_targets, in_order
from .tree.base_parameters import BaseParameterTree, InertiaMap, base_parameter_tree, with_dh_frames
from .tree.tree import Tree, build_tree
from .values import checked_name, checked_numbers, checked_parts


def first_circle(follows: Mapping[str, str]) -> list[str]:
    """The members of a cycle in order, or an empty list; `follows` maps each name to the one that it follows.

    The cycle starts with the first of its members in the mapping. Each name is visited once.

    >>> first_circle({"a": "b", "b": "c", "c": "b"}), first_circle({"a": "b", "b": "c"})
    (['b', 'c'], [])
    """
    done: set[str] = set()
    for name in follows:
        way: list[str] = []
        while name in follows and name not in done:
            done.add(name)
            way.append(name)
            name = follows[name]
        if name in way:
            circle = way[way.index(name) :]
            first = circle.index(next(filter(set(circle).__contains__, follows)))
            return circle[first:] + circle[:first]
    return []


class Driven(NamedTuple):
    """A joint with a drive.

    Attributes:
        name: of the joint, loop joint or line; `drive`: in it.
        q, v: the indices of its coordinate and velocity among those of all joints; those of the tree are those in q and v.
        limit: the largest effort of the drive [N·m or N], infinite if there is none.
        states: where the drive's own state stands among those of all drives; nothing for most.
    """

    name: str
    drive: Drive
    q: int
    v: int
    limit: float
    states: slice

    @property
    def limited(self) -> bool:
        """Whether there is a largest effort; of a symbol there is."""
        return not (isinstance(self.limit, float) and self.limit == inf)


#: The name of the body that does not move.
WORLD = "world"
#: Where a mechanism keeps its hash.
_HASH = "hash of all parts"

Named = TypeVar("Named", bound=Body | Joint | Loop | Coupling | Frame)


@dataclass(frozen=True)
class Mechanism:
    """Bodies, joints, loops and frames.

    The joints form a tree rooted at the body "world"; each body is the child of exactly one joint. Joints are ordered
    from the root outward, depth first, children in the order given; q, v and tau follow that order.

    Attributes:
        name: of the mechanism.
        bodies: all except the world, in the order of their joints.
        joints: of the tree.
        loops: joints that close loops.
        frames: named frames on bodies, in addition to the bodies' own frames, which have the bodies' names.
        gravity: gravitational acceleration in the world [m/s²].
        source: the file it was read from, if any.
        couplings: gears between joints.
        faults: inertias that the reader of its file had to replace because they are physically impossible. Such a mechanism has
            poses; functions that need its inertias are refused, with the fault (`check_inertias`). Empty it when you replace
            the inertias.
        starts: named states, such as the keyframes of MJCF; simulations begin at that called "initial".
        no_contact: pairs of bodies that never touch each other, each pair in alphabetical order.

    Raises:
        ModelError: if names repeat or are missing, a body has no or two parents, or the joints make a cycle.

    >>> from kumitate import Body, Joint, Robot
    >>> rod = Body("rod", 1.0, (0, 0, 0.5), (1 / 12, 1 / 12, 1e-4))
    >>> pendulum = Mechanism("pendulum", (rod,), (Joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0)),))
    >>> float(Robot(pendulum).mass_matrix([0.0])[0, 0].round(6))  # 1/3 kg·m²
    0.333333
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    loops: tuple[Loop, ...] = ()
    frames: tuple[Frame, ...] = ()
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    source: str | None = field(default=None, compare=False)
    couplings: tuple[Coupling, ...] = ()
    faults: tuple[str, ...] = field(default=(), compare=False)
    starts: tuple[NamedState, ...] = ()
    no_contact: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        checked_name("a mechanism", self.name)
        for key, kind in (
            ("bodies", Body), ("joints", Joint), ("loops", Loop), ("frames", Frame), ("couplings", Coupling), ("faults", str),
            ("starts", NamedState),
        ):  # fmt: skip
            object.__setattr__(self, key, checked_parts(self.name, key, getattr(self, key), kind))
        object.__setattr__(self, "gravity", checked_numbers(self.name, "gravity [m/s²]", self.gravity, 3))
        _check_names(self.name, "body", self.bodies, WORLD)
        _check_names(self.name, "joint", (*self.joints, *self.loops))
        _check_names(self.name, "frame", (*self.bodies, *self.frames))
        self._check_references()
        _check_names(self.name, "coupling", self.couplings)
        _check_couplings(self.name, {joint.name: joint for joint in self.joints}, self.couplings)
        _check_names(self.name, "start", self.starts)
        for start in self.starts:
            start.check(self.name, {joint.name: joint for joint in self.joints})
        object.__setattr__(self, "no_contact", _checked_pairs(self.name, self.no_contact, [body.name for body in self.bodies]))
        joints = tuple(self._outward())
        object.__setattr__(self, "joints", joints)
        carried = {body.name: body for body in self.bodies}
        object.__setattr__(self, "bodies", tuple(carried[joint.child] for joint in joints))

    def __hash__(self) -> int:
        """The hash of all parts that are compared, computed once: a mechanism of a humanoid has thousands."""
        known: int | None = self.__dict__.get(_HASH)
        if known is None:
            known = self.__dict__[_HASH] = hash(tuple(getattr(self, part.name) for part in fields(self) if part.compare))
        return known

    def __getstate__(self) -> dict[str, object]:
        """What copies take along: all but the hash, which differs from process to process."""
        return {name: value for name, value in self.__dict__.items() if name != _HASH}

    def _check_references(self) -> None:
        known = {WORLD, *(body.name for body in self.bodies)}
        named = [("joint", j.name, f"the {role} ", getattr(j, role)) for j in self.joints for role in ("parent", "child")]
        named += [("loop", loop.name, "", body) for loop in self.loops for body in (loop.body_a, loop.body_b)]
        named += [("frame", frame.name, "", frame.body) for frame in self.frames]
        for what, owner, role, name in named:
            if name not in known:
                hint = nearest(name, known)
                raise ModelError(f"{self.name}: {what} {owner!r} names {role}{name!r}, which is not a body; {hint}")
        for joint in self.joints:
            if joint.child == WORLD:
                rule = "the world does not move, so it must be the parent"
                raise ModelError(f"{self.name}: joint {joint.name!r} has the world as its child; {rule}")
            if joint.parent == joint.child:
                raise ModelError(f"{self.name}: joint {joint.name!r} joins {joint.child!r} to itself; name two bodies")
        parents = Counter(joint.child for joint in self.joints)
        for body in self.bodies:
            if parents[body.name] == 0:
                raise ModelError(
                    f"{self.name}: body {body.name!r} is the child of no joint; join it to another body or to {WORLD!r} "
                    "(fixed, or floating if it is free)"
                )
            if parents[body.name] > 1:
                names = [joint.name for joint in self.joints if joint.child == body.name]
                raise ModelError(
                    f"{self.name}: body {body.name!r} is the child of the joints {names}; keep one of them in the tree and "
                    "declare the others as loops"
                )

    def _outward(self) -> Iterator[Joint]:
        """The joints from the world outward, depth first."""
        children: dict[str, list[Joint]] = {}
        for joint in self.joints:
            children.setdefault(joint.parent, []).append(joint)
        waiting = list(reversed(children.get(WORLD, [])))
        reached = 0
        while waiting:
            joint = waiting.pop()
            reached += 1
            yield joint
            waiting.extend(reversed(children.get(joint.child, [])))
        if reached < len(self.joints):
            cycle = first_circle({joint.child: joint.parent for joint in self.joints})
            raise ModelError(
                f"{self.name}: the joints of {cycle} form a cycle that nothing holds to {WORLD!r}; "
                "join one of them to the world and declare the joint that closes the cycle as a loop"
            )

    # --- sizes and names ----------------------------------------------------------------------------------------------
    @cached_property
    def nq(self) -> int:
        """The number of coordinates."""
        return sum(joint.kind.nq for joint in self.joints)

    @cached_property
    def nv(self) -> int:
        """The number of velocities: the degrees of freedom of the tree."""
        return sum(joint.kind.nv for joint in self.joints)

    @cached_property
    def q_names(self) -> tuple[str, ...]:
        """A name for every component of q: the joint's, and the component's where it has several."""
        return tuple(_component_names(self.joints, "coordinates"))

    @cached_property
    def v_names(self) -> tuple[str, ...]:
        """A name for every component of v and tau."""
        return tuple(_component_names(self.joints, "velocities"))

    @cached_property
    def loop_q_names(self) -> tuple[str, ...]:
        """A name for every coordinate of loop joints and lines: the loop's, and the component's where it has several."""
        return tuple(_component_names([loop for loop in self.loops if loop.kind.nv], "coordinates"))

    @cached_property
    def loop_v_names(self) -> tuple[str, ...]:
        """A name for every rate of loop joints and lines."""
        return tuple(_component_names([loop for loop in self.loops if loop.kind.nv], "velocities"))

    @cached_property
    def tree(self) -> Tree:
        """The moving links with their inertias, in the frames used by the dynamics."""
        return build_tree(self.bodies, self.joints, self.loops, self.couplings, self.frames)

    @cached_property
    def base_parameter_tree(self) -> BaseParameterTree:
        """`tree` with base parameters: cheaper, with the same accelerations and generalised forces."""
        return base_parameter_tree(with_dh_frames(self.tree))

    @cached_property
    def driven(self) -> tuple[Driven, ...]:
        """The joints with drives, then the loop joints and lines with drives: the order of their targets."""
        found, s = [], 0
        items: tuple[Joint | Loop, ...] = (*self.joints, *self.loops)
        for item, q, v in in_order(items):
            if item.drive is not None:
                limit = next(limit for limit in (item.drive.limit, item.limits[0].effort, inf) if limit is not None)
                states = slice(s, s := s + len(drive_states(item.drive)))
                found.append(Driven(item.name, item.drive, q, v, limit, states))
        return tuple(found)

    def with_drives(self, drives: Mapping[str, Drive | None]) -> Mechanism:
        """The mechanism with drives in joints, loop joints and lines, by their names; None takes one out.

        Others stay as they are.

        Raises:
            ModelError: if there is no such joint, or it has more than one degree of freedom.
        """
        items: tuple[Joint | Loop, ...] = (*self.joints, *self.loops)
        known = ByName(self, "joint or loop", items)
        for name in drives:
            known[name]
        joints = (replace(joint, drive=drives[joint.name]) if joint.name in drives else joint for joint in self.joints)
        loops = (replace(loop, drive=drives[loop.name]) if loop.name in drives else loop for loop in self.loops)
        return replace(self, joints=tuple(joints), loops=tuple(loops))

    @cached_property
    def inertia_map(self) -> InertiaMap:
        """From the inertias of bodies to those of the links of `base_parameter_tree`, for other inertias than these."""
        return InertiaMap.of(self.base_parameter_tree, [body.name for body in self.bodies])

    def joint(self, name: str) -> Joint:
        """The joint of this name."""
        return ByName(self, "joint", self.joints)[name]

    def body(self, name: str) -> Body:
        """The body of this name."""
        return ByName(self, "body", self.bodies)[name]


def _check_couplings(mechanism: str, joints: dict[str, Joint], couplings: Iterable[Coupling]) -> None:
    """Checks that couplings name existing joints of one degree of freedom, that each follows at most one, without cycles."""
    follows: dict[str, str] = {}
    for coupling in couplings:
        for name in (coupling.joint, coupling.of):
            if name not in joints:
                raise ModelError(
                    f"{mechanism}: coupling {coupling.name!r} names the joint {name!r}, which the tree does not have; "
                    f"{nearest(name, joints)}"
                )
            if joints[name].kind.nv != 1:
                raise ModelError(
                    f"{mechanism}: coupling {coupling.name!r} names {name!r}, a {joints[name].kind.name} joint of "
                    f"{joints[name].kind.nv} degrees of freedom; couplings are between joints of one"
                )
        if coupling.joint in follows:
            both = f"{follows[coupling.joint]!r} and {coupling.of!r}"
            rule = "a joint follows one other at most (let the second joint follow instead)"
            raise ModelError(f"{mechanism}: joint {coupling.joint!r} follows both {both}; {rule}")
        follows[coupling.joint] = coupling.of
    if circle := first_circle(follows):
        way = " → ".join([*circle, circle[0]])
        raise ModelError(f"{mechanism}: the couplings go round in a cycle, {way}; leave one of them out")


def _checked_pairs(mechanism: str, pairs: Iterable[Iterable[str]], bodies: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of bodies, each in alphabetical order and once."""
    found: dict[tuple[str, str], None] = {}
    for pair in pairs:
        names = (pair,) if isinstance(pair, str) else tuple(pair)
        for name in names:
            if name not in bodies:
                raise ModelError(f"{mechanism}: no_contact names {name!r}, which is not a body; {nearest(name, bodies)}")
        if len(set(names)) != 2:
            raise ModelError(f"{mechanism}: no_contact has {names!r}; it must hold pairs of two bodies. Name both")
        one, two = sorted(names)
        found[one, two] = None
    return tuple(found)


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with as many underscores behind it as it takes to be new."""
    while name in taken:
        name += "_"
    return name


def take_name(name: str, taken: set[str]) -> str:
    """The `free_name`, which is then taken."""
    taken.add(name := free_name(name, taken))
    return name


def nearest(name: str, known: Collection[str]) -> str:
    """Suggests the closest known name for an unknown one, or lists all."""
    return did_you_mean(name, known, f"there are {', '.join(sorted(known)) or 'none'}")


def _component_names(joints: Iterable[Joint | Loop], key: str) -> Iterator[str]:
    for joint in joints:
        names = getattr(joint.kind, key)
        for name in names:
            yield joint.name if len(names) == 1 else f"{joint.name}.{name}"


def _check_names(mechanism: str, what: str, parts: Iterable[Any], *others: str) -> None:
    for name, count in Counter([*others, *(part.name for part in parts)]).items():
        if count > 1:
            raise ModelError(f"{mechanism}: the {what} name {name!r} is used {count} times; names must be unique, rename one")
        if not name:
            raise ModelError(f"{mechanism}: a {what} has an empty name; give it one")


class HasMechanism(Protocol):
    """What has a mechanism, such as a robot."""

    @property
    def mechanism(self) -> Mechanism:
        """What it is made of."""


class ByName(dict[str, Named]):
    """Elements by name, in their order; `what` they are, and of which mechanism, for the error at a name that is not there."""

    def __init__(self, mechanism: Mechanism, what: str, items: Iterable[Named]):
        super().__init__((item.name, item) for item in items)
        self._mechanism, self._what = mechanism.name, what

    def __missing__(self, name: str) -> Named:
        raise UnknownNameError(f"{self._mechanism}: there is no {self._what} {name!r}; {nearest(name, self)}")


class Contents:
    """What `Robot` gives of its mechanism by name."""

    mechanism: Mechanism

    @property
    def name(self) -> str:
        """The mechanism's name."""
        return self.mechanism.name

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return self.mechanism.nq

    @property
    def nv(self) -> int:
        """The number of degrees of freedom of the tree."""
        return self.mechanism.nv

    @property
    def bodies(self) -> dict[str, Body]:
        """The bodies by name."""
        return ByName(self.mechanism, "body", self.mechanism.bodies)

    @property
    def joints(self) -> dict[str, Joint]:
        """The joints of the tree by name, in the order of q and v."""
        return ByName(self.mechanism, "joint", self.mechanism.joints)

    @property
    def loops(self) -> dict[str, Loop]:
        """The joints that close loops, by name."""
        return ByName(self.mechanism, "loop", self.mechanism.loops)

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """The actuators of the robot's file that drive joints here, in the file's order; empty if the file says none.

        Drives carry them, so that edits keep those of the joints that they keep.
        """
        driven = ((joint.name, joint.drive.control) for joint in self.mechanism.joints if joint.drive is not None)
        found = sorted((one.index, name, one) for name, one in driven if one is not None)
        return tuple(
            Actuator(one.actuator, name, one.gear, one.lower, one.upper, one.scale, one.offset) for _, name, one in found
        )

    def targets(self, controls: Any) -> Any:
        """The targets of drives (..., driven) for controls of `actuators` (..., actuators), clipped; also while tracing.

        A policy that was learnt with the robot's file so drives it here: by
        `Simulation(robot, inputs={"ctrl": n, "target": lambda t, q, v, ctrl: robot.targets(ctrl)})`.

        Raises:
            InputError: if the file says no actuators, or a drive is not one of them; for controls of another shape.

        >>> from kumitate import Body, EffortDrive, Joint, Robot
        >>> from kumitate.model.drives import Control
        >>> motor = EffortDrive(control=Control("motor", 0, gear=50.0, lower=-1.0, upper=1.0, scale=50.0))
        >>> wheel = Joint("axle", "revolute", "world", "wheel", drive=motor)
        >>> robot = Robot(Mechanism("m", (Body("wheel", inertia=(1.0, 1.0, 1.0)),), (wheel,)))
        >>> robot.actuators[0].gear, robot.targets([0.5]).tolist()
        (50.0, [25.0])
        """
        driven = [joint.name for joint in self.mechanism.driven]
        remedy = "Load the MJCF file that has them, or use the order of `mechanism.driven`"
        return drive_targets(self.name, "its file", self.actuators, driven, controls, remedy)

    @property
    def couplings(self) -> dict[str, Coupling]:
        """The gears between joints, by name."""
        return ByName(self.mechanism, "coupling", self.mechanism.couplings)

    @property
    def frames(self) -> dict[str, Frame]:
        """The named frames by name, in addition to the bodies' own frames, which have the bodies' names."""
        return ByName(self.mechanism, "frame", self.mechanism.frames)


@lru_cache(maxsize=256)
def digest(mechanism: Mechanism) -> str | None:
    """A hash of all parts of a mechanism; None if it has joints, drives or shapes of classes outside of kumitate."""
    import hashlib  # loaded only when something is stored

    geometries = [item for body in mechanism.bodies for item in (*body.visuals, *body.collisions)]
    kinds = (*(joint.kind for joint in mechanism.joints), *(loop.kind for loop in mechanism.loops))
    drives = [driven.drive for driven in mechanism.driven]
    parts: list[object] = [*kinds, *drives, *(item.shape for item in geometries)]
    if not all(type(part).__module__.startswith("kumitate.") for part in parts):
        return None
    text = repr(mechanism)
    return None if " at 0x" in text else hashlib.sha256(text.encode()).hexdigest()
