"""Reading URDF, the robot description format of ROS (wiki.ros.org/urdf/XML)."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import did_you_mean, first_of
from ...scalar import floats
from ...spatial import Transform, pose
from ..elements import Body, Coupling, Joint, Limits, Loop
from ..joints import KINDS, Closure, Distance, Helical, Line, RollingDisc, RollingSphere
from ..mechanism import WORLD, Mechanism, first_circle, free_name
from ..shapes import Geometry, Mesh
from .parts import (
    MOMENTS,
    SQUARES,
    Color,
    MeshFinder,
    check_circles,
    clipped_color,
    leave_leaderless,
    link_inertia,
    note_missing,
    note_weightless,
    read_quarter_turns,
    read_shape,
)  # fmt: skip
from .urdf_transmissions import note_transmissions
from .xml import Element, Notes, read_xml

# --- the elements of a URDF -----------------------------------------------------------------------------------------------
# The format itself has no loops; they are read by two extensions of Drake, <loop_joint> and <drake:ball_constraint>, with
# further types of our own (docs/urdf-and-sdf.md, "Loops in URDF").

_ZERO = (0.0, 0.0, 0.0)


def read_origin(element: Element) -> Transform:
    """The pose that an element's <origin> gives: xyz [m], rpy [rad]."""
    origin = element.child("origin")
    if origin is None:
        return Transform()
    return pose(origin.numbers("xyz", 3, _ZERO), origin.numbers("rpy", 3, _ZERO))


class LinkReader:
    """Reads the links of one file."""

    def __init__(self, robot: Element, meshes: MeshFinder, notes: Notes, *, fix_inertia: bool = False):
        self.meshes, self.notes, self.fix_inertia = meshes, notes, fix_inertia
        self.colors: dict[str, Color] = {}
        #: materials outside of links that are not used so far, by name
        self.unused: dict[str, list[Element]] = {}
        # a colour may be given at one link and used by name in others
        outside = robot.all("material")
        visuals = [visual for link in robot.all("link") for visual in link.all("visual")]
        inside = [part for part in (visual.child("material") for visual in visuals) if part is not None]
        for index, material in enumerate([*outside, *inside]):
            name, color = material.get("name") or "", self._own_color(material)
            if color is not None and self.colors.setdefault(name, color) != color and name:
                notes.add("materials of one name with different colours; each shape keeps its own colour", name, material.line)
            if index < len(outside):
                self.unused.setdefault(name, []).append(material)

    def body(self, link: Element, name: str) -> Body:
        """The body of a link, with the name `name`."""
        inertial = self._inertial(link)
        shapes = [tuple(self._shapes(link, role)) for role in ("visual", "collision")]
        with (link.child("inertial") or link).located():
            return Body(name, *inertial, *shapes)

    # --- inertia --------------------------------------------------------------------------------------------------------
    def _inertial(self, link: Element) -> tuple[float, tuple[float, ...], list[list[float]]]:
        """Mass, center of mass in the link's frame, inertia about it in the link's axes."""
        inertial = link.child("inertial")
        if inertial is None:
            return 0.0, _ZERO, np.zeros((3, 3)).tolist()
        mass, tensor = inertial.need_child("mass"), inertial.need_child("inertia")
        weight = mass.number("value")
        owner = link.get("name") or ""
        if weight < 0.0:
            value = mass.get("value")
            raise mass.error(f'link {owner!r}: <mass> value="{value}" is negative; a mass is zero or more, in kilograms')
        numbers = [tensor.number(key, None if key in SQUARES else 0.0) for key in MOMENTS]
        place = read_origin(inertial)
        rows = link_inertia(numbers, weight, owner, self.notes, place, line=tensor.line, fix=self.fix_inertia)
        return weight, tuple(floats(place.translation)), rows.tolist()

    # --- shapes ---------------------------------------------------------------------------------------------------------
    def _shapes(self, link: Element, role: str) -> Iterator[Geometry]:
        for item in link.all(role):
            geometry = item.child("geometry")
            shape = None if geometry is None else read_shape(geometry, self._mesh, self._lengths)
            if shape is None:
                self.notes.leave(item, f"<{role}> without a shape, left out", link.get("name") or "")
            else:
                yield Geometry(shape, read_origin(item), self._color(item, link), item.get("name") or "")

    def _lengths(self, part: Element, key: str, count: int = 1) -> tuple[float, ...]:
        values = part.numbers(key, count)
        if min(values) < 0.0:
            raise part.error(f'<{part.tag}> {key}="{part.get(key)}" is negative; lengths are zero or more, in metres')
        return values

    def _mesh(self, part: Element) -> Mesh | None:
        uri = part.get("filename")
        if not uri:
            return None
        uniform = len((part.get("scale") or "").split()) == 1
        scale = part.numbers("scale", 1) * 3 if uniform else part.numbers("scale", 3, (1.0, 1.0, 1.0))
        return self.meshes.mesh(uri, scale, part.line)

    # --- colours --------------------------------------------------------------------------------------------------------
    def _color(self, item: Element, link: Element) -> Color | None:
        material = item.child("material")
        if material is None:
            return None
        name, own = material.get("name") or "", self._own_color(material)
        if own is not None:
            return own
        self.unused.pop(name, None)
        if name not in self.colors and not material.has("texture"):
            remark = f"material {name!r} is not defined; the viewer chooses the colour"
            self.notes.add(remark, link.get("name") or "", item.line)
        return self.colors.get(name)

    def _own_color(self, material: Element) -> Color | None:
        part = material.child("color")
        name = material.get("name") or ""
        return None if part is None else clipped_color(part.numbers("rgba", 4), self.notes, name, part.line)


