"""Reading URDF, the robot description format of ROS (wiki.ros.org/urdf/XML)."""

from __future__ import annotations

import os
from collections.abc import Container
from pathlib import Path

from ...errors import did_you_mean, first_of
from ..elements import Body, Joint
from ..joints import KINDS
from ..mechanism import WORLD, Mechanism, first_circle
from .repairs import note_weightless, read_quarter_turns
from .shapes import MeshFinder, free_name
from .urdf_elements import LinkReader, read_couplings, read_joint, read_loops
from .urdf_transmissions import note_transmissions
from .xml import Element, Notes, read_xml

#: The reasons for not reading some elements; all others are unknown.
_UNREAD = {
    "<gazebo>": "settings for Gazebo, not used",
    "<ros2_control>": "settings for controllers, not used",
    "<safety_controller>": "soft limits, not simulated",
    "<calibration>": "not needed in simulation",
    "<texture>": "textures are not drawn",
    "<sensor>": "sensors are not simulated",
    "<contact>": "contact settings of another simulator, not used",
    "<surface>": "contact settings of another simulator, not used",
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
        _check_version(robot, notes)
        name = robot.get("name") or (path.stem if path is not None else "robot")
        meshes = MeshFinder(path)
        links = _named(robot, "link")
        connections = _connections(robot, links, notes)
        reader = LinkReader(robot, meshes, notes, fix_inertia=fix_inertia)
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
            notes.add(
                f"robot {name!r} has no <link>, and so no bodies; if it is a xacro source, expand it with what calls its macros"
            )
        names = {link: WORLD if body is None else body.name for link, body in bodies.items()}
        for element, parent, child in connections.values():
            with notes.catching():
                joints.append(read_joint(element, names.get(parent, parent), names.get(child, child), notes))
        notes.check()
        couplings = read_couplings({key: element for key, (element, _, _) in connections.items()}, joints, notes)
        loops = read_loops(robot, names, {joint.name for joint in joints}, notes)
        moving = tuple(body for body in bodies.values() if body is not None)
        _note_unread(robot, reader, notes)
        note_weightless(moving, joints, {key: element.line for key, (element, _, _) in connections.items()}, notes)
        mechanism = Mechanism(
            name, moving, tuple(joints), loops, source=None if path is None else str(path), couplings=couplings,
            faults=tuple(notes.faults),
        )  # fmt: skip
    notes.warn()
    return mechanism


def _check_version(robot: Element, notes: Notes) -> None:
    version = robot.get("version")
    if version and version not in _VERSIONS:
        notes.add(
            f"version {version!r} of URDF is not known here (known: {', '.join(_VERSIONS)}), read like 1.2", line=robot.line
        )


def _named(robot: Element, tag: str) -> dict[str, Element]:
    """The robot's elements of a tag, by their names."""
    found: dict[str, Element] = {}
    for element in robot.all(tag):
        name = element.need("name")
        if name in found:
            raise element.error(
                f"the {tag} name {name!r} is used in line {found[name].line} already; names must be unique, rename one"
            )
        found[name] = element
    return found


def _connections(robot: Element, links: dict[str, Element], notes: Notes) -> dict[str, tuple[Element, str, str]]:
    """The joints by name, each with its parent and child link."""
    connections: dict[str, tuple[Element, str, str]] = {}
    carrier: dict[str, Element] = {}
    for name, joint in _named(robot, "joint").items():
        with notes.catching():
            connections[name] = _connection(joint, name, links, carrier)
    return connections


def _connection(joint: Element, name: str, links: dict[str, Element], carrier: dict[str, Element]) -> tuple[Element, str, str]:
    """A joint with its parent and child link; `carrier`: the joint of each child so far."""
    parent, child = (_end(joint, role, links) for role in ("parent", "child"))
    if parent == child:
        raise joint.error(f"joint {name!r} joins the link {child!r} to itself; name two links")
    if child in carrier:
        first = carrier[child]
        raise joint.error(
            f"link {child!r} is the child of two joints, {first.get('name')!r} (line {first.line}) and {name!r}: a closed "
            "loop, which URDF cannot hold. Write one of the two as a <loop_joint>, or take it out and add it as a Loop"
        )
    carrier[child] = joint
    return joint, parent, child


def _end(joint: Element, role: str, links: dict[str, Element]) -> str:
    part = joint.need_child(role)
    link = part.need("link")
    if link not in links:
        remedy = did_you_mean(link, links, f"the links are {first_of(links)}")
        raise part.error(f"joint {joint.get('name')!r} names the {role} link {link!r}, which the file does not have; {remedy}")
    return link


def _root(links: dict[str, Element], connections: dict[str, tuple[Element, str, str]]) -> str:
    """The one link that is not the child of a joint."""
    carried = {child: (joint, parent) for joint, parent, child in connections.values()}
    _check_circles(carried)
    roots = [link for link in links if link not in carried]
    if len(roots) > 1:
        lines = ", ".join(f"{link!r} (line {links[link].line})" for link in roots[:5]) + ", …" * (len(roots) > 5)
        rule = "a robot has one root; join the others to it by joints"
        raise links[roots[1]].error(f"{len(roots)} links are not the child of a joint: {lines}; {rule}")
    return roots[0]


def _check_circles(carried: dict[str, tuple[Element, str]]) -> None:
    """Refuses cycles of links; `carried`: by link, its joint and its parent."""
    circle = first_circle({link: parent for link, (_, parent) in carried.items()})
    if circle:
        joints = [carried[link][0] for link in circle]
        named = ", ".join(f"{joint.get('name')!r} (line {joint.line})" for joint in joints[:5])
        raise joints[0].error(
            f"the joints {named}{', …' * (len(joints) > 5)} run in a circle, so that none of their links is the root; "
            "take one of them out, or write it as a <loop_joint>"
        )


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
        if root == WORLD and body == Body(body.name):
            bodies[link] = None
        else:
            notes.add(f"the link {WORLD!r} is a body here, not the world, and is called {body.name!r}", line=element.line)
            bodies[link] = body
    return bodies


def _note_unread(robot: Element, reader: LinkReader, notes: Notes) -> None:
    reader.leave_unused()
    note_transmissions(robot, notes)
    notes.add_unread(robot, _UNREAD)
    if reader.missing:
        tried = list(reader.meshes.tried)
        places = ", ".join(tried[:4]) + ", …" * (len(tried) > 4) if tried else "no folder, as there is nothing to search"
        remark = f"meshes not found (sought in {places}; set ROS_PACKAGE_PATH to the folder that holds the package), not drawn"
        for uri, line in reader.missing:
            notes.add(remark, uri, line)
