"""Loops in URDF, by two extensions of Drake, as the format itself has none.

`<loop_joint>` is a joint between two places on links of the tree, whose frames it lets move as its type allows:

    <loop_joint name="elbow" type="revolute">
      <link1 link="lower_arm" xyz="0 0 -3" rpy="0 0 0"/>
      <link2 link="upper_arm" xyz="0 0 1"/>
      <axis xyz="0 1 0"/>
      <dynamics damping="0.1" friction="0" spring_stiffness="5" spring_reference="0.2"/>
    </loop_joint>

A <limit> and <dynamics> are read as of other joints. `xyz` [m] and `rpy` [rad] place the frame on its link (zero if left out);
the axis has the same components in both frames. Further types are ours: `universal` also has an <axis2>, `helical` a `pitch`
[m per turn], `distance`, a rod with a ball at either end, a `length` [m], and `line` is a spring and damper between two
points. `rolling_disc` and `rolling_sphere` roll without slip about the frame on link2, with a `radius` [m], on the plane
through that on link1; the axis is the normal of the plane, and the axle of the disc. A `<drake:ball_constraint>` keeps a point
of one link at a point of another.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from difflib import get_close_matches

from ...spatial import pose
from ..elements import Loop
from ..joints import KINDS, Closure, Distance, Helical, Line, RollingDisc, RollingSphere
from ..mechanism import WORLD
from .notes import Notes
from .urdf_joint import read_axis, read_dynamics, read_limits
from .xml import Element

#: Kinds by the names of types.
_KINDS: dict[str, Closure] = {
    "fixed": KINDS["fixed"], "revolute": KINDS["revolute"], "continuous": KINDS["revolute"], "prismatic": KINDS["prismatic"],
    "cylindrical": KINDS["cylindrical"], "universal": KINDS["universal"], "planar": KINDS["planar"],
    "ball": KINDS["spherical"], "spherical": KINDS["spherical"], "line": Line(),
}  # fmt: skip
#: Types with a parameter, and the attribute that gives it.
_SIZED: dict[str, tuple[Callable[[float], Closure], str]] = {
    "helical": (Helical, "pitch"), "distance": (Distance, "length"), "rolling_disc": (RollingDisc, "radius"),
    "rolling_sphere": (RollingSphere, "radius"),
}  # fmt: skip
#: Types without degrees of freedom that forces could act along.
_WITHOUT_FREEDOM = ("fixed", "distance", "rolling_disc", "rolling_sphere")
#: Types without a direction.
_ROUND = ("fixed", "ball", "spherical", "distance", "line")

_ZERO = (0.0, 0.0, 0.0)
_BALL = "drake:ball_constraint"


def read_loops(robot: Element, bodies: Mapping[str, str], joints: Container[str], notes: Notes) -> tuple[Loop, ...]:
    """The loops of a URDF file; `bodies`: names of the links in the mechanism, `joints`: names that are in use.

    "world" is the world, unless a link of this name is a body.
    """
    bodies = {**bodies, WORLD: bodies.get(WORLD, WORLD)}
    loops: dict[str, Loop] = {}
    for element in robot.all("loop_joint"):
        name = element.need("name")
        if name in loops or name in joints:
            raise element.error(
                f"the name {name!r} of this <loop_joint> is another joint's already; names must be unique, rename one"
            )
        loops[name] = _loop_joint(element, name, bodies, notes)
    for number, element in enumerate(robot.all(_BALL), 1):
        name = element.get("name") or f"ball_constraint_{number}"
        while name in loops or name in joints:
            name += "_"
        loops[name] = _ball(element, name, bodies)
    return tuple(loops.values())


def _loop_joint(element: Element, name: str, bodies: Mapping[str, str], notes: Notes) -> Loop:
    kind = element.need("type")
    if kind not in _KINDS and kind not in _SIZED:
        known = ", ".join([*_KINDS, *_SIZED])
        raise element.error(f"loop_joint {name!r} has the unknown type {kind!r}; the types are {known}")
    size = element.number(_SIZED[kind][1]) if kind in _SIZED else 0.0
    ends = [element.need_child(tag) for tag in ("link1", "link2")]
    first, second = (_body(end, "link", name, bodies) for end in ends)
    pose_a, pose_b = (pose(end.numbers("xyz", 3, _ZERO), end.numbers("rpy", 3, _ZERO)) for end in ends)
    owner = f"loop_joint {name!r}"
    for part in element.all("axis") if kind in _ROUND else ():
        notes.leave(part, f"<axis> of loop joints without one ({', '.join(_ROUND)}), not used", name)
    direction = (0.0, 0.0, 1.0) if kind in _ROUND else read_axis(element, owner)
    second_direction = read_axis(element, owner, "axis2") if kind == "universal" else None
    passive = read_dynamics(element, owner) if kind not in _WITHOUT_FREEDOM else {}
    limits = read_limits(element, name, kind, notes) if element.has("limit") else ()
    with element.located():
        closure = _SIZED[kind][0](size) if kind in _SIZED else _KINDS[kind]
        return Loop(name, closure, first, second, pose_a, pose_b, direction, second_direction, limits, **passive)


def _ball(element: Element, name: str, bodies: Mapping[str, str]) -> Loop:
    ends = [element.need_child(f"{_BALL}_body_{end}") for end in "AB"]
    points = [element.need_child(f"{_BALL}_{point}").numbers("value", 3) for point in ("p_AP", "p_BQ")]
    first, second = (_body(end, "name", name, bodies) for end in ends)
    return Loop(name, KINDS["spherical"], first, second, pose(points[0]), pose(points[1]))


def _body(part: Element, attribute: str, loop: str, bodies: Mapping[str, str]) -> str:
    link = part.need(attribute)
    if link not in bodies:
        near = get_close_matches(link, bodies, 1)
        some = ", ".join(list(bodies)[:8]) + ", …" * (len(bodies) > 8)
        remedy = f"did you mean {near[0]!r}?" if near else f"the links are {some}"
        raise part.error(f"loop {loop!r} names the link {link!r}, which the file does not have; {remedy}")
    return bodies[link]