#: Kinds by URDF's names for them.
_KINDS = {
    "fixed": "fixed", "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "planar": "planar",
    "floating": "floating",
    # not of URDF itself, in the words of Drake and SDF
    "ball": "spherical", "spherical": "spherical", "universal": "universal", "cylindrical": "cylindrical",
}  # fmt: skip

#: Types without an axis.
_ROUND = ("floating", "ball", "spherical")

#: Types of joints and loops with one degree of freedom, which may have a <limit>.
_LIMITED = ("revolute", "prismatic", "continuous", "helical", "line")


def read_joint(element: Element, parent: str, child: str, notes: Notes) -> Joint:
    """A joint between two bodies of the mechanism."""
    name, kind = element.need("name"), element.need("type")
    if kind not in _KINDS:
        raise element.error(f"joint {name!r} has the unknown type {kind!r}; the types are {', '.join(_KINDS)}")
    if kind == "fixed":
        for tag in ("axis", "limit", "dynamics"):
            _leave_of_fixed(element, tag, name, notes)
        return Joint(name, KINDS["fixed"], parent, child, read_origin(element))
    direction: tuple[float, ...] = (0.0, 0.0, 1.0)
    second: tuple[float, ...] | None = None
    if kind in _ROUND:
        if (axis := element.child("axis")) is not None:
            notes.leave(axis, f"<axis> of {kind} joints, which have none, not used", name)
    else:
        direction = read_axis(element, f"joint {name!r}")
    if kind == "universal":
        second = read_axis(element, f"joint {name!r}", "axis2")
    passive = read_dynamics(element, f"joint {name!r}")
    with element.located():
        place, limits = read_origin(element), read_limits(element, name, kind, notes)
        return Joint(name, KINDS[_KINDS[kind]], parent, child, place, direction, second, limits, **passive)


def read_axis(element: Element, owner: str, tag: str = "axis") -> tuple[float, ...]:
    """The direction of a joint's axis, not of unit length yet; x where there is no <axis>. An <axis2> must be there."""
    axis = element.child(tag) if tag == "axis" else element.need_child(tag)
    if axis is None:
        return 1.0, 0.0, 0.0
    direction = axis.numbers("xyz", 3, (1.0, 0.0, 0.0))
    if not any(direction):
        xyz = axis.get("xyz")
        raise axis.error(f'{owner}: <{tag}> xyz="{xyz}" has no direction; give a vector that is not zero, such as "0 0 1"')
    return direction


#: The content of <dynamics>: our names, and the attributes. URDF itself has no springs; they have SDF's names here.
DYNAMICS = {"damping": "damping", "friction": "friction", "stiffness": "spring_stiffness", "rest": "spring_reference"}


