"""Reading URDF, the robot description format of ROS (wiki.ros.org/urdf/XML)."""

from __future__ import annotations

import os
from difflib import get_close_matches

from ...errors import ModelError
from ..joints import KINDS
from ..mechanism import WORLD, Mechanism
from ..parts import Body, Joint, Limits
from .meshes import MeshFinder
from .notes import Notes
from .shapes import free_name
from .urdf_link import LinkReader, read_origin
from .urdf_loops import read_loops
from .xml import Element, read_xml

__all__ = ["read_urdf"]

#: Kinds by URDF's names for them.
_KINDS = {
    "fixed": "fixed", "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "planar": "planar",
    "floating": "floating",
}  # fmt: skip

#: Why what is not read is not read; anything else is unknown.
_UNREAD = {
    "<transmission>": "not simulated; torques act at the joints",
    "<gazebo>": "settings for Gazebo, not used",
    "<safety_controller>": "soft limits, not simulated",
    "<calibration>": "not needed in simulation",
    "<texture>": "textures are not drawn",
}


def read_urdf(path_or_text: str | os.PathLike[str], *, floating_base: bool = False, fix_inertia: bool = False) -> Mechanism:
    """The mechanism of a URDF file.

    The link that nothing carries is joined to the world by the joint "fixed_base", or "floating_base". A bare link called
    "world" is the world itself. A joint's frame is its <origin> in the parent link; the child's frame is the same at zero.

    Args:
        path_or_text: a path, or the XML itself (a string that starts with `<`).
        floating_base: whether the robot is free to move in space.
        fix_inertia: whether inertias that no body has are replaced by the nearest that one can have.

    Raises:
        ModelError: with file and line, if the file breaks a rule of XML, of URDF or of mechanics.

    Warns:
        KumitateWarning: once for each kind of thing that is not simulated (mimic joints, transmissions, …), not known, not
            physical though usable, or not found (meshes), with the names of the elements.

    >>> read_urdf('<robot name="stick"><link name="stick"/></robot>').joints[0].name
    'fixed_base'
    """
    robot, path = read_xml(path_or_text, "robot")
    notes = Notes(robot.source)
    robot.get("version")
    name = robot.get("name") or (path.stem if path is not None else "robot")
    meshes = MeshFinder(path)
    links = _named(robot, "link")
    if not links:
        raise robot.error(f"robot {name!r} has no <link>; if the file is a xacro source, expand it first, else add links")
    connections = _connections(robot, links)
    root = _root(robot, links, connections)
    reader = LinkReader(robot, meshes, notes, fix_inertia=fix_inertia)
    bodies = _bodies(links, root, reader, notes)
    joints = []
    base = bodies[root]
    if base is not None:
        kind = "floating" if floating_base else "fixed"
        joints.append(Joint(free_name(f"{kind}_base", connections), KINDS[kind], WORLD, base.name))
    elif floating_base:
        raise links[root].error(
            "floating_base was asked for, but the file itself holds the robot to its link 'world'; "
            "remove that link and the joints on it from the file, or read it without floating_base"
        )
    _check_mimics(connections, notes)
    names = {link: WORLD if body is None else body.name for link, body in bodies.items()}
    joints.extend(_joint(element, names[parent], names[child], notes) for element, parent, child in connections.values())
    loops = read_loops(robot, names, {joint.name for joint in joints})
    _note_unread(robot, reader, notes)
    moving = tuple(body for body in bodies.values() if body is not None)
    try:
        mechanism = Mechanism(name, moving, tuple(joints), loops, source=None if path is None else str(path))
    except ModelError as error:
        raise robot.error(str(error)) from None
    notes.warn()
    return mechanism


def _named(robot: Element, tag: str) -> dict[str, Element]:
    """The robot's elements of a tag, by their names."""
    found: dict[str, Element] = {}
    for element in robot.all(tag):
        name = element.need("name")
        if name in found:
            raise element.error(f"the {tag} name {name!r} is used in line {found[name].line} already; names must be unique")
        found[name] = element
    return found


def _connections(robot: Element, links: dict[str, Element]) -> dict[str, tuple[Element, str, str]]:
    """The joints by name, each with its parent and child link."""
    connections: dict[str, tuple[Element, str, str]] = {}
    carrier: dict[str, Element] = {}
    for name, joint in _named(robot, "joint").items():
        parent, child = (_end(joint, role, links) for role in ("parent", "child"))
        if child in carrier:
            first = carrier[child]
            raise joint.error(
                f"link {child!r} is the child of two joints, {first.get('name')!r} (line {first.line}) and {name!r}: a closed "
                "loop, which URDF cannot hold. Write one of the two as a <loop_joint>, or take it out and add it as a Loop"
            )
        carrier[child] = joint
        connections[name] = joint, parent, child
    return connections


def _end(joint: Element, role: str, links: dict[str, Element]) -> str:
    part = joint.need_child(role)
    link = part.need("link")
    if link not in links:
        near = get_close_matches(link, links, 1)
        some = ", ".join(list(links)[:8]) + ", …" * (len(links) > 8)
        remedy = f"did you mean {near[0]!r}?" if near else f"the links are {some}"
        raise part.error(f"joint {joint.get('name')!r} names the {role} link {link!r}, which the file does not have; {remedy}")
    return link