def read_dynamics(element: Element, owner: str) -> dict[str, Any]:
    """Viscous and dry friction of a joint's <dynamics>, and its spring: as arguments of joints and loops."""
    dynamics = element.child("dynamics")
    if dynamics is None:
        return {}
    found = {ours: dynamics.number(key, 0.0) for ours, key in DYNAMICS.items()}
    for ours, value in found.items():
        if value < 0.0 and ours != "rest":
            said = f'<dynamics> {DYNAMICS[ours]}="{dynamics.get(DYNAMICS[ours])}"'
            raise dynamics.error(f"{owner}: {said} is negative and would drive the joint; give zero or more")
    return found


def read_limits(element: Element, name: str, kind: str, notes: Notes) -> tuple[Limits, ...]:
    """The limits of a joint of one degree of freedom; for others there is a remark."""
    limit = element.child("limit")
    if limit is None:
        if kind in ("revolute", "prismatic"):
            notes.add(f"{kind} joints without <limit>, read as unlimited", name, element.line)
        return ()
    if kind not in _LIMITED:
        notes.leave(limit, "<limit> of joints that have not one degree of freedom, not used", name)
        return ()
    lower, upper, velocity, effort = (limit.bound(key) for key in ("lower", "upper", "velocity", "effort"))
    given = limit.get("lower") is not None or limit.get("upper") is not None
    if kind == "continuous" and (lower or upper):
        notes.add("lower and upper of the <limit> of continuous joints, which turn without end, not used", name, limit.line)
    elif kind != "continuous" and not given:  # URDF's defaults, 0 to 0, would lock the joint
        notes.add(f"{kind} joints whose <limit> has neither lower nor upper, read as without bounds", name, limit.line)
    if kind == "continuous" or not given:
        return (Limits(None, None, velocity, effort),)
    # URDF's default for either bound is 0; an infinite one was given, so it is not the default
    lower, upper = (0.0 if not limit.get(key) else value for key, value in (("lower", lower), ("upper", upper)))
    if lower is not None and upper is not None and lower > upper:
        remedy = "swap the two, or correct a sign"
        raise limit.error(f"joint {name!r}: the lower limit {lower:g} is above the upper limit {upper:g}; {remedy}")
    return (Limits(lower, upper, velocity, effort),)


def _leave_of_fixed(element: Element, tag: str, name: str, notes: Notes) -> None:
    """Adds a remark on elements that a fixed joint cannot use, unless they are empty: an axis (0, 0, 0), limits of 0."""
    part = element.child(tag)
    if part is None:
        return
    words = [word for value in part.attributes.values() for word in value.split()]
    if set(words) <= {"0", "0.0"} and set(part.attributes) <= {"xyz", "lower", "upper", "velocity", "effort"}:
        for key in part.attributes:
            part.get(key)
    else:
        notes.leave(part, "<axis>, <limit> and <dynamics> of fixed joints, which do not move, not used", name)


def read_couplings(elements: Mapping[str, Element], joints: Sequence[Joint], notes: Notes) -> tuple[Coupling, ...]:
    """The couplings of `<mimic>`: q = multiplier·q(joint) + offset, with the name of the joint that follows.

    `elements`: the file's joints by name; `joints`: those of the mechanism.
    """
    kinds = {joint.name: joint.kind for joint in joints}
    mimics = {name: part for name, element in elements.items() if (part := element.child("mimic")) is not None}
    followed = {name: mimic.need("joint") for name, mimic in mimics.items()}
    check_circles(followed, elements)
    couplings = []
    for (name, mimic), leader in zip(mimics.items(), followed.values(), strict=True):
        multiplier, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
        if leader not in elements:
            leave_leaderless(mimic, name, leader, list(elements), notes)
        elif not kinds[name].nv == kinds[leader].nv == 1:
            which = f"{name} ({kinds[name].name}) of {leader} ({kinds[leader].name})"
            notes.leave(mimic, "<mimic> between joints that have not one degree of freedom each, not used", which)
        else:
            couplings.append(Coupling(name, name, leader, multiplier, offset))
    return tuple(couplings)


#: Kinds by the names of types.
LOOP_KINDS: dict[str, Closure] = {
    "fixed": KINDS["fixed"], "revolute": KINDS["revolute"], "continuous": KINDS["revolute"], "prismatic": KINDS["prismatic"],
    "cylindrical": KINDS["cylindrical"], "universal": KINDS["universal"], "planar": KINDS["planar"],
    "ball": KINDS["spherical"], "spherical": KINDS["spherical"], "line": Line(),
}  # fmt: skip
#: Types with a parameter, and the attribute that gives it.
SIZED: dict[str, tuple[Callable[[float], Closure], str]] = {
    "helical": (Helical, "pitch"), "distance": (Distance, "length"), "rolling_disc": (RollingDisc, "radius"),
    "rolling_sphere": (RollingSphere, "radius"),
}  # fmt: skip
#: Types without degrees of freedom that forces could act along.
_WITHOUT_FREEDOM = ("fixed", "distance", "rolling_disc", "rolling_sphere")
#: Types without a direction.
LOOPS_WITHOUT_AXIS = ("fixed", "ball", "spherical", "distance", "line")

_BALL = "drake:ball_constraint"


def read_loops(robot: Element, bodies: Mapping[str, str], joints: Collection[str], notes: Notes) -> tuple[Loop, ...]:
    """The loops of a URDF file; `bodies`: names of the links in the mechanism, `joints`: names that are in use.

    "world" is the world, unless a link of this name is a body.
    """
    bodies = {**bodies, WORLD: bodies.get(WORLD, WORLD)}
    loops: dict[str, Loop] = {}
    for element in robot.all("loop_joint"):
        name = element.need("name")
        if name in loops or name in joints:
            rule = "names must be unique, rename one"
            raise element.error(f"the name {name!r} of this <loop_joint> is another joint's already; {rule}")
        loops[name] = _loop_joint(element, name, bodies, notes)
    for number, element in enumerate(robot.all(_BALL), 1):
        name = free_name(element.get("name") or f"ball_constraint_{number}", {*loops, *joints})
        loops[name] = _ball(element, name, bodies)
    return tuple(loops.values())


def _loop_joint(element: Element, name: str, bodies: Mapping[str, str], notes: Notes) -> Loop:
    kind = element.need("type")
    if kind not in LOOP_KINDS and kind not in SIZED:
        known = ", ".join([*LOOP_KINDS, *SIZED])
        raise element.error(f"loop_joint {name!r} has the unknown type {kind!r}; the types are {known}")
    size = element.number(SIZED[kind][1]) if kind in SIZED else 0.0
    ends = [element.need_child(tag) for tag in ("link1", "link2")]
    first, second = (bodies[_link(end, "link", f"loop {name!r} names the link", bodies)] for end in ends)
    pose_a, pose_b = (pose(end.numbers("xyz", 3, _ZERO), end.numbers("rpy", 3, _ZERO)) for end in ends)
    owner = f"loop_joint {name!r}"
    for part in element.all("axis") if kind in LOOPS_WITHOUT_AXIS else ():
        notes.leave(part, f"<axis> of loop joints without one ({', '.join(LOOPS_WITHOUT_AXIS)}), not used", name)
    direction = (0.0, 0.0, 1.0) if kind in LOOPS_WITHOUT_AXIS else read_axis(element, owner)
    second_direction = read_axis(element, owner, "axis2") if kind == "universal" else None
    passive = read_dynamics(element, owner) if kind not in _WITHOUT_FREEDOM else {}
    limits = read_limits(element, name, kind, notes) if element.has("limit") else ()
    with element.located():
        closure = SIZED[kind][0](size) if kind in SIZED else LOOP_KINDS[kind]
        return Loop(name, closure, first, second, pose_a, pose_b, direction, second_direction, limits, **passive)


def _ball(element: Element, name: str, bodies: Mapping[str, str]) -> Loop:
    ends = [element.need_child(f"{_BALL}_body_{end}") for end in "AB"]
    points = [element.need_child(f"{_BALL}_{point}").numbers("value", 3) for point in ("p_AP", "p_BQ")]
    first, second = (bodies[_link(end, "name", f"loop {name!r} names the link", bodies)] for end in ends)
    return Loop(name, KINDS["spherical"], first, second, pose(points[0]), pose(points[1]))


def _link(part: Element, attribute: str, saying: str, links: Collection[str]) -> str:
    """The link that an attribute names, one of those in the file."""
    link = part.need(attribute)
    if link not in links:
        remedy = did_you_mean(link, links, f"the links are {first_of(links)}")
        raise part.error(f"{saying} {link!r}, which the file does not have; {remedy}")
    return link