def _root(robot: Element, links: dict[str, Element], connections: dict[str, tuple[Element, str, str]]) -> str:
    """The one link that is no joint's child."""
    children = {child for _, _, child in connections.values()}
    roots = [link for link in links if link not in children]
    if not roots:
        raise robot.error("every link is the child of a joint, so that the joints run in a circle; one link must be the root")
    if len(roots) > 1:
        lines = ", ".join(f"{link!r} (line {links[link].line})" for link in roots[:5]) + ", …" * (len(roots) > 5)
        rule = "a robot has one root; join the others to it"
        raise links[roots[1]].error(f"{len(roots)} links are no joint's child: {lines}; {rule}")
    return roots[0]


def _check_mimics(connections: dict[str, tuple[Element, str, str]], notes: Notes) -> None:
    """Every joint that is said to follow another must follow one that moves by itself in the end."""
    followed: dict[str, str] = {}
    for name, (joint, _, _) in connections.items():
        mimic = joint.child("mimic")
        if mimic is not None:
            followed[name] = mimic.need("joint")
            mimic.number("multiplier", 1.0)
            mimic.number("offset", 0.0)
            if followed[name] not in connections:
                notes.add(f"<mimic> of a joint that the file does not have, {followed[name]!r}", name)
    for name in followed:
        chain = [name]
        while chain[-1] in followed:
            chain.append(followed[chain[-1]])
            if chain[-1] == name:
                raise connections[name][0].error(
                    f"joint {name!r} mimics itself ({' → '.join(chain)}); let one of these joints move by itself"
                )
            if len(chain) > len(followed) + 1:  # a circle further on, told of at one of its own joints
                break


def _bodies(links: dict[str, Element], root: str, reader: LinkReader, notes: Notes) -> dict[str, Body | None]:
    """The body of every link; None for the world."""
    bodies: dict[str, Body | None] = {}
    for link, element in links.items():
        if link != WORLD:
            bodies[link] = reader.body(element, link)
            continue
        body = reader.body(element, free_name(f"{WORLD}_link", links))
        if root == WORLD and not (body.mass or body.visuals or body.collisions):
            bodies[link] = None
        else:
            notes.add(f"the link {WORLD!r} is a body here, not the world, and is called {body.name!r}")
            bodies[link] = body
    return bodies


def _joint(element: Element, parent: str, child: str, notes: Notes) -> Joint:
    name, kind = element.need("name"), element.need("type")
    if kind not in _KINDS:
        raise element.error(f"joint {name!r} has the unknown type {kind!r}; the types are {', '.join(_KINDS)}")
    if element.child("mimic") is not None:
        notes.add("<mimic> is not simulated; these joints move independently", name)
    axis = element.child("axis")
    direction = (1.0, 0.0, 0.0) if axis is None else axis.numbers("xyz", 3, (1.0, 0.0, 0.0))
    if kind in ("fixed", "floating"):
        direction = (0.0, 0.0, 1.0)  # they have none; some files print (0, 0, 0)
    dynamics = element.child("dynamics")
    damping, friction = (0.0, 0.0) if dynamics is None else (dynamics.number("damping", 0.0), dynamics.number("friction", 0.0))
    if kind == "fixed":
        damping = friction = 0.0
    limits = _limits(element, name, kind, notes)
    try:
        return Joint(
            name, KINDS[_KINDS[kind]], parent, child, read_origin(element), direction,
            limits=limits, damping=damping, friction=friction,
        )  # fmt: skip
    except ModelError as error:
        raise element.error(str(error)) from None


def _limits(element: Element, name: str, kind: str, notes: Notes) -> tuple[Limits, ...]:
    limit = element.child("limit")
    if limit is None:
        if kind in ("revolute", "prismatic"):
            notes.add(f"{kind} joints without <limit>, read as unlimited", name)
        return ()
    lower, upper, velocity, effort = (limit.bound(key) for key in ("lower", "upper", "velocity", "effort"))
    if kind == "continuous":
        return (Limits(None, None, velocity, effort),)
    if kind in ("revolute", "prismatic"):
        # URDF's default for either bound is 0; an infinite one was said, so it is not the default
        lower, upper = (0.0 if not limit.get(key) else value for key, value in (("lower", lower), ("upper", upper)))
        return (Limits(lower, upper, velocity, effort),)
    if kind != "fixed":
        notes.add("<limit> of joints with several degrees of freedom, not used", name)
    return ()


def _note_unread(robot: Element, reader: LinkReader, notes: Notes) -> None:
    for what, name in robot.unread():
        notes.add(f"{what}: {_UNREAD.get(what, 'not known here, not used')}", name)
    if reader.missing:
        tried = list(reader.meshes.tried)
        places = ", ".join(tried[:4]) + ", …" * (len(tried) > 4) if tried else "no folder: there is none to search"
        remark = f"meshes not found (sought in {places}; set ROS_PACKAGE_PATH to the folder that holds the package), not drawn"
        for uri in reader.missing:
            notes.add(remark, uri)