# --- the file -------------------------------------------------------------------------------------------------------------
#: The reasons for not reading some elements; all others are unknown.
_UNREAD = {
    "<gazebo>": "settings for Gazebo, not used",
    "<ros2_control>": "settings for controllers, not used",
    "<safety_controller>": "soft limits, not simulated",
    "<calibration>": "not needed in simulation",
    "<texture>": "textures are not drawn",
    "<sensor>": "sensors are not simulated",
    **dict.fromkeys(("<contact>", "<surface>"), "contact settings of another simulator, not used"),
    "<gravity>": "not used for single links",
    "<verbose>": "remarks, not used",
    "text in <robot>": "stands between the elements, where URDF has none, not used",
}

#: Versions of URDF; they differ in nothing that is read here.
_VERSIONS = ("1", "1.0", "1.1", "1.2")


def read_urdf(
    path_or_text: str | os.PathLike[str], *, floating_base: bool = False, fix_inertia: bool = False, keep_angles: bool = False
) -> Mechanism:
    """The mechanism of a URDF file.

    The root link is connected to the world by the joint "fixed_base", or "floating_base". A bare link called
    "world" is the world itself. A joint's frame is its <origin> in the parent link; the child's frame is the same at zero.
    A <mimic> is a `Coupling`.

    Args:
        path_or_text: a path, or the XML itself (a string that starts with `<`).
        floating_base: whether the robot is free to move in space.
        fix_inertia: whether physically impossible inertias are replaced by the nearest possible ones.
        keep_angles: whether angles within 1e-10 rad of a quarter turn are kept as written, not read as one.

    Raises:
        ModelError: with file and line, if the file breaks a rule of XML, of URDF or of mechanics.

    Warns:
        KumitateWarning: once for each kind of thing that is not simulated (transmissions, soft limits, …), not known, not
            physical though usable, or not found (meshes), with names and lines of the elements; and for a file without links,
            which is a mechanism of no bodies.

    >>> read_urdf('<robot name="stick"><link name="stick"/></robot>').joints[0].name
    'fixed_base'
    """
    robot, path = read_xml(path_or_text, "robot")
    return urdf_mechanism(robot, path, floating_base=floating_base, fix_inertia=fix_inertia, keep_angles=keep_angles)


def urdf_mechanism(
    robot: Element, path: Path | None, *, floating_base: bool, fix_inertia: bool, keep_angles: bool = False
) -> Mechanism:
    """The mechanism of a <robot>; `path` is that of its file, beside which meshes are sought. As `read_urdf`."""
    notes = Notes(robot.source)
    if not keep_angles:
        read_quarter_turns(robot, notes)
    with robot.located():
        version = robot.get("version")
        if version and version not in _VERSIONS:
            known = f"(known: {', '.join(_VERSIONS)})"
            notes.add(f"version {version!r} of URDF is not known here {known}, read like 1.2", line=robot.line)
        name = robot.get("name") or (path.stem if path is not None else "robot")
        links = _named(robot, "link")
        connections = _connections(robot, links, notes)
        reader = LinkReader(robot, MeshFinder(path), notes, fix_inertia=fix_inertia)
        bodies: dict[str, Body | None] = {}
        joints: list[Joint] = []
        if links:
            root = "" if notes.mistakes else _root(links, connections)
            bodies = _bodies(links, root, reader, notes)
            joints = _base(links[root], bodies[root], connections, floating_base) if root in bodies else []
        elif floating_base:
            raise robot.error(
                f"floating_base was asked for, but robot {name!r} has no <link> that could float; read it without"
            )
        else:
            remedy = "if it is a xacro source, expand it with what calls its macros"
            notes.add(f"robot {name!r} has no <link>, and so no bodies; {remedy}")
        names = {link: WORLD if body is None else body.name for link, body in bodies.items()}
        for element, parent, child in connections.values():
            with notes.catching():
                joints.append(read_joint(element, names.get(parent, parent), names.get(child, child), notes))
        notes.check()
        couplings = read_couplings({key: element for key, (element, _, _) in connections.items()}, joints, notes)
        loops = read_loops(robot, names, {joint.name for joint in joints}, notes)
        moving = tuple(body for body in bodies.values() if body is not None)
        for material in (part for parts in reader.unused.values() for part in parts):
            notes.leave(material, "<material> that no shape has, not used")
        note_transmissions(robot, notes)
        notes.add_unread(robot, _UNREAD)
        note_missing([reader.meshes], "ROS_PACKAGE_PATH to the folder that holds the package", notes)
        note_weightless(moving, joints, {key: element.line for key, (element, _, _) in connections.items()}, notes)
        mechanism = Mechanism(
            name, moving, tuple(joints), loops, source=None if path is None else str(path), couplings=couplings,
            faults=tuple(notes.faults),
        )  # fmt: skip
    notes.warn()
    return mechanism


def _named(robot: Element, tag: str) -> dict[str, Element]:
    """The robot's elements of a tag, by their names."""
    found: dict[str, Element] = {}
    for element in robot.all(tag):
        name = element.need("name")
        if name in found:
            rule = "names must be unique, rename one"
            raise element.error(f"the {tag} name {name!r} is used in line {found[name].line} already; {rule}")
        found[name] = element
    return found


def _connections(robot: Element, links: dict[str, Element], notes: Notes) -> dict[str, tuple[Element, str, str]]:
    """The joints by name, each with its parent and child link."""
    connections: dict[str, tuple[Element, str, str]] = {}
    carrier: dict[str, Element] = {}
    for name, joint in _named(robot, "joint").items():
        with notes.catching():
            parent, child = (
                _link(joint.need_child(role), "link", f"joint {name!r} names the {role} link", links)
                for role in ("parent", "child")
            )
            if parent == child:
                raise joint.error(f"joint {name!r} joins the link {child!r} to itself; name two links")
            if child in carrier:
                first = carrier[child]
                raise joint.error(
                    f"link {child!r} is the child of two joints, {first.get('name')!r} (line {first.line}) and {name!r}: a "
                    "closed loop, which URDF cannot hold. Write one of the two as a <loop_joint>, or take it out and add it "
                    "as a Loop"
                )
            carrier[child] = joint
            connections[name] = joint, parent, child
    return connections


def _root(links: dict[str, Element], connections: dict[str, tuple[Element, str, str]]) -> str:
    """The one link that is not the child of a joint; refuses cycles of links."""
    carried = {child: (joint, parent) for joint, parent, child in connections.values()}
    if circle := first_circle({link: parent for link, (_, parent) in carried.items()}):
        joints = [carried[link][0] for link in circle]
        named = ", ".join(f"{joint.get('name')!r} (line {joint.line})" for joint in joints[:5])
        raise joints[0].error(
            f"the joints {named}{', …' * (len(joints) > 5)} run in a circle, so that none of their links is the root; "
            "take one of them out, or write it as a <loop_joint>"
        )
    roots = [link for link in links if link not in carried]
    if len(roots) > 1:
        lines = ", ".join(f"{link!r} (line {links[link].line})" for link in roots[:5]) + ", …" * (len(roots) > 5)
        rule = "a robot has one root; join the others to it by joints"
        raise links[roots[1]].error(f"{len(roots)} links are not the child of a joint: {lines}; {rule}")
    return roots[0]


def _base(link: Element, body: Body | None, taken: Container[str], floating_base: bool) -> list[Joint]:
    """The joint that connects the root to the world; none if the root is the world."""
    if body is not None:
        kind = "floating" if floating_base else "fixed"
        return [Joint(free_name(f"{kind}_base", taken), KINDS[kind], WORLD, body.name)]
    if floating_base:
        raise link.error(
            "floating_base was asked for, but the file itself holds the robot to its link 'world'; "
            "remove that link and the joints on it from the file, or read it without floating_base"
        )
    return []


def _bodies(links: dict[str, Element], root: str, reader: LinkReader, notes: Notes) -> dict[str, Body | None]:
    """The body of every link; None for the world."""
    bodies: dict[str, Body | None] = {}
    for link, element in links.items():
        if link != WORLD:
            with notes.catching():
                bodies[link] = reader.body(element, link)
            continue
        body = reader.body(element, free_name(f"{WORLD}_link", links))
        bare = root == WORLD and body == Body(body.name)
        if not bare:
            notes.add(f"the link {WORLD!r} is a body here, not the world, and is called {body.name!r}", line=element.line)
        bodies[link] = None if bare else body
    return bodies
